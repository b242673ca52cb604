"""Mixing, slowly: the equations of MATHS, one row and one part at a time, with logarithms of weights."""

import math

import numpy as np

FLOOR = 1e-5


def mix_classes(forecasts, codes, shares):
    """Answers to (n, M, K) probabilities, all experts in from the start, each row learnt after its answer."""
    n, experts, classes = forecasts.shape
    heard = (1 - classes * FLOOR) * forecasts + FLOOR
    v = [np.full(experts, 1 / experts) for _ in shares]
    past = np.zeros(len(shares))
    answers = []
    for i in range(n):
        u = np.exp(-past) / np.exp(-past).sum()
        of_parts = [weights @ heard[i] for weights in v]
        answers.append(sum(a * p for a, p in zip(u, of_parts, strict=True)))
        for g, share in enumerate(shares):
            past[g] -= math.log(of_parts[g][codes[i]])
            v[g] = v[g] * heard[i, :, codes[i]]
            v[g] = (1 - share) * v[g] / v[g].sum() + share / experts
    return np.array(answers)


def mix_numbers(forecasts, y, parts, memory=1000):
    """Half squared error; labels never leave ten deviations, so that nothing is tamed and the range only grows."""
    n, experts = forecasts.shape
    shares, boldness, priors = parts
    v = [np.full(experts, 1 / experts) for _ in shares]
    past, mean, answers = np.zeros(len(shares)), 0.0, []
    for i in range(n):
        if i == 0:
            answers.append(0.0)  # the first label says nothing of the experts
            continue
        low, high = y[:i].min(), y[:i].max()
        rate = 1 / (high - low) ** 2 if high > low else 0.0
        heard = np.clip(forecasts[i], low, high)
        u = priors * np.exp(-rate * (past - past.min()))
        u /= u.sum()
        points = np.array([weights @ heard for weights in v])
        answers.append(u @ points)
        label = min(max(y[i], low), high)
        mean += ((answers[-1] - label) ** 2 / 2 - mean) / min(i + 1, memory)
        past += (points - label) ** 2 / 2
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
