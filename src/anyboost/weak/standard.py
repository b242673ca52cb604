"""Columns of mean zero and variance one, by the measure: what nets and linear functions are fitted on.

    Z = (X - center) / scale,     sum_n w_n Z_nj = 0,     sum_n w_n Z_nj^2 = 1

Constant columns become zero. A dense table is standardized in a copy; a sparse one is scaled only, and its
centers are taken off the results, so that it stays sparse; there a column counts as constant where its deviation is
under a millionth of its size. Functions of Z lie in rows here, (m, d) or (m, n).
"""

from typing import Any

import numpy as np

from anyboost.space import Space

_SMALLEST = 1e-150  # squares of smaller values are not exact
_CONSTANT = 1e-13  # of a column's largest value: a deviation under this is rounding


def _vanish(sizes: np.ndarray) -> np.ndarray:
    """Of which numbers squares lose digits."""
    return (sizes > 0.0) & (sizes < _SMALLEST)


class Standardized:
    """A table's columns, standardized, or without `scale` only centered; `weights` have sum one."""

    def __init__(self, X: Any, weights: np.ndarray, scale: bool = True) -> None:
        self.n, self.d = X.shape
        self.scale = scale
        self.sparse = hasattr(X, "tocsr")
        if self.sparse:
            self._scale_sparse(X, weights)
        else:
            self._standardize(X, weights)
        if self.tiny:
            raise ValueError("X has values too small to be squared: give its columns larger units")
        if not np.all(np.isfinite(self.inverse) & np.isfinite(self.center)):
            raise ValueError("X has values too large to be squared: give its columns smaller units")

    @classmethod
    def of(cls, space: Space, scale: bool = True) -> "Standardized":
        """The sample's own; computed once."""
        return space.once(("standardized", scale), lambda space: cls(space.X, space.weights, scale))

    def _standardize(self, X: np.ndarray, weights: np.ndarray) -> None:
        Z = np.asfortranarray(X, dtype=np.float64)
        center = weights @ Z
        with np.errstate(over="ignore", invalid="ignore"):  # refused where it happens
            Z = Z - center
            rest = weights @ Z  # of the first mean's rounding, which is large where means are
            Z -= rest
            self.center = center + rest
            deviation = np.sqrt([np.dot(weights, column * column) for column in Z.T])
            size = np.abs(Z).max(axis=0)
            self.tiny = bool(((size > _CONSTANT * np.abs(self.center)) & _vanish(size)).any())
            self.inverse = self._inverse(deviation, np.abs(self.center) + size)
            Z *= self.inverse
        self.table: Any = Z

    def _scale_sparse(self, X: Any, weights: np.ndarray) -> None:
        from scipy.sparse import diags_array

        table = X.tocsr().astype(np.float64)
        self.center = table.T @ weights
        self.tiny = bool(_vanish(abs(table).max(axis=0).toarray()).any())
        with np.errstate(over="ignore", invalid="ignore"):
            squares = table.multiply(table).T @ weights
            variance = squares - self.center**2
            # What cancels beyond this is rounding: the column is constant
            variance = np.where(variance > 1e-12 * squares, variance, 0.0)
        deviation = np.sqrt(np.where(np.isfinite(squares), variance, np.inf))
        self.inverse = self._inverse(deviation, np.zeros(self.d))
        self.table = table @ diags_array(self.inverse)
        self._shift = self.center * self.inverse

    def _inverse(self, deviation: np.ndarray, largest: np.ndarray) -> np.ndarray:
        """1 / scale, and 0 for constant columns; NaN where the deviation is not finite."""
        varies = deviation > _CONSTANT * largest
        inverse = varies.astype(np.float64)
        if self.scale:
            np.divide(1.0, deviation, out=inverse, where=varies)
        return np.where(np.isfinite(deviation), inverse, np.nan)

    def values(self, functions: np.ndarray) -> np.ndarray:
        """What linear functions of Z, (m, d), are on the rows: (m, n)."""
        if not self.sparse:
            return functions @ self.table.T
        return np.ascontiguousarray((self.table @ functions.T).T) - (functions @ self._shift)[:, None]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """sum_n values_n Z_n for values (m, n): (m, d). Weights, where wanted, are in the values."""
        if not self.sparse:
            return values @ self.table
        return (self.table.T @ values.T).T - values.sum(axis=1)[:, None] * self._shift

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """sum_n w_n Z_n Z_n', (d, d), of a sparse table."""
        from scipy.sparse import diags_array

        products = self.table.T @ (diags_array(weights) @ self.table)
        return products.toarray() - np.outer(self._shift, self._shift)

    def unfold(self, functions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same functions in terms of X: their weights (m, d) and constants (m,)."""
        weights = functions * self.inverse
        return weights, -(weights @ self.center)


def drawn(space: Space, T: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The table, targets (k, n) and weights of the rows of positive mass."""
    if space.drawn is None:
        return space.X, T, space.weights
    return space.X[space.drawn], T[:, space.drawn], space.weights[space.drawn]
