"""Bins: a column's values as small integers, eight columns to a 64-bit word.

Bin b of a column holds t[b-1] < x <= t[b] for its thresholds t; bin 255 holds missing values. Words are
stored by group of eight columns, so a histogram reads one word a row for eight columns.
"""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel
from anyboost.backends.order import sort

MISSING = 255
MOST_BINS = 255  # 0 .. 254: one code is left for missing values
GROUP = 8
_TIE = 1e-9


def column_thresholds(column: np.ndarray, mass: np.ndarray | None, max_bins: int) -> tuple[np.ndarray, bool]:
    """Thresholds of one column, in float64, and whether it has missing values.

    Up to `max_bins` distinct values get a bin each; more share bins of about equal mass.
    """
    if mass is None:
        ordered = sort(column)
    else:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
    present = len(ordered)
    if present and ordered[-1] != ordered[-1]:  # NaN sorts last
        present = int(np.searchsorted(ordered, np.nan))
    missing = present < len(ordered)
    ordered = ordered[:present]
    values = np.empty(max_bins + 1, dtype=ordered.dtype)
    count = _distinct(ordered, values)
    if count <= max_bins:
        values = values[:count].astype(np.float64)
        return midpoints(values[:-1], values[1:]), missing
    # A bin ends with the value at which the mass reaches its goal.
    cumulated = None if mass is None else np.cumsum(mass[order[:present]])
    total = float(present if cumulated is None else cumulated[-1])
    goals = np.arange(1, max_bins) * total / max_bins - _TIE * total
    if cumulated is None:
        reached = np.ceil(goals).astype(np.int64) - 1
    else:
        reached = np.searchsorted(cumulated, goals, side="left")
    low = np.unique(ordered[reached])
    following = np.searchsorted(ordered, low, side="right")
    low = low[following < present]
    high = ordered[following[following < present]]
    return midpoints(low.astype(np.float64), high.astype(np.float64)), missing


@kernel
def _distinct(ordered, out):
    # The distinct values, until `out` is full; how many were found.
    count = 0
    for i in range(ordered.shape[0]):
        if count == 0 or ordered[i] != out[count - 1]:
            out[count] = ordered[i]
            count += 1
            if count == out.shape[0]:
                break
    return count


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Points t with low <= t < high, halfway where floating point allows."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low + (high - low) / 2
    return np.where((low <= middle) & (middle < high), middle, low)


@kernel
def _encode(column, thresholds, out):
    # How many of 255 thresholds, padded with +inf, are below x: eight halvings, none of them a branch.
    for i in range(column.shape[0]):
        x = np.float64(column[i])
        low = 128 * (thresholds[127] < x)
        low += 64 * (thresholds[low + 63] < x)
        low += 32 * (thresholds[low + 31] < x)
        low += 16 * (thresholds[low + 15] < x)
        low += 8 * (thresholds[low + 7] < x)
        low += 4 * (thresholds[low + 3] < x)
        low += 2 * (thresholds[low + 1] < x)
        low += 1 * (thresholds[low] < x)
        out[i] = low if x == x else 255


def bin_columns(X: np.ndarray, mass: np.ndarray | None, max_bins: int, n_threads: int):
    """Bin every column of X.

    Returns words (groups, n) of uint64; thresholds (features padded to groups * 8, 255), padded with
    +inf; the number of cuts of each column, where the cut after the last threshold, present only with
    missing values, parts those from the rest.
    """
    n, n_features = X.shape
    groups = -(-n_features // GROUP)
    codes = np.zeros((groups, n, GROUP), dtype=np.uint8)
    thresholds = np.full((groups * GROUP, MOST_BINS), np.inf)
    n_cuts = np.zeros(groups * GROUP, dtype=np.int64)
    for group in range(groups):
        features = range(GROUP * group, min(GROUP * (group + 1), n_features))
        columns = _columns(X[:, features.start : features.stop], n_threads)

        def one(place: int, group: int = group, columns: np.ndarray = columns) -> None:
            feature = GROUP * group + place
            found, missing = column_thresholds(columns[place], mass, max_bins)
            thresholds[feature, : len(found)] = found
            n_cuts[feature] = len(found) + missing
            _encode(columns[place], thresholds[feature], codes[group, :, place])

        threads.each(one, len(features), n_threads)
    return codes.view(np.uint64).reshape(groups, n), thresholds, n_cuts


def _columns(part: np.ndarray, n_threads: int) -> np.ndarray:
    """A few columns, each in one piece. A row's numbers lie together, so they are read once for all of them."""
    if part.flags.f_contiguous:
        return part.T
    out = np.empty(part.shape[::-1], dtype=part.dtype)
    threads.over_blocks(
        lambda start, stop: _transpose(part[start:stop], out[:, start:stop]), len(part), n_threads
    )
    return out


@kernel
def _transpose(part, out):
    for first in range(0, part.shape[0], 64):
        for j in range(part.shape[1]):
            for i in range(first, min(first + 64, part.shape[0])):
                out[j, i] = part[i, j]
