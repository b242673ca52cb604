"""The streams of the benchmark, split in advance: docs/streams-benchmark.md, "Which streams".

A stream is a data set whose rows are learnt in their order; `classes` is None where numbers are to be told.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from anyboost import datasets
from anyboost.datasets import Dataset

ROWS = 50_000
LATE = 15.0  # minutes
JUDGE = "judge"


def _set(name: str) -> Callable[[int], Dataset]:
    def first(rows: int) -> Dataset:
        data = datasets.load(name)
        return data._replace(X=data.X[:rows], y=data.y[:rows])

    return first


def _late_flights(rows: int) -> Dataset:
    data = _set("nycflights13")(rows)
    return data._replace(y=(data.y > LATE).astype(np.float64), classes=["on time", "late"])


def _generated(make: Callable[[Any, int], Any], *categorical: str) -> Callable[[int], Dataset]:
    """The first rows of one of River's generators; `make` has its module and the number of rows."""

    def first(rows: int) -> Dataset:
        from river.datasets import synth

        examples: Iterator[tuple[dict[Any, float], int]] = iter(make(synth, rows))
        found = list(islice(examples, rows))
        names = list(found[0][0])
        X = np.array([[x[name] for name in names] for x, _ in found], dtype=np.float64)
        labels, codes = np.unique([y for _, y in found], return_inverse=True)
        columns = [str(name) for name in names]
        return Dataset(
            X,
            codes.astype(np.float64),
            columns,
            np.isin(columns, categorical),
            classes=labels.astype(str).tolist(),
        )

    return first


Concept = Callable[[Any, int, int], Any]  # River's module, the number of the concept, a seed


def _abrupt(concept: Concept) -> Callable[[Any, int], Any]:
    """A concept, from a third of the rows on another, from two thirds on the first again."""

    def make(synth: Any, rows: int) -> Any:
        third = rows // 3
        first, other = islice(concept(synth, 0, 1), third), islice(concept(synth, 1, 2), third)
        return chain(first, other, concept(synth, 0, 4))

    return make


def _gradual(concept: Concept) -> Callable[[Any, int], Any]:
    """The same, each change over a sixth of the rows."""

    def make(synth: Any, rows: int) -> Any:
        third, width = rows // 3, rows // 6
        away = synth.ConceptDriftStream(concept(synth, 0, 1), concept(synth, 1, 2), third, width, seed=3)
        return synth.ConceptDriftStream(away, concept(synth, 0, 4), 2 * third, width, seed=5)

    return make


def _sea(synth: Any, concept: int, seed: int) -> Any:
    return synth.SEA(variant=2 * concept, noise=0.1, seed=seed)


def _agrawal(synth: Any, concept: int, seed: int) -> Any:
    return synth.Agrawal(classification_function=2 * concept, perturbation=0.05, seed=seed)


def _led(synth: Any, concept: int, seed: int) -> Any:
    return synth.LEDDrift(seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=7 * concept)


def _centers(synth: Any, concept: int, seed: int) -> Any:
    return synth.RandomRBF(seed_model=10 + concept, seed_sample=seed, n_classes=5)


def _plane(synth: Any, concept: int, seed: int) -> Any:
    return synth.Hyperplane(seed=10 * concept + seed)


def _moving_plane(synth: Any, _: int) -> Any:
    return synth.Hyperplane(seed=1, n_drift_features=5, mag_change=0.001)


def _moving_centers(synth: Any, _: int) -> Any:
    return synth.RandomRBFDrift(seed_model=10, seed_sample=1, n_classes=5, change_speed=0.001)


_NOMINAL = ("elevel", "car", "zipcode")

CHOOSING: dict[str, Callable[[int], Dataset]] = {
    "elec2": _set("elec2"),
    "flights late": _late_flights,
    "covtype": _set("covtype"),
    "adult": _set("adult"),
    "SEA abrupt": _generated(_abrupt(_sea)),
    "SEA gradual": _generated(_gradual(_sea)),
    "Hyperplane abrupt": _generated(_abrupt(_plane)),
    "Hyperplane moving": _generated(_moving_plane),
    "flights delay": _set("nycflights13"),
    "cal_housing": _set("cal_housing"),
    "abalone": _set("abalone"),
}
JUDGING: dict[str, Callable[[int], Dataset]] = {
    "bank": _set("bank"),
    "letter": _set("letter"),
    "Agrawal abrupt": _generated(_abrupt(_agrawal), *_NOMINAL),
    "Agrawal gradual": _generated(_gradual(_agrawal), *_NOMINAL),
    "LED abrupt": _generated(_abrupt(_led)),
    "LED gradual": _generated(_gradual(_led)),
    "RandomRBF abrupt": _generated(_abrupt(_centers)),
    "RandomRBF moving": _generated(_moving_centers),
    "covid_tests": _set(f"{JUDGE}/covid_tests"),
    "casp": _set("casp"),
    "hotel_rates": _set(f"{JUDGE}/hotel_rates"),
    "chicago_ridership": _set(f"{JUDGE}/chicago_ridership"),
}


def load(name: str, rows: int = ROWS) -> Dataset:
    """The first rows of a stream."""
    return (CHOOSING | JUDGING)[name](rows)


def filled(data: Dataset) -> np.ndarray:
    """X without holes, for those who take none: the mean of earlier rows (0 at first); a level more for categories."""
    X = data.X.copy()
    for j in np.flatnonzero(np.isnan(X).any(axis=0)):
        missing = np.isnan(X[:, j])
        if data.categorical[j]:
            X[missing, j] = np.nanmax(X[:, j]) + 1
            continue
        known = np.where(missing, 0.0, X[:, j])
        earlier = np.cumsum(known) / np.maximum(np.cumsum(~missing), 1)
        X[missing, j] = earlier[missing]
    return X
