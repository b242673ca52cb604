"""What a stream's labels look like so far: where they lie and how far they spread, in nine numbers.

Scores are measured from a center (the running mean of the labels; for losses with a link, its score), and the
reach of the labels bounds what learners may answer. One wild label must not move either far, and a lasting
change of scale must move both: so a label counts as at most ten deviations from the mean, and where 64 labels
in a row all but coincide on the scale so far, that scale is forgotten.
"""

import math

from anyboost.backends.compiler import part
from anyboost.backends.online.losses import (
    EXPECTILE,
    EXPONENTIAL,
    GAMMA,
    HUBER,
    LOGISTIC,
    POISSON,
    SQUARED,
    TWEEDIE,
)

ROWS, MEAN, VARIANCE, LOW, HIGH, QUIET, QUIET_REACH, WEIGHT, SUM = 0, 1, 2, 3, 4, 5, 6, 7, 8
SIZE = 9
FAR = 10.0  # deviations
MEAN_ROWS, SPREAD_ROWS = 10_000.0, 1_000.0  # how many rows back the running mean and deviation look
QUIET_ROWS, QUIET_SHARE = 64.0, 0.01


@part
def tame(labels, y):
    """The label, brought to within ten deviations of the mean."""
    if labels[ROWS] < 2.0 or labels[VARIANCE] == 0.0:
        return y
    reach = FAR * math.sqrt(labels[VARIANCE])
    return min(max(y, labels[MEAN] - reach), labels[MEAN] + reach)


@part
def see(labels, y, weight, forget):
    """Count one label."""
    rows = labels[ROWS]
    labels[ROWS] = rows + 1.0
    labels[WEIGHT] = labels[WEIGHT] * (1.0 - forget) + weight
    labels[SUM] = labels[SUM] * (1.0 - forget) + weight * y
    if rows == 0.0:
        labels[MEAN], labels[LOW], labels[HIGH] = y, y, y
        return
    _listen_for_quiet(labels, abs(y - labels[MEAN]), y)
    rows = labels[ROWS]
    tamed = tame(labels, y)
    step = tamed - labels[MEAN]
    labels[MEAN] += step * max(1.0 / min(rows, MEAN_ROWS), forget)
    spread = max(1.0 / min(rows, SPREAD_ROWS), forget)
    labels[VARIANCE] += spread * (step * step * (1.0 - spread) - labels[VARIANCE])
    labels[LOW] = min(labels[LOW], tamed)
    labels[HIGH] = max(labels[HIGH], tamed)


@part
def _listen_for_quiet(labels, gap, y):
    """Start the statistics again where labels have long stopped to vary on their scale."""
    if gap >= QUIET_SHARE * math.sqrt(labels[VARIANCE]):
        labels[QUIET], labels[QUIET_REACH] = 0.0, 0.0
        return
    labels[QUIET] += 1.0
    labels[QUIET_REACH] = max(labels[QUIET_REACH], gap)
    if labels[QUIET] >= QUIET_ROWS:
        reach = labels[QUIET_REACH]
        labels[ROWS] = QUIET_ROWS
        labels[VARIANCE] = reach * reach
        labels[MEAN], labels[LOW], labels[HIGH] = y, y - reach, y + reach
        labels[QUIET], labels[QUIET_REACH] = 0.0, 0.0


@part
def center(code, labels):
    """The score of the labels so far: what a constant would answer."""
    if labels[ROWS] == 0.0:
        return 0.0
    if code <= EXPECTILE:
        return labels[MEAN]
    if code == LOGISTIC or code == EXPONENTIAL:
        odds = math.log((labels[WEIGHT] + labels[SUM] + 1.0) / (labels[WEIGHT] - labels[SUM] + 1.0))
        return odds if code == LOGISTIC else 0.5 * odds
    if code == POISSON or code == GAMMA or code == TWEEDIE:
        return math.log((labels[SUM] + 1e-3) / (labels[WEIGHT] + 1e-3))
    return labels[SUM] / labels[WEIGHT]


@part
def reach(labels):
    """How far labels lie from their mean."""
    return max(labels[HIGH] - labels[MEAN], labels[MEAN] - labels[LOW], 0.0)


@part
def ball(code, parameter, step, n_learners, output_bound, label_bound):
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}) for losses on the labels' own scale."""
    D, Y = output_bound, label_bound
    if D <= 0.0:
        return 0.0
    radius = Y
    if code == SQUARED or code == EXPECTILE or code == HUBER:
        radius = min(Y, (math.sqrt(D * D + 4.0 * step * Y * D) - D) / (2.0 * step))
    if code == HUBER:
        radius = min(radius, math.sqrt(parameter * D / step))
    return min(step * n_learners * D, max(D, radius))
