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
    if criterion == LEAST_SQUARES and left.shape[0] == 1:
        # The common case with one division where two would do.
        a = np.float64(left[0])
        b = np.float64(right[0])
        w = np.float64(left_mass)
        v = np.float64(right_mass)
        a = a if abs(a) > noise * w else 0.0
        b = b if abs(b) > noise * v else 0.0
        return (a * a * v + b * b * w) / (w * v)
    return _side(left, left_mass, noise, criterion) + _side(right, right_mass, noise, criterion)


@kernel
def _scan(sums, first, n_cuts, total, noise, criterion, enough, left, right):
    # The best score of one column, and its first cut that scores `enough` (-1: none does).
    best = -1.0
    outputs = left.shape[0]
    for j in range(outputs):
        left[j] = 0
    left_mass = 0
    for b in range(n_cuts):
        mass = sums[first + b, outputs]
        if mass == 0:
            continue  # nothing moves: the same sides as a lower cut
        left_mass += mass
        if left_mass == total[outputs]:
            break
        for j in range(outputs):
            left[j] += sums[first + b, j]
            right[j] = total[j] - left[j]
        score = _score(left, right, left_mass, total[outputs] - left_mass, noise, criterion)
        if score >= enough:
            return score, b
        best = max(best, score)
    return best, -1


@kernel
def best_cut(sums, total, noise, n_cuts, allowed, criterion):
    """Column, cut and score of the best cut, and the score without one; column -1 where no cut gains.

    `sums` (columns * 256, k + 1) is the histogram of the set, its last channel the mass, and `total` (k + 1,)
    its sum over any one column.
    """
    outputs = total.shape[0] - 1
    left = np.empty(outputs, dtype=np.int64)
    right = np.empty(outputs, dtype=np.int64)
    whole = _side(total[:outputs], total[outputs], noise, criterion)
    best = -1.0
    scores = np.full(n_cuts.shape[0], -1.0)
    for column in range(n_cuts.shape[0]):
        if allowed[column] and n_cuts[column] > 0:
            scores[column], _ = _scan(
                sums, 256 * column, n_cuts[column], total, noise, criterion, np.inf, left, right
            )
            best = max(best, scores[column])
    if not best > whole * (1.0 + TIE):
        return -1, -1, whole, whole
    enough = best * (1.0 - TIE)
    column = 0
    while scores[column] < enough:
        column += 1
    score, cut = _scan(sums, 256 * column, n_cuts[column], total, noise, criterion, enough, left, right)
    return column, cut, score, whole
