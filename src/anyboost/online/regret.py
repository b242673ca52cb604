"""Regret in view: what the answers have cost so far, beside what simpler ones would have, and what the theorems allow.

Theorem 1 (span), for any comparator f of norm W >= 1, Delta_0 its gain over the zero answer:

    (1 - eta/W)^N Delta_0 + 3 eta beta_B B^2 W T + L_B W R(T) + 2 L_B B W sqrt(T)

Theorem 2 (hull):   8 beta_D D^2 T / N + L_D R(T)

with R(T) the base learner's regret for linear losses of Lipschitz constant 1. In a class scaled by lambda (supplement
C.2) D is lambda D, R(T) is lambda R(T) and W is max(1, W / lambda); beta, L and B follow.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss, domains
from anyboost.online import constants
from anyboost.online.base import BoundedLearner
from anyboost.online.settings import BEYOND, HEAVY, RESET, UNKNOWN, ChainTotals

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster
    from anyboost.online.state import ChainState


class Regret(NamedTuple):
    """Cumulative losses, weighted, of rows that were answered before they were learned.

    Parameters
    ----------
    rows : int
        How many there were.
    loss : float
        Of the booster's answers.
    first_learner_loss : float
        Of the chain's first learner alone.
    best_constant_loss : float or None
        Of the constant that is best in hindsight; None where there is none, as for counts that are all 0.
    best_prefix_loss : float
        Of the prefix of the chain that is best in hindsight.
    best_prefix : int
        How many learners that prefix has.
    bound : float or None
        By how much the theorem lets `loss` exceed that of any function of the learners' class (for `HullBooster`, of
        its hull) multiplied by the booster's scale; None: see `no_bound`.
    no_bound : str or None, default None
        Why there is no bound, and since which row.

    Examples
    --------
    >>> import anyboost as ab
    >>> booster = ab.online.SpanBooster().partial_fit([[0.0], [1.0]], [0.0, 1.0])
    >>> booster.regret().rows
    2
    """

    rows: int
    loss: float  # of the booster's answers
    first_learner_loss: float  # of the chain's first learner alone
    best_constant_loss: float | None  # of the constant that is best in hindsight
    best_prefix_loss: float  # of the prefix of the chain that is best in hindsight
    best_prefix: int  # how many learners that prefix has
    bound: float | None  # by how much the theorem lets `loss` exceed a comparator's
    no_bound: str | None = None  # why there is none


class Sketch:
    """A distribution of labels in at most 512 weighted points: when full, neighbors are joined in pairs.

    What is kept depends on the labels in their order, not on how they were batched.
    """

    SIZE = 512

    def __init__(self, points: Floats | None = None) -> None:
        self.points = np.zeros((2, 0)) if points is None else points  # labels; weights

    def add(self, y: Floats, weights: Floats) -> None:
        new = np.array([y[weights > 0], weights[weights > 0]], dtype=np.float64)
        while new.shape[1]:
            room = self.SIZE - self.points.shape[1]
            self.points = np.concatenate([self.points, new[:, :room]], axis=1)
            new = new[:, room:]
            if self.points.shape[1] == self.SIZE:
                y, weight = self.points[:, np.argsort(self.points[0], kind="stable")]
                joined = weight[::2] + weight[1::2]
                self.points = np.array([(y[::2] * weight[::2] + y[1::2] * weight[1::2]) / joined, joined])


def needs_sketch(loss: RowwiseLoss) -> bool:
    """Whether the best constant cannot be had from a few sums."""
    return loss.stand_ins(1.0, 0.0, 1.0) is None and not loss.domain.classes


def constant_loss(loss: RowwiseLoss, moments: list[float], shares: Floats, sketch: Sketch) -> float | None:
    """The least cumulative loss of a constant, from sums of w, w y and w y^2, the classes' weights, or a sketch.

    Exact for squared loss and losses of classes, counts and amounts. For the others it is that of the sketch,
    whose 512 points stand for all labels. None where there is no best constant, as for counts that are all 0.
    """
    weight, first, second = moments
    if weight == 0:
        return 0.0
    if loss.domain.classes:
        return _of_points(loss, list(range(len(shares))), shares.tolist())
    points = loss.stand_ins(weight, first, second)
    if points is not None:
        return _of_points(loss, *points)
    try:
        return _of_points(loss, sketch.points[0].tolist(), sketch.points[1].tolist())
    except (ValueError, TypeError):  # a loss whose functions were not in its file
        return None


def _of_points(loss: RowwiseLoss, labels: list[float], weights: list[float]) -> float | None:
    y = loss.check(labels)
    kept = np.maximum(weights, 0.0)
    if not loss.has_best_constant(y, kept):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one class so far: the constant is far out, as it should be
        constant = loss.best_constant(y, kept, len(labels) if loss.domain.classes else None)
    scores = np.broadcast_to(np.asarray(constant, dtype=np.float64), (len(y), *np.shape(constant)))
    return float(kept @ loss.values(scores, y))


def why_no_bound(booster: OnlineBooster, base_regret: float | None = None) -> str | None:
    """Why the theorems say nothing of a booster; None where they do. `base_regret` as in `bound`."""
    loss, learner = booster.loss, booster.learner
    reasons = {
        f"mode is {booster.mode!r}: the theorems are about mode='linear'": booster.mode != "linear",
        "output_bound is not given": booster.output_bound is None,
        "label_bound is not given": booster.label_bound is None and loss.domain != domains.SIGNS,
        "start is not 0": booster.start != 0.0,
        "forget is not 0": booster.forget != 0.0,
        "prefix is 'best': the theorems are about prefix='all'": booster.prefix == "best",
        f"the loss {loss} is not smooth, or its constants are not known": not constants.known(loss)
        or loss.kinked,
    }
    reason = next((words for words, holds in reasons.items() if holds), None)
    if reason is None and booster.state is not None:
        reason = _why_no_longer(booster, booster.state)
    if reason is None and base_regret is None and not isinstance(learner, BoundedLearner):
        reason = f"learner {type(learner).__name__} has no regret_bound(rows, bound)"
    return reason


def _why_no_longer(booster: OnlineBooster, state: ChainState) -> str | None:
    """What a booster has met that the theorems do not allow."""
    if state.settings.multiplier != booster.scale:
        return (
            "the model is of an older file, whose scale multiplied output_bound and not what learners answer"
        )
    totals = ChainTotals(*state.totals.tolist())
    since, value = f"no bound since row {totals.lapse_row:.0f}", totals.lapse_value
    return {
        HEAVY: f"{since}, which weighs {value:g}: the theorems are about weights of at most 1, so divide all by the "
        "largest",
        BEYOND: f"{since}, whose label {value:g} is beyond label_bound={booster.label_bound}",
        RESET: f"{since}, before which learner {value:.0f} began again",
        UNKNOWN: "the model is of an older file, which does not tell whether a row weighed more than 1 or had a label "
        "beyond label_bound",
    }.get(int(totals.lapse_cause))


def bound(
    booster: OnlineBooster,
    rows: int,
    base_regret: float | None = None,
    norm: float = 1.0,
    gain: float = 0.0,
    weight: float | None = None,
) -> float | None:
    """The bound of Theorem 1 or 2 after this many rows; None where `why_no_bound` says why.

    A row of weight w counts as the loss w l: its slope is at most w L. For w <= 1 the proofs hold as they are; what
    they sum over rows is then the sum of weights, and what they have by the root of T stays with the rows.

    base_regret : R(T) of a base learner, not scaled (default: its own `regret_bound(T, D)`, where it has one).
    norm, gain : of the comparator in the span: its norm in the class that is not scaled, and by how much it beats the
        zero answer. A comparator of the hull needs neither.
    weight : the sum of the rows' weights, each at most 1 (default: they are 1).
    """
    if why_no_bound(booster, base_regret):
        return None
    loss, N, scale = booster.loss, booster.n_learners, booster.scale
    D, Y = booster.output_bound or 0.0, booster.label_bound or 1.0
    if base_regret is None:
        base_regret = float(booster.learner.regret_bound(rows, D))
    D, R = scale * D, scale * base_regret
    weight = rows if weight is None else weight
    if booster._hull:
        return 8 * loss.smoothness_within(D) * D * D * weight / N + constants.lipschitz(loss, D, Y) * R
    eta, W = float(booster.steps()[0]), max(norm / scale, 1.0)
    B = constants.radius(loss, Y, eta, N, D)
    beta, L = loss.smoothness_within(B), constants.lipschitz(loss, B, Y)
    return (
        (1 - eta / W) ** N * gain
        + 3 * eta * beta * B * B * W * weight
        + L * W * R
        + 2 * L * B * W * math.sqrt(rows)
    )
