"""What estimators tell about their models: importances, Shapley values and shapes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.estimators.marginals import axes
from anyboost.estimators.partial_dependence import PartialDependence
from anyboost.explain import importances as importances_of
from anyboost.explain.explanation import Explanation, explain, interact
from anyboost.explain.marginals import Marginals, trees_with_shapes
from anyboost.explain.shapes import Shapes, shapes_of
from anyboost.fitted import from_one_fit

KINDS = ("gain", "split", "shap", "permutation")
REPEATS = 5  # of each permutation


class Explained(PartialDependence):
    """For estimators with an `ensemble_`: a part to inherit."""

    n_features_in_: int

    @property
    def feature_importances_(self) -> np.ndarray:
        """What the cuts of each column gained, as shares of one; see `importances`."""
        check_is_fitted(self)
        try:
            return self.importances()
        except TypeError as error:  # then it has none, as `hasattr` is to say
            raise AttributeError(str(error)) from None

    @from_one_fit
    def importances(self, kind: str = "gain", X: Any = None, y: Any = None) -> np.ndarray:
        """How much the model uses each column.

        Parameters
        ----------
        kind : str, default "gain"
            "gain": what its cuts took off the squared distance to the gradient, in all trees, as shares of one;
            "split": their number, as shares; "shap": the mean size of its Shapley values over the rows of X, over all
            outputs; "permutation": by how much the score falls where its values are mixed up among the rows, five times
            over.
        X : array_like or None, default None
            The rows, for "shap" and "permutation".
        y : array_like or None, default None
            Their targets, for "permutation".

        Returns
        -------
        ndarray (n_features,)
            A number for each column.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, 1.0, 3.0]
        >>> ab.BoostingRegressor(max_iter=2, min_leaf_weight=1).fit(X, y).importances()
        array([1., 0.])
        """
        check_is_fitted(self)
        checks.choice(kind, "kind", KINDS)
        if kind in ("gain", "split"):
            found = importances_of.by_splits(self.ensemble_, self._sources(), gains=kind == "gain")
            return importances_of.shares(found)
        if X is None or (kind == "permutation" and y is None):
            raise ValueError(f"importances({kind!r}) needs X{' and y' if kind == 'permutation' else ''}")
        if kind == "shap":
            values = np.abs(self.shap_values(X)).mean(axis=0)
            return values if values.ndim == 1 else values.sum(axis=1)
        from sklearn.inspection import permutation_importance

        return permutation_importance(self, X, y, n_repeats=REPEATS, random_state=0).importances_mean

    @from_one_fit
    def shap_values(self, X: Any, background: Any = None) -> np.ndarray:
        """How much each column adds to the raw score of each row: Shapley values, exact.

        Parameters
        ----------
        X : array_like (n, n_features)
            The rows.
        background : array_like or None, default None
            Rows whose values stand in for those of columns that are left out (interventional). None: rows that leave a
            column out go both ways at its cuts, in the shares of the training rows (path-dependent).

        Returns
        -------
        ndarray (n, n_features) or (n, n_features, n_outputs)
            The values; with the base of `explanation` they add up to the raw scores.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, 0.0, 3.0]
        >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
        >>> model.shap_values(X)
        array([[-1.,  0.],
               [-1.,  0.],
               [ 2.,  0.]])
        """
        return self.explanation(X, background).values

    @from_one_fit
    def explanation(self, X: Any, background: Any = None) -> Explanation:
        """Shapley values with their base, the rows and the names of the columns.

        Parameters
        ----------
        X : array_like (n, n_features)
            The rows.
        background : array_like or None, default None
            As for `shap_values`.

        Returns
        -------
        Explanation
            Its `to_shap()` is what the plots of the package shap take.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
        >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
        >>> model.explanation(X).base_values
        array([1., 1., 1.])
        """
        table = self._table(X)
        behind = None if background is None else self._behind(background)
        means, n_threads = self._known().means, checks.n_threads(self.n_jobs)
        values, base = explain(self.ensemble_, table, self._sources(), behind, means, n_threads)
        bases = np.tile(base, (len(values), 1))
        if len(base) == 1:
            values, bases = values[:, :, 0], bases[:, 0]
        data = X.toarray() if hasattr(X, "tocsr") else np.asarray(X)
        return Explanation(values, bases, data, self._feature_names())

    @from_one_fit
    def shap_interaction_values(self, X: Any) -> np.ndarray:
        """How much each pair of columns adds to the raw score of each row beyond what they add alone.

        Parameters
        ----------
        X : array_like (n, n_features)
            The rows.

        Returns
        -------
        ndarray (n, n_features, n_features) or (n, n_features, n_features, n_outputs)
            Half of a pair's value on either side of the diagonal, and on it what a column adds alone: each row of a
            matrix adds up to the column's Shapley value.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
        >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
        >>> model.shap_interaction_values(X)[:, 0, 0]
        array([-1., -1.,  2.])
        """
        table, means = self._table(X), self._known().means
        found = interact(self.ensemble_, table, self._sources(), means, checks.n_threads(self.n_jobs))
        return found[..., 0] if found.shape[-1] == 1 else found

    @from_one_fit
    def shapes(self) -> Shapes:
        """The model as a sum of curves: what each column adds to the raw score, exactly, and what pairs add beyond.

        For trees with one or two columns on every path, as those of two or three leaves have, and those of any size
        under `interaction_cst="pairwise"`. Curves are centered under the training rows, pairs have no part that a
        curve could have, and every term has its share of the variance, under the product of the columns'
        distributions. Scores of an `offset`, or of an `init` estimator, are not part of it.

        Returns
        -------
        Shapes
            The intercept and the terms, which add up to the raw score, by falling share.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
        >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
        >>> curve = model.shapes()["column 0"]
        >>> curve.edges[0], curve.values[:-1]
        (array([1.5]), array([-1.,  2.]))
        """
        check_is_fitted(self)
        trees = trees_with_shapes(self.ensemble_.hypotheses, self._sources())
        if not self._known().columns and any(len(tree.feature) > 1 for tree in trees):
            raise ValueError(
                "model comes from a file of an older version, which does not know how the training rows were "
                "distributed: fit it anew"
            )
        return shapes_of(self.ensemble_, self._sources(), axes(self, self._feature_names()))

    def _known(self) -> Marginals:
        """What is known of the training rows; nothing, of a model of an older file."""
        return getattr(self, "_marginals", Marginals({}))

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"column {number}" for number in range(self.n_features_in_)]
        return [str(name) for name in names]

    def _behind(self, background: Any) -> Any:
        """Background rows as numbers; a sentence that speaks of them where they are no rows of the fit's columns."""
        if np.shape(background)[:1] == (0,):
            raise ValueError("background must have one row or more, got none")
        try:
            return self._table(background)
        except (ValueError, TypeError) as error:
            raise type(error)(f"background must be rows with the columns of the fit: {error}") from None
