"""Survival: Cox's partial likelihood.

    R(f) = sum over events i of w_i [ log sum_{j: t_j >= t_i} w_j exp(f_j) - f_i ]

Rows that share a time share a risk set (Breslow).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.base import Loss
from anyboost.losses.elementary import accumulated_logs, exp_each, log_each
from anyboost.losses.functionals import FAR, Functional, Measure
from anyboost.losses.leaves import Leaves
from anyboost.trees.parts import distinct
from anyboost.trees.rows import Rows


@dataclass(frozen=True)
class Cox(Loss):
    """The negative log partial likelihood of Cox's proportional hazards.

    Targets: +t for an event at time t > 0, -t for a row last seen, without an event, at time t. Scores are
    log hazard ratios; a constant changes nothing, so they start at 0. Link: the hazard ratio exp(f).

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[3.0], [2.0], [1.0], [0.0]], [1.0, 2.0, -2.5, 4.0]
    >>> run = ab.boost(X, y, "cox", ab.weak.Linear(), rounds=20)
    >>> run.steps[-1].loss < run.start_loss
    True
    """

    farthest = FAR
    domain = domains.SIGNED_TIMES
    link_ = links.LOG
    has_curvature = True

    def check(self, y: Any) -> Array:
        targets = np.asarray(y)
        if targets.dtype.names is not None or (targets.ndim == 2 and targets.shape[1] > 1):
            raise ValueError(
                "y must be one number a row for the loss cox, +time of an event, -time last seen without one: from "
                "two columns, np.where(event, time, -time)"
            )
        return super().check(y)

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        self._check_groups(groups)
        return CoxFunctional(self.check(y), space)


class CoxFunctional(Functional):
    """Cox's loss on a sample: sums over the rows of a time, then over times, the last one first."""

    outputs = 1

    def __init__(self, y: Array, space: Measure) -> None:
        self.y, self.space = y, space
        self._event = y > 0
        if not space.rows.most(self._event.any()):
            raise ValueError("y has no event: give at least one positive time")
        times, self._time = distinct(-np.abs(y))
        self._times = Leaves(self._time, len(times), space.weights, space.rows)
        self._events = self._times.sums(self._event)  # their weight at each time

    def value(self, scores: Floats) -> float:
        return self.space.mean(np.where(self._event, self._log_risk(scores)[self._time] - scores, 0.0))

    def subgradient(self, scores: Floats) -> Floats:
        return self.curvature(scores) - self._event

    def curvature(self, scores: Floats) -> Floats:
        """e^f A, A being the sum over times at risk of their events' weight over that of e^f: above the Hessian."""
        pulls = log_each(self._events) - self._log_risk(scores)
        # A row is at risk at every event of its own time or an earlier one: those from its time on, here.
        at_risk = accumulated_logs(pulls[::-1])[::-1]
        return exp_each(scores + at_risk[self._time])

    @property
    def infimum(self) -> float:
        """sum over times of W log W, W being the weight of their events: what is left if nobody else is at risk."""
        weight = self._events[self._events > 0]
        return float(Leaves.one(weight, Rows(len(weight))).sums(log_each(weight))[0])  # all parts have them

    @property
    def kinked(self) -> bool:
        return False

    farthest = FAR

    def best_constant(self) -> float:
        return 0.0

    def _log_risk(self, scores: Floats) -> Floats:
        """log sum over the risk set of w exp(f), for each time."""
        return accumulated_logs(self._times.log_sums(scores))
