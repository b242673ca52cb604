"""The best cut of a set of rows, read off its histograms.

A cut sends bins 0 .. b of one column left, and missing values (bin 255) either way. Its score is the sum of the
worth of its sides (see `sides`). Scores within 1e-9 of the best are equal; then the lowest column, the lowest
cut and missing values to the right win, so that ties, common with sign gradients, do not hang on rounding. The
last cut of a column with missing values parts those from the rest, and no other cut does.
"""

import numpy as np

from anyboost.backends.bins import MISSING
from anyboost.backends.compiler import kernel
from anyboost.backends.sides import LEAST_SQUARES, TIE, side

LEFT = 256  # where in `scores` those with missing values on the left begin


@kernel
def _score_one_output(left, left_mass, total, mass, noise, l2, least, scores):
    # Least squares with one output, the common case: one division a cut, no branch, several cuts at a time.
    for b in range(left.shape[0]):
        a = np.float64(left[b])
        c = np.float64(total - left[b])
        w = np.float64(left_mass[b])
        v = np.float64(mass - left_mass[b])
        a = a if abs(a) > noise * w else 0.0
        c = c if abs(c) > noise * v else 0.0
        w += l2
        v += l2
        score = (a * a * v + c * c * w) / (w * v)
        scores[b] = score if min(left_mass[b], mass - left_mass[b]) >= least else -1.0


@kernel
def _score_vectors(sums, first, n_cuts, way, total, noise, l2, least, criterion, scores):
    # Any number of outputs, any criterion.
    outputs = total.shape[0] - 1
    mass = total[outputs]
    left = np.empty(outputs, dtype=np.int64)
    right = np.empty(outputs, dtype=np.int64)
    for j in range(outputs):
        left[j] = way * sums[first + MISSING, j]
        right[j] = total[j] - left[j]
    left_mass = way * sums[first + MISSING, outputs]
    for b in range(n_cuts):
        scores[b] = -1.0
        moved = sums[first + b, outputs]
        if moved == 0 and b < n_cuts - 1:
            continue  # the same sides as a lower cut
        left_mass += moved
        for j in range(outputs):
            left[j] += sums[first + b, j]
            right[j] -= sums[first + b, j]
        if min(left_mass, mass - left_mass) >= least:
            scores[b] = side(left, left_mass, noise, l2, criterion) + side(
                right, mass - left_mass, noise, l2, criterion
            )


@kernel
def score_cuts(sums, first, n_cuts, total, noise, l2, least, criterion, scores):
    """scores[b] of every cut of one column; where the set has missing values, with those left at LEFT + b.

    -1 where not allowed. How many entries of `scores` to look at.
    """
    outputs = total.shape[0] - 1
    ways = 1 + (sums[first + MISSING, outputs] > 0)
    for way in range(ways):
        own = scores[LEFT * way :]
        if outputs > 1 or criterion != LEAST_SQUARES:
            _score_vectors(sums, first, n_cuts, way, total, noise, l2, least, criterion, own)
            continue
        left = np.empty(n_cuts, dtype=np.int64)
        left_mass = np.empty(n_cuts, dtype=np.int64)
        so_far = way * sums[first + MISSING, 0]
        mass_so_far = way * sums[first + MISSING, 1]
        for b in range(n_cuts):
            so_far += sums[first + b, 0]
            mass_so_far += sums[first + b, 1]
            left[b] = so_far
            left_mass[b] = mass_so_far
        _score_one_output(left, left_mass, total[0], total[1], noise, l2, least, own)
    if ways == 1:
        return n_cuts
    held = total[outputs] - sums[first + MISSING, outputs]
    for b in range(n_cuts, LEFT):
        scores[b] = -1.0
    values_left = 0
    for b in range(n_cuts - 1):
        values_left += sums[first + b, outputs]
        if values_left == 0 or values_left == held:  # only missing values on one side
            scores[b] = -1.0
            scores[LEFT + b] = -1.0
    return LEFT + n_cuts


@kernel
def first_of_equals(scores, end, n_cuts, enough):
    """The lowest cut whose score is enough, 256 added where only with missing values on the left."""
    for b in range(n_cuts):
        if scores[b] >= enough:
            return b
        if end > LEFT and scores[LEFT + b] >= enough:
            return LEFT + b
    return -1


@kernel
def send(sums, first, found, outputs, goes_left):
    """goes_left[bin] for a cut that `first_of_equals` found; the cut.

    Missing values of a set that has none go to the heavier side.
    """
    cut = found & (LEFT - 1)
    balance = 0
    for b in range(MISSING):
        goes_left[b] = b <= cut
        balance += sums[first + b, outputs] if b <= cut else -sums[first + b, outputs]
    goes_left[MISSING] = found >= LEFT or (sums[first + MISSING, outputs] == 0 and balance > 0)
    return cut


@kernel
def score_columns(sums, groups, total, noise, l2, least, n_cuts, allowed, criterion, best):
    """best[c] = the score of column c's best cut, -1 where it has none, for the columns of some groups of eight.

    `sums` (columns * 256, k + 1) is the histogram of the set, its last channel the mass, and `total` (k + 1,)
    its sum over any one column. No side may have less than the mass `least`.
    """
    scores = np.empty(2 * LEFT)
    for group in groups:
        for column in range(8 * group, 8 * (group + 1)):
            # Scores are -1 or not negative, so their bits are ordered as they are, and integers are compared faster.
            top = np.float64(-1.0).view(np.int64)
            if allowed[column] and n_cuts[column] > 0:
                end = score_cuts(
                    sums, 256 * column, n_cuts[column], total, noise, l2, least, criterion, scores
                )
                for b in range(end):
                    top = max(top, np.float64(scores[b]).view(np.int64))
            best[column] = np.int64(top).view(np.float64)


@kernel
def cut_column(sums, column, total, noise, l2, least, n_cuts, criterion, enough, goes_left):
    """The lowest cut of a column whose score is enough, and that score.

    goes_left (256,) says of every bin, missing values in the last, whether the cut sends it left.
    """
    scores = np.empty(2 * LEFT)
    end = score_cuts(sums, 256 * column, n_cuts[column], total, noise, l2, least, criterion, scores)
    found = first_of_equals(scores, end, n_cuts[column], enough)
    return send(sums, 256 * column, found, total.shape[0] - 1, goes_left), scores[found]


@kernel
def choose_cut(sums, total, noise, l2, least, n_cuts, criterion, best, goes_left):
    """Column, cut and score of the best cut, and the score without one; column -1 where no cut gains."""
    outputs = total.shape[0] - 1
    whole = side(total[:outputs], total[outputs], noise, l2, criterion)
    most = -1.0
    for column in range(best.shape[0]):
        most = max(most, best[column])
    if not most > whole * (1.0 + TIE):
        return -1, -1, whole, whole
    enough = most * (1.0 - TIE)
    column = 0
    while best[column] < enough:
        column += 1
    cut, score = cut_column(sums, column, total, noise, l2, least, n_cuts, criterion, enough, goes_left)
    return column, cut, score, whole
