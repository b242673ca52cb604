"""Exact optima over radius-scaled hulls of stumps, as linear programs solved by HiGHS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

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
