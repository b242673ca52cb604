"""Who is in the team: chains of online learners, and batch boosters that are refitted as rows come.

An expert answers encoded rows with scores (n,) or, of K classes, probabilities (n, K); NaN while it has no answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats
from anyboost.estimators import BoostingClassifier, BoostingRegressor
from anyboost.estimators.classes import settled
from anyboost.losses import RowwiseLoss, domains
from anyboost.online.algorithms import SpanBooster
from anyboost.online.features import Features
from anyboost.online.one_vs_rest import Member, OneVsRest
from anyboost.online.rows import Table
from anyboost.streams.batch_row import BatchRow
from anyboost.streams.layout import Layout, layout_of
from anyboost.streams.rows_kept import Labelled
from anyboost.streams.schedules import RefitSchedule


class NumberChain:
    """A chain of online learners that answers scores.

    standardized : whether the rows that it is given are those of `standardizing`.
    """

    def __init__(self, name: str, booster: SpanBooster, standardized: bool = False) -> None:
        self.name, self.booster, self.standardized = name, booster, standardized

    def learn(self, rows: Table, y: np.ndarray, weights: Floats) -> Floats:
        """Learn rows in order; returns the answers from before each."""
        return self.booster._learn_rows(rows, y, weights)

    def answer(self, rows: Table) -> Floats:
        """The scores of rows."""
        return self.booster._score_rows(rows)

    def learn_row(self, columns: np.ndarray, values: Floats, width: int, y: float, weight: float) -> float:
        """Learn one encoded row; returns its score from before."""
        return float(self.booster._learn_row(columns, values, width, y, weight))

    def answer_row(self, columns: np.ndarray, values: Floats, width: int) -> float:
        """The score of one encoded row."""
        return float(self.booster._score_row(columns, values, width))

    @property
    def boosters(self) -> list[Any]:
        """What is learnt."""
        return [self.booster]


class ClassChains:
    """Chains of online learners, a class against the rest each, that answer probabilities."""

    def __init__(self, name: str, booster: SpanBooster, standardized: bool = False) -> None:
        self.name, self.model, self.standardized = name, booster, standardized
        self.members = OneVsRest(self._new, booster.loss)

    def _new(self, _: int | None) -> Member:
        new = self.model
        return Member(
            type(new)(
                new.learner,
                new.n_learners,
                new.loss,
                new.step,
                prefix=new.prefix,
                forget=new.forget,
                random_state=new.random_state,
            )
        )

    def cover(self, classes: int) -> None:
        """Have an answer for each of so many classes."""
        self.members.cover(classes)

    def learn(self, rows: Table, codes: np.ndarray, weights: Floats) -> Floats:
        """Learn rows in order; returns the answers from before each."""
        return self.members.probabilities(self.members.learn_rows(rows, codes, weights))

    def answer(self, rows: Table) -> Floats:
        """The classes' probabilities of rows."""
        return self.members.probabilities(self.members.scores(rows))

    def learn_row(
        self, columns: np.ndarray, values: Floats, width: int, code: int, weight: float
    ) -> list[float]:
        """Learn one encoded row; returns its scores, of which `members` makes probabilities, from before."""
        return self.members.learn_row(columns, values, width, code, weight)

    def answer_row(self, columns: np.ndarray, values: Floats, width: int) -> list[float]:
        """The scores of one encoded row."""
        return self.members.answer_row(columns, values, width)

    @property
    def boosters(self) -> list[Any]:
        """What is learnt."""
        return [member.booster for member in self.members.members]


class Background:
    """A fit in a thread, which a process that is forked meanwhile has not: there it is done again."""

    def __init__(self, fit: Callable[[], Any], pool: Executor) -> None:
        self.fit, self.process = fit, os.getpid()
        self.future = pool.submit(fit)

    def result(self) -> Any:
        """The model, waited for where need be."""
        return self.future.result() if self.process == os.getpid() else self.fit()


class Refit(NamedTuple):
    """A model that is fitted, and the row from which on it answers."""

    row: int
    layout: Layout
    model: Any  # None where there was nothing to fit; or a `Background` of either

    def finished(self) -> Refit:
        """With the model itself, waited for where need be."""
        return self._replace(model=self.model.result()) if isinstance(self.model, Background) else self


class Refitted:
    """A batch booster, fitted anew by its schedule to all rows kept or to the last ones.

    loss : that of scores; None for classes.
    """

    _row: BatchRow | None = None

    def __init__(
        self, name: str, schedule: RefitSchedule, options: Mapping[str, Any], loss: RowwiseLoss | None
    ) -> None:
        self.name, self.schedule, self.loss = name, schedule, loss
        self.options = dict(options)
        self.due = schedule.first
        self.layout: Layout | None = None
        self.model: Any = None
        self.pending: Refit | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_row": None}

    def is_due(self, row: int) -> bool:
        """Whether a fit begins or takes effect after so many rows."""
        return self.due == row or (self.pending is not None and self.pending.row == row)

    def begin(self, kept: Labelled, features: Features | None) -> tuple[Layout, Any]:
        """The layout for a refit on these rows, and the fit: a function of nothing that may run elsewhere."""
        layout = layout_of(kept.rows, features)
        X, y, weights = layout.table(kept.rows), kept.y.copy(), kept.weights.copy()

        def fit() -> Any:
            with settled():
                return self.fitted(X, y, weights, layout.categorical)

        return layout, fit

    def fitted(self, X: Floats, y: Floats, weights: Floats, categorical: list[int]) -> Any:
        """A booster of the rows; None where they hold one class, counts that are all 0, or targets too small to fit."""
        given = {**self.options, "categorical_features": categorical or None}
        weighted = None if (weights == 1.0).all() else weights
        if self.loss is not None:
            if domains.are_tiny(np.abs(y).max(initial=0.0)) or not self.loss.has_best_constant(y, weighted):
                return None
            return _timeless(BoostingRegressor(loss=self.loss, **given).fit(X, y, sample_weight=weighted))
        codes = y.astype(np.int64)
        if (codes == codes[0]).all():
            return None
        return _timeless(BoostingClassifier(**given).fit(X, codes, sample_weight=weighted))

    def accept(self, refit: Refit) -> None:
        """Answer with a new model from now on."""
        self.layout, self.model, self._row = refit.layout, refit.model, None

    def answer(self, rows: Table, classes: int) -> Floats:
        """Scores, or probabilities of so many classes."""
        shape = (rows.n,) if self.loss is not None else (rows.n, classes)
        if self.model is None or self.layout is None:
            return np.full(shape, np.nan)
        X = self.layout.table(rows)
        if self.loss is not None:
            return self.model._raw(X)
        found = np.zeros(shape)
        found[:, self.model.classes_] = self.model.predict_proba(X)
        return found

    def row(self) -> BatchRow | None:
        """Memory for answers to one row; None while it has none."""
        if self._row is None and self.model is not None and self.layout is not None:
            self._row = BatchRow(self.layout, self.model)
        return self._row


def _timeless(model: Any) -> Any:
    """Without the seconds that its rounds took: the same rows are to give the same model, also in its file."""
    model.steps_ = [step._replace(seconds=0.0) for step in model.steps_]
    return model
