"""Thresholds of a column whose rows come in portions, or lie in several parts: those of all rows in one place.

Nothing is sorted and no row is kept. With their sign bit turned, and all bits of negative ones, floats are ordered like
unsigned integers. A pass adds up the masses of all first digits; those tell the first digits of the values at which the
mass reaches the goals (`goals`), and the next pass adds up the next digits of the rows that have one of these. A last
pass finds what follows each such value.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.select import floats, ordered
from anyboost.trees.questions import Agreement, Search, found_by

Portions = Callable[[], Iterable[tuple[np.ndarray, np.ndarray | None]]]

_TIE = 1e-9
_FIRST, _NEXT = (
    16,
    12,
)  # bits of a digit: the first has half a megabyte of counters, others 32 KB a goal at most
OF_PARTS = 6  # bits that parts add up at a time: 130 KB for all goals, and not 8 MB
_ONES = np.empty(0, dtype=np.int64)
_NOTHING = ~np.uint64(0)  # above every key


def goals(total: float, max_bins: int) -> np.ndarray:
    """The mass, counted from the smallest value on, at which each bin but the last is full."""
    return np.arange(1, max_bins) * total / max_bins - _TIE * total


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Points t with low <= t < high, halfway where floating point allows."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low + (high - low) / 2
    return np.where((low <= middle) & (middle < high), middle, low)


def thresholds(
    portions: Portions, max_bins: int, dtype: Any, digit: int = _NEXT
) -> Search[tuple[np.ndarray, bool]]:
    """A search for the thresholds of one column, in float64, and whether it has missing values.

    Parameters
    ----------
    portions : callable
        Gives, each time it is called, all rows of this part: values, and whole masses or None for all ones, a portion
        after the other. A part may have none.
    max_bins : int
        Up to so many distinct values get a bin each; more share bins of about equal mass.
    dtype : dtype
        That of the values, float32 or float64, in which they are compared.
    digit : int
        Bits of a digit after the first: fewer take more passes, and less to add up.

    Returns
    -------
    tuple of (ndarray, bool)
        Thresholds, and whether values are missing.
    """
    found, missing = _distinct(portions, max_bins + 1, dtype)
    found = np.unique((yield "gather", found))
    missing = bool((yield "most", int(missing)))
    if len(found) <= max_bins:
        found = found.astype(np.float64)
        return midpoints(found[:-1], found[1:]), missing
    drop = _unused(dtype)
    found, missing = yield from _reach(portions, lambda total: goals(total, max_bins), drop, digit)
    padded, beyond = np.full((2, 256), _NOTHING)
    padded[: len(found)] = found
    for values, _ in portions():
        _follow(values, np.uint64(drop), padded, beyond)
    following = ~(yield "most", ~beyond)[1 : len(found) + 1]
    some = following != _NOTHING  # nothing follows the largest value
    return midpoints(values_of(found[some], drop), values_of(following[some], drop)), missing


def _unused(dtype: Any) -> int:
    """The last bits of a float64 that are the same for all values of a type."""
    return 29 if np.dtype(dtype) == np.float32 else 0


def values_of(keys: np.ndarray, drop: int = 0) -> np.ndarray:
    """The values that have these keys."""
    keys = keys << np.uint64(drop)
    positive = keys >> np.uint64(63) == 1
    return floats(np.where(positive, keys, keys | np.uint64((1 << drop) - 1)))


def reached(
    portions: Portions, goals_of: Callable[[float], np.ndarray], drop: int, rows: Agreement
) -> tuple[np.ndarray, bool]:
    """The keys of the values at which the mass reaches the goals, each once, and whether values are missing.

    `goals_of` tells of a total which masses are to be reached, counted from the smallest value on, and none above it.
    """
    return found_by(_reach(portions, goals_of, drop, OF_PARTS), rows)


def _reach(
    portions: Portions, goals_of: Callable[[float], np.ndarray], drop: int, bits: int
) -> Search[tuple[np.ndarray, bool]]:
    width = 64 - drop
    left = width - _FIRST
    counts, missing = np.zeros((1, 1 << _FIRST), dtype=np.int64), False
    prefixes, wanted = np.zeros(1, dtype=np.uint64), np.empty(0)
    below = np.zeros(1, dtype=np.int64)  # the mass of rows under each prefix
    begins = np.array([0, 1])
    while True:
        for values, masses in portions():
            own = _ONES if masses is None else masses
            missing |= _count(values, own, np.uint64(drop), width, left, prefixes, begins, counts)
        counts = yield "add", counts
        sums = below[:, None] + np.cumsum(counts, axis=1)
        if not len(wanted):
            wanted = goals_of(float(sums[0, -1]))
        passed = sums.astype(np.float64)  # as sums of masses in memory are compared with their goals
        # A prefix's sums begin where those of the one before have ended, or above.
        slot, digit = np.divmod(np.searchsorted(passed.reshape(-1), wanted), counts.shape[1])
        taken = counts.shape[1].bit_length() - 1
        keys = (prefixes[slot] << np.uint64(taken)) | digit.astype(np.uint64)
        prefixes, first = np.unique(keys, return_index=True)
        if not left:
            return prefixes, bool((yield "most", int(missing)))
        below = (sums - counts)[slot, digit][first]
        begins = np.searchsorted(prefixes >> np.uint64(width - left - _FIRST), np.arange((1 << _FIRST) + 1))
        taken = min(bits, left)
        left -= taken
        counts = np.zeros((len(prefixes), 1 << taken), dtype=np.int64)


@inlined(early=True)
def _key(x, drop):
    return ordered(np.float64(x) + 0.0) >> drop  # one key for both zeros


@kernel
def _count(values, masses, drop, width, left, prefixes, begins, counts):
    # Add the masses of rows whose key begins with one of the prefixes to those of their next digit. The prefixes that
    # have the same first digit are those from begins[digit] on; before it is known, there is one, of no length.
    taken = 0
    while 1 << taken < counts.shape[1]:
        taken += 1
    shift, top = np.uint64(left), np.uint64(width - 16)
    known, mask = np.uint64(left + taken), np.uint64(counts.shape[1] - 1)
    first, missing = begins.shape[0] == 2, False
    for i in range(values.shape[0]):
        x = values[i]
        if x != x:
            missing = True
            continue
        key = _key(x, drop)
        low, high = 0, 1
        if not first:
            digit = key >> top
            low, high = begins[digit], begins[digit + np.uint64(1)]
            own = key >> known
            while low < high:
                middle = (low + high) >> 1
                if prefixes[middle] < own:
                    low = middle + 1
                else:
                    high = middle
            if low == begins[digit + np.uint64(1)] or prefixes[low] != own:
                continue
        counts[low, (key >> shift) & mask] += masses[i] if masses.shape[0] else 1
    return missing


@inlined(early=True)
def below(ordered, x):
    """How many of 255 numbers in order, the largest as padding, are below x: eight halvings, none of them a branch."""
    low = 128 * (ordered[127] < x)
    low += 64 * (ordered[low + 63] < x)
    low += 32 * (ordered[low + 31] < x)
    low += 16 * (ordered[low + 15] < x)
    low += 8 * (ordered[low + 7] < x)
    low += 4 * (ordered[low + 3] < x)
    low += 2 * (ordered[low + 1] < x)
    low += 1 * (ordered[low] < x)
    return low


@kernel
def _follow(values, drop, keys, beyond):
    # Of 255 keys in order, padded: beyond[b] becomes the smallest value that lies above b of them, and not above more.
    for i in range(values.shape[0]):
        x = values[i]
        if x != x:
            continue
        key = _key(x, drop)
        place = below(keys, key)
        beyond[place] = min(beyond[place], key)


def _distinct(portions: Portions, most: int, dtype: Any) -> tuple[np.ndarray, bool]:
    """The distinct values, in order, until there are so many, and whether a missing one was seen before."""
    found = np.full(256, np.inf, dtype=dtype)
    count, missing = 0, False
    for values, _ in portions():
        count, blank = _add_distinct(values, found, count, most)
        missing |= blank
        if count == most:
            break
    return found[:count], missing


@kernel
def _add_distinct(values, found, count, most):
    # `found` has `count` distinct values in order; how many it has with these, and whether any is missing.
    missing = False
    for i in range(values.shape[0]):
        x = values[i] + values.dtype.type(0.0)  # one of both zeros
        if x != x:
            missing = True
            continue
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            if found[middle] < x:
                low = middle + 1
            else:
                high = middle
        if low < count and found[low] == x:
            continue
        for place in range(count, low, -1):
            found[place] = found[place - 1]
        found[low] = x
        count += 1
        if count == most:
            break
    return count, missing
