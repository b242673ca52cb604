"""Models as columns of forecasts: fitted ones, ones to be fitted (cross-fitted), incremental ones, and River's.

Weights are learned on forecasts of rows that the model had not seen: of the fold left out, of the batch before it is
learned from, or, with River's `learn_one`, of each row before it is. A model that cannot forecast yet sleeps (NaN).
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats

SURE = 1e-6  # probabilities are taken to lie between this and one minus it


class Task(NamedTuple):
    """What models forecast: numbers (classes None, `log` where scores are logarithms) or scores of classes.

    River's two-class models take False and True only, so its models are taught numbers of classes; ones that came
    fitted know the labels themselves (`fitted`).
    """

    classes: np.ndarray | None = None
    log: bool = False
    fitted: bool = False

    @property
    def outputs(self) -> tuple[int, ...]:
        """What a forecast's shape ends in."""
        return () if self.classes is None or len(self.classes) == 2 else (len(self.classes),)

    def labels(self) -> list[Any]:
        """What River's models call the classes."""
        assert self.classes is not None
        if self.fitted:
            return self.classes.tolist()
        return [False, True] if len(self.classes) == 2 else list(range(len(self.classes)))


def streams(model: Any) -> bool:
    """Whether this is a model of River's kind."""
    return hasattr(model, "learn_one") and (
        hasattr(model, "predict_one") or hasattr(model, "predict_proba_one")
    )


def check(models: Any) -> list[Any]:
    """The models, without their names."""
    if not isinstance(models, list | tuple) or not models:
        raise ValueError(f"models must be a list of models, or None for columns of forecasts, got {models!r}")
    found = [entry[1] if isinstance(entry, tuple) and len(entry) == 2 else entry for entry in models]
    for place, model in enumerate(found):
        if isinstance(model, type) or not (hasattr(model, "predict") or streams(model)):
            raise ValueError(
                f"models[{place}] must have predict, or learn_one and predict_one, got {model!r}"
            )
    return found


def fresh(model: Any) -> Any:
    """A copy of the model that has learned nothing."""
    if streams(model):
        return model.clone() if hasattr(model, "clone") else deepcopy(model)
    from sklearn.base import clone

    return clone(model)


def forecast(models: list[Any], X: Any, task: Task) -> Floats:
    """(n, M) or (n, M, K): what each model says of each row, NaN where it cannot."""
    n = len(X) if hasattr(X, "__len__") else X.shape[0]
    out = np.full((n, len(models), *task.outputs), np.nan)
    for j, model in enumerate(models):
        if streams(model):
            for i, row in enumerate(_dicts(X)):
                out[i, j] = _one(model, row, task)
        else:
            out[:, j] = _scores(model, X, task)
    return out


def cross_fit(
    models: list[Any], X: Any, y: np.ndarray, weights: Floats | None, cv: Any, task: Task
) -> tuple[Floats, list[Any]]:
    """Forecasts by models that did not see the row, and the models fitted to all rows."""
    from sklearn.model_selection import check_cv

    out = np.full((len(y), len(models), *task.outputs), np.nan)
    waiting = [j for j, model in enumerate(models) if not streams(model)]
    fitted = [fresh(model) for model in models]
    if waiting:
        for train, test in check_cv(cv, y, classifier=task.classes is not None).split(X, y):
            for j in waiting:
                part = _fit(fresh(models[j]), _rows(X, train), y[train], _part(weights, train))
                out[test, j] = _scores(part, _rows(X, test), task)
    for j, model in enumerate(fitted):
        if streams(model):
            out[:, j] = _learn_along(model, X, y, task)
        else:
            _fit(model, X, y, weights)
    return out, fitted


def learn_along(models: list[Any], X: Any, y: np.ndarray, weights: Floats | None, task: Task) -> Floats:
    """Forecasts of these rows, then learn from them, where a model can; the others stay as they are."""
    out = np.full((len(y), len(models), *task.outputs), np.nan)
    for j, model in enumerate(models):
        if streams(model):
            out[:, j] = _learn_along(model, X, y, task)
            continue
        if _is_fitted(model):
            out[:, j] = _scores(model, X, task)
        elif not hasattr(model, "partial_fit"):
            raise ValueError(
                f"models[{j}] is neither fitted nor able to learn in parts, got {model!r}: call fit first, or "
                'fit it yourself and pass cv="prefit"'
            )
        if hasattr(model, "partial_fit"):
            more = {} if task.classes is None else {"classes": task.classes}
            _fit(model, X, y, weights, "partial_fit", **more)
    return out


def _fit(model: Any, X: Any, y: np.ndarray, weights: Floats | None, method: str = "fit", **more: Any) -> Any:
    from sklearn.utils.validation import has_fit_parameter

    if weights is not None and has_fit_parameter(model, "sample_weight"):
        more["sample_weight"] = weights
    getattr(model, method)(X, y, **more)
    return model


def _is_fitted(model: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    except TypeError:  # not a scikit-learn estimator: whoever has predict is taken at their word
        return True
    return True


def _learn_along(model: Any, X: Any, y: np.ndarray, task: Task) -> Floats:
    out = np.empty((len(y), *task.outputs))
    targets = y.tolist()
    if task.classes is not None:
        names = task.labels()
        targets = [names[k] for k in np.searchsorted(task.classes, y)]
    for i, (row, target) in enumerate(zip(_dicts(X), targets, strict=True)):
        out[i] = _one(model, row, task)
        model.learn_one(row, target)
    return out


def _one(model: Any, row: dict[Any, float], task: Task) -> Any:
    """One row's forecast by a model of River's kind."""
    if task.classes is None:
        value = model.predict_one(row)
        return np.nan if value is None else _number(np.array([float(value)]), task)[0]
    if hasattr(model, "predict_proba_one"):
        found = model.predict_proba_one(row)
        shares = np.array([[float(found.get(label, 0.0)) for label in task.labels()]])
        return log_odds(shares)[0] if shares.sum() > 0 else np.nan
    label = model.predict_one(row)
    return np.nan if label is None else _votes(np.array([label]), np.array(task.labels()))[0]


def _scores(model: Any, X: Any, task: Task) -> Floats:
    """Scores by a model with `predict`."""
    if task.classes is None:
        return _number(np.asarray(model.predict(X), dtype=np.float64).reshape(-1), task)
    if hasattr(model, "predict_proba"):
        return log_odds(_aligned(np.asarray(model.predict_proba(X)), model, task.classes))
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            sign = 1.0 if model.classes_[-1] == task.classes[-1] else -1.0
            if len(task.classes) == 2:
                return sign * scores
        elif scores.shape[1] == len(task.classes):
            return scores
    return _votes(np.asarray(model.predict(X)), task.classes)


def _number(values: Floats, task: Task) -> Floats:
    return np.log(np.maximum(values, SURE)) if task.log else values


def _aligned(shares: Floats, model: Any, classes: np.ndarray) -> Floats:
    """Probabilities in the order of all classes, also where the model saw only some of them."""
    out = np.zeros((len(shares), len(classes)))
    out[:, np.searchsorted(classes, model.classes_)] = shares
    return out


def log_odds(shares: Floats) -> Floats:
    """Scores whose sigmoid or softmax are these probabilities, kept away from 0 and 1."""
    clipped = np.clip(shares, SURE, 1.0 - SURE)
    if shares.shape[1] == 2:
        return np.log(clipped[:, 1]) - np.log(clipped[:, 0])
    return np.log(clipped / clipped.sum(axis=1, keepdims=True))


def _votes(labels: np.ndarray, classes: np.ndarray) -> Floats:
    """+1 for the class named, -1 for the others."""
    named = np.where(labels[:, None] == classes[None, :], 1.0, -1.0)
    return named[:, 1] if len(classes) == 2 else named


def _rows(X: Any, rows: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


def _part(weights: Floats | None, rows: np.ndarray) -> Floats | None:
    return None if weights is None else weights[rows]


def _dicts(X: Any) -> Iterator[dict[Any, float]]:
    """Rows as River takes them: a dictionary from the column's name, or its number."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    table = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    keys: list[Any] = names if names is not None else list(range(table.shape[1]))
    make: Callable[[Any], dict[Any, float]] = lambda row: dict(zip(keys, row, strict=True))  # noqa: E731
    return map(make, table.tolist())
