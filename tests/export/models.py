"""Small models of every kind that is exported, by name, each with the table that it was fitted to."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import anyboost as ab

ROWS = 300


@cache
def table() -> np.ndarray:
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 4))
    X[random.random(X.shape) < 0.1] = np.nan
    return X


@cache
def frame() -> pd.DataFrame:
    random = np.random.default_rng(1)
    found = pd.DataFrame(table(), columns=["a", "b", "c", "d"])
    found["few"] = random.choice(["x", "y", "z", "é", None], ROWS)
    found["some"] = random.choice([f"level {number}" for number in range(60)], ROWS)
    return found


@cache
def numbers() -> np.ndarray:
    X, random = np.nan_to_num(table()), np.random.default_rng(2)
    return X[:, 0] + X[:, 1] ** 2 + (frame()["few"] == "x") + 0.1 * random.normal(size=ROWS)


def classes() -> np.ndarray:
    return np.digitize(numbers(), [0.5, 1.5])


def _regressor(loss: str, y: Any = None, X: Any = None, **more: Any) -> Any:
    return ab.BoostingRegressor(loss, max_iter=8, **more).fit(
        table() if X is None else X, numbers() if y is None else y
    )


def _classifier(loss: str, y: Any, X: Any = None, **more: Any) -> Any:
    return ab.BoostingClassifier(loss, max_iter=8, **more).fit(table() if X is None else X, y)


def _coded() -> np.ndarray:
    X = table().copy()
    X[:, 3] = np.random.default_rng(3).integers(0, 9, ROWS) + 0.1
    return X


def _many() -> pd.DataFrame:
    words = np.random.default_rng(4).integers(0, 400, 3 * ROWS)
    found = pd.concat([frame()] * 3, ignore_index=True)
    found["many"] = [f"word {number}" for number in words]
    return found


LEVELS = "multi_quantile:0.1,0.5,0.9"
SIGNS = {"logistic", "hinge", "squared_hinge", "exponential"}
MODELS: dict[str, Any] = {
    "squared": lambda: (_regressor("squared"), table()),
    "absolute": lambda: (_regressor("absolute"), table()),
    "quantile": lambda: (_regressor("quantile:0.9"), table()),
    "poisson": lambda: (_regressor("poisson", np.abs(numbers())), table()),
    "gamma": lambda: (_regressor("gamma", np.abs(numbers()) + 0.1), table()),
    "cox": lambda: (_regressor("cox", numbers() + 3.0), table()),
    "joint quantiles": lambda: (_regressor(LEVELS, conformal=None), table()),
    "several targets": lambda: (
        _regressor("squared", np.column_stack([numbers(), -numbers()])),
        table(),
    ),
    "stumps": lambda: (_regressor("squared", learner="stump", descent="residual"), table()),
    "cvar": lambda: (
        ab.BoostingRegressor(ab.losses.CVaR(ab.losses.Absolute(), 0.5), max_iter=8).fit(table(), numbers()),
        table(),
    ),
    **{
        loss: (lambda loss=loss: (_classifier(loss, np.where(numbers() > 1, "yes", "no")), table()))
        for loss in sorted(SIGNS)
    },
    "truth values": lambda: (_classifier("auto", numbers() > 1), table()),
    "calibrated": lambda: (_classifier("hinge", numbers() > 1, calibration="temperature"), table()),
    "joint": lambda: (_classifier("softmax", classes(), outputs="joint"), table()),
    "each": lambda: (_classifier("softmax", classes(), outputs="each"), table()),
    "multiclass_hinge": lambda: (_classifier("multiclass_hinge", classes()), table()),
    "ranker": lambda: (
        ab.BoostingRanker(max_iter=8).fit(table(), classes(), qid=np.arange(ROWS) // 20),
        table(),
    ),
    "categories": lambda: (_regressor("squared", X=frame()), frame()),
    "coded": lambda: (_regressor("squared", X=_coded(), categorical_features=[3]), _coded()),
    "encoded": lambda: (_regressor("squared", X=frame(), categorical_encoding="target"), frame()),
    "encoded classes": lambda: (
        _classifier("softmax", classes(), X=frame(), categorical_encoding="target"),
        frame(),
    ),
    "many levels": lambda: (_regressor("absolute", X=_many(), y=np.tile(numbers(), 3)), _many()),
    "linear": lambda: (
        _regressor("squared", X=np.nan_to_num(table()), learner="linear"),
        np.nan_to_num(table()),
    ),
    "linear leaves": lambda: (_regressor("squared", leaf="linear"), table()),
}
REFUSED = {"linear leaves"}  # by formats of trees


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """A model and its table."""
    return MODELS[name]()
