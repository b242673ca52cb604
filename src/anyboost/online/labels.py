"""What a stream's labels look like so far: where they lie and how far they spread, in eleven numbers.

Scores are measured from a center (the running mean of the labels; for losses with a link, its score), and the
reach of the labels bounds what learners may answer. One wild label must not move either far, and a lasting
change of scale must move both: so a label counts as at most ten deviations from the mean; where 16 labels in a
row lie further out than that, mean and deviation begin again with them; and where 64 labels in a row differ, but
by less than a hundredth of the deviation so far, that is forgotten.
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import inlined
from anyboost.backends.definitions import LOG_MEAN, LOG_ODDS, MEANS, NOTHING
from anyboost.backends.elementary import log


class Labels(NamedTuple):
    """The eleven numbers; a booster keeps them in an array, in this order."""

    rows: float
    mean: float
    variance: float
    low: float
    high: float
    quiet: float  # how many labels in a row varied on a far smaller scale,
    quiet_reach: float  # how far
    weight: float
    sum: float
    anchor: float  # and from where
    loud: float  # how many labels in a row lay far out


SIZE = len(Labels._fields)
FAR = 10.0  # deviations
MEAN_ROWS, SPREAD_ROWS = 10_000.0, 1_000.0  # how many rows back the running mean and deviation look
QUIET_ROWS, QUIET_SHARE = 64.0, 0.01
LOUD_ROWS = 16.0


@inlined
def read(array):
    return Labels(
        array[0], array[1], array[2], array[3], array[4], array[5],
        array[6], array[7], array[8], array[9], array[10],
    )  # fmt: skip


@inlined
def write(array, labels):
    for k in range(SIZE):
        array[k] = labels[k]


@inlined
def tame(labels, y):
    """The label, brought to within ten deviations of the mean."""
    return _tamed(labels.rows, labels.mean, labels.variance, y)


@inlined
def _tamed(rows, mean, variance, y):
    gap = y - mean
    if gap * gap <= FAR * FAR * variance or rows < 2.0 or variance == 0.0:
        return y
    far = FAR * math.sqrt(variance)
    return min(max(y, mean - far), mean + far)


@inlined
def after(labels, y, weight, forget):
    """The same numbers after one more label."""
    rows, mean, variance, low, high, quiet, quiet_reach, weights, total, anchor, loud = labels
    rows += 1.0
    weights = weights * (1.0 - forget) + weight
    total = total * (1.0 - forget) + weight * y
    if rows == 1.0:
        return Labels(rows, y, variance, y, y, quiet, quiet_reach, weights, total, anchor, loud)
    gap = abs(y - anchor)
    if gap * gap >= QUIET_SHARE * QUIET_SHARE * variance:
        anchor, quiet, quiet_reach = y, 0.0, 0.0
    else:
        quiet += 1.0
        quiet_reach = max(quiet_reach, gap)
        if quiet >= QUIET_ROWS and quiet_reach > 0.0:  # labels have long varied on a far smaller scale only
            rows, mean, variance = QUIET_ROWS, y, quiet_reach * quiet_reach
            low, high = y - quiet_reach, y + quiet_reach
            quiet, quiet_reach = 0.0, 0.0
    tamed = _tamed(rows, mean, variance, y)
    if tamed == y:
        loud = 0.0
    else:
        loud += 1.0
        if loud >= LOUD_ROWS:  # labels have long lain far out
            far = min(abs(y - mean), 1e150)  # its square must be finite
            rows, mean, variance, loud, tamed = LOUD_ROWS, y, far * far, 0.0, y
    step = tamed - mean
    mean += step * max(1.0 / min(rows, MEAN_ROWS), forget)
    share = max(1.0 / min(rows, SPREAD_ROWS), forget)
    variance += share * (step * step * (1.0 - share) - variance)
    low, high = min(low, tamed), max(high, tamed)
    return Labels(rows, mean, variance, low, high, quiet, quiet_reach, weights, total, anchor, loud)


@inlined
def center(kind, labels):
    """The score of the labels so far."""
    if labels.rows == 0.0 or kind == NOTHING:
        return 0.0
    if kind == MEANS:
        return labels.mean
    if kind == LOG_MEAN:
        return log((labels.sum + 1e-3) / (labels.weight + 1e-3))
    odds = log((labels.weight + labels.sum + 1.0) / (labels.weight - labels.sum + 1.0))
    return odds if kind == LOG_ODDS else 0.5 * odds


@inlined
def reach(labels):
    """How far labels lie from their mean."""
    return max(labels.high - labels.mean, labels.mean - labels.low, 0.0)
