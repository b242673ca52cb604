"""The streams of the benchmark, split in advance: docs/streams-benchmark.md, "Which streams".

A stream is a data set whose rows are learnt in their order; `classes` is None where numbers are to be told.
"""

from collections.abc import Callable, Iterator
from itertools import islice
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
            X, codes.astype(np.float64), columns, np.isin(columns, categorical), classes=labels.astype(str).tolist()
        )

    return first


def _there_and_back(synth: Any, rows: int, concept: Callable[[int, int], Any], width: int) -> Any:
    """A concept, from a third of the rows on another, from two thirds on the first again."""
    away = synth.ConceptDriftStream(concept(0, 1), concept(1, 2), rows // 3, width, seed=3)
    return synth.ConceptDriftStream(away, concept(0, 4), 2 * rows // 3, width, seed=5)


def _drifting(concept: Callable[[Any, int, int], Any], *categorical: str) -> tuple[Callable[[int], Dataset], ...]:
    """Abrupt and gradual; `concept` has River's module, the number of the concept and a seed."""

    def changing(width_of: Callable[[int], int]) -> Callable[[int], Dataset]:
        def make(synth: Any, rows: int) -> Any:
            return _there_and_back(synth, rows, lambda one, seed: concept(synth, one, seed), width_of(rows))

        return _generated(make, *categorical)

    return changing(lambda _: 1), changing(lambda rows: rows // 6)


def _sea(synth: Any, concept: int, seed: int) -> Any:
    return synth.SEA(variant=2 * concept, noise=0.1, seed=seed)


def _agrawal(synth: Any, concept: int, seed: int) -> Any:
    return synth.Agrawal(classification_function=2 * concept, perturbation=0.05, seed=seed)


def _led(synth: Any, concept: int, seed: int) -> Any:
    return synth.LEDDrift(seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=7 * concept)


def _centers(synth: Any, concept: int, seed: int) -> Any:
    return synth.RandomRBF(seed_model=10 + concept, seed_sample=seed, n_classes=5)


def _hyperplane(synth: Any, _: int) -> Any:
    return synth.Hyperplane(seed=1, n_drift_features=5, mag_change=0.001)


def _moving_centers(synth: Any, _: int) -> Any:
    return synth.RandomRBFDrift(seed_model=10, seed_sample=1, n_classes=5, change_speed=0.001)


SEA_ABRUPT, SEA_GRADUAL = _drifting(_sea)
AGRAWAL_ABRUPT, AGRAWAL_GRADUAL = _drifting(_agrawal, "elevel", "car", "zipcode")
LED_ABRUPT, LED_GRADUAL = _drifting(_led)
CENTERS_ABRUPT, _ = _drifting(_centers)

CHOOSING: dict[str, Callable[[int], Dataset]] = {
    "elec2": _set("elec2"),
    "flights, late": _late_flights,
    "covtype": _set("covtype"),
    "adult": _set("adult"),
    "SEA, abrupt": SEA_ABRUPT,
    "SEA, gradual": SEA_GRADUAL,
    "Hyperplane": _generated(_hyperplane),
    "flights, delay": _set("nycflights13"),
    "cal_housing": _set("cal_housing"),
    "abalone": _set("abalone"),
}
JUDGING: dict[str, Callable[[int], Dataset]] = {
    "bank": _set("bank"),
    "letter": _set("letter"),
    "Agrawal, abrupt": AGRAWAL_ABRUPT,
    "Agrawal, gradual": AGRAWAL_GRADUAL,
    "LED, abrupt": LED_ABRUPT,
    "LED, gradual": LED_GRADUAL,
    "RandomRBF, abrupt": CENTERS_ABRUPT,
    "RandomRBF, moving": _generated(_moving_centers),
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
