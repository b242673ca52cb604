"""Feature stumps with an intercept, on features that are standardized by their running mean and deviation.

    p_j = a_j + w_j v_j,   v_j = (x_j - mean_j) / deviation_j,   (a, w)_j -= rate (p_j - r) (1, v_j) / (1 + v_j^2)

The rest is as in `stumps`; but a feature is in a row where it is given, also as zero. So shifting and scaling a column
changes nothing.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.online import scales, spreads
from anyboost.online.scales import feature_of


class CenteredStumps(NamedTuple):
    """What the learners have in common."""

    rate: float
    power: float
    forget: float


class CenteredArrays(NamedTuple):
    """What they learn, and what a row leaves until its end."""

    weights: np.ndarray  # (features + 1, columns)
    intercepts: np.ndarray  # the same; the constant, feature 0, has none
    sums: np.ndarray  # (features + 1, 2 * stages) of scores, and behind them how many
    spreads: np.ndarray  # (features + 1,) see `spreads.Spread`
    target: np.ndarray  # (columns,)
    seen: np.ndarray


@inlined
def load(learner, arrays, rows, begin, count, learning, values):
    values[0], norm, sparse = 1.0, 1.0, len(rows.columns) > 0
    for j in range(count):
        spread = arrays.spreads[(rows.columns[begin + j] if sparse else j) + 1]
        values[j + 1] = spreads.standardized(spread, rows.values[begin + j])
        norm += values[j + 1] * values[j + 1]
        if learning:
            spreads.note(spread, rows.values[begin + j])
    return norm


rate_of_row = scales.rate_of_row


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = what the best feature of each stage answers."""
    stages = arrays.sums.shape[1] // 2
    for stage in range(stages):
        _answer(arrays, row, stage, len(raw) // stages, raw)


@inlined
def _answer(arrays, row, stage, outputs, raw):
    sums, counts = arrays.sums, arrays.sums.shape[1] // 2 + stage
    best, lowest, value = 0, sums[0, stage] / max(sums[0, counts], 1.0), 1.0
    for j in range(1, row.length + 1):
        feature = feature_of(row, j)
        score = sums[feature, stage] / max(sums[feature, counts], 1.0)
        if score < lowest:
            best, lowest, value = feature, score, row.values[j]
    for k in range(outputs):
        c = stage * outputs + k
        raw[c] = arrays.weights[best, c] * value + arrays.intercepts[best, c]


@inlined
def gain(learner, arrays, row, column):
    return -1.0


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Let every feature of the row learn the target, and answer again."""
    outputs, keep = len(slopes), 1.0 - learner.forget
    weights, intercepts, sums, target = arrays.weights, arrays.intercepts, arrays.sums, arrays.target
    counts, step = sums.shape[1] // 2 + stage, min(row.weight * row.rate, 1.0)
    for k in range(outputs):
        c = stage * outputs + k
        target[c] = min(max(raw[c], aim.low), aim.high) - slopes[k] * aim.inverse_curvature
    for j in range(row.length + 1):
        feature, value = feature_of(row, j) if j > 0 else 0, row.values[j]
        free = 1.0 if j > 0 else 0.0
        share, gain = step / (free + value * value), 0.0
        for k in range(outputs):
            c = stage * outputs + k
            answer = weights[feature, c] * value + intercepts[feature, c]
            answer = min(max(answer, aim.low), aim.high)
            gain += answer * (answer - 2.0 * target[c])
            weights[feature, c] -= share * value * (answer - target[c])
            intercepts[feature, c] -= free * share * (answer - target[c])
        sums[feature, stage] = keep * sums[feature, stage] + row.weight * gain
        sums[feature, counts] = keep * sums[feature, counts] + row.weight
    _answer(arrays, row, stage, outputs, raw)


@inlined
def finish(learner, arrays, row):
    scales.count(arrays.seen, row.norm, learner.forget)
