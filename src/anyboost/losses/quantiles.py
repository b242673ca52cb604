"""Weighted quantiles of many groups by one sort: the exact leaf step of piecewise-linear losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats

_TIE = 1e-12


def weighted_quantiles(
    values: Floats, weights: Floats, group: npt.NDArray[Any], n_groups: int, level: float | Floats
) -> Floats:
    """Where each group's cumulated weight passes `level` times its total; 0 for groups without weight.

    Where the cumulated weight equals that share (within 1e-12 of the total) every point up to the next
    value is a quantile, and the midpoint is returned. `level` is one number or one a group; levels 0
    and 1 give the group's smallest and largest value.
    """
    keep = weights > 0
    if not keep.all():
        values, weights, group = values[keep], weights[keep], group[keep]
    if len(values) == 0:
        return np.zeros(n_groups)
    order = np.lexsort((values, group))
    values, weights, group = values[order], weights[order], group[order]
    counts = np.bincount(group, minlength=n_groups)
    stop = np.cumsum(counts)
    start = stop - counts

    # Rounding errors of the running sum are kept and added back: a plain one drifts by more than the
    # tie rule allows once a small group follows a million rows.
    running, error = _cumulated(weights)
    total = (running[stop] - running[start]) + (error[stop] - error[start])
    passed = (running[1:] - running[start[group]]) + (error[1:] - error[start[group]])
    share = np.broadcast_to(np.asarray(level, dtype=np.float64), (n_groups,)) * total

    before = passed < (share - _TIE * total)[group]
    position = start + np.bincount(group, weights=before, minlength=n_groups).astype(np.intp)
    filled = counts > 0
    position = np.minimum(position, np.maximum(stop - 1, 0))
    following = np.minimum(position + 1, np.maximum(stop - 1, 0))
    tie = np.abs(passed[np.minimum(position, len(passed) - 1)] - share) <= _TIE * total
    here = values[np.minimum(position, len(values) - 1)]
    beyond = values[np.minimum(following, len(values) - 1)]
    return np.where(filled, np.where(tie, here + 0.5 * (beyond - here), here), 0.0)


def _cumulated(weights: Floats) -> tuple[Floats, Floats]:
    """Running sums from 0, and the running sum of the rounding errors they made."""
    running = np.concatenate([[0.0], np.cumsum(weights)])
    before, after = running[:-1], running[1:]
    added = after - before
    lost = (before - (after - added)) + (weights - added)
    return running, np.concatenate([[0.0], np.cumsum(lost)])
