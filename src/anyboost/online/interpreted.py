"""The same algorithm row by row in Python: for losses and learners that kernels do not know.

This is also the place to read it. For each row, with z_i as in `backends.online.chain`:

    answer   all stages, before the row is learned; the prefix of least loss so far is believed
    learn    greedy: stage i learns from the slope at y_0 + z_{i-1} + eta a_i, over eta
             linear: from the slope at y_0 + z_{i-1}, over L_B
    shrink   s_i <- clip(s_i + a_t <slope at z_{i-1}, z_{i-1}>, 0, 1)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anyboost.backends import definitions
from anyboost.checks import Floats
from anyboost.losses.elementary import log_each
from anyboost.online.base import Arrays, Stage
from anyboost.online.rows import Table
from anyboost.online.state import State

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


class Step(NamedTuple):
    """What a stage is told: the slope, 1 over the curvature, the labels' deviation, where answers are cut off."""

    slope: Floats
    ease: float
    unit: float
    low: float
    high: float


class PythonStages:
    """Stages that are Python objects."""

    def __init__(self, learner: Any, stages: int, n_features: int, outputs: int) -> None:
        self.learner, self.outputs, self.n_features = learner, outputs, n_features
        self.stages: list[Stage] = [learner.start(n_features, outputs) for _ in range(stages)]
        self.x = np.zeros(n_features)

    def load(self, table: Table, number: int, weight: float) -> None:
        self.x = dense_row(table, number)

    def predict(self) -> Floats:
        return np.array(
            [np.reshape(stage.predict(self.x), self.outputs) for stage in self.stages], dtype=float
        )

    def learn(self, stage: int, raw: Floats, step: Step, weight: float) -> None:
        target = np.clip(raw[stage], step.low, step.high) - step.slope * step.ease
        self.stages[stage].learn(self.x, target if self.outputs > 1 else float(target[0]), weight)
        raw[stage] = np.reshape(self.stages[stage].predict(self.x), self.outputs)

    def finish(self) -> None:
        pass

    def grow(self, n_features: int, random: np.random.Generator) -> None:
        self.n_features = n_features

    def reset(self, stage: int, random: np.random.Generator) -> None:
        self.stages[stage] = self.learner.start(self.n_features, self.outputs)


class CompiledStages:
    """Stages of a compiled learner, one row at a time."""

    def __init__(self, booster: OnlineBooster, outputs: int, arrays: Arrays) -> None:
        self.learner, self.stages, self.outputs, self.arrays = (
            booster.learner,
            booster.n_learners,
            outputs,
            arrays,
        )
        self.settings = booster.learner.settings(booster.forget)
        self.row: Any = None

    def load(self, table: Table, number: int, weight: float) -> None:
        from anyboost.backends.online import learners

        begin = int(table.begins[number]) if len(table.begins) else number * table.width
        end = int(table.begins[number + 1]) if len(table.begins) else begin + table.width
        self.index, self.v = table.features, np.empty(table.width + 1)
        norm = learners.load(
            self.settings, self.arrays.table, table.data, self.index, begin, end - begin, weight > 0, self.v
        )
        rate = learners.rate_of_row(self.settings, self.arrays.seen, norm)
        self.row = learners.Row(begin, end - begin, norm, rate, weight)

    def predict(self) -> Floats:
        from anyboost.backends.online import learners

        raw = np.empty(self.stages * self.outputs)
        main, extra, _, scratch, _ = self.arrays
        learners.predict(self.settings, main, extra, scratch, self.row, self.index, self.v, raw)
        return raw.reshape(self.stages, self.outputs)

    def learn(self, stage: int, raw: Floats, step: Step, weight: float) -> None:
        from anyboost.backends.online import learners

        main, extra, table, scratch, _ = self.arrays
        learners.learn(
            *(self.settings, main, extra, table, scratch, self.row, self.index, self.v, stage),
            *(step.slope, step.ease, step.unit, step.low, step.high, raw.reshape(-1)),
        )

    def finish(self) -> None:
        from anyboost.backends.online import learners

        learners.finish(self.settings, *self.arrays, self.row, self.index, self.v)

    def grow(self, n_features: int, random: np.random.Generator) -> None:
        self.arrays = self.learner.grown(self.arrays, n_features, random)

    def reset(self, stage: int, random: np.random.Generator) -> None:
        self.learner.reset(self.arrays, stage, self.stages, random)


class Bounds(NamedTuple):
    """What scores may be at one moment: D, B, the range of slopes; y_0."""

    D: float
    B: float
    low: float
    high: float
    center: Floats


class InterpretedState(State):
    """The chain in Python."""

    def __init__(self, booster: OnlineBooster, outputs: int, stages: PythonStages | CompiledStages) -> None:
        super().__init__(booster, outputs)
        self.stages = stages

    @classmethod
    def begin(cls, booster: OnlineBooster, n_features: int, outputs: int) -> InterpretedState:
        learner, count = booster.learner, booster.n_learners
        if not hasattr(learner, "arrays"):
            return cls(booster, outputs, PythonStages(learner, count, n_features, outputs))
        arrays = learner.arrays(n_features, count, outputs, np.random.default_rng(booster.random_state))
        return cls(booster, outputs, CompiledStages(booster, outputs, arrays))

    @property
    def arrays(self) -> Arrays | None:
        """A compiled learner's arrays; None for objects."""
        return getattr(self.stages, "arrays", None)

    def grow(self, n_features: int) -> None:
        self.stages.grow(n_features, self._random(self.booster.n_features + 1))

    def reset(self, stage: int) -> None:
        super().reset(stage)
        self.stages.reset(stage, self._random(stage, int(self.totals[1])))

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        answers = np.empty((table.n, self.outputs))
        for number in range(table.n):
            self.stages.load(table, number, float(weights[number]))
            raw = self.stages.predict()
            if weights[number] > 0:
                answers[number] = self._learn_row(raw, y[number], float(weights[number]))
                self.stages.finish()
            else:
                answers[number] = self._answer(raw)
        return answers if self.booster.loss.vector else answers[:, 0]

    def predict(self, table: Table) -> Floats:
        answers = np.empty((table.n, self.outputs))
        for number in range(table.n):
            self.stages.load(table, number, 0.0)
            answers[number] = self._answer(self.stages.predict())
        return answers if self.booster.loss.vector else answers[:, 0]

    def _bounds(self) -> Bounds:
        from anyboost.backends.online import chain

        settings = self.settings
        D, B, low, high = chain.bounds_now(settings, self.chain, self.labels)
        if settings.running_center and settings.center == definitions.LOG_SHARES:
            center = log_each(self.shares + 1.0)
            center -= center.mean()
        else:
            center = np.full(self.outputs, chain.center_of(settings, self.labels))
        return Bounds(D, B, low, high, center)

    def _advance(self, i: int, z: Floats, a: Floats, now: Bounds) -> Floats:
        from anyboost.backends.online.chain import SHRINK, STEP

        eta = self.chain[STEP, i + 1]
        if self.settings.hull:
            z = (1.0 - eta) * z + eta * a
        else:
            z = into_ball((1.0 - self.chain[SHRINK, i + 1] * eta) * z + eta * a, now.B)
        if not self.settings.greedy:
            return z
        return np.clip(z, np.minimum(now.low - now.center, 0.0), np.maximum(now.high - now.center, 0.0))

    def _answer(self, raw: Floats) -> Floats:
        from anyboost.backends.online.chain import answering_prefix

        now = self._bounds()
        z = np.zeros(self.outputs)
        for i in range(answering_prefix(self.settings, self.chain)):
            z = self._advance(i, z, into_ball(raw[i], now.D), now)
        return now.center + z

    def _loss(self, score: Floats, y: Any) -> float:
        return float(self.booster.loss.values(self._scores(score), np.array([y]))[0])

    def _slope(self, score: Floats, y: Any) -> Floats:
        gradient = self.booster.loss.subgradients(self._scores(score), np.array([y]))
        return np.array(gradient, dtype=np.float64).reshape(-1)

    def _scores(self, score: Floats) -> Floats:
        return score[None, :] if self.booster.loss.vector else score

    def _learn_row(self, raw: Floats, y: Any, weight: float) -> Floats:
        from anyboost.backends.online import chain, labels

        settings, keep = self.settings, 1.0 - self.settings.forget
        now = self._bounds()
        L = chain.lipschitz_of(settings, now.B, max(now.center[0] - now.low, now.high - now.center[0]))
        shrink_step = weight * chain.shrink_rate(settings, self.totals[chain.ROWS], L, now.B)
        calm = labels.tame(self.labels, y) if settings.located and settings.label_bound == 0 else y
        length = chain.answering_prefix(settings, self.chain)
        self._see(y, weight)
        then = self._bounds()
        ease, unit = chain.ease_of(settings, self.labels), chain.unit_of(settings, self.labels)

        z, new_z = np.zeros(self.outputs), np.zeros(self.outputs)
        answer, answer_loss = now.center, self._loss(now.center, y)
        first = self._loss(now.center, calm)
        self.chain[chain.LOSS, 0] += weight * answer_loss
        for i in range(len(raw)):
            eta = self.chain[chain.STEP, i + 1]
            a = into_ball(raw[i], now.D)
            pull = self._slope(now.center + z, calm)
            before = z
            z = self._advance(i, z, a, now)
            if settings.greedy:
                offset = then.center + ((1.0 - eta) * new_z if settings.hull else new_z)
                step = self._greedy_step(raw[i], offset, then, i, calm, ease, unit)
                self.stages.learn(i, raw, step, weight)
                new_z = self._advance(i, new_z, into_ball(raw[i], then.D), then)
            elif L > 0:
                self.stages.learn(i, raw, Step(pull / L, now.D, now.D, -now.D, now.D), weight)
            shrink = self.chain[chain.SHRINK, i + 1] + shrink_step * float(pull @ before)
            self.chain[chain.SHRINK, i + 1] = min(max(shrink, 0.0), 1.0)
            loss = self._loss(now.center + z, y)
            self.chain[chain.LOSS, i + 1] += weight * loss
            if i + 1 == length:
                answer, answer_loss = now.center + z, loss
            gain = self._loss(now.center + z, calm) - first
            self.chain[chain.SCORE, i + 1] = keep * self.chain[chain.SCORE, i + 1] + weight * gain
        chain.count_row(self.totals, weight, float(y))
        self.totals[chain.ANSWERS] += weight * answer_loss
        return answer

    def _greedy_step(
        self, raw: Floats, offset: Floats, then: Bounds, i: int, y: Any, ease: float, unit: float
    ) -> Step:
        """The slope where the stage leads to, as the stage sees it."""
        from anyboost.backends.online.chain import INVERSE, STEP

        eta, inverse = self.chain[STEP, i + 1], self.chain[INVERSE, i + 1]
        point = np.clip(offset + eta * into_ball(raw, then.D), then.low, then.high)
        slope = self._slope(point, y) * inverse
        low, high = -then.D, then.D
        if self.outputs == 1:
            lowest, highest = (then.low - offset[0]) * inverse, (then.high - offset[0]) * inverse
            low, high = min(max(low, lowest), highest), max(min(high, highest), lowest)
        return Step(slope, ease, unit * inverse, low, high)

    def _see(self, y: Any, weight: float) -> None:
        from anyboost.backends.online import labels

        labels.see(self.labels, float(y), weight, self.settings.forget)
        if self.booster.loss.domain.classes:
            self.shares *= 1.0 - self.settings.forget
            self.shares[int(y)] += weight


def into_ball(vector: Floats, radius: float) -> Floats:
    """The vector, shortened to the radius."""
    if len(vector) == 1:
        return np.clip(vector, -radius, radius)
    length = math.sqrt(float(vector @ vector))
    return vector * (radius / length) if length > radius else vector


def dense_row(table: Table, number: int) -> Floats:
    """One row with all its features."""
    if not len(table.begins):
        return table.data[number * table.width : (number + 1) * table.width]
    x = np.zeros(table.width)
    own = slice(table.begins[number], table.begins[number + 1])
    x[table.features[own]] = table.data[own]
    return x
