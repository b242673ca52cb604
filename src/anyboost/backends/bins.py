"""Bins: a column's values as small integers, eight columns to a 64-bit word.

Bin b of a column holds t[b-1] < x <= t[b] for its thresholds t; bin 255 holds missing values. Words are
stored by group of eight columns, so a histogram reads one word a row for eight columns.
"""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel

MISSING = 255
MOST_BINS = 255  # 0 .. 254: one code is left for missing values
GROUP = 8
_TIE = 1e-9


def column_thresholds(column: np.ndarray, mass: np.ndarray | None, max_bins: int) -> tuple[np.ndarray, bool]:
    """Thresholds of one column, in float64, and whether it has missing values.

    Up to `max_bins` distinct values get a bin each; more share bins of about equal mass.
    """
    if mass is None:
        ordered = np.sort(column)
        cumulated = None
    else:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        cumulated = np.cumsum(mass[order])
    present = len(ordered)
    if present and ordered[-1] != ordered[-1]:  # NaN sorts last
        present = int(np.searchsorted(ordered, np.nan))
    missing = present < len(ordered)
    ordered = ordered[:present]
    last_of_value = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), present - 1)
    values = ordered[last_of_value].astype(np.float64) if present else np.empty(0)
    if len(values) <= max_bins:
        return midpoints(values[:-1], values[1:]), missing
    up_to = (last_of_value + 1.0) if cumulated is None else cumulated[last_of_value]
    total = up_to[-1]
    goals = np.arange(1, max_bins) * total / max_bins - _TIE * total
    cuts = np.unique(np.searchsorted(up_to, goals, side="left"))
    cuts = cuts[cuts < len(values) - 1]
    return midpoints(values[cuts], values[cuts + 1]), missing


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

    def one(feature: int) -> None:
        column = np.ascontiguousarray(X[:, feature])
        found, missing = column_thresholds(column, mass, max_bins)
        thresholds[feature, : len(found)] = found
        n_cuts[feature] = len(found) + missing
        _encode(column, thresholds[feature], codes[feature // GROUP, :, feature % GROUP])

    threads.each(one, n_features, n_threads)
    return codes.view(np.uint64).reshape(groups, n), thresholds, n_cuts
