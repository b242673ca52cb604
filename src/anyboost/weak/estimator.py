"""Any scikit-learn estimator as a set of hypotheses: those that clones of it can be fitted to be.

    a regressor:  argmin over its fits of ||target - h||^2               projection (4) of the paper
    a classifier: argmax over its fits of <target, h> / ||h||            projection (3), see `classifier`

as well as the estimator's own way of fitting comes to that. The descent computes c = <h, target> / ||h||^2 anew, so a
fit that is too small, as a regularized one is, or made for another loss, is brought to its best size.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.backends.arrays import as_scores
from anyboost.space import Space
from anyboost.weak import sklearn_estimators
from anyboost.weak.classifier import Classifier
from anyboost.weak.hypotheses import OneByOne
from anyboost.weak.learner import Learner, Support, Takes, safe_support
from anyboost.weak.projections import LeafProjection, Projection


@dataclass(frozen=True, eq=False)
class EstimatorFunction(OneByOne):
    """x -> what fitted regressors predict at x: one of all outputs, or one an output, on the columns they know."""

    estimators: tuple[Any, ...]
    columns: np.ndarray | None = None

    @property
    def sparse(self) -> bool:
        """Whether `predict` takes a sparse matrix."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.estimators[0]).input_tags.sparse)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        table = sklearn_estimators.chosen_columns(X, self.columns)
        parts = [np.asarray(estimator.predict(table), dtype=np.float64) for estimator in self.estimators]
        values = np.concatenate([part.reshape(X.shape[0], -1) for part in parts], axis=1)
        if not np.all(np.isfinite(values)):
            raise FloatingPointError(
                f"estimator {type(self.estimators[0]).__name__} predicts values that are not finite: use another"
            )
        return as_scores(values)


@dataclass(frozen=True)
class Estimator(Learner):
    """The fits of a scikit-learn regressor, or of a classifier, which then is `Classifier(estimator, both_signs)`.

    Weights go to `fit` as `sample_weight`, in a pipeline to every step that takes them; an estimator that takes none is
    refused where weights are unequal. For several outputs a regressor that cannot fit them at once is cloned for each.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn regressor or classifier; clones of it are fitted.
    both_signs : bool, default True
        Of classifiers of more than two classes: fit twice. Along a gradient a classifier names the class to lower,
        which a linear one cannot do where the class lies between others.

    Examples
    --------
    >>> import anyboost as ab
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> learner = ab.weak.Estimator(KNeighborsRegressor(1))
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0]
    >>> run = ab.boost(X, y, "squared", learner, ab.descent.Naive(1.0), rounds=1)
    >>> run.ensemble.predict(X)
    array([0., 1., 5.])
    """

    estimator: Any
    both_signs: bool = True

    def __post_init__(self) -> None:
        from sklearn.base import is_classifier, is_regressor

        known = sklearn_estimators.is_estimator(self.estimator)
        if known and is_classifier(self.estimator):
            Classifier(self.estimator)  # which refuses what it cannot use
        elif not known or not is_regressor(self.estimator):
            raise TypeError(
                f"estimator must be a scikit-learn regressor or classifier, got {str(self.estimator)[:80]}; "
                "try sklearn.linear_model.Ridge()"
            )

    @property
    def draws(self) -> bool:
        """Whether `project` takes random numbers."""
        return True

    @property
    def takes(self) -> Takes:
        """What it can do with a sample."""
        return sklearn_estimators.abilities(
            self.estimator, categories=False, atoms=self._classifier is not None
        )

    @property
    def _classifier(self) -> Classifier | None:
        from sklearn.base import is_classifier

        return Classifier(self.estimator, self.both_signs) if is_classifier(self.estimator) else None

    def project(self, space: Space, target: np.ndarray) -> Projection | LeafProjection:
        """The fit to `target`, by the estimator's own lights.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection or LeafProjection
            h on the sample.
        """
        if (classifier := self._classifier) is not None:
            return classifier.project(space, target)
        rows, weights = self._seen(space)
        table = sklearn_estimators.chosen_columns(space.X if rows is None else space.X[rows], space.features)
        targets, random = target if rows is None else target[rows], space.random()
        parts = [
            sklearn_estimators.fitted(self.estimator, table, part, weights, random)
            for part in self._parts(targets)
        ]
        function = EstimatorFunction(tuple(parts), space.features)
        return Projection(function, function.predict(space.X).reshape(target.shape))

    def _seen(self, space: Space) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The rows to fit, None for all, and their weights, None for equal ones.

        Whole weights where they can be: weight 2 is then the row twice for a regularized estimator too. For one that
        takes no weights, a row of which two units were drawn is there twice.
        """
        if space.mass is None:
            return space.drawn, None
        rows = np.arange(space.n) if space.drawn is None else space.drawn
        mass = space.mass[rows]
        if np.all(mass == mass[0]):
            return space.drawn, None
        if not self.takes.weights:
            return np.repeat(rows, mass.astype(np.intp)), None
        return space.drawn, mass

    def _parts(self, target: np.ndarray) -> list[np.ndarray]:
        """What the estimator is fitted to, clone by clone; each array is the clone's own."""
        from sklearn.utils import get_tags

        can = get_tags(self.estimator).target_tags
        if target.ndim == 1:
            return [target.copy() if can.single_output else target[:, None].copy()]
        return [target.copy()] if can.multi_output else [column.copy() for column in target.T]

    def extreme(self, space: Space, target: np.ndarray) -> Projection | LeafProjection:
        """A classifier's h or -h furthest along `target`; for a regressor there is no telling.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection or LeafProjection
            h on the sample.
        """
        if (classifier := self._classifier) is None:
            raise TypeError(
                "learner Estimator has no way to a regressor's extreme atom: use a stump or a tree"
            )
        return classifier.extreme(space, target)

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """The bound sum w |target|, which no function with |h| <= 1 exceeds, and what a fit was found to reach.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to fit, to see what is reached.

        Returns
        -------
        Support
            Both bounds.
        """
        if (classifier := self._classifier) is not None:
            return classifier.support(space, target, search)
        return safe_support(self, space, target, search)
