"""What the estimators share: forecasts of all models, the order of the rows, and the averager that learns from them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, validate_data

from anyboost import checks, keywords
from anyboost.checks import Floats
from anyboost.mirror import pool, proxies
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.pool import Task
from anyboost.mirror.tracking import Tracker

Averager = MirrorAverager | Tracker
MOST_STEPS = 1e8


class MirrorAveraging(BaseEstimator):
    """What the two estimators share; see `MirrorAveragingRegressor`."""

    _task: Task
    _usual: str  # the loss where none is given

    @keywords.nearest
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
        weights = checks.sample_weight(sample_weight, len(y))
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

    def _table(self, X: Any, y: Any, reset: bool, **options: Any) -> tuple[Any, Any]:
        """Checked X and y: a table of numbers where columns are forecasts; whatever the models take, else."""
        if self.models is None:
            if not hasattr(X, "tocsr"):
                advice = "its columns are forecasts where models is None, so give models or numbers"
                checks.no_words(np.asarray(X), "X", advice)
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
