"""What the children of a cut are worth, by the sums of their rows.

With S the sums of the target over a child's rows, W their mass and l2 the weight of the penalty, a child is worth

    ||S||^2 / (W + l2)           least squares, projection (4)
    ||S||_1                      the extreme atom with |h| <= 1
    max_k S_k - mean_k S_k       a class a child, projection (3)

and a cut what its two children are. Where rows have a curvature, its sums K stand in the place of W, one an output:
sum_k S_k^2 / (K_k + l2); the least mass of a child is still one of W. Sums have the targets, the curvatures, if there
are any, and the mass, last.

A sum within `noise` units a unit of mass, which is what rounding the rows can leave behind, counts as zero.

Trees that keep an order (monotone columns) have values within bounds: a child is then worth
2 <v, S> - (W + l2) ||v||^2  or  <v, S>  for its free value, clipped, v, and a cut along an ordered column is allowed
where the values of its children are in that order, output by output.

Most trees are plain: least squares of one output, without an order. Kernels take `rules` for all others, and `bends`,
room for sums of curvature, where there is any; where None is passed instead, Numba leaves out what they would need, and
a first fit does not wait until it is compiled.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined, inner
from anyboost.backends.simd import WIDTH, fill, load, select, store
from anyboost.trees.rules import CLASS, LEAST_SQUARES
from anyboost.trees.table import BINS, GROUP

LEFT = BINS  # where in `scores` those with missing values on the left begin
_APART = BINS + 8  # from a channel to the next: a power of two would have all on one line of the cache


class Scratch(NamedTuple):
    """Room to work in, a thread's own: kernels make no arrays."""

    counters: np.ndarray  # see `histogram.count_columns` and `count_pairs`
    scores: np.ndarray  # of cuts, from LEFT on with missing values on the left
    keys: np.ndarray  # of categories, in order
    bins: np.ndarray  # they, or cuts
    left: np.ndarray  # (256,): sums on the left of cuts
    left_mass: np.ndarray
    children: np.ndarray  # (2, channels): the sums of both children of one cut
    values: np.ndarray  # (2, channels): what they are filled with
    children_of_cuts: np.ndarray  # (2, channels, 256 and some): the same of all cuts, as floats

    @classmethod
    def of(cls, channels: int) -> "Scratch":
        bins, left, left_mass = np.empty((3, BINS), dtype=np.int64)
        return cls(
            np.zeros(2 * GROUP * BINS, dtype=np.int64),
            np.empty(2 * LEFT),
            np.empty(BINS),
            bins,
            left,
            left_mass,
            np.empty((2, channels), dtype=np.int64),
            np.empty((2, channels)),
            np.zeros((2, channels, _APART)),
        )


@inlined(early=True)
def plain_worth(total, weight, mass, limits):
    value = np.float64(total)
    if abs(value) <= limits.noise * np.float64(mass):
        return 0.0
    return value * value / (np.float64(weight) + limits.l2)


@inlined(early=True)
def weight_of(sums, outputs, j):
    # By what output j of these sums is divided: its curvature, or the mass, which stands there where there is none.
    return np.float64(sums[outputs + (j if sums.shape[0] > outputs + 1 else 0)])


@inlined(early=True)
def _worth(sums, outputs, limits, criterion):
    # What a child without bounds is worth.
    total = 0.0
    nothing = limits.noise * np.float64(sums[sums.shape[0] - 1])
    if criterion == CLASS:
        # How far the largest sum is above the mean of all: never negative.
        most = np.float64(sums[0])
        for j in range(outputs):
            value = np.float64(sums[j])
            total += value
            most = max(most, value)
        lead = most - total / outputs
        return lead if lead > nothing else 0.0
    curved = sums.shape[0] > outputs + 1
    for j in range(outputs):
        value = abs(np.float64(sums[j]))
        if value > nothing:
            gained = value * value if criterion == LEAST_SQUARES else value
            total += gained / (weight_of(sums, outputs, j) + limits.l2) if curved else gained
    if curved or criterion != LEAST_SQUARES:
        return total
    return total / (np.float64(sums[outputs]) + limits.l2)


@inlined(early=True)
def free_value(sums, outputs, j, limits, criterion):
    """What output j of a child with these sums would be filled with, were there no bounds."""
    s = np.float64(sums[j])
    if abs(s) <= limits.noise * np.float64(sums[sums.shape[0] - 1]):
        return 0.0
    return (
        s / (weight_of(sums, outputs, j) + limits.l2)
        if criterion == LEAST_SQUARES
        else np.float64(np.sign(s))
    )


@inner
def _bounded_worth(sums, outputs, limits, criterion, bounds, value):
    # What a child within bounds (2, k) is worth, and in `value` (k,) what it is filled with.
    total = 0.0
    nothing = limits.noise * np.float64(sums[sums.shape[0] - 1])
    for j in range(outputs):
        s = np.float64(sums[j])
        s = s if abs(s) > nothing else 0.0
        v = min(max(free_value(sums, outputs, j, limits, criterion), bounds[0, j]), bounds[1, j])
        value[j] = v
        weight = weight_of(sums, outputs, j) + limits.l2
        total += v * (2.0 * s - v * weight) if criterion == LEAST_SQUARES else v * s
    return total


@inner
def ruled_worth(sums, limits, criterion, ordered, bounds, value):
    # What a child is worth; `value` becomes what it is filled with, where there are bounds. It is called for every cut,
    # so it is not handed all of the rules.
    outputs = bounds.shape[1]
    if ordered and criterion != CLASS:  # a class has no bounds
        return _bounded_worth(sums, outputs, limits, criterion, bounds, value)
    return _worth(sums, outputs, limits, criterion)


@inlined(early=True)
def _real(whole):
    # np.float64(whole), rounded once as that is, by its halves: of these, machines convert several at a time.
    return np.float64(np.int32(whole >> 32)) * 4294967296.0 + np.float64(np.uint32(whole & 0xFFFFFFFF))


@inlined(early=True)
def _kept(here, mass, noise):
    # A sum as a float, zero where it is noise.
    value = _real(here)
    return value if abs(value) > noise * mass else 0.0


@inlined(early=True)
def _free_score(a, c, w, v):
    return (a * a * v + c * c * w) / (w * v)


@inlined(early=True)
def _bounded_score(a, c, w, v, low, high, sign, ordered):
    p, q = a / w, c / v
    p = p if p > low else low
    p = p if p < high else high
    q = q if q > low else low
    q = q if q < high else high
    score = p * (2.0 * a - p * w) + q * (2.0 * c - q * v)
    return score if sign * (q - p) >= 0.0 or not ordered else -np.inf


# Least squares with one output, the common case: no branch, several cuts at a time. `lost` is what missing values
# add on the left.


@inner
def score_one(left, left_mass, lost, total, limits, scores, bounds, sign, n_ordered, bends):
    # Without bounds (None) with one division a cut; within bounds the first `n_ordered` cuts must be in order.
    noise, l2, least = limits.noise, limits.l2, limits.least
    last = total.shape[0] - 1
    lost_sum, lost_mass, whole, mass = lost[0], lost[last], total[0], total[last]
    lost_weight, weight = lost[1], total[1]
    low, high = -np.inf, np.inf
    if bounds is not None:
        low, high = bounds[0, 0], bounds[1, 0]
    for i in range(scores.shape[0]):
        here, here_mass = left[i] + lost_sum, left_mass[i] + lost_mass
        w, v = _real(here_mass), _real(mass - here_mass)
        a, c = _kept(here, w, noise), _kept(whole - here, v, noise)
        if bends is not None:
            here_weight = bends[i] + lost_weight
            w, v = _real(here_weight), _real(weight - here_weight)
            w = w if w > 0.0 else 1.0  # then all its targets are zero
            v = v if v > 0.0 else 1.0
        w += l2
        v += l2
        if bounds is None:
            score = _free_score(a, c, w, v)
        else:
            score = _bounded_score(a, c, w, v, low, high, sign, i < n_ordered)
        scores[i] = score if min(here_mass, mass - here_mass) >= least else -np.inf


# Least squares of several outputs, four cuts at a time, each with the very sums of `_worth`.


@inner
def score_outputs(children, outputs, limits, scores):
    """scores[i] of cut i, from the sums of its children; there is room behind the last for a whole register."""
    for i in range(0, scores.shape[0], WIDTH):
        left, right = _worths(children[0], outputs, i, limits), _worths(children[1], outputs, i, limits)
        store(scores, 0, i, left + right)


@inlined
def _worths(sums, outputs, i, limits):
    last = sums.shape[0] - 1
    mass, curved = load(sums, last, i), last > outputs
    nothing, found = limits.noise * mass, fill(0.0)
    for j in range(outputs):
        value = load(sums, j, i)
        gained = value * value
        if curved:
            gained = gained / (load(sums, outputs + j, i) + limits.l2)
        found = found + select(abs(value) > nothing, gained, fill(0.0))
    return found if curved else found / (mass + limits.l2)


@inlined(early=True)
def is_plain(rules):
    # Whether rules, where there are any, say nothing about scores.
    return rules.bounds.shape[2] == 1 and rules.criterion == LEAST_SQUARES and not rules.ordered


@inlined(early=True)
def largest(scores, rules):
    if rules is not None and rules.ordered:
        most = -np.inf
        for i in range(scores.shape[0]):
            most = max(most, scores[i])
        return most
    # Without bounds scores are -inf or not negative, so their bits are ordered as they are, and integers are compared
    # faster.
    top = np.float64(-np.inf).view(np.int64)
    for i in range(scores.shape[0]):
        top = max(top, np.float64(scores[i]).view(np.int64))
    return np.int64(top).view(np.float64)
