"""Weighted rows in leaves: what losses ask of each leaf, in the same bits for any order of the rows and any parts.

A loss sees the rows of its own part; sums, largest values and quantiles are those of all parts (see `trees.rows`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats
from anyboost.losses.elementary import exp_each, log_each
from anyboost.trees.parts import rows_of
from anyboost.trees.rows import Rows

_TIE = 1e-12


class Leaves:
    """Rows of positive `weights`, each in one of `n` leaves. Every method answers for each leaf, (n,)."""

    def __init__(
        self,
        leaf: npt.NDArray[Any],
        n: int,
        weights: Floats,
        rows: Rows | None = None,
        n_terms: int | None = None,
    ) -> None:
        self.leaf, self.n, self.weights = leaf.astype(np.int32, copy=False), n, weights
        self.rows: Rows = rows_of(len(weights)) if rows is None else rows
        self._n_terms = self.rows.n if n_terms is None else n_terms  # in all parts

    @classmethod
    def one(cls, weights: Floats, rows: Rows | None = None) -> Leaves:
        """All rows in a single leaf."""
        return cls(np.zeros(len(weights), dtype=np.int32), 1, weights, rows)

    def by(self, leaf: npt.NDArray[Any], n: int) -> Leaves:
        """The same rows in other leaves."""
        return Leaves(leaf, n, self.weights, self.rows)

    def masses(self) -> Floats:
        """sum of w."""
        return self._sums_and_sizes(self.weights)[0]

    def sums(self, values: npt.NDArray[Any]) -> Floats:
        """sum of w * values; NaN or infinite where a value is."""
        return self._weighted(values)[0]

    def means(self, values: npt.NDArray[Any]) -> Floats:
        """The weighted mean of `values`; 0 without weight."""
        masses = self.masses()
        return np.divide(self.sums(values), masses, out=np.zeros(self.n), where=masses > 0)

    def balance(self, values: Floats) -> Floats:
        """`sums`, exactly 0 where positive and negative values cancel within 1e-12.

        Without this, rounding would hide the flat parts of piecewise-linear losses, and with them the
        midpoint rule. Slopes of convex losses stay monotone in sign: as the score grows, positive values only
        grow and negative ones only shrink.
        """
        sums, sizes = self._weighted(values)
        return np.where((np.abs(sums) > _TIE * sizes) | np.isinf(sums), sums, 0.0)

    def log_sums(self, powers: Floats, factors: npt.NDArray[Any] | None = None) -> Floats:
        """log of the sum of w * factors * exp(powers), without overflow; -inf where no factor is positive."""
        weights = self.weights if factors is None else self.weights * factors
        kept = weights > 0
        n_kept = int(self.rows.add(np.count_nonzero(kept)))
        some, powers = Leaves(self.leaf[kept], self.n, weights[kept], self.rows, n_kept), powers[kept]
        highest = np.full(self.n, -np.inf)
        np.maximum.at(highest, some.leaf, powers)
        highest = self.rows.most(highest)
        with np.errstate(under="ignore"):
            sums = some.sums(exp_each(powers - highest[some.leaf]))
        return log_each(sums) + np.where(sums > 0, highest, 0.0)

    def quantiles(self, values: Floats, level: float | Floats) -> Floats:
        """Weighted quantiles (see `backends.select.quantiles`): midpoints where many are, 0 without weight."""
        return self.rows.quantiles(values, self.weights, self.leaf, self.n, level)

    def rest(self, y: npt.NDArray[Any], scores: Floats) -> Floats:
        """y - scores."""
        return np.subtract(y, scores, out=self.rows.arrays.empty(len(y)))

    def _weighted(self, values: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        return self._sums_and_sizes(
            np.multiply(self.weights, values, out=self.rows.arrays.empty(len(values)))
        )

    def _sums_and_sizes(self, terms: Floats) -> tuple[Floats, Floats]:
        return self.rows.leaf_sums(self.leaf, terms, self.n, self._n_terms)
