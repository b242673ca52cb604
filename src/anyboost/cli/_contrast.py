"""The contrast that `anyboost demo` shows: three descents, the same stumps, the same number of them.

With the multiclass hinge loss and vector-valued stumps one projection of the subgradient often points at
the stump that was already taken. Naive descent takes it again; the other two first project what is left over.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split

import anyboost as ab
from anyboost.experiments import methods

if TYPE_CHECKING:
    from anyboost.boosting import Run


@dataclass(frozen=True)
class Data:
    """One data set, split into rows to learn from and rows to test on."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Curve:
    """How one method went on one data set; the arrays have one entry a round."""

    data: str
    method: str
    stumps: np.ndarray
    loss: np.ndarray
    test_error: np.ndarray
    distinct: int
    norm: float
    floor: float  # at that norm
    gap: float
    seconds: float


def load() -> list[Data]:
    """The data sets of the demo, both bundled with scikit-learn."""
    return [_split("digits", load_digits), _split("iris", load_iris)]


def _split(name: str, load: Callable[..., Any]) -> Data:
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    return Data(name, X, y, X_test, y_test)


def warm_up(data: Data) -> None:
    """Compile or load the kernels, so that the first method's seconds are its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the loss ended at")  # two rounds at the theorems' step may
        _boost(data, "repeated", rounds=2)


def fit(data: Data, method: str, stumps: int, progress: Callable[[int], None]) -> Curve:
    """Fit this many stumps by one method; `progress` hears the number so far after every round."""
    began = time.perf_counter()
    rounds = methods.rounds_at_stops(method, stumps)[-1]
    run = _boost(data, method, rounds, callbacks=(lambda step, _run: progress(step.learners),))
    seconds = time.perf_counter() - began
    return Curve(
        data=data.name,
        method=method,
        stumps=np.array([step.learners for step in run.steps]),
        loss=np.array([step.loss for step in run.steps]),
        test_error=_test_errors(run, data),
        distinct=len(set(methods.cuts(run))),
        norm=run.norm,
        floor=run.floor(),
        gap=run.gap(),
        seconds=seconds,
    )


def _boost(data: Data, method: str, rounds: int, callbacks: tuple[Callable[..., None], ...] = ()) -> Run:
    return ab.boost(
        data.X,
        data.y,
        loss="multiclass_hinge",
        learner=ab.weak.Stump(),
        descent=methods.descent(method),
        rounds=rounds,
        callbacks=callbacks,
    )


def _test_errors(run: Run, data: Data) -> np.ndarray:
    """Share of test rows put into a wrong class, after every round."""
    staged = run.ensemble.staged_predict(data.X_test)
    return np.array([np.mean(scores.argmax(axis=1) != data.y_test) for scores in staged])
