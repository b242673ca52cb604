"""What the chain reads of a booster: its arguments as numbers, and the lines and totals that it keeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anyboost.backends import definitions
from anyboost.losses import RowwiseLoss
from anyboost.online import constants

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster


class ChainSettings(NamedTuple):
    """The booster's arguments."""

    code: int  # of the loss
    parameter: float  # of the loss
    located: bool  # scores lie on the scale of the labels
    center: int  # how a constant answers; see `labels`
    curvature: float  # of the loss; 0: one that fits the labels
    hull: bool
    greedy: bool
    best_prefix: bool  # answer with the prefix of least loss so far, not with the whole chain
    running_center: bool
    start: float  # the center, where it does not run
    output_bound: float  # D; 0: follow the labels
    label_bound: float  # Y; 0: follow the labels
    radius: float  # B; 0: from D and Y
    lipschitz: float  # L; 0: curvature (B + Y)
    scale: float  # lambda of the scaled class, by which D is multiplied
    forget: float
    # What learners' answers are multiplied by: lambda too. It is 1 in boosters of older files, which scaled D alone.
    multiplier: float = 1.0
    offset_step: float = 0.0  # alpha of mode "offset"; 0 in the other modes


class Chain(NamedTuple):
    """Lines of a number a stage, from 1 on; a booster keeps them in an array, in this order."""

    step: np.ndarray  # eta_i
    shrink: np.ndarray  # s_i
    loss: np.ndarray  # cumulative, of the first i stages
    score: np.ndarray  # the same on tamed labels, less that of no stage, and discounted
    inverse: np.ndarray  # 1 / (eta_i lambda)


class ChainTotals(NamedTuple):
    """Sums over rows; a booster keeps them in an array, in this order."""

    loss: float  # of the answers
    rows: float
    weight: float  # w, w y and w y^2
    first: float
    second: float
    # The first row that the theorems do not allow, why (`NO_LAPSE` ... `UNKNOWN`), and its weight, label or stage
    lapse_row: float
    lapse_cause: float
    lapse_value: float


NO_LAPSE, HEAVY, BEYOND, RESET, UNKNOWN = range(5)  # UNKNOWN: an older file does not say
N_SUMS = ChainTotals._fields.index("lapse_row")

TOTALS = np.dtype([(name, np.float64) for name in ChainTotals._fields], align=True)


def compiled_loss(loss: RowwiseLoss) -> bool:
    """Whether kernels know the loss."""
    return loss.number != definitions.OTHER


def settings_of(booster: OnlineBooster) -> ChainSettings:
    """From a booster's arguments to the numbers that the chain reads."""
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
    return ChainSettings(
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
        multiplier=booster.scale,
        offset_step=_offset_step(booster),
    )


def _offset_step(booster: OnlineBooster) -> float:
    """alpha, by default the smallest step of the chain."""
    if booster.mode != "offset":
        return 0.0
    return float(booster.steps()[-1]) if booster.offset_step is None else booster.offset_step
