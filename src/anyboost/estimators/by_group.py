"""How a model does in each group of rows: its loss, how far off it is on average, what its intervals cover."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks, tables
from anyboost.estimators.predicting import Predicting
from anyboost.fitted import from_one_fit
from anyboost.losses import CVaR, RowwiseLoss, WorstGroup


class ByGroup(Predicting):
    """For estimators of targets row by row: a part to inherit."""

    loss_: Any

    @from_one_fit
    def by_group(
        self,
        X: Any,
        y: Any,
        groups: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        coverage: float = 0.9,
    ) -> Any:
        """Loss, calibration and coverage of each group, the largest loss first.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        y : array_like (n,)
            Targets, or classes.
        groups : array_like (n,)
            One label a row.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.
        offset : array_like or None, default None
            Scores to add, row by row.
        coverage : float, default 0.9
            That of the intervals, for models that have some.

        Returns
        -------
        data frame
            Of the kind X is, else pandas. Columns: "group", "rows", "weight", "loss"; of numbers "bias", the mean of
            prediction minus target (of quantiles, of the one nearest the median), and "coverage" and "width" of
            intervals; of classes "error", and with probabilities "brier" and "sureness", the mean of the largest
            probability minus the share that is right.

        Examples
        --------
        >>> import anyboost as ab
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = ab.BoostingRegressor(max_iter=20).fit(X, y)
        >>> found = model.by_group(X, y, groups=(X["sex"] > 0).map({True: "one", False: "other"}))
        >>> list(found.columns)
        ['group', 'rows', 'weight', 'loss', 'bias']
        """
        check_is_fitted(self)
        loss = self.loss_.loss if isinstance(self.loss_, CVaR | WorstGroup) else self.loss_
        if not isinstance(loss, RowwiseLoss):
            raise TypeError(
                f"by_group needs a loss that rows have each by themselves, and the loss is {self.loss_}: compare "
                "groups by scores of their own"
            )
        checks.between(coverage, "coverage", 0, 1)
        scores = self._raw(X, offset)
        n = len(scores)
        labels = checks.labels(groups, "groups", n)
        checks.as_many(y, n, "y")
        weights = checks.sample_weight(sample_weight, n)
        targets = self._as_fitted(y)
        each = {"loss": loss.values(scores, targets)} | self._told(X, offset, scores, y, labels, coverage)
        found, codes = np.unique(labels, return_inverse=True)
        mass = np.bincount(codes, weights)
        if not mass.all():
            raise ValueError(
                f"sample_weight is zero for all rows of the group {found[mass == 0].tolist()[0]!r}"
            )
        columns = {"group": found, "rows": np.bincount(codes), "weight": mass} | {
            name: np.bincount(codes, weights * values) / mass for name, values in each.items()
        }
        order = np.argsort(-columns["loss"], kind="stable")
        return tables.to_frame({name: values[order] for name, values in columns.items()}, X, "by_group")

    def _as_fitted(self, y: Any) -> np.ndarray:
        """Targets as the loss takes them."""
        raise NotImplementedError

    def _told(
        self, X: Any, offset: Any, scores: np.ndarray, y: Any, groups: np.ndarray, coverage: float
    ) -> dict[str, np.ndarray]:
        """What is told of each row beside its loss."""
        raise NotImplementedError
