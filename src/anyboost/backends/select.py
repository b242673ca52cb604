"""Weighted quantiles of many groups of numbers, found digit by digit: nothing is sorted.

With their sign bit turned, and all bits of negative ones, floats are ordered like unsigned integers. The weights of
all first digits of a group tell the first digit of its quantile; only the numbers that share it are looked at
again, for the next digit. Weights are rounded to whole multiples of a unit, so that their sums are exact.
"""

import math

import numpy as np

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.sums import PartedRows, sum_bits

_TIE = 1e-12
_MOST_COUNTERS = 2**17  # a megabyte: what the second cache holds
_FEW = 2048  # numbers that are sooner put in order than told apart by more digits
_FEW_EACH = 8  # of a group, that a digit is to leave
_SIGN = -(2**63)
_NOTHING = ~np.uint64(0)  # beyond the largest number


# Without branches, which would go wrong at every other sign; indices are unsigned, so that none counts from the end.


@inlined(early=True)
def ordered(x):
    bits = np.float64(x).view(np.int64)
    return np.uint64(bits ^ ((bits >> 63) | _SIGN))


@inlined(early=True)
def _mass(weight, scale):
    return np.int64(np.rint(weight * scale))


@kernel
def _weigh_first(values, weights, group, scale, shift, counts):
    shift, digits = np.uint64(shift), np.uint64(counts.shape[1])
    counts = counts.reshape(-1)
    for i in range(values.shape[0]):
        counts[np.uint64(group[i]) * digits + (ordered(values[i]) >> shift)] += _mass(weights[i], scale)


@kernel
def _keep_first(values, weights, group, scale, shift, digits, keys, masses, groups):
    shift, kept = np.uint64(shift), np.uint64(0)
    for i in range(values.shape[0]):
        key, k = ordered(values[i]), np.uint64(group[i])
        keys[kept], masses[kept], groups[kept] = key, _mass(weights[i], scale), group[i]
        kept += np.uint64(key >> shift == digits[k])
    return kept


@kernel
def _choose(counts, wanted, below, digits):
    # The first digit at which each group's weight from below passes what is wanted, else its last one that has any.
    for k in range(counts.shape[0]):
        passed = below[k]
        for digit in range(counts.shape[1]):
            if counts[k, digit] > 0:
                digits[k], below[k] = digit, passed
                passed += counts[k, digit]
                if passed >= wanted[k]:
                    break


@kernel
def _weigh_next(keys, masses, groups, kept, shift, counts):
    shift, mask = np.uint64(shift), np.uint64(counts.shape[1] - 1)
    for i in range(kept):
        counts[groups[i], (keys[i] >> shift) & mask] += masses[i]


@kernel
def _keep_next(keys, masses, groups, kept, shift, mask, digits, beyond):
    # Those who have the digit of their group's quantile; of the others, the next larger one.
    shift, mask = np.uint64(shift), np.uint64(mask)
    before, kept = kept, 0
    for i in range(before):
        k, digit = groups[i], (keys[i] >> shift) & mask
        if digit == digits[k]:
            keys[kept], masses[kept], groups[kept] = keys[i], masses[i], k
            kept += 1
        elif digit > digits[k] and masses[i] > 0:
            beyond[k] = min(beyond[k], keys[i])
    return kept


@kernel
def _choose_listed(keys, masses, groups, wanted, passed, found, beyond):
    # The same among numbers in order, a group's after another's, whose weight then is passed too; and what follows.
    # Those without mass are only there to follow.
    for i in range(keys.shape[0]):
        k = groups[i]
        if passed[k] >= wanted[k] and keys[i] != found[k]:
            beyond[k] = min(beyond[k], keys[i])
        elif masses[i] > 0:
            found[k] = keys[i]
            passed[k] += masses[i]


@kernel
def _next(values, weights, group, scale, found, beyond):
    # The smallest number above each group's quantile.
    for i in range(values.shape[0]):
        key, k = ordered(values[i]), np.uint64(group[i])
        if found[k] < key < beyond[k] and _mass(weights[i], scale) > 0:
            beyond[k] = key


def floats(keys: np.ndarray) -> np.ndarray:
    bits = keys.view(np.int64) ^ np.int64(_SIGN)
    return np.where(bits < 0, ~bits ^ np.int64(_SIGN), bits).view(np.float64)


def quantiles(
    values: np.ndarray,
    weights: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    level: float | np.ndarray,
    rows: PartedRows,
) -> np.ndarray:
    """Where each group's cumulated weight passes `level` times its total; 0 for groups without weight.

    Where the cumulated weight equals that share (within 1e-12 of the total) every point up to the next
    value is a quantile, and the midpoint is returned. `level` is one number or one a group; levels 0
    and 1 give the group's smallest and largest value. A weight under 2^-51 of the heaviest (more for over 2048
    rows) counts as none, as it does in histograms.
    """
    extremes = np.array([weights.max(initial=0.0), -weights.min(initial=np.inf)])
    heaviest, lightest = np.abs(rows.most(extremes)).tolist()
    if heaviest == 0.0:
        return np.zeros(n_groups)
    scale = math.ldexp(1.0, sum_bits(rows.n) - math.frexp(heaviest)[1])
    each = np.rint(lightest * scale)  # at least, of a number's weight
    room = min(_MOST_COUNTERS, 8 * rows.n) / n_groups
    width = min(max(int(math.log2(room)), 2), 16)  # bits of a digit
    left = 64 - width
    # A few counters more than digits: groups a power of two apart would get into each other's way in the cache.
    counts = np.zeros((n_groups, (1 << width) + 8), dtype=np.int64)
    _weigh_first(values, weights, group, scale, left, counts)
    counts = rows.add(counts.reshape(-1)).reshape(counts.shape)
    total = counts.sum(axis=1)
    share = total * np.broadcast_to(level, n_groups)
    slack = _TIE * total
    wanted = np.maximum(np.ceil(share - slack).astype(np.int64), 1)
    passed = np.zeros(n_groups, dtype=np.int64)
    digits = np.zeros(n_groups, dtype=np.uint64)
    _choose(counts, wanted, passed, digits)
    keys = np.empty(len(values), dtype=np.uint64)
    masses = np.empty(len(values), dtype=np.int64)
    groups = np.empty(len(values), dtype=group.dtype)
    kept = _keep_first(values, weights, group, scale, left, digits, keys, masses, groups)
    found = digits << np.uint64(left)
    beyond = np.full(n_groups, _NOTHING)
    in_question = counts[np.arange(n_groups), digits]
    # The next digit, among those who are still in question
    while left > 0 and in_question.sum() > _FEW * each:
        many = in_question.max() / (_FEW_EACH * each) if each else math.inf
        taken = min(width if many > 1 << width else max(math.ceil(math.log2(max(many, 1.0))), 2), left)
        left -= taken
        counts = np.zeros((n_groups, 1 << taken), dtype=np.int64)
        _weigh_next(keys, masses, groups, kept, left, counts)
        counts = rows.add(counts.reshape(-1)).reshape(counts.shape)
        _choose(counts, wanted, passed, digits)
        found |= digits << np.uint64(left)
        kept = _keep_next(keys, masses, groups, kept, left, (1 << taken) - 1, digits, beyond)
        in_question = counts[np.arange(n_groups), digits]
    if left > 0:
        _list(keys[:kept], masses[:kept], groups[:kept], wanted, passed, found, beyond, rows)
    else:
        passed += in_question
        beyond = ~rows.most(~beyond)
    tied = (np.abs(passed - share) <= slack) & (total > 0)
    if np.any(beyond[tied] == _NOTHING):  # the next larger one has another first digit, or there is none
        _next(values, weights, group, scale, found, beyond)
        beyond = ~rows.most(~beyond)
    return np.where(total > 0, _points(found, beyond, tied), 0.0)


def _points(found: np.ndarray, beyond: np.ndarray, tied: np.ndarray) -> np.ndarray:
    """The numbers found; where they are tied with those beyond, if there are any, the midpoint."""
    here = floats(found)
    middle = here + 0.5 * (floats(np.where(beyond == _NOTHING, found, beyond)) - here)
    return np.where(tied, middle, here)


def _list(
    keys: np.ndarray,
    masses: np.ndarray,
    groups: np.ndarray,
    wanted: np.ndarray,
    passed: np.ndarray,
    found: np.ndarray,
    beyond: np.ndarray,
    rows: PartedRows,
) -> None:
    """Find the quantiles among the few numbers left, and what follows them."""
    some = np.flatnonzero(masses)
    follow = np.flatnonzero(beyond != _NOTHING)
    own = np.empty((len(some) + len(follow), 3), dtype=np.int64)
    own[: len(some)] = np.stack([keys[some].view(np.int64), masses[some], groups[some]], axis=1)
    own[len(some) :] = np.stack([beyond[follow].view(np.int64), np.zeros_like(follow), follow], axis=1)
    columns = rows.gather(own).T
    keys, masses, groups = columns[0].view(np.uint64), columns[1], columns[2]
    order = np.lexsort((keys, groups))
    _choose_listed(keys[order], masses[order], groups[order], wanted, passed, found, beyond)
