"""What a booster has learned: the chain's lines, the labels, the totals, and its learners' arrays or objects.

`CompiledState` hands whole arrays of rows to kernels; `InterpretedState` runs the same chain in Python, for losses and
learners that kernels do not know.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.backends.compiler import entry
from anyboost.checks import Floats
from anyboost.losses import domains
from anyboost.online import labels, regret, wave
from anyboost.online.base import Arrays, CompiledLearner
from anyboost.online.chain import Model, Work, kernels_of, learn_all, predict_all
from anyboost.online.one_score import OneScore
from anyboost.online.python_loss import PythonLoss
from anyboost.online.python_stages import PythonStages
from anyboost.online.regret import Regret
from anyboost.online.rows import Table, one_row
from anyboost.online.settings import (
    N_SUMS,
    NO_LAPSE,
    RESET,
    TOTALS,
    UNKNOWN,
    Chain,
    ChainSettings,
    ChainTotals,
    settings_of,
)
from anyboost.online.several_scores import several_scores

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


class ChainState:
    """Begun, or with the arrays of a file."""

    def __init__(
        self, booster: OnlineBooster, n_features: int, outputs: int, arrays: Arrays | None = None
    ) -> None:
        self.booster, self.outputs = booster, outputs
        self.chain = np.zeros((len(Chain._fields), booster.n_learners + 1))
        self.use(settings_of(booster))
        self.labels = np.zeros(labels.SIZE)
        self.shares = np.zeros(outputs)  # weight of each class
        self.totals = np.zeros(len(ChainTotals._fields))
        self.sketch = regret.Sketch()
        learner, stages = booster.learner, booster.n_learners
        if not isinstance(learner, CompiledLearner):
            self.learner: Any = PythonStages(learner, stages, n_features, outputs)
        else:
            self.learner = learner.settings(booster.forget)
            random = np.random.default_rng(booster.random_state)
            arrays = arrays or learner.arrays(n_features, stages, outputs, random)
        self.arrays = arrays  # None for objects

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may lie in memory that cannot be written."""
        for name, value in state.items():
            if isinstance(value, Arrays):
                value = Arrays(*(np.require(array, requirements="W") for array in value))
            elif isinstance(value, np.ndarray):
                value = np.require(value, requirements="W")
            setattr(self, name, value)
        if len(self.totals) == N_SUMS:  # of a version that did not keep what came behind
            self.totals = np.append(self.totals, [0.0, UNKNOWN, 0.0])

    def use(self, settings: ChainSettings) -> None:
        """Go by these settings."""
        self.settings = settings
        self.lines.step[1:] = self.booster.steps()
        self.lines.inverse[1:] = 1.0 / (self.booster.steps() * settings.multiplier)

    @property
    def lines(self) -> Chain:
        """The chain's lines by name."""
        return Chain(*self.chain)

    @property
    def rows(self) -> int:
        """How many rows were learned."""
        return int(ChainTotals(*self.totals).rows)

    def grow(self, n_features: int) -> None:
        if self.arrays is None:
            self.learner.n_features = n_features
        else:
            random = self._random(len(self.arrays.table))
            self.arrays = self.booster.learner.grown(self.arrays, n_features, random)

    def reset(self, stage: int) -> None:
        self.lines.shrink[stage + 1] = 0.0
        if ChainTotals(*self.totals).lapse_cause == NO_LAPSE:
            self.totals[N_SUMS:] = self.rows + 1, RESET, stage
        if self.arrays is None:
            self.learner.reset(stage)
        else:
            random = self._random(stage, self.rows)
            self.booster.learner.reset(self.arrays, stage, self.booster.n_learners, random)

    def _random(self, *when: int) -> np.random.Generator:
        # From when it is asked for, so that a file need not keep the generator.
        return np.random.default_rng([self.booster.random_state, *when])

    def model(self) -> Model:
        """The state as kernels are given it."""
        loss, code = self.booster.loss, self.settings.code
        scores: Any = OneScore(code, self.settings.parameter)
        if loss.vector:
            scores = several_scores(code, np.atleast_1d(loss.parameter), self.shares)
        arrays = None if self.arrays is None else self.booster.learner.named(self.arrays)
        totals = self.totals.view(TOTALS)
        return Model(self.settings, self.chain, self.labels, totals, scores, self.learner, arrays)

    def answers(self, n: int) -> Floats:
        """Room for the answers to n rows."""
        return np.empty((n, self.outputs) if self.booster.loss.vector else n)

    def work(self, width: int) -> Work:
        """Room for the work on one row."""
        stages, k = self.booster.n_learners, self.outputs
        points = self.answers(stages + 1)
        return Work(np.empty(width + 1), np.empty(stages * k), np.empty(k), points)

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        """Learn the rows; returns their scores from before."""
        raise NotImplementedError

    def learn_one(self, columns: np.ndarray, values: Floats, y: Any, weight: Any) -> float | None:
        """The same for one encoded row; None where it has to be checked, and learned the long way."""
        return None

    def predict(self, table: Table) -> Floats:
        raise NotImplementedError

    def predict_one(self, columns: np.ndarray, values: Floats) -> float | None:
        return None

    def best_prefix(self) -> int:
        """How many learners the prefix of least loss has."""
        return int(np.argmin(self.lines.loss))

    def losses(self) -> Floats:
        """Of the answers, of the first learner, and of the best prefix."""
        losses = self.lines.loss
        return np.array([ChainTotals(*self.totals).loss, losses[1], losses[self.best_prefix()]])

    def regret(self) -> Regret:
        losses = self.lines.loss
        best = self.best_prefix()
        totals = ChainTotals(*self.totals.tolist())
        moments, rows = [totals.weight, totals.first, totals.second], int(totals.rows)
        return Regret(
            rows=rows,
            loss=totals.loss,
            first_learner_loss=float(losses[1]),
            best_constant_loss=regret.constant_loss(self.booster.loss, moments, self.shares, self.sketch),
            best_prefix_loss=float(losses[best]),
            best_prefix=best,
            bound=regret.bound(self.booster, rows, gain=float(losses[0]), weight=totals.weight),
            no_bound=regret.why_no_bound(self.booster),
        )


class InterpretedState(ChainState):
    """The chain in Python, row by row: what was learned before an error stays learned."""

    def model(self) -> Model:
        model = super().model()
        return model._replace(chain=self.lines, scores=PythonLoss(self.booster.loss, model.scores))

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        model, answers, work = self.model(), self.answers(table.n), self.work(table.width)
        y = y.astype(np.float64, copy=False)
        for row in range(table.n):
            own = slice(row, row + 1)
            learn_all(model, table.part(own), y[own], weights[own], answers[own], work)
        return answers

    def predict(self, table: Table) -> Floats:
        answers = self.answers(table.n)
        predict_all(self.model(), table, answers, self.work(table.width))
        return answers


class CompiledState(ChainState):
    """The chain in kernels."""

    _one_row: OneRow | None = None
    _model: Model | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_one_row", "_model")}

    def grow(self, n_features: int) -> None:
        super().grow(n_features)
        self._one_row = self._model = None

    def model(self) -> Model:
        if self._model is None:  # its memory stays where it is until the state grows
            self._model = super().model()
        return self._model

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        # Kernels are compiled for memory that can be written; others would be compiled anew, which takes seconds.
        model, y = self.model(), np.require(y, np.float64, "W")
        table, weights = table.writable(), np.require(weights, requirements="W")
        if wave.takes(model, table, weights):
            return wave.run(model, table, y, weights, n_threads)
        answers = self.answers(table.n)
        kernels_of(model).learn(model, table, y, weights, answers, self.work(table.width))
        return answers

    def predict(self, table: Table) -> Floats:
        model, answers = self.model(), self.answers(table.n)
        kernels_of(model).predict(model, table.writable(), answers, self.work(table.width))
        return answers

    def learn_one(self, columns: np.ndarray, values: Floats, y: Any, weight: Any) -> float | None:
        one = self._one_row or self._begin_one_row()
        return one.learn(columns, values, y, weight) if one.takes(y, weight) else None

    def predict_one(self, columns: np.ndarray, values: Floats) -> float | None:
        one = self._one_row or self._begin_one_row()
        return one.predict(columns, values) if one.alone else None

    def _begin_one_row(self) -> OneRow:
        self._one_row = OneRow(self)
        return self._one_row


class OneRow:
    """One row at a time through the kernels of whole arrays, without the price of a whole array."""

    def __init__(self, state: CompiledState) -> None:
        loss = state.booster.loss
        self.alone = not loss.vector
        self.real = self.alone and loss.domain is domains.REALS
        self.signs = self.alone and loss.domain is domains.SIGNS
        self.sketch = state.sketch if regret.needs_sketch(loss) else None
        self.width = state.booster.n_features
        self.model = state.model()
        self.kernels = kernels_of(self.model)
        self.answer, self.work = state.answers(1), state.work(self.width)
        self.y, self.weight = np.zeros(1), np.ones(1)
        self.columns = self.values = np.zeros(0)  # those of no row
        self.learning: tuple[Any, ...] = ()
        self.predicting: tuple[Any, ...] = ()
        self.learn_entry: Any = None
        self.predict_entry: Any = None

    def takes(self, y: Any, weight: Any) -> bool:
        """Whether label and weight are plainly good; a doubtful one goes the long way and is refused there."""
        try:
            if not (weight >= 0.0 and isfinite(weight)):
                return False
            return isfinite(y) if self.real else self.signs and y * y == 1.0
        except TypeError:
            return False

    def learn(self, columns: np.ndarray, values: Floats, y: float, weight: float) -> float:
        """Learn one row of checked values; returns its score from before."""
        if columns is not self.columns or values is not self.values:
            self._take(columns, values)
        self.y[0], self.weight[0] = y, weight
        if self.learn_entry is None:
            self.learn_entry = entry(self.kernels.learn, self.learning)
        self.learn_entry(*self.learning)
        if self.sketch is not None:
            self.sketch.add(self.y, self.weight)
        return self.answer.item()

    def predict(self, columns: np.ndarray, values: Floats) -> float:
        """The score of one row."""
        if columns is not self.columns or values is not self.values:
            self._take(columns, values)
        if self.predict_entry is None:
            self.predict_entry = entry(self.kernels.predict, self.predicting)
        self.predict_entry(*self.predicting)
        return self.answer.item()

    def _take(self, columns: np.ndarray, values: Floats) -> None:
        """The row's arrays, which an encoder uses again for rows of the same names."""
        self.columns, self.values = columns, values
        table = one_row(columns, values, self.width)
        self.learning = (self.model, table, self.y, self.weight, self.answer, self.work)
        self.predicting = (self.model, table, self.answer, self.work)
