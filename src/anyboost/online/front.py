"""The front end on named features: `learn_one` and `predict_one` on dicts, `learn_many` and `predict_many` on tables.

Whoever has `NamedFront` says how to learn and score encoded rows; the names, and that nothing of a refused row is kept,
are seen to here. Where learning is interrupted, the names of rows that were learnt stay: models know their columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from anyboost.losses import RowwiseLoss
from anyboost.online import dataframes
from anyboost.online.features import Features
from anyboost.online.rows import Table, weights


class NamedFront:
    """Named features for a class with `_named`, `_learn_row`, `_learn_rows`, `_score_row` and `_score_rows`."""

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example; a name that was never seen gets a column of its own.

        Parameters
        ----------
        x : mapping
            Names and values of features.
        y : object
            The target: a number, or a class.
        w : float, default 1.0
            The weight.
        """
        features = self._named()
        before = len(features.names)
        columns, values = features.row(x, True)
        begun = self._rows_begun() if len(features.names) > before else 0
        try:
            self._learn_row(columns, values, features.width, y, w)
        except BaseException:
            if len(features.names) > before and self._rows_begun() == begun:
                features.truncate(before)
            raise

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from named rows in order: the same as `learn_one` for each.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.
        y : array_like (n,)
            Their targets.
        w : array_like (n,) or None, default None
            Their weights.
        """
        self._learn_named(X, y, w)

    def _learn_named(self, X: Any, y: Any, w: Any) -> tuple[Table, Any]:
        """The rows, and what `_learn_rows` says of them.

        Where new names make the model wider, rows before that are learnt apart, as they are in a loop.
        """
        features = self._named()
        before = len(features.names)
        try:
            rows = dataframes.encode(features, X, True)
        except BaseException:
            features.truncate(before)
            raise
        if not rows.n:
            return rows, None
        labels, grew = self._labels(y), len(features.names) > before
        begun = self._rows_begun() if grew else 0
        try:
            self._check_targets(labels, w, rows.n)  # all of them, before the first row is learnt
            widths = features.widths(rows, before)
            begins = [0, *(np.flatnonzero(np.diff(widths)) + 1).tolist()]
            said = []
            for begin, end in zip(begins, [*begins[1:], rows.n], strict=True):
                part = rows.part(slice(begin, end))._replace(width=int(widths[begin]))
                said.append(self._learn_rows(part, labels[begin:end], None if w is None else w[begin:end]))
        except BaseException:
            if grew:
                features.truncate(self._names_of(rows, w, self._rows_begun() - begun, before))
            raise
        return rows, said[0] if len(said) == 1 else self._joined(said)

    def _names_of(self, rows: Table, w: Any, begun: int, before: int) -> int:
        """How many names there are where so many rows have been learnt, rows of weight 0 not counted."""
        if begun == 0:
            return before
        learnt = np.flatnonzero(weights(w, rows.n) > 0)
        stop = rows.n if begun >= len(learnt) else int(learnt[begun])
        return int(self._named().counts(rows, before)[stop - 1])

    def _labels(self, y: Any) -> np.ndarray:
        return np.asarray(y)

    def _rows_begun(self) -> int:
        """How many rows the model has learnt, or has begun to; rows of weight 0 not counted."""
        raise NotImplementedError

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        raise NotImplementedError

    def _joined(self, said: list[Any]) -> Any:
        return np.concatenate(said)

    def _score_one(self, x: Mapping[Any, Any]) -> Any:
        features = self._named()
        columns, values = features.row(x, False)
        return self._score_row(columns, values, features.width)

    def _score_many(self, X: Any) -> Any:
        return self._score_rows(dataframes.encode(self._named(), X, False))

    def _named(self) -> Features:
        raise NotImplementedError

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        raise NotImplementedError

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> Any:
        raise NotImplementedError

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        raise NotImplementedError

    def _score_rows(self, rows: Table) -> Any:
        raise NotImplementedError


def check_targets(loss: RowwiseLoss, y: np.ndarray, w: Any, n_rows: int) -> None:
    """Refuse targets or weights that a booster would refuse."""
    if len(loss.check(y)) != n_rows:
        raise ValueError(f"y must have one target a row, got {len(y)} for {n_rows} rows")
    weights(w, n_rows)
