"""Scikit-learn estimators that combine models, or columns of forecasts, by mirror averaging."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, validate_data

from anyboost import checks, losses
from anyboost.checks import Floats
from anyboost.losses import links
from anyboost.mirror import pool, proxies, slopes
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.pool import Task
from anyboost.mirror.tracking import Tracker

Averager = MirrorAverager | Tracker
MOST_STEPS = 1e8


class _MirrorAveraging(BaseEstimator):
    """What the two estimators share; see `MirrorAveragingRegressor`."""

    _task: Task
    _usual: str  # the loss where none is given

    def __init__(
        self,
        models: Any = None,
        *,
        loss: Any = None,
        proxy: Any = "entropy",
        domain: Any = "simplex",
        schedule: Any = "second_order",
        lipschitz: Any = "running",
        output_bound: float | None = None,
        label_bound: float | None = None,
        average: bool | None = None,
        cv: Any = 5,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.models = models
        self.loss = loss
        self.proxy = proxy
        self.domain = domain
        self.schedule = schedule
        self.lipschitz = lipschitz
        self.output_bound = output_bound
        self.label_bound = label_bound
        self.average = average
        self.cv = cv
        self.shuffle = shuffle
        self.random_state = random_state

    # Learning -------------------------------------------------------------------------------------------------------

    def _learn(self, X: Any, y: np.ndarray, sample_weight: Any, first: bool) -> Any:
        """Forecasts of all rows, then one pass over them: in an order of its own, or (partial_fit) as they come."""
        weights = self._weights(sample_weight, y)
        kept = weights > 0
        if not kept.all():
            X, y, weights = pool._rows(X, np.flatnonzero(kept)), y[kept], weights[kept]
        given = None if sample_weight is None else weights
        if first:
            forecasts = self._first_forecasts(X, y, given)
        elif self.models is None or self.cv == "prefit":
            forecasts = self._forecasts(X)
        else:
            forecasts = pool.learn_along(self.models_, X, y, given, self._task)
        awake = ~np.isnan(forecasts.reshape(len(y), -1)).all(axis=1)
        return forecasts[awake], y[awake], weights[awake]

    def _first_forecasts(self, X: Any, y: np.ndarray, weights: Floats | None) -> Floats:
        if self.models is None:
            return X
        models = pool.check(self.models)
        if isinstance(self.cv, str):
            checks.choice(self.cv, "cv", ("prefit",))
            self.models_ = models
            return self._forecasts(X)
        forecasts, self.models_ = pool.cross_fit(models, X, y, weights, self.cv, self._task)
        return forecasts

    def _take_models(self) -> None:
        """The models that `partial_fit` goes on with: as they are, or new ones of their kind."""
        if self.models is not None:
            models = pool.check(self.models)
            self.models_ = models if self.cv == "prefit" else [pool.fresh(model) for model in models]

    def _forecasts(self, X: Any) -> Floats:
        return X if self.models is None else pool.forecast(self.models_, X, self._task)

    def _weights(self, sample_weight: Any, y: np.ndarray) -> Floats:
        return checks.sample_weight(sample_weight, len(y))

    def _table(self, X: Any, y: Any, reset: bool, **options: Any) -> tuple[Any, Any]:
        """Checked X and y: a table of numbers where columns are forecasts; whatever the models take, else."""
        if self.models is None:
            shared = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "reset": reset}
            return validate_data(self, X, y, **shared, **options)
        if _num_samples(X) != _num_samples(y):
            raise ValueError(
                f"X must have one row for each y, got {_num_samples(X)} rows for {_num_samples(y)}"
            )
        return X, check_array(y, ensure_2d=False, dtype=None)

    @property
    def _loss(self) -> Any:
        return self._usual if self.loss is None else self.loss

    def _fresh(self, loss: Any) -> Averager:
        if isinstance(self.schedule, str) and self.schedule == "tracker":
            if not isinstance(proxies.get(self.proxy), proxies.Entropy):
                raise ValueError(f"proxy must be entropy for a tracker, got {self.proxy!r}")
            return Tracker(loss, self.domain)
        bounded = self.output_bound is not None or self.label_bound is not None
        return MirrorAverager(
            loss,
            self.proxy,
            self.domain,
            self.schedule,
            lipschitz=None if bounded and self.lipschitz == "running" else self.lipschitz,
            output_bound=self.output_bound,
            label_bound=self.label_bound,
            average=self.average,
        )

    def _order(self, forecasts: Floats, y: np.ndarray, weights: Floats) -> tuple[np.ndarray, Floats]:
        """Which rows to take, and their weights: as given, or in a random order of single steps.

        The order depends on the distinct rows, their total weights and the seed, not on how the table was sorted: two
        equal rows are one of weight two, and both are steps of weight one, somewhere in the order.
        """
        if not self.shuffle:
            return np.arange(len(y)), weights
        rows, inverse = _distinct(np.column_stack([y, forecasts.reshape(len(y), -1)]))
        total = np.bincount(inverse, weights, minlength=len(rows)).round(9)
        steps = np.maximum(np.ceil(total), 1.0)
        if steps.sum() > MOST_STEPS:
            raise ValueError(
                f"sample_weight adds up to {total.sum():g}, and a weight of w takes w steps: "
                "divide all weights by a number"
            )
        steps = steps.astype(np.int64)
        shares = np.ones(steps.sum())
        shares[np.cumsum(steps) - 1] = total - (steps - 1)
        order = check_random_state(self.random_state).permutation(len(shares))
        return np.repeat(rows, steps)[order], shares[order]

    def _predictable(self, X: Any) -> Floats:
        check_is_fitted(self)
        if self.models is None:
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self._forecasts(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _distinct(table: Floats) -> tuple[np.ndarray, np.ndarray]:
    """One row number of each distinct row, in the order of their values, and which of these each row equals.

    By value, and not by bytes: a forecast that another processor rounds differently keeps its place.
    """
    order = np.lexsort(table.T[::-1])
    before, after = table[order[:-1]], table[order[1:]]
    differ = (before != after) & ~(np.isnan(before) & np.isnan(after))
    begins = np.append(True, differ.any(axis=1))
    inverse = np.empty(len(table), dtype=np.intp)
    inverse[order] = np.cumsum(begins) - 1
    return order[begins], inverse


class MirrorAveragingRegressor(RegressorMixin, _MirrorAveraging):
    """A weighted combination of models' forecasts, the weights learned online.

    By default a second-order rule in running units, which has no rate and no scale to choose.

    Parameters
    ----------
    models : list or None, default None
        Models, or pairs of (name, model); None: the columns of X are forecasts (NaN: none for this row).
        Scikit-learn's are cross-fitted, so that weights are learned on forecasts of rows they had not seen. River's
        learn row by row, each row after its forecast.
    loss : str, Loss or None, default None
        A row-wise loss of one output; None is squared. With a log link, columns are raw scores, and models' forecasts
        become ones.
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
    weights_ : ndarray (M,)
        The weight of each model or column.
    averager_ : MirrorAverager or Tracker
        What learned them.
    models_ : list
        The fitted models, where there are any.
    n_features_in_ : int
        The columns of X, where they are forecasts.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(60.0)[:, None]
    >>> model = ab.MirrorAveragingRegressor([DummyRegressor(), LinearRegression()], random_state=0)
    >>> model.fit(X, 2 * X[:, 0]).weights_.round(1)
    array([0., 1.])
    """

    _usual = "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MirrorAveragingRegressor":
        """Fit the models, and learn the weights in one pass over the rows.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        MirrorAveragingRegressor
            Itself.
        """
        averager = self._begin()
        X, y = self._table(X, y, reset=True, y_numeric=True)
        forecasts, y, weights = self._learn(X, averager.loss.check(y), sample_weight, first=True)
        rows, weights = self._order(forecasts, y, weights)
        averager.partial_fit(forecasts[rows], y[rows], weights)
        self.averager_ = averager
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MirrorAveragingRegressor":
        """Learn from more rows, in their order. Models that can, learn too, each row after its forecast.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        MirrorAveragingRegressor
            Itself.
        """
        first = not hasattr(self, "averager_")
        averager = self._begin() if first else self.averager_
        X, y = self._table(X, y, reset=first, y_numeric=True)
        y = averager.loss.check(y)
        if first:
            self._take_models()
        forecasts, y, weights = self._learn(X, y, sample_weight, first=False)
        if len(y):
            averager.partial_fit(forecasts, y, weights)
        elif first:
            averager.start(forecasts.shape[1])
        self.averager_ = averager
        return self

    def _begin(self) -> Averager:
        averager = self._fresh(self._loss)
        if averager.loss.vector or "-1" in averager.loss.domain.words:
            raise ValueError(
                f"loss must be one of real targets, got {averager.loss}: use MirrorAveragingClassifier"
            )
        self._task = Task(log=averager.loss.link_ == links.LOG)
        return averager

    def predict(self, X: Any) -> Floats:
        """The combined forecast of each row.

        Parameters
        ----------
        X : table (n, d)
            What the models take, or forecasts.

        Returns
        -------
        ndarray (n,)
            Predictions.
        """
        forecasts = self._predictable(X)
        return self.averager_.loss.link(self.averager_.predict(forecasts))

    @property
    def weights_(self) -> Floats:
        """(M,): the weight of each model or column."""
        return self.averager_.weights_


# What a two-class loss becomes with more classes, where each model gives a score for every class.
_OF_CLASSES: dict[type, Any] = {losses.Logistic: losses.Softmax(), losses.Hinge: losses.MulticlassHinge()}


def _has_probabilities(estimator: Any) -> bool:
    return slopes.get(estimator._loss).link_.probabilities is not None


class MirrorAveragingClassifier(ClassifierMixin, _MirrorAveraging):
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
        check_classification_targets(y)
        present = y[self._weights(sample_weight, y) > 0]
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
            if type(loss) not in _OF_CLASSES:
                raise ValueError(f"loss {loss} has no form for {len(classes)} classes: use logistic or hinge")
            loss = _OF_CLASSES[type(loss)]
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
