"""The radius B of the ball that scores are held in, from the constants that a loss has there.

beta_b, L_b and eps_b are `smoothness_within`, `lipschitz` here, and `shortfall` of the loss.
"""

from __future__ import annotations

import math

from anyboost.losses import RowwiseLoss


def known(loss: RowwiseLoss) -> bool:
    """Whether the loss states all three."""
    return loss.shortfall(1.0, 1.0) is not None


def lipschitz(loss: RowwiseLoss, b: float, label_bound: float) -> float:
    """L_b, for labels of at most `label_bound` in absolute value."""
    return loss.lipschitz if math.isfinite(loss.lipschitz) else loss.steepest(b, label_bound)


def radius(loss: RowwiseLoss, label_bound: float, step: float, n_learners: int, output_bound: float) -> float:
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}); without beta, inf{b >= D: eps_b = 0}."""

    def enough(b: float) -> bool:
        beta = loss.smoothness_within(b)
        left = step * beta * b * b if math.isfinite(beta) else 0.0
        return left >= (loss.shortfall(b, label_bound) or 0.0) * output_bound

    widest = step * n_learners * output_bound
    low = high = output_bound
    if enough(low):
        return min(widest, low)
    while not enough(high):
        high *= 2
        if high >= widest:
            break
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return min(widest, high)
