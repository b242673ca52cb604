"""From a booster's arguments to the numbers that the loops read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from anyboost.backends import definitions
from anyboost.losses import RowwiseLoss
from anyboost.online import constants

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


def compiled_loss(loss: RowwiseLoss) -> bool:
    """Whether kernels know the loss."""
    return loss.number != definitions.OTHER


def chain_settings(booster: OnlineBooster) -> Any:
    """The settings tuple of `backends.online.chain`."""
    from anyboost.backends.online.chain import Chain

    loss, located = booster.loss, booster.loss.located
    fixed = booster.output_bound is not None and (booster.label_bound is not None or not located)
    curvature = loss.smoothness if math.isfinite(loss.smoothness) else float(not (located and loss.kinked))
    known, Y = constants.known(loss), booster.label_bound or 1.0
    radius = lipschitz = 0.0
    if fixed and known and not booster._hull:
        D = booster.scale * (booster.output_bound or 0.0)
        radius = constants.radius(loss, Y, booster.steps()[0], booster.n_learners, D)
    if known and (fixed or math.isfinite(loss.lipschitz) or not located):
        reach = radius or booster.scale * (booster.output_bound or loss.reach)
        lipschitz = constants.lipschitz(loss, reach, Y)
    elif math.isfinite(loss.lipschitz):
        lipschitz = loss.lipschitz
    elif not located:
        lipschitz = 1.0
    return Chain(
        code=loss.number,
        parameter=loss.parameter if compiled_loss(loss) and not loss.vector else 0.0,
        located=located,
        center=definitions.MEANS if located else loss.center,
        curvature=curvature,
        hull=booster._hull,
        greedy=booster.mode == "greedy",
        best_prefix=booster.prefix == "best",
        running_center=booster.start is None,
        start=booster.start or 0.0,
        output_bound=booster.output_bound or 0.0,
        label_bound=booster.label_bound or (0.0 if located else loss.reach),
        radius=radius,
        lipschitz=lipschitz,
        scale=booster.scale,
        forget=booster.forget,
    )
