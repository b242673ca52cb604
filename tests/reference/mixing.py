"""Mixing, slowly: the equations of MATHS, one row and one part at a time, with logarithms of weights."""

import math

import numpy as np

FLOOR = 1e-5


def discounted_newton(c, H, g, ridge=30.0, kept=0.999):
    """One step of the stack, with H and not its inverse, whose diagonal never exceeds what it was at first."""
    H = kept * H + np.outer(g, g)
    grown = np.sqrt(np.maximum(1.0, ridge * np.linalg.inv(H).diagonal()))
    H = H * np.outer(grown, grown)
    return c - np.linalg.solve(H, g), H


def mix_classes(forecasts, codes, parts):
    """Answers to (n, M, K) probabilities, all experts in from the start, each row learnt after its answer."""
    n, experts, classes = forecasts.shape
    heard = (1 - classes * FLOOR) * forecasts + FLOOR
    shares, _, priors = parts
    v = [np.full(experts, 1 / experts) for _ in shares]
    past = np.zeros(len(priors))
    c, H = np.zeros(experts + 1), 30.0 * np.eye(experts + 1)
    answers = []
    for i in range(n):
        u = priors * np.exp(past.min() - past)
        of_parts = [weights @ heard[i] for weights in v]
        average = u[:-1] @ np.array(of_parts) / u[:-1].sum()
        surer = np.vstack([np.log(heard[i]) - np.log(average), np.log(average)])
        stacked = average * np.exp(c @ surer)
        stacked = (1 - classes * FLOOR) * stacked / stacked.sum() + FLOOR
        of_parts.append(stacked)
        answers.append(u @ np.array(of_parts) / u.sum())
        past -= np.log([p[codes[i]] for p in of_parts])
        c, H = discounted_newton(c, H, surer @ (stacked - np.eye(classes)[codes[i]]))
        for g, share in enumerate(shares):
            v[g] = v[g] * heard[i, :, codes[i]]
            v[g] = (1 - share) * v[g] / v[g].sum() + share / experts
    return np.array(answers)


def mix_numbers(forecasts, y, parts, memory=1000):
    """Half squared error; labels never leave ten deviations, so that nothing is tamed and the range only grows."""
    n, experts = forecasts.shape
    shares, boldness, priors = parts
    v = [np.full(experts, 1 / experts) for _ in shares]
    past, mean, answers = np.zeros(len(priors)), 0.0, []
    c, H, steepness = np.zeros(experts), 30.0 * np.eye(experts), 0.0
    for i in range(n):
        if i == 0:
            answers.append(0.0)  # the first label says nothing of the experts
            continue
        low, high = y[:i].min(), y[:i].max()
        rate = 1 / (high - low) ** 2 if high > low else 0.0
        heard = np.clip(forecasts[i], low, high)
        u = priors * np.exp(-rate * (past - past.min()))
        points = np.array([weights @ heard for weights in v])
        average = u[:-1] @ points / u[:-1].sum()
        unit = 2 * mean / math.sqrt(steepness) if steepness > 0 else 0.0
        differs = np.clip((heard - average) / unit, -10, 10) if unit > 0 else np.zeros(experts)
        points = np.append(points, np.clip(average + unit * (c @ differs), low, high))
        answers.append(u @ points / u.sum())
        label = min(max(y[i], low), high)
        mean += ((answers[-1] - label) ** 2 / 2 - mean) / min(i + 1, memory)
        past += (points - label) ** 2 / 2
        slope = points[-1] - label
        if steepness > 0:
            c, H = discounted_newton(c, H, np.clip(slope / math.sqrt(steepness), -5, 5) * differs)
        steepness += (slope**2 - steepness) / min(i + 1, memory)
        wider = max(high, y[i]) - min(low, y[i])
        later = 1 / wider**2 if wider > 0 else 0.0
        for g, share in enumerate(shares):
            own = max(rate, 0.5 * boldness[g] / max(mean, 1e-150)) if boldness[g] else rate
            losses = (heard - label) ** 2 / 2
            v[g] = v[g] * np.exp(-own * (losses - losses.min()))
            v[g] = (1 - share) * v[g] / v[g].sum() + share / experts
            if not boldness[g] and 0 < later < rate:
                v[g] = v[g] ** (later / rate)
                v[g] /= v[g].sum()
    return np.array(answers)


def best_sequence(losses, switches):
    """The least loss of a sequence of experts with at most so many switches: by trying all ends, row by row."""
    best = np.full((switches + 1, losses.shape[1]), np.inf)
    best[0] = 0.0
    for row in losses:
        grown = best.copy()
        for m in range(1, switches + 1):
            grown[m] = np.minimum(best[m], best[m - 1].min())
        best = grown + row
    return best.min()
