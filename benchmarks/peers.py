"""The same work in anyboost and in its peers, as functions (X, y, work) -> fitted model and its training loss."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Work(NamedTuple):
    """One piece of work: a loss, a number of leaves, rounds, threads, classes (0: regression)."""

    loss: str
    leaves: int
    rounds: int
    threads: int = 2
    classes: int = 0
    rate: float = 0.1
    bins: int = 255


class Fit(NamedTuple):
    """What a library made of it: raw scores at rows of X."""

    predict: Callable[[np.ndarray], Any]


def anyboost(X: np.ndarray, y: np.ndarray, work: Work) -> Fit:
    import anyboost as ab

    loss, descent = work.loss, ab.descent.Naive(rate(work), curvature=bool(work.classes))
    # As peers do with the absolute error, fill leaves with medians.
    learner = ab.weak.Tree(max_leaves=work.leaves, leaf="exact" if work.loss == "absolute" else "mean")
    # No peer keeps norms and sums of gradients.
    options: dict[str, Any] = {"n_threads": work.threads, "max_bins": work.bins, "record": "light"}
    run = ab.boost(X, y, loss, learner, descent, work.rounds, **options)
    return Fit(lambda rows: run.ensemble.predict(rows, n_threads=work.threads))


def rate(work: Work) -> float:
    """Our rate: LightGBM multiplies the curvature of K classes by K / (K - 1), we by 2, for the same steps."""
    return work.rate * 2 * (work.classes - 1) / work.classes if work.classes else work.rate


def of_lightgbm(work: Work) -> dict[str, Any]:
    """The work in LightGBM's words."""
    parameters: dict[str, Any] = {
        "objective": {"squared": "l2", "absolute": "l1", "logistic": "binary", "softmax": "multiclass"}[
            work.loss
        ],
        "num_leaves": work.leaves,
        "learning_rate": work.rate,
        "max_bin": work.bins,
        "num_threads": work.threads,
        "min_data_in_leaf": 1,
        # With classes it fails an assertion of its own at 0, so it keeps its default there.
        "min_sum_hessian_in_leaf": 1e-3 if work.classes else 0.0,
        "verbosity": -1,
    }
    if work.classes:
        parameters |= {"num_class": work.classes, "metric": "multi_logloss"}
    return parameters


def lightgbm(X: np.ndarray, y: np.ndarray, work: Work) -> Fit:
    import lightgbm as lgb

    model = lgb.train(of_lightgbm(work), lgb.Dataset(X, y, params={"max_bin": work.bins}), work.rounds)
    return Fit(lambda rows: model.predict(rows, raw_score=True, num_threads=work.threads))


def xgboost(X: np.ndarray, y: np.ndarray, work: Work) -> Fit:
    import xgboost as xgb

    objectives = {"squared": "reg:squarederror", "absolute": "reg:absoluteerror", "softmax": "multi:softprob"}
    parameters: dict[str, Any] = {
        "objective": objectives[work.loss],
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": work.leaves,
        "max_depth": 0,
        "eta": work.rate,
        "lambda": 0.0,
        "min_child_weight": 0.0,
        "max_bin": work.bins + 1,
        "nthread": work.threads,
    }
    if work.classes:
        parameters["num_class"] = work.classes
    model = xgb.train(parameters, xgb.QuantileDMatrix(X, y, max_bin=work.bins + 1), work.rounds)
    return Fit(lambda rows: model.inplace_predict(rows, predict_type="margin"))


def scikit_learn(X: np.ndarray, y: np.ndarray, work: Work) -> Fit:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    options: dict[str, Any] = {
        "learning_rate": work.rate,
        "max_iter": work.rounds,
        "max_leaf_nodes": work.leaves,
        "max_bins": work.bins,
        "min_samples_leaf": 1,
        "early_stopping": False,
    }
    if work.classes:
        model = HistGradientBoostingClassifier(**options)
    else:
        model = HistGradientBoostingRegressor(loss=work.loss + "_error", **options)
    with threadpool_limits(work.threads):
        model.fit(X, y)
    return Fit(model.decision_function if work.classes else model.predict)


def catboost(X: np.ndarray, y: np.ndarray, work: Work) -> Fit:
    from catboost import CatBoostClassifier, CatBoostRegressor

    options: dict[str, Any] = {
        "iterations": work.rounds,
        "learning_rate": work.rate,
        "border_count": work.bins - 1,
        "thread_count": work.threads,
        "bootstrap_type": "No",
        "verbose": False,
        "allow_writing_files": False,
        **({"depth": 1} if work.leaves == 2 else {"grow_policy": "Lossguide", "max_leaves": work.leaves}),
    }
    if work.classes:
        model = CatBoostClassifier(loss_function="MultiClass", **options)
    else:
        model = CatBoostRegressor(loss_function={"squared": "RMSE", "absolute": "MAE"}[work.loss], **options)
    model.fit(X, y)
    return Fit(lambda rows: model.predict(rows, prediction_type="RawFormulaVal", thread_count=work.threads))


PEERS: dict[str, Callable[[np.ndarray, np.ndarray, Work], Fit]] = {
    "anyboost": anyboost,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "scikit-learn": scikit_learn,
    "catboost": catboost,
}


def _bin_anyboost(X: np.ndarray, _y: np.ndarray, work: Work) -> None:
    import anyboost as ab

    ab.Binned(X, max_bins=work.bins, n_threads=work.threads)


def _bin_lightgbm(X: np.ndarray, y: np.ndarray, work: Work) -> None:
    import lightgbm as lgb

    parameters = {"max_bin": work.bins, "num_threads": work.threads, "verbosity": -1}
    lgb.Dataset(X, y, params=parameters).construct()


def _bin_xgboost(X: np.ndarray, y: np.ndarray, work: Work) -> None:
    import xgboost as xgb

    xgb.QuantileDMatrix(X, y, max_bin=work.bins + 1, nthread=work.threads)


# Libraries whose binning can be had by itself
BINNERS: dict[str, Callable[[np.ndarray, np.ndarray, Work], None]] = {
    "anyboost": _bin_anyboost,
    "lightgbm": _bin_lightgbm,
    "xgboost": _bin_xgboost,
}


def training_loss(scores: np.ndarray, y: np.ndarray, work: Work) -> float:
    """The loss that all were asked to lower, from raw scores."""
    if work.classes:
        shifted = scores - scores.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(y)), y.astype(int)]))
    gap = np.asarray(scores).reshape(-1) - y
    return float(np.mean(np.abs(gap)) if work.loss == "absolute" else np.mean(gap**2) / 2)
