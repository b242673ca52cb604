"""Optima over radius-scaled hulls of stumps for losses with exponentials, by clarabel."""

import clarabel
import numpy as np
from scipy import sparse

import reference


def optimum_stumps(X, y, weights, loss, radius, start=0.0) -> float:
    """min R[start + sum_j c_j h_j] over sum |c_j| <= radius, h_j the sign stumps and the constant 1.

    As `reference.optimum_stumps`, for "logistic", "exponential" and "poisson", of which a row costs, with m = y f,

        logistic     t,            where e^-t + e^(-m - t) <= 1
        exponential  t,            where e^-m <= t
        poisson      t - y f,      where e^f <= t

    and e^a <= t is that (a, 1, t) lies in the exponential cone.
    """
    n, w = len(y), reference.normalised(weights, len(y))
    _, _, left = reference.candidate_splits(X, w)
    H = np.column_stack([np.ones(n), np.where(left, 1.0, -1.0).T])
    atoms = H.shape[1]
    parts = 3 if loss == "logistic" else 1  # t, and for the logistic loss what bounds its two terms
    size = 2 * atoms + parts * n
    t = 2 * atoms + np.arange(n)
    rows, right, cones = [], [], []

    def put(entries, b, cone):
        """b - entries x lies in the cone; entries: a dict a line."""
        rows.extend(entries)
        right.extend(b)
        cones.append(cone)

    def score(i, factor):
        """factor * (f_i - start), by its variables."""
        return dict(enumerate(np.concatenate([factor * H[i], -factor * H[i]])))

    put([{j: -1.0} for j in range(2 * atoms)], [0.0] * (2 * atoms), clarabel.NonnegativeConeT(2 * atoms))
    put([dict.fromkeys(range(2 * atoms), 1.0)], [radius], clarabel.NonnegativeConeT(1))
    cost = np.zeros(size)
    cost[t] = w
    for i in range(n):
        toward = {"poisson": 1.0}.get(loss, -float(y[i]))  # e^(toward f)
        if loss == "logistic":
            one, other = t[i] + n, t[i] + 2 * n
            put([{t[i]: 1.0}, {}, {one: -1.0}], [0.0, 1.0, 0.0], clarabel.ExponentialConeT())
            up = score(i, -toward) | {t[i]: 1.0}
            put([up, {}, {other: -1.0}], [toward * start, 1.0, 0.0], clarabel.ExponentialConeT())
            put([{one: 1.0, other: 1.0}], [1.0], clarabel.NonnegativeConeT(1))
        else:
            put(
                [score(i, -toward), {}, {t[i]: -1.0}], [toward * start, 1.0, 0.0], clarabel.ExponentialConeT()
            )
        if loss == "poisson":
            cost[: 2 * atoms] -= w[i] * y[i] * np.concatenate([H[i], -H[i]])
    A = sparse.lil_matrix((len(rows), size))
    for i, row in enumerate(rows):
        for j, value in row.items():
            A[i, j] = value
    options = clarabel.DefaultSettings()
    options.verbose = False
    answer = clarabel.DefaultSolver(
        sparse.csc_matrix((size, size)), cost, A.tocsc(), np.array(right), cones, options
    ).solve()
    assert "Solved" in str(answer.status)
    return float(answer.obj_val) - (start * float(w @ y) if loss == "poisson" else 0.0)
