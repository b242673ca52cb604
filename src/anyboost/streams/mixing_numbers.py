"""Scores, mixed for a loss of numbers: cautious rates, which have the bound, and bold ones (see `mixing`)."""

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import exp, log
from anyboost.backends.forms import borrowed
from anyboost.losses.numbered import SQUARED, slope, value
from anyboost.online import labels as stream_labels
from anyboost.streams.mixing import (
    Averages,
    MixtureState,
    account,
    lead,
    members_of,
    reweigh,
    share,
    stack_of,
    top_weights,
)
from anyboost.streams.stacking import learn_number, stack_number

MEMORY = 1000.0  # rows that the mean loss behind bold rates looks back


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
    totals = state.totals[0]
    spread = totals.spread
    if spread <= 1e-150:
        return 0.0
    if not convex:
        return 1.0 / (spread * spread)
    return np.sqrt(8.0 * log(max(members, 2.0)) / max(totals.rows, 1.0)) / spread


@kernel
def _see_spread(state, before, after, convex, losses):
    """The range by which rates are set; where the labels' begins again, so does it, and the parts' past."""
    totals = state.totals[0]
    if convex:
        totals.spread = max(totals.spread, _range(losses))
        return
    if after.low > before.low or after.high < before.high:
        totals.closed += totals.spread * totals.spread
        state.past[:] = 0.0
    totals.spread = after.high - after.low


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
def _tamed(before, y, convex):
    """The label that is learned from: within the range so far, which rates are for; or not too far out."""
    return stream_labels.tame(before, y) if convex else min(max(y, before.low), before.high)


@kernel
def _least(code, parameter, located, y):
    """What the loss of a label is under for no score: 0, or where scores are logarithms of means that of its own."""
    return 0.0 if located else value(code, parameter, log(max(y, 1e-300)), y)


@kernel
def _learn_number(state, parts, code, parameter, located, rate, heard, points, answer, y, weight, scratch):
    losses, own, slopes, part_losses, differs, moves = scratch
    totals, convex = state.totals[0], code != SQUARED
    before, after = _see_label(state, y, weight)
    answer_loss = value(code, parameter, answer, y)
    if before.rows == 0.0:  # the first label says where labels lie, and nothing of the experts
        losses[:] = np.nan
        account(state, losses, answer_loss, 0.0, losses, weight)
        return
    tamed = _tamed(before, y, convex)
    tamed_loss = value(code, parameter, answer, tamed)
    steepness, wild = slope(code, parameter, answer, y), 0.0
    for j in range(len(heard)):
        losses[j] = own[j] = slopes[j] = np.nan
        if not np.isnan(heard[j]):
            losses[j], own[j] = value(code, parameter, heard[j], tamed), value(code, parameter, heard[j], y)
            slopes[j] = steepness * heard[j]
            wild = max(wild, (answer_loss - tamed_loss) - (own[j] - losses[j]))
    account(state, own, answer_loss, steepness * answer, slopes, weight)
    totals.tamed += weight * wild
    # Rates are by what is lost needlessly: losses of counts and amounts change with the unit, and may be below 0.
    needless = max(tamed_loss - _least(code, parameter, located, tamed), 0.0)
    totals.mean += (needless - totals.mean) / min(totals.rows, MEMORY)
    members = members_of(state.joined)
    for g in range(len(points)):
        part_losses[g] = value(code, parameter, points[g], tamed)
        state.past[g] += weight * part_losses[g]
    for g in range(len(parts.shares)):
        bold = 0.5 * parts.boldness[g] / max(totals.mean, 1e-150)
        reweigh(state, g, losses, weight * (max(rate, bold) if parts.boldness[g] > 0.0 else rate))
        share(state, parts, g, members)
    at_stack = slope(code, parameter, points[-1], tamed)
    learn_number(stack_of(state), differs, at_stack, totals.rows, MEMORY, weight, moves[0], moves[1])
    if rate > 0.0:
        totals.largest = max(totals.largest, 1.0 / rate)
    if convex:
        widths = _range(losses), _range(part_losses[: len(points)])
        totals.price += weight * rate * (widths[0] * widths[0] + widths[1] * widths[1]) / 8.0
    _see_spread(state, before, after, convex, losses)
    _flatten(state, parts, _cautious_rate(state, convex, members))


@kernel
def mix_numbers(state, parts, code, parameter, located, forecasts, y, weights, learning, answers, leaders):
    """Answer rows (n, M) of scores, and learn from each row's label where `learning`."""
    state, parts = MixtureState(*borrowed(state)), Averages(*borrowed(parts))
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
        rate = _cautious_rate(state, code != SQUARED, members_of(state.joined))
        u = top_weights(parts, state.past, rate)
        average = _number_answer(state, u, heard, points)
        points[last] = stack_number(
            stack_of(state), state.joined, average, heard, state.totals[0].mean, differs
        )
        if located:
            points[last] = min(max(points[last], labels.low), labels.high)
        answers[i] = average + u[last] * (points[last] - average)
        if learning:
            _learn_number(
                *(state, parts, code, parameter, located, rate),
                *(heard, points, answers[i], y[i], weights[i], scratch),
            )
            leaders[i] = lead(state, u)
