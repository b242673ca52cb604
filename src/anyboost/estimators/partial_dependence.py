"""Partial dependence of an estimator's predictions: the grid, the raw scores on it, and what is predicted from them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.estimators import grids
from anyboost.estimators.predicting import Predicting
from anyboost.explain.marginals import Marginals
from anyboost.explain.partial_dependence import Grid, mean_scores, scores, scores_by_cover
from anyboost.fitted import from_one_fit


class PartialDependence(Predicting):
    """For estimators with an `ensemble_`: a part to inherit."""

    n_features_in_: int

    @from_one_fit
    def partial_dependence(
        self,
        X: Any,
        features: Any,
        *,
        method: str = "brute",
        kind: str = "average",
        response_method: str = "auto",
        sample_weight: Any = None,
        percentiles: tuple[float, float] = (0.05, 0.95),
        grid_resolution: int = 100,
        custom_values: Any = None,
    ) -> Bunch:
        """The mean prediction where some columns have the values of a grid, and the rows of X all others.

        It is what `sklearn.inspection.partial_dependence` computes by predicting the rows at every point, to rounding,
        and much faster for trees with constant leaves and for linear functions. Other models are asked at every point.

        Parameters
        ----------
        X : table (n, n_features)
            The rows; the grid is made of them, too.
        features : int, str or sequence of them
            A column by number or name, or several that go together.
        method : {"brute", "recursion"}, default "brute"
            "brute" takes the mean over the rows of X. "recursion" sends rows both ways at cuts of other columns, in the
            shares of the training rows, and gives raw scores.
        kind : {"average", "individual", "both"}, default "average"
            The mean, a curve for each row (ICE), or both.
        response_method : {"auto", "predict", "predict_proba", "decision_function"}, default "auto"
            Of a classifier: "auto" is its probabilities where it has some, else its scores. Of two classes, those of
            the second. Others predict.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows in the mean.
        percentiles : (float, float), default (0.05, 0.95)
            Where an axis of numbers begins and ends.
        grid_resolution : int, default 100
            Points of an axis; columns of fewer values, and categories, have all of theirs.
        custom_values : mapping or None, default None
            Values for the axis of a column, by its number or name; NaN or None is a missing value.

        Returns
        -------
        Bunch
            `grid_values`, an array for each column; `average` (outputs, *grid); `individual` (outputs, n, *grid).

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
        >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
        >>> found = model.partial_dependence(X, 0)
        >>> found.grid_values[0], found.average
        (array([0., 1., 2.]), array([[0., 0., 3.]]))
        """
        grids.check(method, kind, grid_resolution)
        ends = grids.check_percentiles(percentiles)
        self._refuse_partial_dependence(X, method, kind, response_method, sample_weight)
        table, names = self._table(X), getattr(self, "feature_names_in_", None)
        weights = checks.sample_weight(sample_weight, len(table))
        columns = grids.columns_named(features, names, self.n_features_in_)
        given = grids.given_values(custom_values, columns, names, self.n_features_in_)
        values = [
            given[column]
            if column in given
            else grids.axis(grids.column_of(X, column), column in self._columns.levels, ends, grid_resolution)
            for column in columns
        ]
        points = []
        for column, own in zip(columns, values, strict=True):
            cells = self._cells(column, own).reshape(len(own), -1).astype(table.dtype)
            points.append(dict(zip(np.flatnonzero(self._sources() == column).tolist(), cells.T, strict=True)))
        grid = Grid(columns, tuple(points))
        found = Bunch(grid_values=values)
        if method == "recursion":
            means = getattr(self, "_marginals", Marginals({})).means
            raw = scores_by_cover(self.ensemble_, self._sources(), grid, means)
            found["average"] = _outputs_first(raw)
            return found
        average, individual = self._responses(table, weights / weights.sum(), grid, kind, response_method)
        if kind != "individual":
            found["average"] = average
        if kind != "average":
            found["individual"] = individual
        return found

    def _refuse_partial_dependence(
        self, X: Any, method: str, kind: str, response_method: str, sample_weight: Any
    ) -> None:
        check_is_fitted(self)
        if hasattr(X, "tocsr"):
            raise TypeError("X is a sparse matrix: take some rows as an array, X[:1000].toarray()")
        if getattr(self, "init_", None) is not None:
            raise ValueError(
                "model starts at the predictions of another estimator, its init, which only "
                "sklearn.inspection.partial_dependence(model, X, features) asks at every point: use that"
            )
        if method == "brute":
            return
        if kind != "average" or sample_weight is not None:
            raise ValueError(
                'method="recursion" gives the mean over the training rows: leave kind and sample_weight out, or use '
                'method="brute"'
            )
        if response_method not in ("auto", "decision_function"):
            raise ValueError(
                f'method="recursion" gives raw scores, got response_method={response_method!r}: use method="brute"'
            )

    def _responses(
        self, table: np.ndarray, shares: np.ndarray, grid: Grid, kind: str, method: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """The mean response (outputs, *grid), and each row's, (outputs, n, *grid)."""
        respond, linear = self._response(method)

        def responses(raw: np.ndarray) -> np.ndarray:
            flat = raw.reshape(-1, raw.shape[-1])
            found = respond(flat[:, 0] if flat.shape[1] == 1 else flat)
            return found.reshape(*raw.shape[:-1], -1)

        given, n_threads = (self.ensemble_, self._sources(), table), checks.n_threads(self.n_jobs)
        if linear and kind == "average":
            raw = mean_scores(*given, shares, grid, n_threads)
            return _outputs_first(responses(raw)), np.empty(0)
        parts, average = [], None
        for rows, raw in scores(*given, grid, n_threads):
            answers = responses(raw)
            if kind != "average":
                parts.append(answers)
            mean = np.tensordot(shares[rows], answers, axes=1)
            average = mean if average is None else average + mean
        assert average is not None
        return _outputs_first(average), _outputs_first(np.concatenate(parts)) if parts else np.empty(0)

    def _response(self, method: str) -> tuple[Callable[[np.ndarray], np.ndarray], bool]:
        """From raw scores to what is predicted, and whether the mean of the one is that of the other."""
        checks.choice(method, "response_method", ("auto", "predict"))
        return lambda scores: scores, True


def _outputs_first(found: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(found, -1, 0))
