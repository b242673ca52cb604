"""Feature stumps, one set a stage: each feature answers by itself, and the best of those in the row is believed.

    p_j = w_j v_j,    w_j -= rate (p_j - r) v_j / max(1, v_j^2),    score_j = mean of (r - p_j)^2 - r^2

with r the target. A stage answers p_j of the feature with the lowest score among those that are not zero in the
row, the constant among them. A column is stage * outputs + output. `centered_stumps` has those with an intercept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anyboost import checks
from anyboost.backends.compiler import inlined
from anyboost.backends.simd import WIDTH
from anyboost.online import scales
from anyboost.online.base import Arrays, Shape
from anyboost.online.centered_stumps import (
    CenteredArrays,
    CenteredStumps,
    best_of_one,
    best_of_several,
    score_of,
)
from anyboost.online.scales import feature_of
from anyboost.online.spreads import SPREAD


class Stumps(NamedTuple):
    """What the learners have in common."""

    rate: float
    power: float
    forget: float


class StumpArrays(NamedTuple):
    """What they learn, and what a row leaves until its end."""

    weights: np.ndarray  # (features + 1, columns)
    sums: np.ndarray  # (features + 1, 2 * stages) of scores, and behind them how many
    scales: np.ndarray
    target: np.ndarray  # (columns,)
    moves: np.ndarray  # (features + 1,) of the row's places, a unit of error each
    seen: np.ndarray


@dataclass(frozen=True)
class FeatureStumpLearner:
    """Each feature is a regression a_j + w_j x_j of its own, learned by gradient steps; a constant is one of them.

    A row is answered by the feature, of those in it, whose squared error has been lowest so far. A dense row and a dict
    have all their features, also where they are zero; a sparse row has those that are stored.

    Parameters
    ----------
    rate : float, default 0.1
        Of the steps; 1 goes all the way.
    power : float, default 0.0
        The rate falls with the number of rows as rate / rows^power.
    centered : bool, default True
        Whether features are standardized by their running mean and deviation and have an intercept, so that shifting
        and scaling a column changes nothing. False is the paper's form: w_j x_j, for features that are not zero.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.online.SpanBooster(ab.online.FeatureStumpLearner()).learner
    FeatureStumpLearner(rate=0.1, power=0.0, centered=True)
    """

    rate: float = 0.1
    power: float = 0.0
    centered: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))
        checks.flag(self.centered, "centered")

    def settings(self, forget: float) -> Stumps | CenteredStumps:
        return (CenteredStumps if self.centered else Stumps)(self.rate, self.power, forget)

    def named(self, arrays: Arrays) -> StumpArrays | CenteredArrays:
        main, extra, table, (scratch,), seen = arrays
        target, moves = scratch[: -len(main)], scratch[-len(main) :]
        count = scales.named(seen, scales.SEEN)
        if self.centered:
            weights, intercepts = np.split(main, 2, axis=1)
            return CenteredArrays(
                weights, intercepts, extra, scales.named(table, SPREAD), target, moves, count
            )
        return StumpArrays(main, extra, scales.named(table, scales.SCALE), target, moves, count)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        rows, columns = n_features + 1, stages * outputs
        known = scales.shape(SPREAD if self.centered else scales.SCALE, rows)
        main = (rows, columns * (1 + self.centered))
        return main, (rows, 2 * stages), known, (1, columns + rows), scales.shape(scales.SEEN)

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        return Arrays(*(np.zeros(shape) for shape in self.shapes(n_features, stages, outputs)))

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        count = n_features + 1 - len(arrays.main)
        more = ((0, count), (0, 0))
        return arrays._replace(
            main=np.pad(arrays.main, more),
            extra=np.pad(arrays.extra, more),
            table=np.pad(arrays.table, more),
            scratch=np.pad(arrays.scratch, ((0, 0), (0, count))),
        )

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        of_stage = arrays.main.reshape(len(arrays.main), 1 + self.centered, stages, -1)
        of_stage[:, :, stage] = 0.0
        arrays.extra[:, [stage, stages + stage]] = 0.0


load, rate_of_row, gain = scales.load_scaled, scales.rate_of_row, scales.unknown_gain


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = what the best feature of each stage answers."""
    stages = arrays.sums.shape[1] // 2
    outputs, together = len(raw) // stages, stages - stages % WIDTH
    for stage in range(0, together, WIDTH):
        features, values = best_of_several(arrays.sums, row, stage, False)
        for k in range(WIDTH):
            _answer(arrays, int(features[k]), values[k], stage + k, outputs, raw)
    for stage in range(together, stages):
        feature, value = best_of_one(arrays.sums, row, stage, False)
        _answer(arrays, feature, value, stage, outputs, raw)


@inlined
def _answer(arrays, feature, value, stage, outputs, raw):
    for k in range(outputs):
        raw[stage * outputs + k] = arrays.weights[feature, stage * outputs + k] * value


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Let every feature of the row learn the target, and answer again."""
    outputs, keep = len(slopes), 1.0 - learner.forget
    target, moves = arrays.target, arrays.moves
    if stage == 0:  # they are those of all stages
        step = min(row.weight * row.rate, 1.0)
        for j in range(row.length + 1):
            moves[j] = step * row.values[j] / max(1.0, row.values[j] * row.values[j])
    for k in range(outputs):
        c = stage * outputs + k
        target[c] = min(max(raw[c], aim.low), aim.high) - slopes[k] * aim.inverse_curvature
    place, lowest = 0, _learn_place(arrays, row, stage, outputs, aim, keep, 0, 0)
    for j in range(1, row.length + 1):
        if row.values[j] != 0.0:
            score = _learn_place(arrays, row, stage, outputs, aim, keep, j, feature_of(row, j))
            if score < lowest:
                place, lowest = j, score
    feature = feature_of(row, place) if place > 0 else 0
    _answer(arrays, feature, row.values[place], stage, outputs, raw)


@inlined
def _learn_place(arrays, row, stage, outputs, aim, keep, j, feature):
    """Let one feature of the row learn the target; returns its score."""
    weights, sums, target = arrays.weights, arrays.sums, arrays.target
    counts, gain = sums.shape[1] // 2 + stage, 0.0
    for k in range(outputs):
        c = stage * outputs + k
        answer = min(max(weights[feature, c] * row.values[j], aim.low), aim.high)
        gain += answer * (answer - 2.0 * target[c])
        weights[feature, c] -= arrays.moves[j] * (answer - target[c])
    sums[feature, stage] = keep * sums[feature, stage] + row.weight * gain
    sums[feature, counts] = keep * sums[feature, counts] + row.weight
    return score_of(sums, feature, stage)


@inlined
def finish(learner, arrays, row):
    scales.count(arrays.seen, row.norm, learner.forget)
