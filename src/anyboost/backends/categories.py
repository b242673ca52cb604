"""Columns of categories: a bin each, cuts that send any set of them left.

For one output the best set is a run of the categories in the order of their means (Fisher 1958): the score of a
cut is a convex function of the sums S and the mass W on its left, so it is largest at a vertex of what
(S, W) can be, and vertices are such runs. This holds for ||S||^2 / (W + l2), for |S_left| + |S_right|, which
becomes sum_b |S_b|, and for values within bounds. With several outputs the order by each of them is tried in
turn, and the best found is good, not best. Missing values are one more category, the last.
"""

import numpy as np

from anyboost.backends.bins import MISSING
from anyboost.backends.compiler import kernel
from anyboost.backends.sides import bounded_side


def category_bins(column: np.ndarray, masses: np.ndarray, max_bins: int) -> tuple[np.ndarray, int, bool]:
    """The bin of every code of a column up to its largest, the number of bins, and whether values are missing.

    Up to `max_bins` categories get a bin each, in the order of their codes. Of more, the max_bins - 1 heaviest,
    of equals the lower codes, and the others share the last bin. `masses` are whole: the order of rows does not
    matter.
    """
    present = column == column
    codes, place = np.unique(column[present].astype(np.int64), return_inverse=True)
    if not len(codes):
        return np.empty(0, dtype=np.uint8), 0, True
    kept = np.arange(len(codes))
    if len(codes) > max_bins:
        mass = np.zeros(len(codes), dtype=np.int64)
        np.add.at(mass, place, masses[present])
        kept = np.sort(np.argsort(-mass, kind="stable")[: max_bins - 1])
    table = np.full(int(codes[-1]) + 1, MISSING, dtype=np.uint8)
    table[codes] = max_bins - 1
    table[codes[kept]] = np.arange(len(kept))
    return table, min(len(codes), max_bins), bool(not present.all())


def bin_categories(
    X: np.ndarray,
    masses: np.ndarray,
    max_bins: int,
    columns: tuple[int, ...],
    words: np.ndarray,
    n_cuts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bin these columns of X as categories, in place of the numbers they were binned as.

    The bin of code c of column f is bins[first[f] + c], for c < size[f]: returns first, size and bins.
    """
    first = np.full(X.shape[1], -1, dtype=np.int64)
    size = np.zeros(X.shape[1], dtype=np.int64)
    tables = [np.empty(0, dtype=np.uint8)]
    entries = words.view(np.uint8).reshape(*words.shape, 8)  # as little-endian machines have them
    for f in columns:
        column = X[:, f]
        table, n_bins, missing = category_bins(column, masses, max_bins)
        first[f], size[f] = sum(map(len, tables)), len(table)
        tables.append(table)
        out = np.full(len(column), MISSING, dtype=np.uint8)
        present = column == column
        out[present] = table[column[present].astype(np.int64)]
        entries[f >> 3, :, f & 7] = out
        n_cuts[f] = max(0, n_bins + missing - 1)
    return first, size, np.concatenate(tables)


@kernel
def _sort(keys, bins, count):
    # Shell's sort by key, of equals the lower bin first.
    gap = 109
    while gap > 0:
        for i in range(gap, count):
            key, b, place = keys[i], bins[i], i
            while place >= gap and (
                keys[place - gap] > key or (keys[place - gap] == key and bins[place - gap] > b)
            ):
                keys[place] = keys[place - gap]
                bins[place] = bins[place - gap]
                place -= gap
            keys[place] = key
            bins[place] = b
        gap = gap * 3 // 8  # 109, 40, 15, 5, 1


@kernel
def best_subset(sums, column, total, noise, l2, least, criterion, bounds, enough, goes_left):
    """The score of the best set of categories to send left, -inf where none is allowed.

    Sets are the first of the categories in the order by the first output, then by the second, and so on. The search
    ends at the first of them whose score is enough, and then goes_left (256,) says which bins it sends left:
    categories that the rows have none of go where missing values go, and those, where there are none, to the
    heavier side.
    """
    first = 256 * column
    outputs = total.shape[0] - 1
    keys = np.empty(MISSING + 1)
    bins = np.empty(MISSING + 1, dtype=np.int64)
    value = np.empty(outputs)
    left = np.empty(outputs + 1, dtype=np.int64)
    right = np.empty(outputs + 1, dtype=np.int64)
    most = -np.inf
    for output in range(outputs):
        count = 0
        for b in range(MISSING + 1):
            w = np.float64(sums[first + b, outputs])
            if w > 0.0:
                s = np.float64(sums[first + b, output])
                keys[count] = s / w if abs(s) > noise * w else 0.0
                bins[count] = b
                count += 1
        _sort(keys, bins, count)
        for j in range(outputs + 1):
            left[j] = 0
        for i in range(count - 1):
            for j in range(outputs + 1):
                left[j] += sums[first + bins[i], j]
                right[j] = total[j] - left[j]
            if min(left[outputs], right[outputs]) < least:
                continue
            score = bounded_side(left[:outputs], left[outputs], noise, l2, criterion, bounds, value)
            score += bounded_side(right[:outputs], right[outputs], noise, l2, criterion, bounds, value)
            most = max(most, score)
            if score >= enough:
                lost = left[outputs] > right[outputs]
                for place in range(count):
                    if bins[place] == MISSING:
                        lost = place <= i
                for b in range(MISSING + 1):
                    goes_left[b] = lost
                for place in range(count):
                    goes_left[bins[place]] = place <= i
                return score
    return most
