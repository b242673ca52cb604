"""Estimators fitted by members of a circle, each to its own rows, are those of all rows, byte for byte."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import anyboost as ab
from models import model_of
from parts import in_circle

FULL = pytest.mark.full
ROWS = 700
EDGES = (0, 0, 90, 400, ROWS)


def table():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.integers(0, 1000, (ROWS, 4)) / 1000.0, columns=list("abcd"))
    frame.loc[random.random(ROWS) < 0.1, "b"] = np.nan
    frame["word"] = pd.Series(
        random.choice(["x", "y", "zz", None], ROWS, p=[0.5, 0.3, 0.1, 0.1]), dtype=object
    )
    frame["kind"] = pd.Categorical([f"k{code}" for code in (random.random(ROWS) ** 3 * 400).astype(int)])
    signal = 2 * frame["a"] * frame["c"] + (frame["word"] == "x") * 0.3
    y = (signal + 0.1 * np.asarray(frame["kind"].cat.codes % 5)).to_numpy() + random.normal(size=ROWS) / 5
    return frame, y


X, Y = table()
CLASSES = np.array(["low", "middle", "high"], dtype=object)[np.searchsorted([0.5, 1.2], Y)]
QUERIES = np.arange(ROWS) // 9
WEIGHTS = 1.0 + (np.arange(ROWS) * 37 % 101) / 103.0
WHOLE = (np.arange(ROWS) % 4).astype(float)
QUICK = {"max_iter": 8, "max_leaf_nodes": 6}

CASES = {
    "defaults": (ab.BoostingRegressor(), Y, {}),
    "defaults, weights": (ab.BoostingRegressor("absolute"), Y, {"sample_weight": WEIGHTS}),
    "defaults, classes": (ab.BoostingClassifier(), CLASSES, {}),
    "defaults, ranking": (ab.BoostingRanker(max_leaf_nodes=6), np.floor(2 * (Y - Y.min())), {"qid": QUERIES}),
    "target statistics": (
        ab.BoostingClassifier(categorical_encoding="target", class_weight="balanced", **QUICK),
        CLASSES,
        {"sample_weight": WHOLE},
    ),
    "few levels": (ab.BoostingRegressor("huber", categorical_encoding="subset", **QUICK), Y, {}),
    "quantiles, intervals": (ab.BoostingRegressor("multi_quantile:0.1,0.5,0.9", **QUICK), Y, {}),
    "split": (ab.BoostingRegressor(conformal="split", leaf="linear", **QUICK), Y, {"sample_weight": WEIGHTS}),
    "stumps, shapes": (ab.BoostingRegressor(max_iter=20, max_leaf_nodes=2), Y, {"sample_weight": WEIGHTS}),
    "calibration": (ab.BoostingClassifier("hinge", calibration="temperature", **QUICK), CLASSES == "low", {}),
    "cox": (ab.BoostingRegressor("cox", max_iter=8), np.where(QUERIES % 4, 1, -1) * np.exp(Y), {}),
    "early stopping": (ab.BoostingRegressor(early_stopping=True, max_iter=60), Y, {"sample_weight": WHOLE}),
    "a set to watch": (ab.BoostingRegressor(max_iter=60), Y, {"valid": (X[:50], Y[:50] + 0.1)}),
    "offset": (ab.BoostingRegressor("poisson", **QUICK), np.floor(np.exp(Y)), {"offset": X["a"].to_numpy()}),
}
SLOW = ("few levels", "split", "offset", "calibration", "stumps, shapes", "target statistics")


def fitted(name, part=slice(None), order=None):
    model, y, given = CASES[name]
    order = np.arange(ROWS) if order is None else order
    rows = {key: values[order][part] for key, values in given.items() if key != "valid"}
    if "valid" in given:
        own = part if part == slice(None) else slice(part.start // 10, part.stop // 10)
        rows["valid"] = tuple(values[own] for values in given["valid"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).set_params(n_jobs=1).fit(X.iloc[order][part], y[order][part], **rows)


class _Model:
    def __init__(self, estimator):
        self.ensemble = estimator.ensemble_


def told(model):
    """What a fitted estimator knows, but for seconds."""
    state = {
        name: value for name, value in vars(model).items() if name not in ("ensemble_", "steps_", "callbacks")
    }
    state["steps_"] = [step._replace(seconds=0.0) for step in model.steps_]
    return {
        name: _plain(value) for name, value in state.items() if name.endswith("_") or name.startswith("_")
    }


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.tolist()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return type(value).__name__, {
            key: _plain(part) for key, part in vars(value).items() if not key.startswith("_")
        }
    return value


@pytest.mark.parametrize("name", [pytest.param(name, marks=FULL) if name in SLOW else name for name in CASES])
def test_members_fit_the_same_estimator(name):
    whole = fitted(name)
    order = np.random.default_rng(1).permutation(ROWS)
    parts = [slice(*EDGES[place : place + 2]) for place in range(len(EDGES) - 1)]
    for model in in_circle(lambda place: fitted(name, parts[place], order), len(parts)):
        assert model_of(_Model(model)) == model_of(_Model(whole))
        mine, others = told(model), told(whole)
        assert mine.keys() == others.keys()
        for key in mine:
            assert repr(mine[key]) == repr(others[key]), key
