"""The best fixed weights of experts in hindsight: a convex program, whose answer comes with a bound on its own error.

min over theta in the set of   (1 / sum_t w_t) sum_t w_t l(<theta, h_t>, y_t)
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses import Loss, RowwiseLoss
from anyboost.losses.search import monotone_zeros
from anyboost.mirror import domains, slopes
from anyboost.mirror.domains import Domain, Octahedron, Simplex, SolidSimplex

_ENOUGH = 1e-8  # of the loss: where a search for better weights may stop
_CUTS = 300
_STEPS = 500
_MANY = 150
_LARGE = 500_000  # numbers that a linear program still takes quickly


class Combination(NamedTuple):
    """The best fixed weights, and how sure that is.

    Attributes
    ----------
    weights : ndarray (M,)
        The weights.
    loss : float
        Their mean loss.
    gap : float
        No weights of the set are better by more.

    Examples
    --------
    >>> from anyboost.mirror import regret
    >>> found = regret.best_combination([[0.0, 2.0], [0.0, 2.0]], [1.0, 1.0])
    >>> found.weights.round(3), found.gap < 1e-6
    (array([0.5, 0.5]), True)
    """

    weights: Floats
    loss: float
    gap: float


def best_combination(
    forecasts: Any,
    y: Any,
    loss: str | Loss = "squared",
    domain: str | Domain = "simplex",
    sample_weight: Any = None,
) -> Combination:
    """The weights of the set with the least mean loss, and a certificate.

    A linear program for losses made of straight lines, else a Newton-like search; cutting planes take over where the
    certificate is not good enough.

    Parameters
    ----------
    forecasts : array_like (n, M)
        What each expert said of each row.
    y : array_like (n,)
        Targets.
    loss : str or Loss, default "squared"
        A row-wise loss or its name.
    domain : str or Domain, default "simplex"
        The set of weights.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows.

    Returns
    -------
    Combination
        The weights, their loss, and the gap.

    Examples
    --------
    >>> from anyboost.mirror import regret
    >>> regret.best_combination([[0.0, 4.0], [0.0, 4.0]], [1.0, 1.0], "absolute").weights.round(3)
    array([0.75, 0.25])
    """
    chosen, area = slopes.get(loss), domains.get(domain)
    targets = chosen.check(y)
    H = check_forecasts(forecasts, len(targets), chosen)
    if np.isnan(H).any():
        raise ValueError("forecasts must not be NaN for the best combination: leave out experts that sleep")
    weights = checks.sample_weight(sample_weight, len(targets))
    problem = Problem(H, targets, weights / weights.sum(), chosen, area)
    lines = chosen.lines
    if lines is not None and H.size <= _LARGE:
        return problem.linear(*lines)
    shares = problem.search()
    found = problem.certify(shares)
    if found.gap > _ENOUGH * max(abs(found.loss), 1e-300) and len(shares) <= _MANY:
        found = problem.cut(shares, found)
    return found


def check_forecasts(forecasts: Any, n: int, loss: RowwiseLoss) -> Floats:
    """(n, M) or (n, M, K): finite numbers, or NaN where an expert sleeps."""
    H = checks.numbers(forecasts, "forecasts")
    if H.ndim != 2 + loss.vector or len(H) != n:
        shape = "(n, M, K)" if loss.vector else "(n, M)"
        raise ValueError(f"forecasts must have the shape {shape} with {n} rows, got {H.shape}")
    if np.isinf(H).any():
        raise ValueError("forecasts must be finite, or NaN where an expert sleeps")
    return H


class Problem:
    """min over shares p of the set's vertices, p >= 0, sum 1, of R(V'p); R the mean loss of the combination."""

    def __init__(self, H: Floats, y: np.ndarray, weights: Floats, loss: RowwiseLoss, domain: Domain) -> None:
        self.H, self.y, self.weights, self.loss, self.domain = H, y, weights, loss, domain
        eye = np.eye(H.shape[1])
        extra: dict[type, Floats] = {
            Simplex: eye[:0],
            SolidSimplex: np.zeros((1, H.shape[1])),
            Octahedron: -eye,
        }
        self.vertices = domain.radius * np.vstack([eye, extra[type(domain)]])

    def value(self, theta: Floats) -> float:
        return float(self.weights @ self.loss.values(self._scores(theta), self.y))

    def gradient(self, theta: Floats) -> Floats:
        slopes = self.loss.subgradients(self._scores(theta), self.y)
        if slopes.ndim == 1:
            return (self.weights * slopes) @ self.H
        return np.einsum("nk,nmk->m", self.weights[:, None] * slopes, self.H)

    def _scores(self, theta: Floats) -> Floats:
        return self.H @ theta if self.H.ndim == 2 else np.einsum("m,nmk->nk", theta, self.H)

    def certify(self, shares: Floats) -> Combination:
        """The point, its loss, and how far below the linear lower bound at it lies."""
        clean = np.maximum(shares, 0.0)
        theta = self.vertices.T @ (clean / clean.sum())
        slope = self.gradient(theta)
        gap = float(slope @ theta) - self.domain.best_vertex(slope)
        return Combination(theta, self.value(theta), max(gap, 0.0))

    def search(self) -> Floats:
        """Sequential quadratic programming, then pairwise Frank-Wolfe steps along exact line searches."""
        from scipy.optimize import minimize

        N = len(self.vertices)
        if N > _MANY:  # a dense quadratic model would take longer than the steps it saves
            return self._polish(np.full(N, 1.0 / N))
        scale = max(abs(self.value(self.vertices.mean(axis=0))), 1e-300)
        answer = minimize(
            lambda p: self.value(self.vertices.T @ p) / scale,
            np.full(N, 1.0 / N),
            jac=lambda p: self.vertices @ self.gradient(self.vertices.T @ p) / scale,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * N,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": lambda _: np.ones((1, N))},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        shares = np.maximum(answer.x, 0.0) if np.isfinite(answer.x).all() else np.full(N, 1.0 / N)
        return self._polish(shares / shares.sum())

    def _polish(self, shares: Floats) -> Floats:
        for _ in range(_STEPS):
            theta = self.vertices.T @ shares
            slopes = self.vertices @ self.gradient(theta)
            toward = int(slopes.argmin())
            away = int(np.where(shares > 0, slopes, -np.inf).argmax())
            if slopes[away] - slopes[toward] <= 1e-14 * max(abs(self.value(theta)), 1e-300) or toward == away:
                break
            begin, along = self._scores(theta), self._scores(self.vertices[toward] - self.vertices[away])

            def slope(step: Floats, begin: Floats = begin, along: Floats = along) -> Floats:
                pull = self.loss.subgradients(begin + step[0] * along, self.y) * along
                return np.array([self.weights @ pull.reshape(len(self.y), -1).sum(axis=1)])

            step = min(max(float(monotone_zeros(slope, 1)[0]), 0.0), shares[away])
            if step <= 0.0:
                break
            shares = shares.copy()
            shares[toward] += step
            shares[away] -= step
        return shares

    def linear(self, up: float, down: float, hinge: float) -> Combination:
        """The linear program of sum up (y - f)+ + down (f - y)+ + hinge (1 - y f)+; its dual is the certificate."""
        from scipy import sparse
        from scipy.optimize import linprog

        F = self.H @ self.vertices.T
        n, N = F.shape
        eye = sparse.identity(n)
        blocks, right, costs = [], [], [np.zeros(N)]
        if up or down:  # F p + over - under = y
            blocks.append(sparse.hstack([sparse.csr_matrix(F), eye, -eye]))
            right.append(self.y)
            costs += [self.weights * up, self.weights * down]
        if hinge:  # y F p + short - spare = 1
            before = sparse.csr_matrix((n, 2 * n if up or down else 0))
            blocks.append(sparse.hstack([sparse.csr_matrix(self.y[:, None] * F), before, eye, -eye]))
            right.append(np.ones(n))
            costs += [self.weights * hinge, np.zeros(n)]
        cost = np.concatenate(costs)
        blocks.append(sparse.csr_matrix(np.ones((1, N))))
        rows = [sparse.csr_matrix(block) for block in blocks]
        for row in rows:
            row.resize(row.shape[0], len(cost))
        limits = np.concatenate([*right, [1.0]])
        answer = linprog(cost, A_eq=sparse.vstack(rows).tocsr(), b_eq=limits, method="highs")
        if answer.x is None:
            return self.certify(np.full(N, 1.0 / N))
        shares = np.maximum(answer.x[:N], 0.0)
        theta = self.vertices.T @ (shares / shares.sum())
        value = self.value(theta)
        return Combination(theta, value, max(value - float(answer.eqlin.marginals @ limits), 0.0))

    def cut(self, shares: Floats, best: Combination) -> Combination:
        """Kelley's cutting planes: the loss lies above its tangents, and the lowest point of those is a lower bound."""
        from scipy.optimize import linprog

        N = len(self.vertices)
        points = [shares, np.full(N, 1.0 / N), *np.eye(N)]
        tangents, levels, bound = [], [], best.loss - best.gap
        for _ in range(_CUTS):
            for point in points:
                theta = self.vertices.T @ (point / point.sum())
                slope = self.gradient(theta)
                value = self.value(theta)
                tangents.append(self.vertices @ slope)
                levels.append(float(slope @ theta) - value)
                if value < best.loss:
                    best, shares = best._replace(weights=theta, loss=value), point / point.sum()
            matrix = np.hstack([np.array(tangents), -np.ones((len(tangents), 1))])
            answer = linprog(
                np.append(np.zeros(N), 1.0),
                A_ub=matrix,
                b_ub=np.array(levels),
                A_eq=np.append(np.ones(N), 0.0)[None],
                b_eq=[1.0],
                bounds=[(0, None)] * N + [(None, None)],
                method="highs",
            )
            if answer.x is None:
                break
            bound = max(bound, float(answer.fun))
            best = best._replace(gap=max(best.loss - bound, 0.0))
            if best.gap <= _ENOUGH * max(abs(best.loss), 1e-300):
                break
            # Points between the bound's and the best one so far: deep cuts without the usual zigzag.
            lowest = np.maximum(answer.x[:N], 0.0)
            lowest /= lowest.sum()
            points = [(1.0 - step) * shares + step * lowest for step in (1.0, 0.3, 0.03)]
        return best
