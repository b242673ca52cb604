"""The front end on named features: `learn_one` and `predict_one` on dicts, `learn_many` and `predict_many` on tables.

Mixins. Whoever has `NamedFront` says how to learn and score encoded rows; the names, and that nothing of a refused row
is kept, are seen to here. `BoosterFront` says it for a booster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from anyboost.online import frames
from anyboost.online.features import Features
from anyboost.online.lane import Lane, lane_of
from anyboost.online.rows import weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyboost.losses import RowwiseLoss
    from anyboost.online.features import Rows


class NamedFront:
    """Named features for a class with `_named`, `_learn_row`, `_learn_rows`, `_score_row` and `_score_rows`."""

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example, a dict of features; a name that was never seen gets a column of its own."""
        features = self._named()
        before = len(features.names)
        columns, values = features.row(x, True)
        try:
            self._learn_row(columns, values, features.width, y, w)
        except BaseException:
            features.truncate(before)
            raise

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, or of a list of dicts, in order: the same as `learn_one` for each."""
        self._learn_named(X, y, w)

    def _learn_named(self, X: Any, y: Any, w: Any) -> tuple[Rows, Any]:
        """The rows, and what `_learn_rows` says of them.

        Where new names make the model wider, rows before that are learnt apart, as they are in a loop.
        """
        features = self._named()
        before = len(features.names)
        rows = frames.encode(features, X, True)
        if not len(rows):
            return rows, None
        labels = np.asarray(y)
        try:
            self._check_targets(labels, w, len(rows))  # all of them, before the first row is learnt
            widths = features.widths(rows, before)
            begins = [0, *(np.flatnonzero(np.diff(widths)) + 1).tolist()]
            table, said = matrix(rows, features.width), []
            for begin, end in zip(begins, [*begins[1:], len(rows)], strict=True):
                part = table if len(begins) == 1 else table[begin:end, : widths[begin]]
                said.append(self._learn_rows(part, labels[begin:end], None if w is None else w[begin:end]))
        except BaseException:
            features.truncate(before)
            raise
        return rows, said[0] if len(said) == 1 else self._joined(said)

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        raise NotImplementedError

    def _joined(self, said: list[Any]) -> Any:
        return np.concatenate(said)

    def _score_one(self, x: Mapping[Any, Any]) -> Any:
        features = self._named()
        columns, values = features.row(x, False)
        return self._score_row(columns, values, features.width)

    def _score_many(self, X: Any) -> Any:
        features = self._named()
        rows = frames.encode(features, X, False)
        return self._score_rows(matrix(rows, features.width))

    def _named(self) -> Features:
        raise NotImplementedError

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        raise NotImplementedError

    def _learn_rows(self, X: sparse.csr_matrix, y: np.ndarray, w: Any) -> Any:
        raise NotImplementedError

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        raise NotImplementedError

    def _score_rows(self, X: sparse.csr_matrix) -> Any:
        raise NotImplementedError


class BoosterFront(NamedFront):
    """Named features for a booster; its predictions are raw scores, as those of `predict` are.

    hash_bits : set it before the first example to hash names into 2**hash_bits columns.
    """

    hash_bits: int | None = None
    features: Features | None = None
    loss: RowwiseLoss
    n_features: int
    state: Any
    _lane: Lane | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the lane: a copy has arrays of its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_lane"}

    def progressive_predict(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
        """A booster's own."""
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """A booster's own."""
        raise NotImplementedError

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The score of one dict of features: a number, or an array of one an output."""
        return self._score_one(x)

    def predict_many(self, X: Any) -> Any:
        """The scores of a data frame or list of dicts."""
        scores = self._score_many(X)
        return frames.like_rows(X, scores, "score") if scores.ndim == 1 else scores

    def _named(self) -> Features:
        if self.features is None:
            if self.state is not None:
                raise ValueError(
                    "this booster has learnt from arrays, whose columns have no names: use partial_fit and predict"
                )
            self.features = Features(self.hash_bits)
        return self.features

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        """Learn one encoded row; returns its score from before."""
        if width == self.n_features:
            lane = self._lane
            if lane is None or lane.state is not self.state or lane.arrays is not self.state.arrays:
                lane = lane_of(self)
            if lane is not None and lane.takes(y, w):
                return lane.learn(columns, values, y, w)
        return self._learn_rows(one_row(columns, values, width), np.array([y]), [w])[0]

    def _learn_rows(self, X: sparse.csr_matrix, y: np.ndarray, w: Any) -> Any:
        return self.progressive_predict(X, y, w)

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        check_targets(self.loss, y, w, n_rows)

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        if self.state is not None and width <= self.n_features:  # no column lies beyond the arrays
            lane = lane_of(self)
            if lane is not None:
                return lane.predict(columns, values)
        return self._score_rows(one_row(columns, values, width))[0]

    def _score_rows(self, X: sparse.csr_matrix) -> Any:
        return self.predict(X)


def check_targets(loss: RowwiseLoss, y: np.ndarray, w: Any, n_rows: int) -> None:
    """Refuse targets or weights that a booster would refuse."""
    if len(loss.check(y)) != n_rows:
        raise ValueError(f"y must have one target a row, got {len(y)} for {n_rows} rows")
    weights(w, n_rows)


def matrix(rows: Rows, width: int) -> sparse.csr_matrix:
    """Encoded rows as the matrix that boosters take."""
    return sparse.csr_matrix((rows.values, rows.columns, rows.starts), shape=(len(rows), width))


def one_row(columns: np.ndarray, values: np.ndarray, width: int) -> sparse.csr_matrix:
    """One encoded row as a matrix; copied, since encoders use their arrays again."""
    starts = np.array([0, len(columns)])
    return sparse.csr_matrix((values.copy(), columns.copy(), starts), shape=(1, width))
