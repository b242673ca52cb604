"""Finite classes of functions on a sample, and the exact optima over them: what a run can be held against.

A class is a matrix H, one column an atom with values on the rows, |h| <= 1. Its span is {H c}; the norm of a
function in it is the least sum |c| that gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog, minimize

from anyboost.boosting import Run, boost
from anyboost.descent import Descent
from anyboost.losses import Loss
from anyboost.space import Space

THRESHOLDS = 8


class Optimum(NamedTuple):
    """The least loss over the span, the function on the rows that has it, and its norm."""

    value: float
    scores: np.ndarray
    norm: float


@lru_cache(maxsize=1)
def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """The table that comes with scikit-learn, and its targets, of mean 0 and spread 1."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


def sign_stumps(X: np.ndarray) -> np.ndarray:
    """The constant 1, and +1 or -1 on the sides of thresholds at eighths of every column of X."""
    cuts = np.quantile(X, np.arange(1, THRESHOLDS) / THRESHOLDS, axis=0)
    atoms = {tuple(np.where(X[:, j] <= cut, 1.0, -1.0)) for j in range(X.shape[1]) for cut in cuts[:, j]}
    atoms.discard(tuple(np.ones(len(X))))
    return np.column_stack([np.ones(len(X)), *sorted(atoms)])


def scaled_columns(X: np.ndarray) -> np.ndarray:
    """The constant 1, and the columns of X, centered and with 1 as the largest absolute value."""
    X = X[:, np.ptp(X, axis=0) > 0]
    X = X - X.mean(axis=0)
    return np.c_[np.ones(len(X)), X / np.abs(X).max(axis=0)]


def descend(
    X: np.ndarray,
    y: np.ndarray,
    loss: str | Loss,
    learner: str,
    descent: Descent,
    rounds: int,
    watch: Callable[[Any, Run], None],
    start: float = 0.0,
) -> Run:
    """A run from a constant, on one thread; `watch` is called after every round."""
    return boost(
        X, y, loss, learner, descent, rounds, start=start, callbacks=[watch], n_threads=1, random_state=0
    )


def linear_optimum(H: np.ndarray, y: np.ndarray, loss: str, radius: float) -> float:
    """The least mean loss of H c with sum |c| <= radius, by a linear program: rows' losses lie above two lines each.

    `loss` is "absolute", "quantile:TAU" or "hinge" (y of -1 and +1).
    """
    n, m = H.shape
    if loss == "hinge":
        lines = [(np.zeros(n), np.zeros(n)), (np.ones(n), -y)]  # intercepts and slopes in f
    else:
        low, high = (1.0, 1.0) if loss == "absolute" else (float(loss[9:]), 1 - float(loss[9:]))
        lines = [(low * y, np.full(n, -low)), (-high * y, np.full(n, high))]
    above = [np.c_[slopes[:, None] * H, -slopes[:, None] * H, -np.eye(n)] for _, slopes in lines]
    solved = linprog(
        np.r_[np.zeros(2 * m), np.full(n, 1 / n)],
        A_ub=np.vstack([*above, np.r_[np.ones(2 * m), np.zeros(n)]]),
        b_ub=np.concatenate([*(-intercepts for intercepts, _ in lines), [radius]]),
        method="highs",
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)


def smooth_optimum(H: np.ndarray, y: np.ndarray, loss: Loss) -> Optimum:
    """The optimum of a smooth loss over the span, to about 1e-12 of its value."""
    R = loss.on(y, Space(H, None))

    def value_and_slopes(c: np.ndarray) -> tuple[float, np.ndarray]:
        f = H @ c
        return R.value(f), H.T @ R.subgradient(f) / len(y)

    tight = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 50}
    found = minimize(value_and_slopes, np.zeros(H.shape[1]), jac=True, method="L-BFGS-B", options=tight)
    return Optimum(float(found.fun), H @ found.x, least_norm(H, found.x))


def least_norm(H: np.ndarray, c: np.ndarray) -> float:
    """The least sum |b| with H b = H c."""
    R: np.ndarray = np.asarray(np.linalg.qr(H, mode="r"))
    solved = linprog(np.ones(2 * len(c)), A_eq=np.c_[R, -R], b_eq=R @ c, method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)
