"""What a stream's labels look like so far: where they lie and how far they spread, in eleven numbers.

Scores are measured from a center (the running mean of the labels; for losses with a link, its score), and the
reach of the labels bounds what learners may answer. One wild label must not move either far, and a lasting
change of scale must move both: so a label counts as at most ten deviations from the mean; where 16 labels in a
row lie further out than that, mean and deviation begin again with them; and where 64 labels in a row differ, but
by less than a hundredth of the deviation so far, that is forgotten.
"""

import math

from anyboost.backends.compiler import part

ROWS, MEAN, VARIANCE, LOW, HIGH, QUIET, QUIET_REACH, WEIGHT, SUM, ANCHOR, LOUD = range(11)
SIZE = 11
FAR = 10.0  # deviations
MEAN_ROWS, SPREAD_ROWS = 10_000.0, 1_000.0  # how many rows back the running mean and deviation look
QUIET_ROWS, QUIET_SHARE = 64.0, 0.01
LOUD_ROWS = 16.0
# What a constant would answer: the mean, log odds, half of them, the logarithm of the mean, log class shares, 0.
MEANS, LOG_ODDS, HALF_LOG_ODDS, LOG_MEAN, LOG_SHARES, NOTHING = 0, 1, 2, 3, 4, 5


@part
def tame(labels, y):
    """The label, brought to within ten deviations of the mean."""
    gap, variance = y - labels[MEAN], labels[VARIANCE]
    if gap * gap <= FAR * FAR * variance or labels[ROWS] < 2.0 or variance == 0.0:
        return y
    far = FAR * math.sqrt(variance)
    return min(max(y, labels[MEAN] - far), labels[MEAN] + far)


@part
def see(labels, y, weight, forget):
    """Count one label."""
    labels[ROWS] += 1.0
    labels[WEIGHT] = labels[WEIGHT] * (1.0 - forget) + weight
    labels[SUM] = labels[SUM] * (1.0 - forget) + weight * y
    if labels[ROWS] == 1.0:
        labels[MEAN], labels[LOW], labels[HIGH] = y, y, y
        return
    _listen_for_quiet(labels, y)
    tamed = tame(labels, y)
    if tamed == y:
        labels[LOUD] = 0.0
    else:
        tamed = _listen_for_noise(labels, y, tamed)
    step = tamed - labels[MEAN]
    labels[MEAN] += step * max(1.0 / min(labels[ROWS], MEAN_ROWS), forget)
    share = max(1.0 / min(labels[ROWS], SPREAD_ROWS), forget)
    labels[VARIANCE] += share * (step * step * (1.0 - share) - labels[VARIANCE])
    labels[LOW] = min(labels[LOW], tamed)
    labels[HIGH] = max(labels[HIGH], tamed)


@part
def _listen_for_quiet(labels, y):
    """Start the statistics again where labels have long varied on a far smaller scale only."""
    gap = abs(y - labels[ANCHOR])
    if gap * gap >= QUIET_SHARE * QUIET_SHARE * labels[VARIANCE]:
        labels[ANCHOR], labels[QUIET], labels[QUIET_REACH] = y, 0.0, 0.0
        return
    labels[QUIET] += 1.0
    labels[QUIET_REACH] = max(labels[QUIET_REACH], gap)
    far = labels[QUIET_REACH]
    if labels[QUIET] >= QUIET_ROWS and far > 0.0:
        labels[ROWS] = QUIET_ROWS
        labels[VARIANCE] = far * far
        labels[MEAN], labels[LOW], labels[HIGH] = y, y - far, y + far
        labels[QUIET], labels[QUIET_REACH] = 0.0, 0.0


@part
def _listen_for_noise(labels, y, tamed):
    """Start mean and deviation again where labels have long lain far out; returns what the label counts as."""
    labels[LOUD] += 1.0
    if labels[LOUD] < LOUD_ROWS:
        return tamed
    gap = min(abs(y - labels[MEAN]), 1e150)  # its square must be finite
    labels[ROWS], labels[LOUD] = LOUD_ROWS, 0.0
    labels[MEAN], labels[VARIANCE] = y, gap * gap
    return y


@part
def center(kind, labels):
    """The score of the labels so far."""
    if labels[ROWS] == 0.0 or kind == NOTHING:
        return 0.0
    if kind == MEANS:
        return labels[MEAN]
    if kind == LOG_MEAN:
        return math.log((labels[SUM] + 1e-3) / (labels[WEIGHT] + 1e-3))
    odds = math.log((labels[WEIGHT] + labels[SUM] + 1.0) / (labels[WEIGHT] - labels[SUM] + 1.0))
    return odds if kind == LOG_ODDS else 0.5 * odds


@part
def reach(labels):
    """How far labels lie from their mean."""
    return max(labels[HIGH] - labels[MEAN], labels[MEAN] - labels[LOW], 0.0)
