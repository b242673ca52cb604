"""Two real streams and nine models each, all of which forecast a row before its label is shown (see `pools`)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from anyboost import datasets, losses
from anyboost.mirror.pool import log_odds


class PoolStream(NamedTuple):
    """Rows in the order of time, the ends of its periods, and the models' forecasts (NaN: none yet)."""

    names: list[str]
    forecasts: np.ndarray
    y: np.ndarray
    ends: np.ndarray  # stacking is fitted anew at these rows
    loss: losses.RowwiseLoss


# Flights: arrival delay in minutes -----------------------------------------------------------------------------------


def flights(rows: int | None = None) -> PoolStream:
    """327,346 flights of a year, by scheduled departure; squared error of the delay, in standard deviations."""
    data = datasets.load("nycflights13")
    X, y = data.X[:rows], data.y[:rows] / 44.6
    month, day = data.column("month")[:rows], data.column("day")[:rows]
    months = np.flatnonzero(np.diff(month)) + 1
    days = np.flatnonzero(np.diff(day)) + 1
    dense = _one_hot(X, data.categorical)
    found = {
        "running mean": _running_mean(y),
        "last hundred": _moving_mean(y, 0.01),
        "carrier and hour": _group_means(X, y, data.feature_names),
        "linear, by day": _incremental(dense, y, days),
        "ridge, by month": _refitted(_ridge, dense, y, months),
        "boosting, by month": _refitted(_boosting, X, y, months),
        "boosting, last month": _refitted(_boosting, X, y, months, window=1),
        "forest, by month": _refitted(_forest, X, y, months),
        "Hoeffding tree": _river(_hoeffding_regressor(), X, y),
    }
    return PoolStream(list(found), np.column_stack(list(found.values())), y, days, losses.Squared())


def _one_hot(X: np.ndarray, categorical: np.ndarray) -> np.ndarray:
    parts = [X[:, ~categorical]]
    for j in np.flatnonzero(categorical):
        parts.append((X[:, j][:, None] == np.unique(X[:, j])[None, :]).astype(float))
    return np.hstack(parts)


def _running_mean(y: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])


def _moving_mean(y: np.ndarray, share: float) -> np.ndarray:
    from scipy.signal import lfilter

    return np.concatenate([[0.0], lfilter([share], [1.0, share - 1.0], y)[:-1]])


def _group_means(X: np.ndarray, y: np.ndarray, names: list[str]) -> np.ndarray:
    """The mean delay so far of the same carrier in the same hour of the day, shrunk by ten flights of none."""
    hour = X[:, next(i for i, name in enumerate(names) if "sched_dep" in name)] // 60
    key = (X[:, names.index("carrier")] * 24 + hour).astype(int)
    total, count, out = np.zeros(key.max() + 1), np.full(key.max() + 1, 10.0), np.empty(len(y))
    for i, k in enumerate(key.tolist()):
        out[i] = total[k] / count[k]
        total[k] += y[i]
        count[k] += 1
    return out


def _incremental(X: np.ndarray, y: np.ndarray, ends: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import SGDRegressor
    from sklearn.preprocessing import StandardScaler

    scaler, model = StandardScaler(), SGDRegressor(eta0=1e-3, random_state=0)
    out = np.full(len(y), np.nan)
    for before, rows in periods(len(y), ends):
        if before:
            out[rows] = model.predict(scaler.transform(X[rows]))
        scaler.partial_fit(X[rows])
        model.partial_fit(scaler.transform(X[rows]), y[rows])
    return out


def _refitted(
    make: Callable[[], Any], X: np.ndarray, y: np.ndarray, ends: np.ndarray, window: int | None = None
) -> np.ndarray:
    """A model fitted at the end of each period on all rows so far, or on the last `window` periods."""
    starts = [0, *ends.tolist()]
    out = np.full(len(y), np.nan)
    for number, rows in periods(len(y), ends):
        if number:
            begin = 0 if window is None else starts[max(0, number - window)]
            model = make().fit(X[begin : rows.start], y[begin : rows.start])
            probable = hasattr(model, "predict_proba")
            out[rows] = model.predict_proba(X[rows])[:, 1] if probable else model.predict(X[rows])
    return out


def periods(n: int, ends: np.ndarray) -> Iterator[tuple[int, slice]]:
    edges = [0, *ends.tolist(), n]
    for number in range(len(edges) - 1):
        yield number, slice(edges[number], edges[number + 1])


def _ridge() -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge(1000.0))


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=100, random_state=0)


def _forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(20, min_samples_leaf=50, max_samples=0.2, max_features=0.5, random_state=0)


def _hoeffding_regressor() -> Any:
    from river import tree

    return tree.HoeffdingTreeRegressor(grace_period=500)


def _river(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty(len(y))
    labels = y.tolist()
    probable = hasattr(model, "predict_proba_one")
    for i, row in enumerate(X.tolist()):
        features = dict(enumerate(row))
        if probable:
            shares = model.predict_proba_one(features)
            out[i] = shares.get(True, 0.0) if shares else np.nan
            model.learn_one(features, bool(labels[i]))
        else:
            out[i] = model.predict_one(features)
            model.learn_one(features, labels[i])
    return out


# Electricity: whether the price goes up ------------------------------------------------------------------------------


def elec2(rows: int | None = None) -> PoolStream:
    """45,312 half hours of a market; forecasts are probabilities, combined as log odds under the logistic loss."""
    from river import forest, linear_model, naive_bayes, preprocessing, tree

    data = datasets.load("elec2")
    X, y = data.X[:rows], data.y[:rows]
    weeks = np.arange(336, len(y), 336)
    scaled = preprocessing.StandardScaler
    found = {
        "repeat last label": _persistence(y),
        "running mean": np.clip(_running_mean(y), 1e-6, 1 - 1e-6),
        "logistic": _river(scaled() | linear_model.LogisticRegression(), X, y),
        "naive Bayes": _river(naive_bayes.GaussianNB(), X, y),
        "Hoeffding tree": _river(tree.HoeffdingTreeClassifier(), X, y),
        "adaptive tree": _river(tree.HoeffdingAdaptiveTreeClassifier(seed=0), X, y),
        "adaptive forest": _river(forest.ARFClassifier(5, seed=0), X, y),
        "boosting, by week": _refitted(_boosting_classifier, X, y, weeks, window=12),
        "logistic, by week": _refitted(_logistic, X, y, weeks, window=4),
    }
    shares = np.column_stack(list(found.values()))
    asleep = np.isnan(shares)
    scores = log_odds(np.stack([1 - shares.ravel(), shares.ravel()], axis=1)).reshape(shares.shape)
    scores[asleep] = np.nan
    # Some of these models are sure of themselves and wrong: for everyone alike, odds end at 55 to one.
    scores = np.clip(scores, -4.0, 4.0)
    return PoolStream(list(found), scores, np.where(y > 0, 1.0, -1.0), weeks, losses.Logistic())


def _persistence(y: np.ndarray) -> np.ndarray:
    """The last label, with the share of repetitions so far as its probability."""
    repeated = np.concatenate([[0.5], y[1:] == y[:-1]])
    often = (np.cumsum(repeated) + 1.0) / (np.arange(len(y)) + 2.0)
    before = np.concatenate([[0.5], often[:-1]])
    last = np.concatenate([[0.0], y[:-1]])
    return np.where(last > 0, before, 1 - before)


def _boosting_classifier() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, random_state=0)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
