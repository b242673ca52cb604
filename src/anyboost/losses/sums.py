"""Sums per leaf that do not depend, in any bit, on the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats
from anyboost.losses.elementary import exp_each, log_each

_TIE = 1e-12


def leaf_sums(leaf: npt.NDArray[Any], values: Floats, n_leaves: int) -> Floats:
    """sum of `values` in each leaf (see `backends.sums.leaf_sums`)."""
    from anyboost.backends import sums

    return sums.leaf_sums(leaf, values, n_leaves)


def balance(leaf: npt.NDArray[Any], values: Floats, n_leaves: int) -> Floats:
    """`leaf_sums`, exactly 0 where positive and negative values cancel within 1e-12.

    Without this, rounding would hide the flat parts of piecewise-linear losses, and with them the
    midpoint rule. Slopes of convex losses stay monotone in sign: as the score grows, positive values only
    grow and negative ones only shrink.
    """
    sums = leaf_sums(leaf, values, n_leaves)
    sizes = np.bincount(leaf, weights=np.abs(values), minlength=n_leaves)
    return np.where((np.abs(sums) > _TIE * sizes) | np.isinf(sums), sums, 0.0)


def log_sums(leaf: npt.NDArray[Any], powers: Floats, weights: Floats, n_leaves: int) -> Floats:
    """log of the sum of weights * exp(powers) in each leaf, without overflow; -inf without weight."""
    kept = weights > 0
    leaf, powers, weights = leaf[kept], powers[kept], weights[kept]
    highest = np.full(n_leaves, -np.inf)
    np.maximum.at(highest, leaf, powers)
    with np.errstate(under="ignore"):
        sums = leaf_sums(leaf, weights * exp_each(powers - highest[leaf]), n_leaves)
    return log_each(sums) + np.where(sums > 0, highest, 0.0)


def total(values: Floats) -> float:
    """The sum of all values, in the same bits for any order."""
    return float(leaf_sums(np.zeros(len(values), dtype=np.intp), values, 1)[0])
