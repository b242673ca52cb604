"""Feature stumps with an intercept, on features that are standardized by their running mean and deviation.

    p_j = a_j + w_j v_j,   v_j = (x_j - mean_j) / deviation_j,   (a, w)_j -= rate (p_j - r) (1, v_j) / (1 + v_j^2)

The rest is as in `stumps`; but a feature is in a row where it is given, also as zero. So shifting and scaling a column
changes nothing.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.backends.simd import WIDTH, apart, fill, select
from anyboost.backends.simd import load as load_several
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
    moves: np.ndarray  # (features + 1,) of the row's places, a unit of error each
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


rate_of_row, gain = scales.rate_of_row, scales.unknown_gain


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = what the best feature of each stage answers."""
    stages = arrays.sums.shape[1] // 2
    outputs, together = len(raw) // stages, stages - stages % WIDTH
    for stage in range(0, together, WIDTH):
        features, values = best_of_several(arrays.sums, row, stage, True)
        for k in range(WIDTH):
            _answer(arrays, int(features[k]), values[k], stage + k, outputs, raw)
    for stage in range(together, stages):
        feature, value = best_of_one(arrays.sums, row, stage, True)
        _answer(arrays, feature, value, stage, outputs, raw)


@inlined
def score_of(sums, feature, stage):
    """The mean by which a stage's features are compared."""
    return sums[feature, stage] / max(sums[feature, sums.shape[1] // 2 + stage], 1.0)


@inlined
def best_of_several(sums, row, stage, zeros):
    """For the stages from `stage` on, side by side: the feature of the row that each believes, and its value.

    `zeros` : whether a feature is in the row where it is zero.
    """
    counts = sums.shape[1] // 2 + stage
    best, lowest = fill(0.0), load_several(sums, 0, stage) / max(load_several(sums, 0, counts), 1.0)
    told = fill(1.0)
    for j in range(1, row.length + 1):
        if zeros or row.values[j] != 0.0:
            feature = feature_of(row, j)
            score = load_several(sums, feature, stage) / max(load_several(sums, feature, counts), 1.0)
            lower = score < lowest
            best, told = select(lower, fill(float(feature)), best), select(lower, fill(row.values[j]), told)
            lowest = select(lower, score, lowest)
    return apart(best), apart(told)


@inlined
def best_of_one(sums, row, stage, zeros):
    """The feature of the row that a stage believes, and its value; `zeros` as above."""
    best, lowest, value = 0, score_of(sums, 0, stage), 1.0
    for j in range(1, row.length + 1):
        if zeros or row.values[j] != 0.0:
            score = score_of(sums, feature_of(row, j), stage)
            if score < lowest:
                best, lowest, value = feature_of(row, j), score, row.values[j]
    return best, value


@inlined
def _answer(arrays, feature, value, stage, outputs, raw):
    for k in range(outputs):
        c = stage * outputs + k
        raw[c] = arrays.weights[feature, c] * value + arrays.intercepts[feature, c]


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Let every feature of the row learn the target, and answer again."""
    outputs, keep = len(slopes), 1.0 - learner.forget
    target, moves = arrays.target, arrays.moves
    if stage == 0:  # they are those of all stages
        step = min(row.weight * row.rate, 1.0)
        for j in range(row.length + 1):
            moves[j] = step / ((1.0 if j > 0 else 0.0) + row.values[j] * row.values[j])
    for k in range(outputs):
        c = stage * outputs + k
        target[c] = min(max(raw[c], aim.low), aim.high) - slopes[k] * aim.inverse_curvature
    place, lowest = 0, _learn_place(arrays, row, stage, outputs, aim, keep, 0, 0, 0.0)
    for j in range(1, row.length + 1):
        score = _learn_place(arrays, row, stage, outputs, aim, keep, j, feature_of(row, j), 1.0)
        if score < lowest:
            place, lowest = j, score
    feature = feature_of(row, place) if place > 0 else 0
    _answer(arrays, feature, row.values[place], stage, outputs, raw)


@inlined
def _learn_place(arrays, row, stage, outputs, aim, keep, j, feature, free):
    """Let one feature of the row learn the target; returns its score. `free` : 1.0, or 0.0 without an intercept."""
    weights, intercepts, sums, target = arrays.weights, arrays.intercepts, arrays.sums, arrays.target
    counts, value, share, gain = sums.shape[1] // 2 + stage, row.values[j], arrays.moves[j], 0.0
    for k in range(outputs):
        c = stage * outputs + k
        answer = weights[feature, c] * value + intercepts[feature, c]
        answer = min(max(answer, aim.low), aim.high)
        gain += answer * (answer - 2.0 * target[c])
        weights[feature, c] -= share * value * (answer - target[c])
        intercepts[feature, c] -= free * share * (answer - target[c])
    sums[feature, stage] = keep * sums[feature, stage] + row.weight * gain
    sums[feature, counts] = keep * sums[feature, counts] + row.weight
    return score_of(sums, feature, stage)


@inlined
def finish(learner, arrays, row):
    scales.count(arrays.seen, row.norm, learner.forget)
