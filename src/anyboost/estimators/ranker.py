"""Boosting of rankings: which rows of a query are to come first."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from anyboost import keywords, metrics
from anyboost.boosting import Run
from anyboost.draws import labels_held_out
from anyboost.estimators import parameters
from anyboost.estimators.base import BaseBoosting
from anyboost.estimators.callbacks import with_callbacks
from anyboost.estimators.regressor import _one_column
from anyboost.estimators.rows import Labelled, Targets
from anyboost.estimators.sets import named_sets


class BoostingRanker(BaseBoosting):
    """Boosted trees, or any other weak learner, for the order of rows within queries.

    Parameters are those of `BoostingRegressor`, without `quantile`, but for

    loss : "rank_logistic" ("auto"), "rank_hinge", or another loss that uses queries.
    scoring : also "ndcg", "map" (with "@10" where only ten ranks count) and "disagreement"; see `anyboost.metrics`
        for how a query without a relevant row counts.
    """

    _groups_name = "qid"

    @keywords.explained
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        qid_val: Any = None,
        sample_weight_val: Any = None,
        valid: Mapping[str, Any] | tuple[Any, Any] | None = None,
        resume: Run | None = None,
    ) -> Self:
        """Fit to a table, the grades of its rows (more is better) and the query each belongs to.

        Without `qid` all rows are one query. A validation set has its own: `qid_val`, or "qid" in `valid`. Other
        arguments are those of `BoostingRegressor.fit`.
        """
        sets = named_sets(X_val, y_val, sample_weight_val, valid, qid=qid_val)
        return self._fit(X, y, sample_weight, qid, offset, sets, resume)

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Scores: a row with a higher one comes before others of its query."""
        return self._raw(X, offset)

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """Scores after each round."""
        return self._staged_raw(X, offset)

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The mean NDCG of the queries; those without a relevant row are left out. Rows count alike.

        `qid` must be given: taking all rows for one query would be another score without a word. In a search or a
        cross-validation it comes by metadata routing, `set_score_request(qid=True)`.
        """
        if qid is None:
            raise ValueError(
                "qid must be given to score a ranking: pass score(X, y, qid=...), all equal for one query, and in a "
                "cross-validation ask for it by set_score_request(qid=True)"
            )
        return metrics.ndcg(y, self._raw(X), qid)

    def _targets(self, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
        loss = parameters.find_loss(self.loss, "rank_logistic")
        if not loss.uses_groups or loss.vector:
            raise ValueError(
                f'loss {loss} does not rank rows of a query: use "rank_logistic" or "rank_hinge"'
            )

        def encode(values: Any) -> np.ndarray:
            return loss.check(_one_column(np.asarray(values)))

        return Targets(loss, encode(y), encode)

    def _split(self, rows: Labelled, y: np.ndarray, share: float, seed: int) -> tuple[Labelled, Labelled]:
        if rows.groups is None or len(np.unique(rows.groups)) < 2:
            raise ValueError(
                "early_stopping needs two queries or more to split: pass qid, or X_val and y_val"
            )
        held_out = labels_held_out(seed, rows.groups, share)
        return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out))
