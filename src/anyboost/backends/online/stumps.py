"""Feature stumps, one set a stage: each feature answers by itself, and the best of those in the row is believed.

    p_j = w_j v_j,    w_j -= rate (p_j - r) v_j / max(1, v_j^2),    score_j = mean of (r - p_j)^2 - r^2

with r the target. A stage answers p_j of the feature with the lowest score among those that are not zero in the
row, the constant among them.

main:    (features + 1, columns) w_j; a column is stage * outputs + output
extra:   (features + 1, 2 * stages) sums of scores, and how many
scratch: (1, columns) the target
"""

from typing import NamedTuple

from anyboost.backends.compiler import part
from anyboost.backends.online import features


class Stumps(NamedTuple):
    """What the learners have in common."""

    rate: float
    power: float
    forget: float


@part
def load(learner, table, data, index, begin, count, learning, v):
    """|v|^2 of the row."""
    return features.load(True, table, data, index, begin, count, learning, v)


@part
def rate_of_row(learner, seen, norm):
    """The rate of this row's steps."""
    return (
        learner.rate * (seen[features.ROWS] + 1.0) ** -learner.power if learner.power > 0.0 else learner.rate
    )


@part
def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = what the best feature of each stage answers."""
    stages = extra.shape[1] // 2
    for stage in range(stages):
        _answer(main, extra, row, index, v, stage, stages, len(raw) // stages, raw)


@part
def _answer(main, extra, row, index, v, stage, stages, outputs, raw):
    sparse = len(index) > 0
    best, lowest = 0, extra[0, stage] / max(extra[0, stages + stage], 1.0)
    value = 1.0
    for j in range(1, row.length + 1):
        if v[j] == 0.0:
            continue
        feature = index[row.begin + j - 1] + 1 if sparse else j
        score = extra[feature, stage] / max(extra[feature, stages + stage], 1.0)
        if score < lowest:
            best, lowest, value = feature, score, v[j]
    for k in range(outputs):
        raw[stage * outputs + k] = main[best, stage * outputs + k] * value


@part
def gain(learner, scratch, row, column):
    """Not known before the step."""
    return -1.0


@part
def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """Let every feature of the row learn the target, and answer again."""
    sparse = len(index) > 0
    outputs = len(slope)
    stages = extra.shape[1] // 2
    keep = 1.0 - learner.forget
    for k in range(outputs):
        c = stage * outputs + k
        scratch[0, c] = min(max(raw[c], low), high) - slope[k] * ease
    for j in range(row.length + 1):
        value = v[j]
        if value == 0.0:
            continue
        feature = 0
        if j > 0:
            feature = index[row.begin + j - 1] + 1 if sparse else j
        size = max(1.0, value * value)
        move = min(row.weight * row.rate, 1.0) * value / size
        gain = 0.0
        for k in range(outputs):
            c = stage * outputs + k
            answer = min(max(main[feature, c] * value, low), high)
            gain += answer * (answer - 2.0 * scratch[0, c])
            main[feature, c] -= move * (answer - scratch[0, c])
        extra[feature, stage] = keep * extra[feature, stage] + row.weight * gain
        extra[feature, stages + stage] = keep * extra[feature, stages + stage] + row.weight
    _answer(main, extra, row, index, v, stage, stages, outputs, raw)


@part
def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """Count the row."""
    features.count(seen, row.norm, learner.forget)
