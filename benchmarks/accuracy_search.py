"""A random search for each library of the accuracy benchmark: docs/accuracy.md, "After tuning"."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_libraries import first_line
from benchmarks.accuracy_sets import generator

DRAWS = 10


class Range(NamedTuple):
    """What a parameter is drawn from."""

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False


RATE = Range(0.01, 0.3, logarithmic=True)
ROUNDS = Range(50, 1000, logarithmic=True, whole=True)
LEAVES = Range(8, 128, logarithmic=True, whole=True)
DEEP, SHALLOW = Range(3, 10, whole=True), Range(4, 8, whole=True)
LEAST_LEAF = Range(1, 50, logarithmic=True, whole=True)
L2 = Range(0.001, 10.0, logarithmic=True)
COLUMNS = Range(0.5, 1.0)

_OF_SCIKIT_LEARN = {
    "learning_rate": RATE,
    "max_iter": ROUNDS,
    "max_leaf_nodes": LEAVES,
    "l2_regularization": L2,
    "max_features": COLUMNS,
}
_OF_XGBOOST = {
    "learning_rate": RATE,
    "n_estimators": ROUNDS,
    "max_depth": DEEP,
    "min_child_weight": LEAST_LEAF,
    "reg_lambda": L2,
    "colsample_bytree": COLUMNS,
}
SPACES: dict[str, dict[str, Range]] = {
    "anyboost": {**_OF_SCIKIT_LEARN, "min_leaf_weight": LEAST_LEAF},
    "LightGBM": {
        "learning_rate": RATE,
        "n_estimators": ROUNDS,
        "num_leaves": LEAVES,
        "min_child_samples": LEAST_LEAF,
        "reg_lambda": L2,
        "colsample_bytree": COLUMNS,
    },
    "XGBoost": _OF_XGBOOST,
    "CatBoost": {
        "learning_rate": RATE,
        "n_estimators": ROUNDS,
        "depth": SHALLOW,
        "random_strength": Range(0.1, 10.0, logarithmic=True),
        "l2_leaf_reg": L2,
        "rsm": COLUMNS,
    },
    "HistGradientBoosting": {**_OF_SCIKIT_LEARN, "min_samples_leaf": LEAST_LEAF},
    "ChimeraBoost": {
        "learning_rate": RATE,
        "depth": SHALLOW,
        "min_child_weight": LEAST_LEAF,
        "l2_leaf_reg": L2,
        "colsample": COLUMNS,
    },
    "Perpetual": {"budget": Range(0.3, 2.0)},
    "hessboost": _OF_XGBOOST,
}


def draw(space: dict[str, Range], random: np.random.Generator) -> dict[str, Any]:
    """A value for every parameter."""
    drawn: dict[str, Any] = {}
    for name, (low, high, logarithmic, whole) in space.items():
        u = random.uniform()
        value = low * (high / low) ** u if logarithmic else low + (high - low) * u
        drawn[name] = round(value) if whole else float(value)
    return drawn


def candidates(library: str, name: str, seed: int, draws: int | None = None) -> list[dict[str, Any]]:
    """The defaults, and draws."""
    random = generator(name, f"search, {library}", seed)
    count = DRAWS if draws is None else draws
    return [{}, *(draw(SPACES[library], random) for _ in range(count))]


class Found(NamedTuple):
    """What a search chose, the loss of each candidate, why some were refused, and how long it took."""

    chosen: dict[str, Any]
    losses: list[float]
    refused: list[str]
    seconds: float
    cpu_seconds: float


def search(tried: list[dict[str, Any]], loss: Callable[[dict[str, Any]], float]) -> Found:
    """The candidate of least loss; one that a library refuses is lost."""
    began, cpu_began = perf_counter(), process_time()
    losses: list[float] = []
    refused: list[str] = []
    for candidate in tried:
        try:
            losses.append(loss(candidate))
        except Exception as error:  # whatever a peer raises
            losses.append(float("inf"))
            refused.append(first_line(error))
    best = tried[int(np.argmin(losses))]
    return Found(best, losses, refused, perf_counter() - began, process_time() - cpu_began)
