"""The best cut of a set of rows, read off its histograms.

A cut sends bins 0 .. b of one column left. With S the sums of the target and W the mass of each side its
score is a sum over sides, of  ||S||^2 / W  (least squares, projection (4)), of  ||S||_1  (the extreme atom
with |h| <= 1) or of  max_k S_k - mean_k S_k  (a class a side, projection (3)). Scores within 1e-9 of the best
are equal; then the lowest column and the lowest cut win, so that ties, common with sign gradients, do not
hang on rounding. For the same reason a sum within `noise` units a unit of mass, which is what rounding the
rows can leave behind, counts as zero.
"""

import numpy as np

from anyboost.backends.compiler import kernel

TIE = 1e-9
NOISE = 2.0  # units a unit of mass: half a unit from rounding, the rest from the target's own last bits
LEAST_SQUARES = 0
EXTREME = 1
CLASS = 2


@kernel
def _side(sums, mass, noise, criterion):
    total = 0.0
    nothing = noise * np.float64(mass)
    if criterion == CLASS:
        lead = _lead(sums)
        return lead if lead > nothing else 0.0
    for j in range(sums.shape[0]):
        value = abs(np.float64(sums[j]))
        if value > nothing:
            total += value * value if criterion == LEAST_SQUARES else value
    return total / np.float64(mass) if criterion == LEAST_SQUARES else total


@kernel
def _lead(sums):
    # How far the largest sum is above the mean of all: never negative.
    most = np.float64(sums[0])
    total = 0.0
    for j in range(sums.shape[0]):
        value = np.float64(sums[j])
        total += value
        most = max(most, value)
    return most - total / sums.shape[0]


@kernel
def _score(left, right, left_mass, right_mass, noise, criterion):
    return _side(left, left_mass, noise, criterion) + _side(right, right_mass, noise, criterion)


@kernel
def _score_one_output(left, left_mass, total, mass, noise, scores):
    # Least squares with one output, the common case: one division a cut, no branch, several cuts at a time.
    for b in range(left.shape[0]):
        a = np.float64(left[b])
        c = np.float64(total - left[b])
        w = np.float64(left_mass[b])
        v = np.float64(mass - left_mass[b])
        a = a if abs(a) > noise * w else 0.0
        c = c if abs(c) > noise * v else 0.0
        score = (a * a * v + c * c * w) / (w * v)
        scores[b] = score if min(left_mass[b], mass - left_mass[b]) > 0 else -1.0


@kernel
def _score_cuts(sums, first, n_cuts, total, noise, criterion, scores):
    """scores[b] of every cut of one column; -1 where a side is empty."""
    outputs = total.shape[0] - 1
    mass = total[outputs]
    if outputs == 1 and criterion == LEAST_SQUARES:
        left = np.empty(n_cuts, dtype=np.int64)
        left_mass = np.empty(n_cuts, dtype=np.int64)
        so_far = 0
        mass_so_far = 0
        for b in range(n_cuts):
            so_far += sums[first + b, 0]
            mass_so_far += sums[first + b, 1]
            left[b] = so_far
            left_mass[b] = mass_so_far
        _score_one_output(left, left_mass, total[0], mass, noise, scores[:n_cuts])
        return
    left = np.zeros(outputs, dtype=np.int64)
    right = total[:outputs].copy()
    mass_so_far = 0
    for b in range(n_cuts):
        scores[b] = -1.0
        added = sums[first + b, outputs]
        if added == 0:
            continue  # nothing moves: the same sides as a lower cut
        mass_so_far += added
        if mass_so_far == mass:
            scores[b:n_cuts] = -1.0
            break
        for j in range(outputs):
            left[j] += sums[first + b, j]
            right[j] -= sums[first + b, j]
        scores[b] = _score(left, right, mass_so_far, mass - mass_so_far, noise, criterion)


@kernel
def _largest(scores):
    # Scores are -1 or not negative, so their bits are ordered as they are, and integers are compared faster.
    top = np.float64(-1.0).view(np.int64)
    for b in range(scores.shape[0]):
        top = max(top, np.float64(scores[b]).view(np.int64))
    return np.int64(top).view(np.float64)


@kernel
def score_columns(sums, groups, total, noise, n_cuts, allowed, criterion, best):
    """best[c] = the score of column c's best cut, -1 where it has none, for the columns of some groups of eight.

    `sums` (columns * 256, k + 1) is the histogram of the set, its last channel the mass, and `total` (k + 1,)
    its sum over any one column.
    """
    scores = np.empty(256)
    for group in groups:
        for column in range(8 * group, 8 * (group + 1)):
            best[column] = -1.0
            if allowed[column] and n_cuts[column] > 0:
                _score_cuts(sums, 256 * column, n_cuts[column], total, noise, criterion, scores)
                best[column] = _largest(scores[: n_cuts[column]])


@kernel
def choose_cut(sums, total, noise, n_cuts, criterion, best):
    """Column, cut and score of the best cut, and the score without one; column -1 where no cut gains."""
    outputs = total.shape[0] - 1
    whole = _side(total[:outputs], total[outputs], noise, criterion)
    most = best.max()
    if not most > whole * (1.0 + TIE):
        return -1, -1, whole, whole
    enough = most * (1.0 - TIE)
    column = 0
    while best[column] < enough:
        column += 1
    scores = np.empty(256)
    _score_cuts(sums, 256 * column, n_cuts[column], total, noise, criterion, scores)
    cut = 0
    while scores[cut] < enough:
        cut += 1
    return column, cut, scores[cut], whole
