"""Linear functions by the normal equations and their reach by a linear program; nets by plain loops."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from .losses import normalised


def standardized(X, weights):
    """Columns of weighted mean zero and variance one; constant columns are zero."""
    X, w = np.asarray(X, dtype=float), normalised(weights, len(X))
    Z = np.zeros(X.shape)
    for j in range(X.shape[1]):
        mean = sum(w * X[:, j])
        deviation = math.sqrt(sum(w * (X[:, j] - mean) ** 2))
        if deviation > 1e-9 * (1 + abs(mean)):
            Z[:, j] = (X[:, j] - mean) / deviation
    return Z


def ridge(X, weights, target, penalty):
    """Values on the rows of argmin sum w (target - b0 - <b, Z>)^2 + penalty |b|^2."""
    Z, w = standardized(X, weights), normalised(weights, len(X))
    T = np.asarray(target, dtype=float).reshape(len(X), -1)
    A = np.hstack([np.ones((len(X), 1)), Z])
    normal = A.T @ (w[:, None] * A) + penalty * np.diag([0.0] + [1.0] * Z.shape[1])
    return (A @ np.linalg.pinv(normal, rcond=1e-11) @ (A.T @ (w[:, None] * T))).reshape(np.shape(target))


def linear_reach(X, weights, target):
    """max of <target, h> over linear h with |h| <= 1 on the rows, output by output, by a linear program."""
    w = normalised(weights, len(X))
    A = np.hstack([np.ones((len(X), 1)), standardized(X, weights)])
    total = 0.0
    for column in np.asarray(target, dtype=float).reshape(len(X), -1).T:
        found = linprog(
            -(A.T @ (w * column)),
            A_ub=np.vstack([A, -A]),
            b_ub=np.ones(2 * len(X)),
            bounds=(None, None),
            method="highs",
        )
        total -= found.fun
    return total


def best_linear(X, y, tau):
    """The least mean pinball loss of a linear function with a constant, and its values, by a linear program."""
    n, d = X.shape
    A = np.hstack([np.ones((n, 1)), X, np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.zeros(d + 1), np.full(n, tau / n), np.full(n, (1 - tau) / n)])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * (2 * n)
    found = linprog(cost, A_eq=A, b_eq=y, bounds=bounds, method="highs")
    return found.fun, A[:, : d + 1] @ found.x[: d + 1]


def net_values(hidden, bias, output, constant, X):
    """sum_j u_j tanh(<v_j, x> + b_j) + u_0, number by number."""
    values = np.zeros((len(X), len(constant)))
    for n, x in enumerate(X):
        units = [
            math.tanh(sum(v * xj for v, xj in zip(row, x, strict=True)) + b)
            for row, b in zip(hidden, bias, strict=True)
        ]
        for k in range(len(constant)):
            values[n, k] = sum(u * a for u, a in zip(output[k], units, strict=True)) + constant[k]
    return values
