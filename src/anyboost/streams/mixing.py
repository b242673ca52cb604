"""One answer from many forecasts, row by row: averages that follow a changing best, at several shares and rates.

    p = sum_g u_g p_g,   p_g = sum_j v_gj p_j
    v_gj <- v_gj exp(-eta_g l_j) / norm,   v_gj <- (1 - s_g) v_gj + s_g / M,   u_g ~ prior_g exp(-eta sum l(p_g))

The last part is the stack of `stacking` on the others' answer. Log loss mixes probabilities with eta = 1. Losses of
numbers mix scores: cautious parts with a rate that the range of the labels so far allows, bold ones with a rate by the
mean of what the answer's own loss is over the least possible. Who sleeps (NaN) says what the awake ones say together.
All that is remembered is in arrays that are changed in place: a batch is the loop over its rows.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.elementary import exp, log
from anyboost.backends.forms import borrowed
from anyboost.backends.numbered import SQUARED, slope, value
from anyboost.online import labels as stream_labels
from anyboost.streams.stacking import Stack, learn_class, learn_number, stack_classes, stack_number

CALM = 0.01  # how quickly the weights that name a leader follow
LEAD = 0.1  # by how much another has to be ahead to be the new one
MEMORY = 1000.0  # rows that the mean loss behind bold rates looks back
MOST_SWITCHES = 10  # of the sequences of experts that answers are compared with


class Parts(NamedTuple):
    """The averages under the average, G of them, and the stack; read only."""

    shares: np.ndarray
    boldness: np.ndarray  # times 1 / (2 mean); 0: by the range
    priors: np.ndarray  # (G + 1,) the last is the stack's; 0 where there is none


class MixtureState(NamedTuple):
    """What a mixture of M experts in G parts remembers."""

    weights: np.ndarray  # (G, M) v; 0 for who has not joined
    past: np.ndarray  # (G + 1,) losses of the parts
    rates: np.ndarray  # (G,) of the last row; 0 before the first
    joined: np.ndarray  # (M,) 1.0, or 0.0
    own: np.ndarray  # (M,) losses of each expert, as it is heard, since it joined
    beside: np.ndarray  # (M,) losses of the answers on the same rows
    slopes: np.ndarray  # (M,) sums of <gradient, weights> - gradient_j
    calm: np.ndarray  # (M,) smoothed weights
    labels: np.ndarray  # see `online.labels`
    totals: np.ndarray  # see `Totals`
    coefficients: np.ndarray  # see `stacking.Stack`
    inverse: np.ndarray
    steepness: np.ndarray
    paths: np.ndarray  # (MOST_SWITCHES, M), see `_follow`


class Totals(NamedTuple):
    """Sums over rows."""

    rows: float
    weight: float
    loss: float
    mean: float  # of the answers' losses lately, over the least there are at their labels
    spread: float  # the largest difference of two experts' losses, or the range of labels
    closed: float  # 1 / rate, summed over times after which the range began again
    price: float  # what rates have cost beyond an exp-concave loss's
    tamed: float  # what wild labels, which are learned from tamed, have cost at most
    leader: float
    largest: float  # the largest 1 / rate
    entry: float  # what those who joined have taken from the others' weights, as a logarithm
    heaviest: float  # the largest weight of a row


ROWS, WEIGHT, LOSS, MEAN, SPREAD, CLOSED, PRICE, TAMED, LEADER, LARGEST, ENTRY, HEAVIEST = range(
    len(Totals._fields)
)


@kernel
def top_weights(parts, past, rate):
    """u of each average, which are 1 together, and behind them the stack's share in the answer."""
    best, last = np.inf, len(past) - 1
    for g in range(last):
        best = min(best, past[g])
    u, total = np.empty(len(past)), 0.0
    for g in range(last):
        u[g] = parts.priors[g] * exp(-rate * (past[g] - best))
        total += u[g]
    for g in range(last):
        u[g] /= total
    # One of the two exponents is 0, so that neither is ever too large.
    ahead = past[last] - best
    stacked = parts.priors[last] * exp(-rate * max(ahead, 0.0))
    u[last] = stacked / (stacked + total * exp(-rate * max(-ahead, 0.0))) if stacked > 0.0 else 0.0
    return u


@inlined
def _stack(state):
    return Stack(state.coefficients, state.inverse, state.steepness)


@kernel
def _share(state, parts, g, members):
    for j in range(state.weights.shape[1]):
        if state.joined[j] > 0.0:
            state.weights[g, j] = (1.0 - parts.shares[g]) * state.weights[g, j] + parts.shares[g] / members


@kernel
def _reweigh(state, g, losses, rate):
    """v_j exp(-rate l_j) for those that are awake, whose mass together stays what it was."""
    best, before, after = np.inf, 0.0, 0.0
    for j in range(len(losses)):
        if not np.isnan(losses[j]) and state.weights[g, j] > 0.0:
            best = min(best, losses[j])
    for j in range(len(losses)):
        if not np.isnan(losses[j]) and state.weights[g, j] > 0.0:
            before += state.weights[g, j]
            state.weights[g, j] *= exp(-rate * (losses[j] - best))
            after += state.weights[g, j]
    for j in range(len(losses)):
        if not np.isnan(losses[j]) and state.weights[g, j] > 0.0:
            state.weights[g, j] *= before / after


@kernel
def _members(joined):
    return max(joined.sum(), 1.0)


@kernel
def _follow(state, losses, answer_loss, weight):
    """paths[s, j]: what the best sequence of experts that ends with j after s + 1 switches or fewer has lost over the
    answers' losses. Before `own` and `beside` have the row: their difference is that of no switch."""
    paths = state.paths
    for s in range(len(paths) - 1, -1, -1):
        least = np.inf
        for j in range(len(losses)):
            if state.joined[j] > 0.0:
                least = min(least, paths[s - 1, j] if s > 0 else state.own[j] - state.beside[j])
        for j in range(len(losses)):
            if state.joined[j] > 0.0:
                paths[s, j] = min(paths[s, j], least)
                if not np.isnan(losses[j]):
                    paths[s, j] += weight * (losses[j] - answer_loss)


@kernel
def _account(state, losses, answer_loss, mean_slope, slopes, weight):
    """Losses and slopes of one row."""
    _follow(state, losses, answer_loss, weight)
    totals = state.totals
    totals[ROWS] += 1.0
    totals[WEIGHT] += weight
    totals[LOSS] += weight * answer_loss
    totals[HEAVIEST] = max(totals[HEAVIEST], weight)
    for j in range(len(losses)):
        if not np.isnan(losses[j]) and state.joined[j] > 0.0:
            state.own[j] += weight * losses[j]
            state.beside[j] += weight * answer_loss
            state.slopes[j] += weight * (mean_slope - slopes[j])


@kernel
def _lead(state, u):
    """The leader, by smoothed weights: another takes over where it is clearly ahead."""
    best = 0
    for j in range(state.weights.shape[1]):
        now = 0.0
        for g in range(len(state.weights)):
            now += u[g] * state.weights[g, j]
        state.calm[j] += CALM * (now - state.calm[j])
        if state.calm[j] > state.calm[best]:
            best = j
    leader = int(state.totals[LEADER])
    if leader < 0 or state.calm[best] > state.calm[leader] + LEAD:
        state.totals[LEADER] = leader = best
    return leader


# Classes ---------------------------------------------------------------------------------------------------------


@kernel
def _floored(forecast, k, classes, floor):
    return (1.0 - classes * floor) * forecast[k] + floor


@kernel
def _class_answer(state, u, forecasts, floor, out, chances, label):
    """The averages' probabilities of a row, and chances[g], what each gives the label; no one awake: equal ones."""
    experts, classes = forecasts.shape
    out[:] = 0.0
    for g in range(len(state.weights)):
        mass, chances[g] = 0.0, 0.0
        for j in range(experts):
            if not np.isnan(forecasts[j, 0]):
                mass += state.weights[g, j]
                chances[g] += state.weights[g, j] * _floored(forecasts[j], label, classes, floor)
        if mass > 0.0:
            chances[g] /= mass
            for j in range(experts):
                if not np.isnan(forecasts[j, 0]):
                    scaled = u[g] * state.weights[g, j] / mass
                    for k in range(classes):
                        out[k] += scaled * _floored(forecasts[j], k, classes, floor)
        else:
            chances[g] = 1.0 / classes
            for k in range(classes):
                out[k] += u[g] / classes


@kernel
def mix_classes(state, parts, floor, forecasts, codes, weights, learning, answers, leaders):
    """Answer rows (n, M, K) of probabilities, and learn from each row's class where `learning`."""
    state, parts = MixtureState(*borrowed(state)), Parts(*borrowed(parts))
    _, experts, classes = forecasts.shape
    chances, losses, slopes = np.empty(len(parts.priors)), np.empty(experts), np.empty(experts)
    stack, stacked, surer = _stack(state), np.empty(classes), np.empty((experts + 1, classes))
    scratch, last = np.empty((2, experts + 1)), len(parts.shares)
    for i in range(len(forecasts)):
        u = top_weights(parts, state.past, 1.0)
        label = codes[i] if learning else 0
        _class_answer(state, u, forecasts[i], floor, answers[i], chances, label)
        stack_classes(stack, state.joined, answers[i], forecasts[i], floor, surer, stacked)
        for k in range(classes):
            answers[i, k] += u[last] * (stacked[k] - answers[i, k])
        if learning:
            chance, chances[last] = answers[i, label], stacked[label]
            for j in range(experts):
                own = _floored(forecasts[i, j], label, classes, floor)
                losses[j], slopes[j] = -log(own), -own / chance
            _account(state, losses, -log(chance), -1.0, slopes, weights[i])
            members = _members(state.joined)
            for g in range(last + 1):
                state.past[g] -= weights[i] * log(chances[g])
            for g in range(last):
                _reweigh(state, g, losses, weights[i])
                _share(state, parts, g, members)
            learn_class(stack, surer, stacked, label, weights[i], scratch[0], scratch[1])
            leaders[i] = _lead(state, top_weights(parts, state.past, 1.0))


# Numbers ---------------------------------------------------------------------------------------------------------


@kernel
def _heard(forecasts, located, low, high, heard):
    """Forecasts as the team hears them: within the range of the labels, where scores lie on their scale."""
    for j in range(len(forecasts)):
        heard[j] = (
            min(max(forecasts[j], low), high) if located and not np.isnan(forecasts[j]) else forecasts[j]
        )


@kernel
def _number_answer(state, u, heard, points):
    """The averages' score of a row, and points[g], that of each; no one awake: 0."""
    answer = 0.0
    for g in range(len(state.weights)):
        mass, points[g] = 0.0, 0.0
        for j in range(len(heard)):
            if not np.isnan(heard[j]):
                mass += state.weights[g, j]
                points[g] += state.weights[g, j] * heard[j]
        if mass > 0.0:
            points[g] /= mass
        answer += u[g] * points[g]
    return answer


@kernel
def _range(values):
    low, high = np.inf, -np.inf
    for each in values:
        if not np.isnan(each):
            low, high = min(low, each), max(high, each)
    return max(high - low, 0.0)


@kernel
def _cautious_rate(state, convex, members):
    """1 / range^2 of half squared errors; sqrt(8 ln M / t) / range for losses that are convex only; 0: no range yet."""
    spread = state.totals[SPREAD]
    if spread <= 1e-150:
        return 0.0
    if not convex:
        return 1.0 / (spread * spread)
    return np.sqrt(8.0 * log(max(members, 2.0)) / max(state.totals[ROWS], 1.0)) / spread


@kernel
def _see_spread(state, before, after, convex, losses):
    """The range by which rates are set; where the labels' begins again, so does it, and the parts' past."""
    totals = state.totals
    if convex:
        totals[SPREAD] = max(totals[SPREAD], _range(losses))
        return
    if after.low > before.low or after.high < before.high:
        totals[CLOSED] += totals[SPREAD] * totals[SPREAD]
        state.past[:] = 0.0
    totals[SPREAD] = after.high - after.low


@kernel
def _flatten(state, parts, rate):
    """After the cautious rate has fallen: the weights that the losses so far have at the new one."""
    for g in range(len(parts.shares)):
        before = state.rates[g]
        if parts.boldness[g] > 0.0 or rate == 0.0:
            continue
        state.rates[g] = rate
        if before > rate:
            total = 0.0
            for j in range(state.weights.shape[1]):
                if state.weights[g, j] > 0.0:
                    state.weights[g, j] = exp(rate / before * log(state.weights[g, j]))
                    total += state.weights[g, j]
            for j in range(state.weights.shape[1]):
                state.weights[g, j] /= max(total, 1e-300)


@kernel
def _see_label(state, y, weight):
    """What is known of the labels, before and after one more."""
    before = stream_labels.read(state.labels)
    after = stream_labels.after(before, y, weight, 0.0)
    stream_labels.write(state.labels, after)
    return before, after


@kernel
def _calm(before, y, convex):
    """The label that is learned from: within the range so far, which rates are for; or not too far out."""
    return stream_labels.tame(before, y) if convex else min(max(y, before.low), before.high)


@kernel
def _least(code, parameter, located, y):
    """What the loss of a label is under for no score: 0, or where scores are logarithms of means that of its own."""
    return 0.0 if located else value(code, parameter, log(max(y, 1e-300)), y)


@kernel
def _learn_number(state, parts, code, parameter, located, rate, heard, points, answer, y, weight, scratch):
    losses, own, slopes, part_losses, differs, moves = scratch
    totals, convex = state.totals, code != SQUARED
    before, after = _see_label(state, y, weight)
    answer_loss = value(code, parameter, answer, y)
    if before.rows == 0.0:  # the first label says where labels lie, and nothing of the experts
        losses[:] = np.nan
        _account(state, losses, answer_loss, 0.0, losses, weight)
        return
    calm = _calm(before, y, convex)
    calm_loss = value(code, parameter, answer, calm)
    steepness, wild = slope(code, parameter, answer, y), 0.0
    for j in range(len(heard)):
        losses[j] = own[j] = slopes[j] = np.nan
        if not np.isnan(heard[j]):
            losses[j], own[j] = value(code, parameter, heard[j], calm), value(code, parameter, heard[j], y)
            slopes[j] = steepness * heard[j]
            wild = max(wild, (answer_loss - calm_loss) - (own[j] - losses[j]))
    _account(state, own, answer_loss, steepness * answer, slopes, weight)
    totals[TAMED] += weight * wild
    # Rates are by what is lost needlessly: losses of counts and amounts change with the unit, and may be below 0.
    needless = max(calm_loss - _least(code, parameter, located, calm), 0.0)
    totals[MEAN] += (needless - totals[MEAN]) / min(totals[ROWS], MEMORY)
    members = _members(state.joined)
    for g in range(len(points)):
        part_losses[g] = value(code, parameter, points[g], calm)
        state.past[g] += weight * part_losses[g]
    for g in range(len(parts.shares)):
        bold = 0.5 * parts.boldness[g] / max(totals[MEAN], 1e-150)
        _reweigh(state, g, losses, weight * (max(rate, bold) if parts.boldness[g] > 0.0 else rate))
        _share(state, parts, g, members)
    at_stack = slope(code, parameter, points[-1], calm)
    learn_number(_stack(state), differs, at_stack, totals[ROWS], MEMORY, weight, moves[0], moves[1])
    if rate > 0.0:
        totals[LARGEST] = max(totals[LARGEST], 1.0 / rate)
    if convex:
        widths = _range(losses), _range(part_losses[: len(points)])
        totals[PRICE] += weight * rate * (widths[0] * widths[0] + widths[1] * widths[1]) / 8.0
    _see_spread(state, before, after, convex, losses)
    _flatten(state, parts, _cautious_rate(state, convex, members))


@kernel
def mix_numbers(state, parts, code, parameter, located, forecasts, y, weights, learning, answers, leaders):
    """Answer rows (n, M) of scores, and learn from each row's label where `learning`."""
    state, parts = MixtureState(*borrowed(state)), Parts(*borrowed(parts))
    experts, last = forecasts.shape[1], len(parts.shares)
    heard, points, space = np.empty(experts), np.empty(last + 1), np.empty((3, experts))
    differs, moves = np.empty(experts), np.empty((2, experts))
    scratch = space[0], space[1], space[2], np.empty(last + 1), differs, moves
    for i in range(len(forecasts)):
        labels = stream_labels.read(state.labels)
        if labels.rows == 0.0:
            heard[:] = np.nan
        else:
            _heard(forecasts[i], located, labels.low, labels.high, heard)
        rate = _cautious_rate(state, code != SQUARED, _members(state.joined))
        u = top_weights(parts, state.past, rate)
        average = _number_answer(state, u, heard, points)
        points[last] = stack_number(_stack(state), state.joined, average, heard, state.totals[MEAN], differs)
        if located:
            points[last] = min(max(points[last], labels.low), labels.high)
        answers[i] = average + u[last] * (points[last] - average)
        if learning:
            _learn_number(
                *(state, parts, code, parameter, located, rate),
                *(heard, points, answers[i], y[i], weights[i], scratch),
            )
            leaders[i] = _lead(state, u)
