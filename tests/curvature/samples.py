"""Data for runs with curvature: few distinct values, equal rows that disagree, and targets that suit a loss."""

import numpy as np

CURVED = ("logistic", "exponential", "poisson", "gamma", "tweedie:1.3", "huber:0.7", "squared", "softmax")
WEIGHTS = ("none", "whole", "floats")


def sample(loss, n=90, seed=7, continuous=False):
    """X (n, 3) and y."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, 7, n), random.integers(0, 5, n), random.integers(0, 3, n)]) * 1.0
    signal = 0.5 * X[:, 0] * np.where(X[:, 2] > 1, 1, -0.5) - 0.4 * X[:, 1] + random.normal(size=n)
    if continuous:
        X = random.normal(size=(n, 4))
        signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * random.normal(size=n)
    return X, target(loss, signal, random)


def target(loss, signal, random):
    name = loss.partition(":")[0]
    middle = np.median(signal)
    if name in ("logistic", "exponential", "hinge", "squared_hinge"):
        return np.where(signal > middle + 0.2, 1.0, -1.0)
    if name in ("poisson", "tweedie"):
        return random.poisson(np.exp(0.5 * (signal - middle))).astype(float)
    if name == "gamma":
        return np.exp(0.5 * (signal - middle)) + 0.05
    if name in ("softmax", "multiclass_hinge"):
        return np.digitize(signal, np.quantile(signal, [0.35, 0.7]))
    return signal


def weights(kind, n, seed=1):
    random = np.random.default_rng(seed)
    return {
        "none": lambda: None,
        "whole": lambda: random.integers(1, 4, n).astype(float),
        "floats": lambda: random.uniform(0.2, 2.0, n),
    }[kind]()


def scores(loss, y, constant=0.0):
    """A constant on the rows: (n,), or (n, 3) for classes."""
    return np.full((len(y), 3) if loss == "softmax" else len(y), constant)
