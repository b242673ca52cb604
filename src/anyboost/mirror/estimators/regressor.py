"""Weighted combinations of forecasts of numbers."""

from typing import Any

from sklearn.base import RegressorMixin

from anyboost.checks import Floats
from anyboost.fitted import fit_apart, from_one_fit
from anyboost.losses import links
from anyboost.mirror.estimators.base import Averager, MirrorAveraging
from anyboost.mirror.pool import Task


class MirrorAveragingRegressor(RegressorMixin, MirrorAveraging):
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

    @fit_apart
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

    @from_one_fit
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
