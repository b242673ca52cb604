"""The team in the place of a booster: of numbers, and of classes.

Classes' scores are log odds against the first class, so that two classes have the one score people expect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost.checks import HEAVIEST, Floats
from anyboost.losses import domains
from anyboost.online import rows as encoded
from anyboost.online.rows import Table
from anyboost.online.scales import LARGEST
from anyboost.streams.mixture import FLOOR
from anyboost.streams.team import Team


class NumberTeam(Team):
    """A team where `SpanBooster` would stand."""

    classifies = False

    def _learn_row(self, columns: np.ndarray, values: Floats, width: int, y: Any, w: float) -> Any:
        one = self.one_row(columns, values, width)
        if one is not None and _is_plain(y) and _is_weight(w):
            target = y if self.loss.domain is domains.REALS else self.loss.check([y])[0]
            return one.learn(columns, values, float(target), float(w))
        return self._learn_rows(encoded.one_row(columns, values, width), np.array([y]), [w])[0]

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> Floats:
        targets = self.loss.check(y)
        if len(targets) != rows.n:
            raise ValueError(f"y must have one target a row, got {len(targets)} for {rows.n} rows")
        return self.learn(encoded.check_finite(rows, missing=True), targets, encoded.weights(w, rows.n))

    def _score_row(self, columns: np.ndarray, values: Floats, width: int) -> Any:
        one = self.one_row(columns, values, width)
        if one is not None:
            return one.predict(columns, values)
        return self._score_rows(encoded.one_row(columns, values, width))[0]

    def _score_rows(self, rows: Table) -> Floats:
        return self.predict(encoded.check_finite(rows, missing=True))


class ClassTeam(Team):
    """A team where a booster a class would stand."""

    classifies = True

    def learn_row(self, columns: np.ndarray, values: Floats, width: int, code: int, w: float) -> None:
        """Learn one encoded row."""
        one = self.one_row(columns, values, width)
        if one is not None and _is_weight(w):
            one.learn(columns, values, code, float(w))
        else:
            self.learn_rows(encoded.one_row(columns, values, width), np.array([code]), [w])

    def learn_rows(self, rows: Table, codes: np.ndarray, w: Any) -> Floats:
        """Learn rows in order; returns the classes' scores from before, (n, k)."""
        return _scores(
            self.learn(encoded.check_finite(rows, missing=True), codes, encoded.weights(w, rows.n))
        )

    def scores_row(self, columns: np.ndarray, values: Floats, width: int) -> Floats:
        """The classes' scores of one encoded row."""
        one = self.one_row(columns, values, width)
        if one is not None:
            return _scores(one.predict(columns, values)[None])[0]
        return self.scores(encoded.one_row(columns, values, width))[0]

    def scores(self, rows: Table) -> Floats:
        """The classes' scores, (n, k)."""
        if not self.classes:
            return np.zeros((rows.n, 0))
        return _scores(self.predict(encoded.check_finite(rows, missing=True)))

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


def _is_plain(y: Any) -> bool:
    """Whether a number is plainly good; a doubtful one goes the long way and is refused there."""
    return isinstance(y, float | int) and abs(y) <= LARGEST


def _is_weight(w: Any) -> bool:
    """The same of a weight above 0."""
    return isinstance(w, float | int) and 1.0 / HEAVIEST <= w <= HEAVIEST
