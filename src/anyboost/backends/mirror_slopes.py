"""Slopes of the library's row-wise losses at one score, for loops that cannot leave compiled code."""

import numpy as np

from anyboost.backends.compiler import kernel

SQUARED, ABSOLUTE, QUANTILE, HUBER, EXPECTILE = 0, 1, 2, 3, 4
LOG_MEAN, LOGISTIC, HINGE, SQUARED_HINGE, EXPONENTIAL = 5, 6, 7, 8, 9
SOFTMAX, MULTICLASS_HINGE = 20, 21


@kernel
def slope(terms, f, y):
    """A subgradient of sum factor * loss in the score; a row of `terms` is (loss, factor, parameter)."""
    total = 0.0
    for i in range(len(terms)):
        total += terms[i, 1] * _slope(int(terms[i, 0]), terms[i, 2], f, y)
    return total


@kernel
def _slope(loss, parameter, f, y):
    if loss == SQUARED:
        return f - y
    if loss == ABSOLUTE:
        return np.sign(f - y)
    if loss == QUANTILE:
        return 1.0 - parameter if f > y else -parameter if f < y else 0.0
    if loss == HUBER:
        return min(max(f - y, -parameter), parameter)
    if loss == EXPECTILE:
        return 2.0 * (1.0 - parameter if y < f else parameter) * (f - y)
    if loss == LOG_MEAN:
        # A target of zero has no shrinking part, also where its exponential overflows.
        down = y * np.exp((1.0 - parameter) * f) if y > 0.0 else 0.0
        return np.exp((2.0 - parameter) * f) - down
    if loss == LOGISTIC:
        margin = y * f
        small = np.exp(-abs(margin))
        return -y * (small if margin >= 0.0 else 1.0) / (1.0 + small)
    if loss == HINGE:
        return -y if y * f < 1.0 else 0.0
    if loss == SQUARED_HINGE:
        return -y * max(1.0 - y * f, 0.0)
    return -y * np.exp(-y * f)  # EXPONENTIAL


@kernel
def gradient(terms, f, y, out):
    """The same for losses of several classes: (K,) scores, y a class number."""
    out[:] = 0.0
    own = int(y)
    for i in range(len(terms)):
        if int(terms[i, 0]) == SOFTMAX:
            _add_softmax(terms[i, 1], f, own, out)
        else:
            _add_multiclass_hinge(terms[i, 1], f, own, out)


@kernel
def _add_softmax(factor, f, own, out):
    highest, total, others = f.max(), 0.0, 0.0
    for k in range(len(f)):
        total += np.exp(f[k] - highest)
    for k in range(len(f)):
        if k != own:
            share = np.exp(f[k] - highest) / total
            out[k] += factor * share
            others += share
    out[own] -= factor * others


@kernel
def _add_multiclass_hinge(factor, f, own, out):
    best, top = 0, -np.inf
    for k in range(len(f)):
        raised = f[k] if k == own else f[k] + 1.0
        if raised > top:
            best, top = k, raised
    out[best] += factor
    out[own] -= factor
