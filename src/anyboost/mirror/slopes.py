"""What mirror averaging asks of a loss: its slope in compiled code, and L, the longest subgradient in the sup norm."""

import math
from typing import Any

import numpy as np

from anyboost import losses
from anyboost.checks import Floats
from anyboost.losses import Loss, RowwiseLoss

# Losses that compiled code knows (backends.mirror_slopes), and their parameter.
_CODES: dict[type, tuple[int, str | None]] = {
    losses.Squared: (0, None),
    losses.Absolute: (1, None),
    losses.Quantile: (2, "tau"),
    losses.Huber: (3, "delta"),
    losses.Expectile: (4, "tau"),
    losses.Poisson: (5, "power"),
    losses.Gamma: (5, "power"),
    losses.Tweedie: (5, "power"),
    losses.Logistic: (6, None),
    losses.Hinge: (7, None),
    losses.SquaredHinge: (8, None),
    losses.Exponential: (9, None),
    losses.Softmax: (20, None),
    losses.MulticlassHinge: (21, None),
}


def get(loss: str | Loss) -> RowwiseLoss:
    """The loss, which has to be a sum over rows: a stream shows one row at a time."""
    found = losses.get(loss)
    if not isinstance(found, RowwiseLoss):
        raise ValueError(
            f"loss must be a loss of single rows, got {found}, which couples rows: use its row-wise part"
        )
    return found


def terms(loss: RowwiseLoss) -> Floats | None:
    """The loss for compiled code, a row (code, factor, parameter) a term; None where it is not known there."""
    parts = loss.terms if isinstance(loss, losses.Sum) else ((1.0, loss),)
    found = []
    for factor, part in parts:
        if type(part) not in _CODES:
            return None
        code, parameter = _CODES[type(part)]
        found.append((code, factor, getattr(part, parameter) if parameter else 0.0))
    return np.array(found, dtype=np.float64)


def lipschitz(loss: RowwiseLoss, output_bound: float, label_bound: float | None, radius: float) -> float:
    """L: sup norm of a subgradient, for forecasts in [-output_bound, output_bound] and |y| <= label_bound."""
    if isinstance(loss, losses.Sum):
        return sum(f * lipschitz(part, output_bound, label_bound, radius) for f, part in loss.terms)
    return output_bound * _steepest(loss, output_bound * radius, label_bound)


def _steepest(loss: RowwiseLoss, reach: float, label_bound: float | None) -> float:
    """The largest slope for scores in [-reach, reach]."""
    if isinstance(loss, losses.Logistic):
        return 1.0 / (1.0 + math.exp(-reach))
    if isinstance(loss, losses.Exponential):
        return math.exp(reach)
    if isinstance(loss, losses.SquaredHinge):
        return 1.0 + reach
    if isinstance(loss, losses.Softmax | losses.MulticlassHinge):
        return 2.0  # in the l1 norm, which is what K scores of sup norm 1 meet
    if isinstance(loss, losses.MultiQuantile):
        return float(sum(max(tau, 1.0 - tau) for tau in loss.taus))
    if math.isfinite(loss.lipschitz) and not loss.vector:
        return loss.lipschitz
    return _steepest_with_labels(loss, reach, label_bound)


def _steepest_with_labels(loss: Any, reach: float, label_bound: float | None) -> float:
    known = (losses.Squared, losses.Expectile, losses.Poisson, losses.Gamma, losses.Tweedie)
    if not isinstance(loss, known):
        raise ValueError(
            f"the loss {loss} has no known bound on its slope: give lipschitz= instead of output_bound"
        )
    if label_bound is None:
        raise ValueError(f"label_bound must be given with output_bound: the slope of {loss} grows with |y|")
    if isinstance(loss, losses.Squared | losses.Expectile):
        return loss.smoothness * (reach + label_bound)
    power = loss.power
    return max(math.exp((2.0 - power) * reach), label_bound * math.exp((power - 1.0) * reach))
