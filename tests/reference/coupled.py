"""Losses that couple rows or outputs, by loops over all pairs, all groups, all ways to pick a tail.

Each returns (value, gradient) of R at scores f with weights w of sum one; the gradient is in L2(P): the
partial derivatives divided by the weights.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .losses import mean_loss, normalised, resolve


def rank(f, y, weights, groups, kind):
    """Mean over pairs y_i > y_j of one group, with weight w_i w_j, of the hinge or logistic of f_i - f_j."""
    w = normalised(weights, len(y))
    total, value, partial = 0.0, 0.0, np.zeros(len(y))
    for i in range(len(y)):
        for j in range(len(y)):
            if groups[i] != groups[j] or not y[i] > y[j] or w[i] * w[j] == 0:
                continue
            pair = w[i] * w[j]
            margin = f[i] - f[j]
            if kind == "hinge":
                cost, slope = max(0.0, 1 - margin), (-1.0 if margin < 1 else 0.0)
            else:
                cost, slope = float(np.logaddexp(0, -margin)), -1 / (1 + math.exp(margin))
            total += pair
            value += pair * cost
            partial[i] += pair * slope
            partial[j] -= pair * slope
    return value / total, partial / total / w


def multi_quantile(f, y, weights, taus):
    w = normalised(weights, len(y))
    pinball, slope = resolve("quantile")
    value = sum(w[n] * sum(pinball(f[n, k], y[n], tau) for k, tau in enumerate(taus)) for n in range(len(y)))
    return value, np.array([[slope(f[n, k], y[n], tau) for k, tau in enumerate(taus)] for n in range(len(y))])


def crossing(f, margin):
    rows = []
    for row in f:
        g = np.zeros(len(row))
        for k in range(len(row) - 1):
            if row[k] - row[k + 1] + margin > 0:
                g[k] += 1
                g[k + 1] -= 1
        rows.append((sum(max(0.0, a - b + margin) for a, b in itertools.pairwise(row)), g))
    return np.array([value for value, _ in rows]), np.array([g for _, g in rows])


def cvar_value(losses, weights, alpha):
    """The mean of the worst 1 - alpha of the measure, filled row by row from the worst."""
    w = normalised(weights, len(losses))
    left, total = 1 - alpha, 0.0
    for n in sorted(range(len(losses)), key=lambda n: -losses[n]):
        used = min(w[n], left)
        total += used * losses[n]
        left -= used
    return total / (1 - alpha)


def worst_group_value(loss, f, y, weights, groups):
    w = normalised(weights, len(y))
    groups = np.asarray(groups)
    return max(mean_loss(loss, f[groups == g], y[groups == g], w[groups == g]) for g in np.unique(groups))


def cox(f, y, weights):
    w = normalised(weights, len(y))
    value, partial = 0.0, np.zeros(len(y))
    for i in range(len(y)):
        if y[i] <= 0:
            continue
        risk = [j for j in range(len(y)) if abs(y[j]) >= y[i]]
        total = sum(w[j] * math.exp(f[j]) for j in risk)
        value += w[i] * (math.log(total) - f[i])
        partial[i] -= w[i]
        for j in risk:
            partial[j] += w[i] * w[j] * math.exp(f[j]) / total
    return value, partial / w
