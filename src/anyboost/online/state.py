"""What a booster has learned: the chain, the labels, the totals, and its learners' arrays or objects.

`CompiledState` hands whole arrays of rows to kernels. `interpreted` has the same algorithm in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.checks import Floats
from anyboost.online import regret
from anyboost.online.base import Arrays
from anyboost.online.regret import Regret
from anyboost.online.rows import Table
from anyboost.online.settings import chain_settings

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


class State:
    """The part that does not depend on the learners."""

    def __init__(self, booster: OnlineBooster, outputs: int) -> None:
        from anyboost.backends.online import chain, labels

        self.booster = booster
        self.outputs = outputs
        self.settings = chain_settings(booster)
        self.chain = np.zeros((chain.LINES, booster.n_learners + 1))
        self.chain[chain.STEP, 1:] = booster.steps()
        self.chain[chain.INVERSE, 1:] = 1.0 / booster.steps()
        self.labels = np.zeros(labels.SIZE)
        self.shares = np.zeros(outputs)  # weight of each class
        self.totals = np.zeros(chain.TOTALS)
        self.sketch = regret.Sketch()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may lie in memory that cannot be written."""
        for name, value in state.items():
            if isinstance(value, Arrays):
                value = Arrays(*(np.require(array, requirements="W") for array in value))
            elif isinstance(value, np.ndarray):
                value = np.require(value, requirements="W")
            setattr(self, name, value)

    def grow(self, n_features: int) -> None:
        raise NotImplementedError

    def reset(self, stage: int) -> None:
        from anyboost.backends.online.chain import SHRINK

        self.chain[SHRINK, stage + 1] = 0.0

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        raise NotImplementedError

    def predict(self, table: Table) -> Floats:
        raise NotImplementedError

    def _random(self, *when: int) -> np.random.Generator:
        # From when it is asked for, so that a file need not keep the generator.
        return np.random.default_rng([self.booster.random_state, *when])

    def regret(self) -> Regret:
        from anyboost.backends.online.chain import ANSWERS, LOSS, MOMENTS, ROWS

        losses = self.chain[LOSS]
        best = int(np.argmin(losses))
        return Regret(
            rows=int(self.totals[ROWS]),
            loss=float(self.totals[ANSWERS]),
            first_learner_loss=float(losses[1]),
            best_constant_loss=regret.constant_loss(
                self.booster.loss, self.totals[MOMENTS:], self.shares, self.sketch
            ),
            best_prefix_loss=float(losses[best]),
            best_prefix=best,
            bound=regret.bound(self.booster, int(self.totals[ROWS]), gain=float(losses[0])),
        )


class CompiledState(State):
    """Arrays that kernels update; see `backends.online`."""

    def __init__(self, booster: OnlineBooster, outputs: int, arrays: Arrays) -> None:
        super().__init__(booster, outputs)
        self.arrays = arrays
        self.learner = booster.learner.settings(booster.forget)

    @classmethod
    def begin(cls, booster: OnlineBooster, n_features: int, outputs: int) -> CompiledState:
        random = np.random.default_rng(booster.random_state)
        return cls(booster, outputs, booster.learner.arrays(n_features, booster.n_learners, outputs, random))

    def grow(self, n_features: int) -> None:
        random = self._random(len(self.arrays.table))
        self.arrays = self.booster.learner.grown(self.arrays, n_features, random)

    def reset(self, stage: int) -> None:
        super().reset(stage)
        random = self._random(stage, int(self.totals[1]))
        self.booster.learner.reset(self.arrays, stage, self.booster.n_learners, random)

    def learn(self, table: Table, y: np.ndarray, weights: Floats, n_threads: int) -> Floats:
        from anyboost.backends.online import rows, vectors, wave

        y = y.astype(np.float64, copy=False)
        state = (self.settings, self.chain, self.labels, self.totals, self.learner, *self.arrays)
        if wave.takes(self.settings, self.learner, self.booster.n_learners, table, weights):
            return wave.run(table, y, weights, n_threads, state)
        answers, work = self._work(table)
        (rows if self.outputs == 1 else vectors).learn_rows(
            *(table.data, table.features, table.begins, table.width, y, weights, answers, *work, *state)
        )
        return answers

    def predict(self, table: Table) -> Floats:
        from anyboost.backends.online import rows, vectors

        answers, work = self._work(table)
        (rows if self.outputs == 1 else vectors).predict_rows(
            *(table.data, table.features, table.begins, table.width, answers, *work),
            *(self.settings, self.chain, self.labels, self.learner, *self.arrays),
        )
        return answers

    def _work(self, table: Table) -> tuple[Floats, tuple[np.ndarray, ...]]:
        """Space for the answers, and what else the kernels of one or of several outputs need."""
        from anyboost.backends.online.vectors import LINES

        stages, k = self.booster.n_learners, self.outputs
        if k == 1:
            return np.empty(table.n), (np.empty(2 * stages + 3 + table.width),)
        taus = np.atleast_1d(self.booster.loss.parameter)
        work = (np.empty(table.width + 1), np.empty(stages * k), np.zeros((LINES, k)), taus, self.shares)
        return np.empty((table.n, k)), work
