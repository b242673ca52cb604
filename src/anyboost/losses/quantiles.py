"""Weighted quantiles of many groups: the exact leaf step of piecewise-linear losses."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from anyboost.checks import Floats


def weighted_quantiles(
    values: Floats, weights: Floats, group: npt.NDArray[Any], n_groups: int, level: float | Floats
) -> Floats:
    """See `backends.select.quantiles`: midpoints where many are, 0 for groups without weight."""
    from anyboost.trees.rows import Here

    return Here(len(values)).quantiles(values, weights, group, n_groups, level)
