"""What fitted estimators do with a table: numbers of it, and raw scores of those."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from anyboost import checks, tables
from anyboost.ensemble import Ensemble
from anyboost.estimators import grids, parameters, reading
from anyboost.estimators.encoding import Encoding
from anyboost.estimators.measures import WatchedSet
from anyboost.estimators.rows import raw_scores_of
from anyboost.fitted import from_one_fit
from anyboost.tables import Columns, quick


class Predicting:
    """Tables to raw scores, of the fitted sum."""

    ensemble_: Ensemble
    init_: Any
    n_jobs: Any
    _columns: Columns
    _encoding: Encoding
    _watched: WatchedSet | None = None  # where it is shown to a scorer in the middle of a fit

    @from_one_fit
    def apply(self, X: Any) -> np.ndarray:
        """The leaf, as a node number of its tree, in which each row ends.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.

        Returns
        -------
        ndarray (n, trees)
            Node numbers.
        """
        table = self._table(X)
        parts = self.ensemble_.hypotheses
        if not all(hasattr(part, "apply") for part in parts):
            raise TypeError(
                "apply needs trees, and this model is a sum of other functions: use a tree learner"
            )
        leaves = [part.apply(table) for part in parts]
        return np.stack(leaves, axis=1) if leaves else np.empty((table.shape[0], 0), dtype=np.int32)

    def _table(self, X: Any) -> Any:
        """A later table as numbers."""
        table = None
        if "ensemble_" in vars(self):
            table = quick.read(X, self._columns, vars(self).get("feature_names_in_"))
        if table is None:
            check_is_fitted(self)
            reading.check_kind(X)
            validate_data(self, X, skip_check_array=True, reset=False)
            table, _ = tables.read(X, self._columns, sparse=parameters.abilities(self).sparse)
        return tables.contiguous(self._encoding.encode(table))

    def _cells(self, column: int, values: np.ndarray) -> np.ndarray:
        """What numbers in one column of a later table are in the trees' own, (n, columns that it becomes)."""
        levels, part = self._columns.levels.get(column), grids.as_column(values, f"column {column}")
        codes = part.numbers() if levels is None else levels.encode(part)
        return self._encoding.told(codes, column) if column in self._encoding.values else codes[:, None]

    def _sources(self) -> np.ndarray:
        """The column of X that each column of the model's table comes from."""
        return self._encoding.sources

    def _raw(self, X: Any, offset: Any = None) -> np.ndarray:
        """Raw scores, (n,) or (n, k)."""
        watched = self._watched
        if watched is not None and X is watched.given and offset is None:
            return watched.shaped().copy()  # a scorer may write into what it is given
        table = self._table(X)
        given = self._given_scores(X, table.shape[0], offset)
        return self.ensemble_.predict(table, given, checks.n_threads(self.n_jobs))

    def _staged_raw(self, X: Any, offset: Any) -> Iterator[np.ndarray]:
        table = self._table(X)
        given = self._given_scores(X, table.shape[0], offset)
        return self.ensemble_.staged_predict(table, given, checks.n_threads(self.n_jobs))

    def _given_scores(self, X: Any, n: int, offset: Any) -> np.ndarray | None:
        """What is added to the model's own scores: an offset, and an init estimator's of the table as given."""
        outputs = self.ensemble_.outputs
        total: Any = None
        if offset is not None:
            total = checks.scores(offset, "offset", n, outputs)
            total = np.full((n,) if outputs == 1 else (n, outputs), total) if np.ndim(total) == 0 else total
        if vars(self).get("init_") is not None:
            began = raw_scores_of(self.init_, X, n, outputs)
            total = began if total is None else total + began
        return total

    def _stage(self, fitted: dict[str, Any], watched: WatchedSet) -> Self:
        """The estimator as a scorer is to see it in the middle of a fit; it has the scores of the watched set."""
        stage = copy.copy(self)
        stage.__dict__.update(fitted)
        stage._watched = watched
        return stage
