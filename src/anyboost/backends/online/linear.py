"""Linear learners, one a stage: stage i answers u_i . v, and a step is u_i -= rate * slope * v.

v is the row as it is (plain) or divided by each feature's running reach (all other updates), with a constant
1 in front. Weights lie feature by feature, all stages of a feature side by side: so dense rows vectorize over
stages, and a sparse row touches one short run of memory for each of its features.

main:    (features + 1, columns) weights; a column is stage * outputs + output
extra:   the same shape where adaptive: each weight's own rate, 1 / sqrt(1 + its sum of squared slopes)
scratch: (3, columns) |v|^2 with each weight's own rate; what a row takes from each weight, over v; slopes
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import part
from anyboost.backends.online import features

PLAIN, NORMALISED, ADAPTIVE, INVARIANT = 0, 1, 2, 3
UPDATES = {"plain": PLAIN, "normalised": NORMALISED, "adaptive": ADAPTIVE, "invariant": INVARIANT}
NORMS, MOVES, PULLS = 0, 1, 2


class Linear(NamedTuple):
    """What the learners have in common."""

    update: int
    rate: float
    power: float
    forget: float


@part
def load(learner, table, data, index, begin, count, learning, v):
    """|v|^2 of the row."""
    return features.load(learner.update != PLAIN, table, data, index, begin, count, learning, v)


@part
def rate_of_row(learner, seen, norm):
    """The rate of this row's steps: in units of |v|^2 unless plain, so that 1 is a step all the way."""
    rate = learner.rate
    if learner.power > 0.0:
        rate *= (seen[features.ROWS] + 1.0) ** -learner.power
    if learner.update == PLAIN:
        return rate
    usual = max((seen[features.NORM] + norm) / (seen[features.SHARE] + 1.0), norm)
    return rate / math.sqrt(usual) if learner.update == ADAPTIVE else rate / usual


@part
def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = u . v for all stages."""
    sparse = len(index) > 0
    columns = len(raw)
    for c in range(columns):
        raw[c] = main[0, c]
    for j in range(1, row.length + 1):
        feature = index[row.begin + j - 1] + 1 if sparse else j
        value = v[j]
        for c in range(columns):
            raw[c] += main[feature, c] * value
    if learner.update == ADAPTIVE:
        for c in range(columns):
            scratch[NORMS, c] = extra[0, c]
        for j in range(1, row.length + 1):
            feature = index[row.begin + j - 1] + 1 if sparse else j
            square = v[j] * v[j]
            for c in range(columns):
                scratch[NORMS, c] += extra[feature, c] * square


@part
def gain(learner, scratch, row, column):
    """How far towards a squared loss's minimum a step brings the answer."""
    whole = row.weight * row.rate * (scratch[NORMS, column] if learner.update == ADAPTIVE else row.norm)
    return -math.expm1(-whole) if learner.update == INVARIANT else min(whole, 1.0)


@part
def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """Note one stage's step and move its answer by it; `finish` takes it.

    No step goes further than to where a loss of this curvature has its minimum: beyond, a large row
    would throw the learner ever further out.
    """
    outputs = len(slope)
    for k in range(outputs):
        c = stage * outputs + k
        norm = scratch[NORMS, c] if learner.update == ADAPTIVE else row.norm
        pull = slope[k] if learner.update == PLAIN else slope[k] * ease
        if (raw[c] > high and pull < 0.0) or (raw[c] < low and pull > 0.0):
            pull = 0.0  # further out, the answer would not change
        move = row.weight * row.rate
        if learner.update == INVARIANT:
            move = -math.expm1(-move * norm) / norm
        elif move * norm > 1.0:
            move = 1.0 / norm
        move *= pull
        scratch[MOVES, c] = move
        raw[c] -= move * norm
        if learner.update == ADAPTIVE:
            scratch[PULLS, c] = pull / unit if unit > 0.0 else 0.0


@part
def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """Take all stages' steps."""
    sparse = len(index) > 0
    columns = main.shape[1]
    keep = 1.0 - learner.forget
    for j in range(row.length + 1):
        feature = 0
        if j > 0:
            feature = index[row.begin + j - 1] + 1 if sparse else j
        value = v[j]
        if learner.update == ADAPTIVE:
            for c in range(columns):
                own = extra[feature, c]
                main[feature, c] -= scratch[MOVES, c] * own * value
                pull = scratch[PULLS, c] * value
                extra[feature, c] = own / math.sqrt(
                    keep + own * own * (1.0 - keep + row.weight * pull * pull)
                )
        else:
            for c in range(columns):
                main[feature, c] -= scratch[MOVES, c] * value
    features.count(seen, row.norm, learner.forget)
