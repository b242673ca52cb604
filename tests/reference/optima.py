"""Exact optima over radius-scaled hulls of stumps, as linear programs solved by HiGHS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, lil_matrix

from .losses import normalised
from .weak import candidate_splits


class Optimum(NamedTuple):
    value: float
    scores: np.ndarray  # the minimiser on the rows
    norm: float  # the l1 norm it uses, at most the radius


def _solve(c, A, b, bounds) -> np.ndarray:
    answer = linprog(c, A_ub=A.tocsr(), b_ub=b, bounds=bounds, method="highs")
    if answer.status != 0:
        raise RuntimeError(answer.message)
    return answer.x


def _problem(X, y, weights, start, max_bins):
    """The arguments as arrays, w of sum one, and the splits as a boolean matrix."""
    w = normalised(weights, len(y))
    _, _, left = candidate_splits(X, w, max_bins)
    return w, np.asarray(y), np.asarray(start, dtype=float), left


def _sides(loss: str, y: float) -> list[tuple[float, float]]:
    """The loss of one row as the maximum of lines (intercept, slope) in f."""
    name, _, tau = loss.partition(":")
    if name == "absolute":
        return [(y, -1.0), (-y, 1.0)]
    if name == "quantile":
        q = float(tau or 0.5)
        return [(q * y, -q), ((q - 1) * y, 1 - q)]
    if name == "hinge":
        return [(0.0, 0.0), (1.0, -y)]
    raise ValueError(f"no linear program for loss {loss!r}")


def optimum_stumps(X, y, weights, loss: str, radius: float, start=0.0, max_bins: int = 255) -> Optimum:
    """min R[start + sum_j c_j h_j] over sum |c_j| <= radius, h_j the sign stumps and the constant 1.

    Sign stumps are +1 left and -1 right; the sign of c_j gives the other orientation. Their hull holds every
    two-level function with |h| <= 1. Variables: c+ and c-, and a loss r_n for each row, above the lines
    whose maximum the loss is. `loss` is "absolute", "quantile:tau" or "hinge" (y in {-1, +1}).
    """
    w, y, start, left = _problem(X, y, weights, start, max_bins)
    n = len(y)
    H = np.column_stack([np.ones(n), np.where(left, 1.0, -1.0).T])
    m = H.shape[1]
    a = np.broadcast_to(start, n)
    lines, b = [], []
    for i in range(n):
        for intercept, slope in _sides(loss, float(y[i])):  # intercept + slope f_i <= r_i
            r = np.zeros(n)
            r[i] = -1.0
            lines.append(np.concatenate([slope * H[i], -slope * H[i], r]))
            b.append(-intercept - slope * a[i])
    lines.append(np.concatenate([np.ones(2 * m), np.zeros(n)]))
    b.append(radius)
    cost = np.concatenate([np.zeros(2 * m), w])
    x = _solve(cost, lil_matrix(np.array(lines)), b, [(0, None)] * (2 * m + n))
    c = x[:m] - x[m : 2 * m]
    return Optimum(float(w @ x[2 * m :]), a + H @ c, float(np.abs(c).sum()))


def optimum_vector_stumps(
    X, y, n_classes: int, weights, radius: float, start=0.0, max_bins: int = 255
) -> Optimum:
    """min of the multiclass hinge over start + radius conv of stumps with leaf vectors in [-1, 1]^k.

    A convex combination of stumps on one split is a stump on it, so per split s: left vector u_s, right
    vector v_s and m_s with |u_sk|, |v_sk| <= m_s, sum_s m_s <= radius, f_n = start + sum_s (u_s or v_s).
    The constant is u = v (also one more split, everything left, for data without any split). Each row's
    loss is r_n >= 1{k != y} + f_k - f_y for all k. `start` is a number, a (k,) vector or (n, k) scores.
    """
    w, y, start, left = _problem(X, y, weights, start, max_bins)
    n, k = len(y), n_classes
    left = np.vstack([np.ones((1, n), bool), left])
    S = len(left)
    a = np.broadcast_to(start, (n, k))

    def leaf(s: int, side: int, j: int) -> int:
        """Where the variable of split s, side 0 (left) or 1, output j stands; then m_s, then r_n."""
        return (2 * s + side) * k + j

    first_m, first_r = 2 * S * k, 2 * S * k + S
    A = lil_matrix((n * k + 4 * S * k + 1, first_r + n))
    b = np.zeros(A.shape[0])
    line = 0
    for i in range(n):
        label = int(y[i])
        for j in range(k):
            for s in range(S):
                side = 0 if left[s, i] else 1
                if j != label:
                    A[line, leaf(s, side, j)] = 1.0
                    A[line, leaf(s, side, label)] = -1.0
            A[line, first_r + i] = -1.0
            b[line] = -float(j != label) - a[i, j] + a[i, label]
            line += 1
    for s in range(S):
        for side in (0, 1):
            for j in range(k):
                for sign in (1.0, -1.0):
                    A[line, leaf(s, side, j)] = sign
                    A[line, first_m + s] = -1.0
                    line += 1
    for s in range(S):
        A[line, first_m + s] = 1.0
    b[line] = radius
    cost = np.zeros(A.shape[1])
    cost[first_r:] = w
    bounds = [(None, None)] * first_m + [(0, None)] * (S + n)
    x = _solve(cost, A, b, bounds)
    f = np.array(a, dtype=float)
    for i in range(n):
        for s in range(S):
            at = leaf(s, 0 if left[s, i] else 1, 0)
            f[i] += x[at : at + k]
    return Optimum(float(w @ x[first_r:]), f, float(x[first_m:first_r].sum()))


def optimum_coupled(
    X, y, weights, loss: str, radius: float, start=0.0, groups=None, alpha=0.0, taus=()
) -> float:
    """min over the radius-scaled hull of stumps of a loss that couples rows or outputs, as one LP.

    loss: "rank_hinge" (groups are queries), "cvar" or "worst_group" of the absolute error, "multi_quantile".
    Scores are start + sum of c_j h_j over sign stumps and the constant; for multi_quantile vector stumps with
    each leaf vector in the box, as in optimum_vector_stumps.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    w = normalised(weights, len(y))
    n = len(y)
    _, _, left = candidate_splits(X, w)
    k = max(len(taus), 1)
    # Variables: per split u (k), v (k), size m; then the scores' slack variables of the loss.
    splits = len(left) + 1
    sides = np.vstack([left, np.ones(n, bool)])
    width = 2 * k + 1
    base = splits * width

    def score(n_row, out):
        """The coefficients of the score of one row and output, without the start."""
        row = np.zeros(base)
        for s in range(splits):
            row[s * width + (out if sides[s, n_row] else k + out)] = 1.0
        return row

    A, b, extra, cost = [], [], 0, {}

    def new(value):
        nonlocal extra
        extra += 1
        cost[base + extra - 1] = value
        return base + extra - 1

    def at_most(row, limit, others=()):
        A.append((row, dict(others)))
        b.append(limit)

    for s in range(splits):
        for out in range(k):
            for place in (s * width + out, s * width + k + out):
                for sign in (1.0, -1.0):
                    row = np.zeros(base)
                    row[place], row[s * width + 2 * k] = sign, -1.0
                    at_most(row, 0.0)
    row = np.zeros(base)
    row[2 * k :: width] = 1.0
    at_most(row, radius)
    free = set()
    if loss == "rank_hinge":
        pairs = [(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and y[i] > y[j]]
        total = sum(w[i] * w[j] for i, j in pairs)
        for i, j in pairs:  # slack >= 1 - (f_i - f_j)
            at_most(score(j, 0) - score(i, 0), -1.0, {new(w[i] * w[j] / total): -1.0})
    elif loss == "multi_quantile":
        for i in range(n):
            for out, tau in enumerate(taus):
                slack = new(w[i])
                at_most(-tau * score(i, out), tau * (start - y[i]), {slack: -1.0})
                at_most((1 - tau) * score(i, out), (1 - tau) * (y[i] - start), {slack: -1.0})
    else:
        rows = [new(0.0) for _ in range(n)]
        for i in range(n):
            at_most(-score(i, 0), start - y[i], {rows[i]: -1.0})
            at_most(score(i, 0), y[i] - start, {rows[i]: -1.0})
        level = new(1.0)
        free.add(level)
        if loss == "cvar":  # min over the level of level + mean of (row - level)+ / (1 - alpha)
            for i in range(n):
                at_most(np.zeros(base), 0.0, {rows[i]: 1.0, level: -1.0, new(w[i] / (1 - alpha)): -1.0})
        else:
            for g in np.unique(groups):
                members = np.flatnonzero(np.asarray(groups) == g)
                share = w[members].sum()
                at_most(np.zeros(base), 0.0, {**{rows[i]: w[i] / share for i in members}, level: -1.0})
    matrix = np.zeros((len(A), base + extra))
    for number, (row, others) in enumerate(A):
        matrix[number, :base] = row
        for place, value in others.items():
            matrix[number, place] = value
    objective = np.zeros(base + extra)
    for place, value in cost.items():
        objective[place] = value
    bounds = [
        (None, None) if (p < base and p % width != 2 * k) or p in free else (0, None)
        for p in range(base + extra)
    ]
    solution = _solve(objective, csr_matrix(matrix), np.array(b), bounds)
    return float(objective @ solution)
