"""The best cut of a set whose values must stay within bounds and, along some columns, in order.

A cut of a column with an order is allowed where the values of its sides (see `sides.bounded_side`) are in that
order, output by output. The cut that parts missing values from the others has no order to keep.
"""

import numpy as np

from anyboost.backends.bins import MISSING
from anyboost.backends.compiler import kernel
from anyboost.backends.sides import bounded_side
from anyboost.backends.split import LEFT, first_of_equals, send


@kernel
def _score_cuts(sums, first, n_cuts, n_thresholds, sign, total, noise, l2, least, criterion, bounds, scores):
    # As `split.score_cuts`; -inf where not allowed. `sign` is 1 where the right value must not be under the left
    # one, -1 where not above, else 0.
    outputs = total.shape[0] - 1
    mass = total[outputs]
    held = mass - sums[first + MISSING, outputs]
    values = np.empty((2, outputs))
    sides = np.empty((2, outputs + 1), dtype=np.int64)
    ways = 1 + (held < mass)
    for b in range(2 * LEFT):
        scores[b] = -np.inf
    for way in range(ways):
        for j in range(outputs + 1):
            sides[0, j] = way * sums[first + MISSING, j]
        values_left = 0
        for b in range(n_cuts):
            for j in range(outputs + 1):
                sides[0, j] += sums[first + b, j]
                sides[1, j] = total[j] - sides[0, j]
            values_left += sums[first + b, outputs]
            apart = b >= n_thresholds and way == 0
            if min(sides[0, outputs], sides[1, outputs]) < least or not (0 < values_left < held or apart):
                continue
            score = 0.0
            for s in range(2):
                score += bounded_side(
                    sides[s, :outputs], sides[s, outputs], noise, l2, criterion, bounds, values[s]
                )
            for j in range(outputs):
                if sign * (values[1, j] - values[0, j]) < 0.0 and not apart:
                    score = -np.inf
            scores[LEFT * way + b] = score
    return n_cuts if ways == 1 else LEFT + n_cuts


@kernel
def score_bounded(
    sums,
    groups,
    total,
    noise,
    l2,
    least,
    n_cuts,
    allowed,
    criterion,
    n_thresholds,
    signs,
    bounds,
    best,
):
    """best[c] = the score of column c's best cut, -inf where it has none, for the columns of some groups of eight."""
    scores = np.empty(2 * LEFT)
    for column in range(8 * groups.shape[0]):
        c = 8 * groups[column >> 3] + (column & 7)
        best[c] = -np.inf
        if allowed[c] and n_cuts[c] > 0:
            end = _score_cuts(
                sums, 256 * c, n_cuts[c], n_thresholds[c], signs[c],
                total, noise, l2, least, criterion, bounds, scores,
            )  # fmt: skip
            for b in range(end):
                best[c] = max(best[c], scores[b])


@kernel
def cut_bounded(
    sums,
    c,
    total,
    noise,
    l2,
    least,
    n_cuts,
    criterion,
    n_thresholds,
    signs,
    bounds,
    enough,
    goes_left,
):
    """The lowest cut of column c whose score is enough, and that score; goes_left as in `split.cut_column`."""
    scores = np.empty(2 * LEFT)
    end = _score_cuts(
        sums, 256 * c, n_cuts[c], n_thresholds[c], signs[c],
        total, noise, l2, least, criterion, bounds, scores,
    )  # fmt: skip
    found = first_of_equals(scores, end, n_cuts[c], enough)
    return send(sums, 256 * c, found, total.shape[0] - 1, goes_left), scores[found]


@kernel
def whole_worth(total, noise, l2, criterion, bounds):
    """What the set is worth without a cut."""
    outputs = total.shape[0] - 1
    value = np.empty(outputs)
    return bounded_side(total[:outputs], total[outputs], noise, l2, criterion, bounds, value)
