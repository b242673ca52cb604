"""One answer from many forecasts, row by row: averages that follow a changing best, at several shares and rates.

    p = sum_g u_g p_g,   p_g = sum_j v_gj p_j
    v_gj <- v_gj exp(-eta_g l_j) / norm,   v_gj <- (1 - s_g) v_gj + s_g / M,   u_g ~ prior_g exp(-eta sum l(p_g))

The last part is the stack of `stacking` on the others' answer. Log loss mixes probabilities with eta = 1. Losses of
numbers mix scores: cautious parts with a rate that the range of the labels so far allows, bold ones with a rate by the
mean of what the answer's own loss is over the least possible. Who sleeps (NaN) says what the awake ones say together.
Here is what classes (`mixing_classes`) and numbers (`mixing_numbers`) have in common. All that is remembered is in
arrays that are changed in place: a batch is the loop over its rows.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.elementary import exp
from anyboost.streams.stacking import Stack

SMOOTHING = 0.01  # how quickly the weights that name a leader follow
LEAD = 0.1  # by how much another has to be ahead to be the new one
MOST_SWITCHES = 10  # of the sequences of experts that answers are compared with


class Averages(NamedTuple):
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
    smoothed: np.ndarray  # (M,) the answers' weights
    labels: np.ndarray  # see `online.labels`
    totals: np.ndarray  # one record of `TOTALS`
    coefficients: np.ndarray  # see `stacking.Stack`
    inverse: np.ndarray
    steepness: np.ndarray
    paths: np.ndarray  # (MOST_SWITCHES, M), see `_follow`


class TeamTotals(NamedTuple):
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


TOTALS = np.dtype([(name, np.float64) for name in TeamTotals._fields], align=True)


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
def stack_of(state):
    return Stack(state.coefficients, state.inverse, state.steepness)


@kernel
def share(state, parts, g, members):
    for j in range(state.weights.shape[1]):
        if state.joined[j] > 0.0:
            state.weights[g, j] = (1.0 - parts.shares[g]) * state.weights[g, j] + parts.shares[g] / members


@kernel
def reweigh(state, g, losses, rate):
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
def members_of(joined):
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
def account(state, losses, answer_loss, mean_slope, slopes, weight):
    """Losses and slopes of one row."""
    _follow(state, losses, answer_loss, weight)
    totals = state.totals[0]
    totals.rows += 1.0
    totals.weight += weight
    totals.loss += weight * answer_loss
    totals.heaviest = max(totals.heaviest, weight)
    for j in range(len(losses)):
        if not np.isnan(losses[j]) and state.joined[j] > 0.0:
            state.own[j] += weight * losses[j]
            state.beside[j] += weight * answer_loss
            state.slopes[j] += weight * (mean_slope - slopes[j])


@kernel
def lead(state, u):
    """The leader, by smoothed weights: another takes over where it is clearly ahead."""
    best = 0
    for j in range(state.weights.shape[1]):
        now = 0.0
        for g in range(len(state.weights)):
            now += u[g] * state.weights[g, j]
        state.smoothed[j] += SMOOTHING * (now - state.smoothed[j])
        if state.smoothed[j] > state.smoothed[best]:
            best = j
    totals = state.totals[0]
    leader = int(totals.leader)
    if leader < 0 or state.smoothed[best] > state.smoothed[leader] + LEAD:
        totals.leader = leader = best
    return leader
