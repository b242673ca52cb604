"""Weighted combinations of classifiers' scores."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from anyboost import checks, losses
from anyboost.checks import Floats
from anyboost.fitted import fit_apart, from_one_fit
from anyboost.mirror import slopes
from anyboost.mirror.estimators.base import Averager, MirrorAveraging
from anyboost.mirror.pool import Task

# What a two-class loss becomes with more classes, where each model gives a score for every class.
OF_CLASSES: dict[type, Any] = {losses.Logistic: losses.Softmax(), losses.Hinge: losses.MulticlassHinge()}


def _has_probabilities(estimator: Any) -> bool:
    return slopes.get(estimator._loss).link_.probabilities is not None


class MirrorAveragingClassifier(ClassifierMixin, MirrorAveraging):
    """A weighted combination of classifiers' scores (log odds where they give probabilities), learned online.

    Two classes: one score a model. More: a score a class and model, and one weight a model, with the softmax or
    multiclass hinge loss; columns of forecasts are then weighted for each class against the rest, and `weights_` is
    (K, M).

    Parameters
    ----------
    models : list or None, default None
        Models, or pairs of (name, model); None: the columns of X are forecasts (NaN: none for this row). See
        `MirrorAveragingRegressor`.
    loss : str, Loss or None, default None
        A loss of two classes; None is logistic. Models of more than two classes take logistic or hinge, whose form for
        several classes is then used.
    proxy : str or Proxy, default "entropy"
        See `anyboost.mirror.MirrorAverager`.
    domain : str or Domain, default "simplex"
        See `anyboost.mirror.MirrorAverager`.
    schedule : str or Schedule, default "second_order"
        See `anyboost.mirror.MirrorAverager`; "tracker" is `anyboost.mirror.Tracker`, for streams whose best model
        changes.
    lipschitz : float, str or None, default "running"
        See `anyboost.mirror.MirrorAverager`; where a bound is given, L follows from that.
    output_bound : float or None, default None
        What |forecasts| do not exceed.
    label_bound : float or None, default None
        What |y| does not exceed.
    average : bool or None, default None
        Whether to predict with the average of all weights so far; None: the schedule's own way.
    cv : int, splitter or str, default 5
        Folds of the cross-fit, as in scikit-learn; "prefit" for models that are fitted already.
    shuffle : bool, default True
        Whether `fit` takes the rows in a random order; False for rows in the order of time.
    random_state : int, RandomState or None, default None
        Seed of that order.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels, sorted.
    weights_ : ndarray (M,) or (K, M)
        The weight of each model or column.
    averagers_ : list of MirrorAverager or Tracker
        What learned them: one, or one a class.
    models_ : list
        The fitted models, where there are any.
    n_features_in_ : int
        The columns of X, where they are forecasts.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(60.0)[:, None]
    >>> pool = [DummyClassifier(), LogisticRegression()]
    >>> model = ab.MirrorAveragingClassifier(pool, random_state=0).fit(X, X[:, 0] > 30)
    >>> int(model.weights_.argmax()), model.predict([[5.0], [50.0]])
    (1, array([False,  True]))
    """

    _usual = "logistic"

    @fit_apart
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MirrorAveragingClassifier":
        """Fit the models, and learn the weights in one pass over the rows.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.
        y : array_like (n,)
            Classes.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        MirrorAveragingClassifier
            Itself.
        """
        self._fresh(self._loss)  # refuse what cannot be before any work
        X, y = self._table(X, y, reset=True)
        checks.no_dates(y, checks.CLASSES_OF_DATES)
        check_classification_targets(y)
        present = y[checks.sample_weight(sample_weight, len(y)) > 0]
        averagers = self._begin(np.unique(present))
        forecasts, y, weights = self._learn(X, y, sample_weight, first=True)
        numbers = np.searchsorted(self.classes_, y)
        rows, weights = self._order(forecasts, numbers, weights)
        self._pass_on(averagers, forecasts[rows], numbers[rows], weights)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "MirrorAveragingClassifier":
        """Learn from more rows, in their order; the first call names all classes there will be.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.
        y : array_like (n,)
            Classes.
        classes : array_like or None, default None
            All classes, in the first call.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        MirrorAveragingClassifier
            Itself.
        """
        first = not hasattr(self, "averagers_")
        if first:
            self._fresh(self._loss)
        X, y = self._table(X, y, reset=first)
        checks.no_dates(y, checks.CLASSES_OF_DATES)
        check_classification_targets(y)
        if first and classes is None:
            raise ValueError(
                "classes must be given in the first call of partial_fit: all labels there will be"
            )
        averagers = self._begin(np.unique(classes)) if first else self.averagers_
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes must be those of the first call, {self.classes_}, got {classes}")
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(f"y holds the class {y[unknown][0]!r}, which is not among {self.classes_}")
        if first:
            self._take_models()
        forecasts, y, weights = self._learn(X, y, sample_weight, first=False)
        self._pass_on(averagers, forecasts, np.searchsorted(self.classes_, y), weights)
        return self

    def _begin(self, classes: np.ndarray) -> list[Averager]:
        """Averagers for these classes: one, or with columns of forecasts and more than two classes one a class."""
        if len(classes) < 2:
            raise ValueError(f"y must hold at least two classes, got one class: {classes.tolist()}")
        loss = slopes.get(self._loss)
        if loss.vector or "-1" not in loss.domain.words:
            raise ValueError(
                f"loss must be one of two classes, got {loss}: try logistic, hinge or exponential"
            )
        if len(classes) > 2 and self.models is not None:
            if type(loss) not in OF_CLASSES:
                raise ValueError(f"loss {loss} has no form for {len(classes)} classes: use logistic or hinge")
            loss = OF_CLASSES[type(loss)]
        count = len(classes) if len(classes) > 2 and self.models is None else 1
        self.classes_ = classes
        self._task = Task(classes, fitted=self.models is not None and self.cv == "prefit")
        return [self._fresh(loss) for _ in range(count)]

    def _pass_on(
        self, averagers: list[Averager], forecasts: Floats, numbers: np.ndarray, weights: Floats
    ) -> None:
        for k, averager in enumerate(averagers):
            own = len(self.classes_) - 1 if len(averagers) == 1 else k
            targets = numbers if averager.loss.vector else np.where(numbers == own, 1.0, -1.0)
            if len(targets):
                averager.partial_fit(forecasts, targets, weights)
            elif not averager.started:
                averager.start(forecasts.shape[1])
        self.averagers_ = averagers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Columns of a table are rarely good forecasts as they are: weights that are not negative cannot mend a sign.
        tags.classifier_tags.poor_score = self.models is None
        return tags

    @from_one_fit
    def decision_function(self, X: Any) -> Floats:
        """Raw scores, (n,) for two classes and (n, K) for more.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.

        Returns
        -------
        ndarray (n,) or (n, K)
            Raw scores.
        """
        forecasts = self._predictable(X)
        scores = [averager.predict(forecasts) for averager in self.averagers_]
        return scores[0] if len(scores) == 1 else np.stack(scores, axis=1)

    @from_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest score.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.

        Returns
        -------
        ndarray (n,)
            Labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    @from_one_fit
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, for losses that have them.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.

        Returns
        -------
        ndarray (n, K)
            Probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        loss = self.averagers_[0].loss
        if scores.ndim == 1 or loss.vector:
            return loss.probabilities(scores)
        shares = np.stack([loss.probabilities(column)[:, 1] for column in scores.T], axis=1)
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])

    @property
    def weights_(self) -> Floats:
        """(M,), or (K, M) where each class has weights of its own."""
        weights = [averager.weights_ for averager in self.averagers_]
        return weights[0] if len(weights) == 1 else np.stack(weights)
