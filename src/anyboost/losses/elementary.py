"""exp and log outside compiled loops, in the bits of `backends.elementary`, which is loaded where they are needed."""

from __future__ import annotations

import numpy as np

from anyboost.checks import Floats


def exp_each(x: Floats) -> Floats:
    """e^x of every number of an array."""
    from anyboost.backends import elementary

    found = np.array(x, dtype=np.float64, order="C")
    elementary.exp_each(found.reshape(-1))
    return found


def log_each(x: Floats) -> Floats:
    """ln x of every number of an array; -inf at 0."""
    from anyboost.backends import elementary

    found = np.array(x, dtype=np.float64, order="C")
    elementary.log_each(found.reshape(-1))
    return found


def accumulated_logs(x: Floats) -> Floats:
    """log(e^x_0 + ... + e^x_i) for every i."""
    from anyboost.backends import elementary

    found = np.array(x, dtype=np.float64)
    elementary.accumulate_logs(found)
    return found


def exp_of(x: float) -> float:
    """e^x of one number."""
    from anyboost.backends import elementary

    return float(elementary.exp_of(x))


def log_of(x: float) -> float:
    """ln x of one number above 0."""
    from anyboost.backends import elementary

    return float(elementary.log_of(x))
