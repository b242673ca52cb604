"""Sums per leaf that do not depend, in any bit, on the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats

_TIE = 1e-12


def leaf_sums(leaf: npt.NDArray[Any], values: Floats, n_leaves: int) -> Floats:
    """sum of `values` in each leaf.

    Each value is split into two multiples of powers of two, coarse enough that adding them is exact;
    so the order cannot matter, and the sum is at least as precise as a plain one.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not 1e-250 < largest < 1e250:
        return _add(leaf, values, n_leaves)
    bits = len(values).bit_length()
    coarse = 2.0 ** (np.frexp(largest)[1] + bits - 53)
    fine = coarse * 2.0 ** (bits - 53)
    high = np.rint(values / coarse) * coarse
    low = np.rint((values - high) / fine) * fine
    return _add(leaf, high, n_leaves) + _add(leaf, low, n_leaves)


def balance(leaf: npt.NDArray[Any], values: Floats, n_leaves: int) -> Floats:
    """`leaf_sums`, exactly 0 where positive and negative values cancel within 1e-12.

    Without this, rounding would hide the flat parts of piecewise-linear losses, and with them the
    midpoint rule. Slopes of convex losses stay monotone in sign: as the score grows, positive values only
    grow and negative ones only shrink.
    """
    sums = leaf_sums(leaf, values, n_leaves)
    sizes = _add(leaf, np.abs(values), n_leaves)
    return np.where((np.abs(sums) > _TIE * sizes) | np.isinf(sums), sums, 0.0)


def _add(leaf: npt.NDArray[Any], values: Floats, n_leaves: int) -> Floats:
    # Of no rows at all NumPy counts in integers.
    return np.bincount(leaf, weights=values, minlength=n_leaves).astype(np.float64, copy=False)


def total(values: Floats) -> float:
    """The sum of all values, in the same bits for any order."""
    return float(leaf_sums(np.zeros(len(values), dtype=np.intp), values, 1)[0])
