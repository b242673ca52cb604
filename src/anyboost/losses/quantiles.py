"""Weighted quantiles of many groups: the exact leaf step of piecewise-linear losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats


def weighted_quantiles(
    values: Floats, weights: Floats, group: npt.NDArray[Any], n_groups: int, level: float | Floats
) -> Floats:
    """See `backends.select.quantiles`: midpoints where many are, 0 for groups without weight."""
    from anyboost.backends.select import quantiles

    return quantiles(values, weights, group.astype(np.int32, copy=False), n_groups, level)
