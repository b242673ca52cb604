"""The team in the place of a booster: of numbers, and of classes.

Classes' scores are log odds against the first class, so that two classes have the one score people expect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.online import rows as encoded
from anyboost.online.rows import Table, sparse_table
from anyboost.streams.mixture import FLOOR
from anyboost.streams.team import Team


class NumberTeam(Team):
    """A team where `SpanBooster` would stand."""

    classifies = False

    def _learn_row(self, columns: np.ndarray, values: Floats, width: int, y: Any, w: float) -> Any:
        return self._learn_rows(_one_row(columns, values, width), np.array([y]), [w])[0]

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> Floats:
        targets = self.loss.check(y)
        if len(targets) != rows.n:
            raise ValueError(f"y must have one target a row, got {len(targets)} for {rows.n} rows")
        return self.learn(encoded.check_finite(rows), targets, encoded.weights(w, rows.n))

    def _score_row(self, columns: np.ndarray, values: Floats, width: int) -> Any:
        return self._score_rows(_one_row(columns, values, width))[0]

    def _score_rows(self, rows: Table) -> Floats:
        return self.predict(encoded.check_finite(rows))


class ClassTeam(Team):
    """A team where a booster a class would stand."""

    classifies = True

    def learn_row(self, columns: np.ndarray, values: Floats, width: int, code: int, w: float) -> None:
        """Learn one encoded row."""
        self.learn_rows(_one_row(columns, values, width), np.array([code]), [w])

    def learn_rows(self, rows: Table, codes: np.ndarray, w: Any) -> Floats:
        """Learn rows in order; returns the classes' scores from before, (n, k)."""
        return _scores(self.learn(encoded.check_finite(rows), codes, encoded.weights(w, rows.n)))

    def scores_row(self, columns: np.ndarray, values: Floats, width: int) -> Floats:
        """The classes' scores of one encoded row."""
        return self.scores(_one_row(columns, values, width))[0]

    def scores(self, rows: Table) -> Floats:
        """The classes' scores, (n, k)."""
        if not self.classes:
            return np.zeros((rows.n, 0))
        return _scores(self.predict(encoded.check_finite(rows)))

    def probabilities(self, scores: Floats) -> Floats:
        """What the scores were made of."""
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def losses(self, scores: Floats, codes: np.ndarray) -> Floats:
        """Minus the logarithm of the class's probability; a class that was never seen has the least there is."""
        found = np.full(len(codes), -np.log(FLOOR))
        known = np.flatnonzero(codes >= 0)
        if scores.shape[1]:
            found[known] = -np.log(self.probabilities(scores)[known, codes[known]])
        return found


def _scores(probabilities: Floats) -> Floats:
    logarithms = np.log(probabilities)
    return logarithms - logarithms[:, :1]


def _one_row(columns: np.ndarray, values: Floats, width: int) -> Table:
    return sparse_table(width, values, columns, np.array([0, len(columns)]))
