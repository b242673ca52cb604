"""A booster's state as arrays, and the kernels that update it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.checks import Floats
from anyboost.online import regret
from anyboost.online.base import Arrays
from anyboost.online.regret import Regret
from anyboost.online.rows import Table

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


class CompiledState:
    """Chain, labels, totals and the learner's arrays; see `backends.online`."""

    def __init__(self, booster: OnlineBooster, arrays: Arrays) -> None:
        from anyboost.backends.online import labels

        self.booster = booster
        self.arrays = arrays
        self.chain = np.zeros((5, booster.n_learners + 1))
        self.chain[0, 1:] = booster.steps()
        self.chain[4, 1:] = 1.0 / booster.steps()
        self.labels = np.zeros(labels.SIZE)
        self.totals = np.zeros(6)
        self.settings = chain_settings(booster)
        self.learner = booster.learner.settings(booster.forget)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may be memory that cannot be written."""
        self.__dict__.update(state)
        self.arrays = Arrays(*(np.require(array, requirements="W") for array in self.arrays))
        for name in ("chain", "labels", "totals"):
            setattr(self, name, np.require(getattr(self, name), requirements="W"))

    @classmethod
    def begin(cls, booster: OnlineBooster, n_features: int) -> CompiledState:
        random = np.random.default_rng(booster.random_state)
        arrays = booster.learner.arrays(n_features, booster.n_learners, 1, random)
        return cls(booster, arrays)

    def grow(self, n_features: int) -> None:
        self.arrays = self.booster.learner.grown(
            self.arrays, n_features, self._random(len(self.arrays.table))
        )

    def reset(self, stage: int) -> None:
        random = self._random(stage, int(self.totals[1]))
        self.booster.learner.reset(self.arrays, stage, self.booster.n_learners, random)
        self.chain[1, stage + 1] = 0.0

    def _random(self, *when: int) -> np.random.Generator:
        # From when it is asked for, so that a file need not keep the generator.
        return np.random.default_rng([self.booster.random_state, *when])

    def learn(self, table: Table, y: Floats, weights: Floats) -> Floats:
        from anyboost.backends.online.rows import learn_rows

        answers = np.empty(table.n)
        learn_rows(
            *(table.data, table.index, table.begins, table.width, y, weights, answers, self._work(table)),
            *(self.settings, self.chain, self.labels, self.totals, self.learner, *self.arrays),
        )
        return answers

    def _work(self, table: Table) -> Floats:
        return np.empty(self.booster.n_learners + 2 + table.width)

    def predict(self, table: Table) -> Floats:
        from anyboost.backends.online.rows import predict_rows

        answers = np.empty(table.n)
        predict_rows(
            *(table.data, table.index, table.begins, table.width, answers, self._work(table)),
            *(self.settings, self.chain, self.labels, self.learner, *self.arrays),
        )
        return answers

    def regret(self) -> Regret:
        losses = self.chain[2]
        best = int(np.argmin(losses))
        constant = regret.constant_loss(self.settings.code, self.settings.parameter, self.totals[3:6])
        return Regret(
            rows=int(self.totals[1]),
            loss=float(self.totals[0]),
            first_learner_loss=float(losses[1]),
            best_constant_loss=constant,
            best_prefix_loss=float(losses[best]),
            best_prefix=best,
            bound=None,
        )


def chain_settings(booster: OnlineBooster) -> Any:
    from anyboost.backends.online.losses import CODES
    from anyboost.backends.online.rows import Chain

    loss = booster.loss
    parameter = next(
        (float(getattr(loss, name)) for name in ("tau", "delta", "power") if hasattr(loss, name)), 0.0
    )
    code = CODES[type(loss).__name__]
    located = code <= CODES["Expectile"]
    return Chain(
        code=code,
        parameter=parameter,
        hull=booster._hull,
        greedy=booster.mode == "greedy",
        best_prefix=booster.prefix == "best",
        running_center=booster.start is None,
        start=booster.start or 0.0,
        output_bound=booster.output_bound or (0.0 if located else 4.0),
        label_bound=booster.label_bound or (0.0 if located else 1.0),
        radius=0.0,
        lipschitz=0.0 if located else 1.0,
        scale=booster.scale,
        forget=booster.forget,
    )
