"""What mirror averaging asks of a loss: its slope in compiled code, and L, the longest subgradient in the sup norm."""

import math

import numpy as np

from anyboost import losses
from anyboost.backends.definitions import OTHER
from anyboost.checks import Floats
from anyboost.losses import Loss, RowwiseLoss
from anyboost.losses.combine import terms_of


def get(loss: str | Loss) -> RowwiseLoss:
    """The loss, which has to be a sum over rows: a stream shows one row at a time."""
    found = losses.get(loss)
    if not isinstance(found, RowwiseLoss):
        raise ValueError(
            f"loss must be a loss of single rows, got {found}, which couples rows: use its row-wise part"
        )
    return found


def terms(loss: RowwiseLoss) -> Floats | None:
    """The loss for compiled code, a row (number, factor, parameter) a term; None where it is not known there."""
    parts = terms_of(loss)
    if any(part.number == OTHER or np.ndim(part.parameter) for _, part in parts):
        return None
    return np.array([(part.number, factor, part.parameter) for factor, part in parts], dtype=np.float64)


def lipschitz(loss: RowwiseLoss, output_bound: float, label_bound: float | None, radius: float) -> float:
    """L: sup norm of a subgradient, for forecasts in [-output_bound, output_bound] and |y| <= label_bound."""
    found = loss.steepest(output_bound * radius, math.inf if label_bound is None else label_bound)
    if math.isfinite(found):
        return output_bound * found
    if label_bound is None and math.isfinite(loss.steepest(1.0, 1.0)):
        raise ValueError(f"label_bound must be given with output_bound: the slope of {loss} grows with |y|")
    raise ValueError(
        f"the loss {loss} has no known bound on its slope: give lipschitz= instead of output_bound"
    )
