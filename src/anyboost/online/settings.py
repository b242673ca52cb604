"""From a booster's arguments to the numbers that the loops read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from anyboost.losses import domains
from anyboost.online import constants

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster

# How far scores may go where they do not lie on the labels' scale: log odds, margins, logarithms.
REACHES = {"Logistic": 6.0, "Exponential": 3.0, "Hinge": 2.0, "SquaredHinge": 2.0, "MulticlassHinge": 4.0}
CURVATURES = {"Logistic": 0.25, "Softmax": 0.5, "Absolute": 0.0, "Quantile": 0.0, "MultiQuantile": 0.0}
CENTERS = {"Logistic": 1, "Exponential": 2, "Poisson": 3, "Gamma": 3, "Tweedie": 3, "Softmax": 4}


def is_located(loss: Any) -> bool:
    """Whether scores lie on the scale of the labels."""
    return loss.domain == domains.REALS and type(loss).__name__ not in ("Poisson", "Gamma", "Tweedie")


def compiled_loss(loss: Any) -> bool:
    """Whether kernels know the loss."""
    from anyboost.backends.online.losses import CODES

    return CODES.get(type(loss).__name__) is not None and type(loss).__module__.startswith("anyboost.losses.")


def chain_settings(booster: OnlineBooster) -> Any:
    """The settings tuple of `backends.online.chain`."""
    from anyboost.backends.online.chain import Chain
    from anyboost.backends.online.labels import MEANS, NOTHING
    from anyboost.backends.online.losses import CODES, OTHER

    loss = booster.loss
    name = type(loss).__name__
    located = is_located(loss)
    fixed = booster.output_bound is not None and (booster.label_bound is not None or not located)
    curvature = loss.smoothness if math.isfinite(loss.smoothness) else float(not (located and loss.kinked))
    ball = constants.on_ball(loss, booster.label_bound or 1.0)
    radius = lipschitz = 0.0
    if fixed and ball is not None and not booster._hull:
        radius = constants.radius(
            ball, booster.steps()[0], booster.n_learners, booster.scale * (booster.output_bound or 0.0)
        )
    if ball is not None and (fixed or math.isfinite(loss.lipschitz) or not located):
        known = radius or booster.scale * (booster.output_bound or REACHES.get(name, 6.0))
        lipschitz = ball.lipschitz(known)
    elif math.isfinite(loss.lipschitz):
        lipschitz = loss.lipschitz
    elif not located:
        lipschitz = 1.0
    return Chain(
        code=CODES.get(name, OTHER),
        parameter=next(
            (float(getattr(loss, key)) for key in ("tau", "delta", "power") if hasattr(loss, key)), 0.0
        ),
        located=located,
        center=CENTERS.get(name, MEANS if located else NOTHING),
        curvature=CURVATURES.get(name, curvature),
        hull=booster._hull,
        greedy=booster.mode == "greedy",
        best_prefix=booster.prefix == "best",
        running_center=booster.start is None,
        start=booster.start or 0.0,
        output_bound=booster.output_bound or 0.0,
        label_bound=booster.label_bound or (0.0 if located else REACHES.get(name, 6.0)),
        radius=radius,
        lipschitz=lipschitz,
        scale=booster.scale,
        forget=booster.forget,
    )
