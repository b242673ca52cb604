"""Linear functions of the columns, with a constant, fitted by weighted ridge regression.

    project: argmin over b_0, b of ||target - b_0 - <b, Z>||^2 + penalty |b|^2

with Z the standardized columns (see `standard`), so that the penalty means the same in any units, or the centered ones.
X is the same in every round, so it is taken apart once, Z = U core with U orthonormal in L2(P); a projection is then
two products.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from anyboost import checks
from anyboost.backends.arrays import as_scores
from anyboost.space import Space
from anyboost.weak.hypotheses import AsOne, Joined
from anyboost.weak.learner import Learner, Support, Takes, safe_support
from anyboost.weak.projections import Projection
from anyboost.weak.standard import Standardized, drawn

MOST_COLUMNS = 2000  # of a sparse table whose Gram matrix is taken apart; beyond, fits are iterative
_ITERATIONS = 200
_NEAR = 1e-8


@dataclass(frozen=True, eq=False)
class LinearFunction(AsOne):
    """x -> weight x + constant, with weight (k, d)."""

    weight: np.ndarray
    constant: np.ndarray
    sparse: ClassVar[bool] = True  # whether `predict` takes a sparse matrix

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        values = np.asarray(X @ self.weight.T) + self.constant
        return as_scores(values)

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        """The sum of coefficient times function: one linear function."""
        joint = cls(
            np.sum([c * part.weight for c, part in zip(coefficients, parts, strict=True)], axis=0),
            np.sum([c * part.constant for c, part in zip(coefficients, parts, strict=True)], axis=0),
        )

        def add(X: np.ndarray, out: np.ndarray, _n_threads: int) -> None:
            checks.finite_table(X, "X")
            out += joint.predict(X).reshape(out.shape)

        return add


@dataclass(frozen=True, eq=False)
class PenalizedProjection(Projection):
    """A fit that a penalty made smaller: the descent steps along it as it is, for the ray would stretch it back."""

    def coefficient(self, inner: float, square: float) -> float:
        """c, by which the descent multiplies h: that of the ray, at most 1."""
        return min(inner / square, 1.0)


@dataclass(frozen=True)
class Linear(Learner):
    """Linear functions with a constant.

    Without a penalty the projection is least squares; of columns that depend on each other, the solution of least
    norm. With one, the descent steps along the fit as it is, c <= 1, as along a tree with `l2`. A sparse table of
    more than 2000 columns is fitted by LSQR, to a relative tolerance of 1e-8 or 200 iterations.

    Parameters
    ----------
    penalty : float, default 0.0
        That of ridge regression; the constant has none.
    standardize : bool, default True
        Whether the penalty is that of standardized columns. False: of the columns as they are, for words, say, of which
        the rare ones shall count less. scikit-learn's Ridge(alpha) is Linear(alpha / sum of weights,
        standardize=False).

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> run = ab.boost(X, y, "squared", ab.weak.Linear(), ab.descent.Naive(1.0), rounds=1)
    >>> run.ensemble.predict([[10.0]]).round(6)
    array([21.])
    """

    penalty: float = 0.0
    standardize: bool = True

    def __post_init__(self) -> None:
        checks.not_negative(self.penalty, "penalty")
        if not isinstance(self.standardize, bool):
            raise ValueError(f"standardize must be True or False, got {self.standardize!r}")

    @property
    def takes(self) -> Takes:
        """What it can do with a sample."""
        return Takes(missing=False, sparse=True, categories=False, atoms=False)

    def project(self, space: Space, target: np.ndarray) -> Projection:
        """The linear function nearest to `target`, penalty included.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection
            h on the sample.
        """
        T = np.ascontiguousarray(target.reshape(space.n, -1).T)
        kind = PenalizedProjection if self.penalty else Projection
        if space.drawn is None and not _iterates(space.X):
            span = Span.of(space, self.standardize)
            fit = span.solve(T, self.penalty, space.features)
            function = _function(span.table, fit.coefficients, fit.mean)
            return kind(function, np.ascontiguousarray(fit.values.T).reshape(target.shape))
        function = self._fit_part(space, T)
        return kind(function, function.predict(space.X).reshape(target.shape))

    def _fit_part(self, space: Space, T: np.ndarray) -> LinearFunction:
        """The fit to some rows, or the iterative one."""
        X, T, weights = drawn(space, T)
        features = space.features
        if _iterates(X):
            whole = space.drawn is None
            table = Standardized.of(space, self.standardize) if whole else self._table(X, weights)
            return _function(table, _iterate(table, weights, T, self.penalty, features), T @ weights)
        span = Span(self._table(X, weights), weights)
        fit = span.solve(T, self.penalty, features)
        return _function(span.table, fit.coefficients, fit.mean)

    def _table(self, X: Any, weights: np.ndarray) -> Standardized:
        return Standardized(X, weights, self.standardize)

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom can reach along `target`: sum w |P target|, and what P target itself attains.

        P is the projection onto all linear functions. For h linear with |h| <= 1, <target, h> = <P target, h> <= sum w
        |P target|: a bound of the exact maximum that goes to zero with the projected gradient. What the rounding of P
        leaves of the target in the span is measured, and added. The span is that of the directions in which the columns
        vary beyond rounding.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to measure what P target attains.

        Returns
        -------
        Support
            Both bounds.
        """
        if _iterates(space.X):
            return safe_support(self, space, target, search)
        bound = safe_support(self, space, target, search=False).upper
        span = Span.of(space, self.standardize)
        T = np.ascontiguousarray(target.reshape(space.n, -1).T)
        projected = span.solve(T, 0.0, None).values
        left = span.solve(T - projected, 0.0, None)
        # What a rounded P left behind in the span, output by output; U itself is orthonormal up to rounding only.
        missed = 2.0 * float(np.sqrt((left.inside**2).sum(axis=1) + left.mean**2).sum())
        within = space.mean(np.abs(projected).sum(axis=0)) * (1.0 + 1e-12) + missed
        top = float(np.abs(projected).max())
        found = float(((projected * T) @ space.weights).sum()) / top if top > 0 else 0.0
        upper = min(bound, within)
        return Support(upper, min(found, upper))


def _function(table: Standardized, coefficients: np.ndarray, mean: np.ndarray) -> LinearFunction:
    weight, shift = table.unfold(coefficients)
    return LinearFunction(weight, mean + shift)


def _iterates(X: Any) -> bool:
    """Whether a table is too wide for its Gram matrix."""
    return hasattr(X, "tocsr") and X.shape[1] > MOST_COLUMNS


class Fit(NamedTuple):
    """A solution: its coefficients of Z (k, d), its constant (k,), its values (k, n) and coordinates in U (k, r)."""

    coefficients: np.ndarray
    mean: np.ndarray
    values: np.ndarray
    inside: np.ndarray


class Span:
    """The linear functions on a sample: Z = U core, the columns of U orthonormal in L2(P), core (r, d).

    A dense table keeps U in the place of Z. A sparse one keeps Z, and U is Z times the inverse of core, from the
    Gram matrix: its small directions are lost sooner.
    """

    def __init__(self, table: Standardized, weights: np.ndarray) -> None:
        from scipy.linalg import eigh, svd

        self.table, self.weights = table, weights
        if table.sparse:
            values, vectors = eigh(table.gram(weights))
            kept = values > 1e-12 * max(values[-1], 0.0)
            self.lengths, self.directions = np.sqrt(values[kept][::-1]), vectors.T[kept][::-1]
            self.basis = None
            return
        roots = np.sqrt(weights)
        Z, table.table = table.table, None  # U takes its place
        Z *= roots[:, None]
        U, lengths, directions = svd(Z, full_matrices=False, overwrite_a=True)
        kept = lengths > max(table.n, table.d) * np.finfo(np.float64).eps * lengths[0]
        self.lengths, self.directions = lengths[kept], directions[kept]
        self.basis = np.ascontiguousarray((U[:, kept] / roots[:, None]).T)

    @classmethod
    def of(cls, space: Space, scale: bool = True) -> "Span":
        """The sample's own; computed once."""
        weights = space.weights
        return space.once(("span", scale), lambda space: cls(Standardized(space.X, weights, scale), weights))

    def solve(self, T: np.ndarray, penalty: float, features: np.ndarray | None) -> Fit:
        """The ridge regression of targets (k, n) on all columns, or on some."""
        mean = T @ self.weights
        inside = self._coordinates((T - mean[:, None]) * self.weights)
        turn, lengths, directions = None, self.lengths, self.directions
        if features is not None:
            turn, lengths, directions = _part(lengths[:, None] * directions, features)
            inside = inside @ turn
        shares = lengths / (lengths**2 + penalty)
        coefficients = np.zeros((len(T), self.table.d))
        coefficients[:, slice(None) if features is None else features] = (inside * shares) @ directions
        fitted = inside * (shares * lengths)
        values = self._values(fitted if turn is None else fitted @ turn.T) + mean[:, None]
        return Fit(coefficients, mean, values, inside)

    def _coordinates(self, weighted: np.ndarray) -> np.ndarray:
        if self.basis is not None:
            return weighted @ self.basis.T
        return (self.table.sums(weighted) @ self.directions.T) / self.lengths

    def _values(self, coordinates: np.ndarray) -> np.ndarray:
        if self.basis is not None:
            return coordinates @ self.basis
        return self.table.values((coordinates / self.lengths) @ self.directions)


def _part(core: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some columns taken apart within the span of all, which costs no pass over the rows."""
    from scipy.linalg import svd

    turn, lengths, directions = svd(core[:, features], full_matrices=False)
    kept = lengths > max(core.shape) * np.finfo(np.float64).eps * max(lengths.max(initial=0.0), 1e-300)
    return turn[:, kept], lengths[kept], directions[kept]


def _iterate(
    table: Standardized, weights: np.ndarray, T: np.ndarray, penalty: float, features: np.ndarray | None
) -> np.ndarray:
    """Coefficients (k, d) by LSQR, which needs products with the table only."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    roots = np.sqrt(weights)
    columns = np.arange(table.d) if features is None else features

    def values(part: np.ndarray) -> np.ndarray:
        whole = np.zeros((1, table.d))
        whole[0, columns] = part
        return roots * table.values(whole)[0]

    def sums(rows: np.ndarray) -> np.ndarray:
        return table.sums((roots * rows)[None])[0, columns]

    operator = LinearOperator((table.n, len(columns)), matvec=values, rmatvec=sums, dtype=np.float64)
    coefficients = np.zeros((len(T), table.d))
    for k, row in enumerate(T - (T @ weights)[:, None]):
        fitted = lsqr(operator, roots * row, np.sqrt(penalty), _NEAR, _NEAR, iter_lim=_ITERATIONS)[0]
        coefficients[k, columns] = fitted
    return coefficients
