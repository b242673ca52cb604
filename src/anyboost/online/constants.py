"""The constants of losses that bounds need: smoothness beta_b, Lipschitz L_b and projection error eps_b on a ball.

eps_b = max(0, sup over |p| = b of -l'(p) . p / b) is what projecting onto the ball of radius b can cost, per unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from anyboost.losses import RowwiseLoss


class OnBall(NamedTuple):
    """beta_b (None where the loss is not smooth), L_b and eps_b as functions of the radius b."""

    smoothness: Callable[[float], float] | None
    lipschitz: Callable[[float], float]
    projection: Callable[[float], float]


def _one(_: float) -> float:
    return 1.0


def on_ball(loss: RowwiseLoss, label_bound: float) -> OnBall | None:
    """The constants for labels of at most Y in absolute value; None for losses without known ones."""
    Y = label_bound
    name = type(loss).__name__
    tau = max(getattr(loss, "tau", 0.5), 1 - getattr(loss, "tau", 0.5))
    delta = getattr(loss, "delta", 1.0)
    table = {
        "Squared": OnBall(_one, lambda b: b + Y, lambda b: max(Y - b, 0.0)),
        "Expectile": OnBall(
            lambda _: 2 * tau, lambda b: 2 * tau * (b + Y), lambda b: 2 * tau * max(Y - b, 0.0)
        ),
        "Huber": OnBall(_one, lambda _: delta, lambda b: min(delta, max(Y - b, 0.0))),
        "Absolute": OnBall(None, _one, lambda b: float(b < Y)),
        "Quantile": OnBall(None, lambda _: tau, lambda b: tau * (b < Y)),
        "Logistic": OnBall(lambda _: 0.25, _one, lambda b: 1 / (1 + math.exp(b))),
        "Exponential": OnBall(math.exp, math.exp, lambda b: math.exp(-b)),
        "Hinge": OnBall(None, _one, lambda b: float(b < 1)),
        "SquaredHinge": OnBall(_one, lambda b: 1 + b, lambda b: max(1 - b, 0.0)),
        "Poisson": OnBall(
            math.exp,
            lambda b: max(math.exp(b), Y),
            lambda b: max(Y - math.exp(b), math.exp(-b)),
        ),
    }
    return table.get(name)


def radius(constants: OnBall, step: float, n_learners: int, output_bound: float) -> float:
    """B = min(eta N D, inf{b >= D: eta beta_b b^2 >= eps_b D}); without beta, inf{b >= D: eps_b = 0}."""

    def enough(b: float) -> bool:
        left = 0.0 if constants.smoothness is None else step * constants.smoothness(b) * b * b
        return left >= constants.projection(b) * output_bound

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
