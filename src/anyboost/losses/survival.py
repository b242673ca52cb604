"""Survival: Cox's partial likelihood.

    R(f) = sum over events i of w_i [ log sum_{j: t_j >= t_i} w_j exp(f_j) - f_i ]

Rows that share a time share a risk set (Breslow).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import domains, links
from anyboost.losses.base import Array, Functional, Loss, Measure
from anyboost.losses.sums import leaf_sums, total


@dataclass(frozen=True)
class Cox(Loss):
    """The negative log partial likelihood of Cox's proportional hazards.

    Targets: +t for an event at time t > 0, -t for a row last seen, without an event, at time t. Scores are
    log hazard ratios; a constant changes nothing, so they start at 0. Link: the hazard ratio exp(f).
    """

    domain = domains.SIGNED_TIMES

    def check(self, y: Any) -> Array:
        targets = np.asarray(y)
        if targets.dtype.names is not None or (targets.ndim == 2 and targets.shape[1] > 1):
            raise ValueError(
                "y must be one number a row for the loss cox, +time of an event, -time last seen without one: from "
                "two columns, np.where(event, time, -time)"
            )
        return super().check(y)

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        if groups is not None:
            raise ValueError("groups were given, but the loss cox does not use groups: leave it out")
        return CoxFunctional(self.check(y), space)

    def link(self, scores: Any) -> Array:
        return links.LOG.predict(np.asarray(scores, dtype=np.float64))


class CoxFunctional(Functional):
    """Cox's loss on a sample; rows are kept in the order of falling time."""

    outputs = 1

    def __init__(self, y: Array, space: Measure) -> None:
        self.y, self.space = y, space
        times = np.abs(y)
        self._order = np.argsort(-times, kind="stable")
        falling = times[self._order]
        last = np.append(falling[1:] != falling[:-1], True)
        # Each row's risk set ends with the last row of its time.
        self._risk_end = np.flatnonzero(last)[np.cumsum(np.append(0, last[:-1]))]
        self._first_of_time = np.append(0, np.flatnonzero(last)[:-1] + 1)[np.cumsum(np.append(0, last[:-1]))]
        self._event = y[self._order] > 0
        self._log_weights = np.log(space.weights[self._order])
        if not self._event.any():
            raise ValueError("y has no event: give at least one positive time")

    def value(self, scores: Floats) -> float:
        f = scores[self._order]
        terms = np.where(self._event, self._log_risk(f) - f, 0.0)
        unsorted = np.empty_like(terms)
        unsorted[self._order] = terms
        return self.space.mean(unsorted)

    def subgradient(self, scores: Floats) -> Floats:
        f = scores[self._order]
        with np.errstate(divide="ignore"):
            pulls = np.where(self._event, self._log_weights - self._log_risk(f), -np.inf)
        # A row is at risk at every event of its own time or an earlier one: those from its time on, here.
        at_risk = np.logaddexp.accumulate(pulls[::-1])[::-1][self._first_of_time]
        gradient = np.empty(len(f))
        gradient[self._order] = np.exp(f + at_risk) - self._event
        return gradient

    @property
    def infimum(self) -> float:
        """sum over times of W log W, W being the weight of their events: what is left if nobody else is at risk."""
        _, time = np.unique(np.abs(self.y[self.y > 0]), return_inverse=True)
        weight = leaf_sums(time, self.space.weights[self.y > 0], int(time.max()) + 1)
        return total(weight * np.log(weight))

    @property
    def kinked(self) -> bool:
        return False

    def best_constant(self) -> float:
        return 0.0

    def _log_risk(self, f: Floats) -> Floats:
        """log sum over the risk set of w exp(f), for each row."""
        return np.logaddexp.accumulate(self._log_weights + f)[self._risk_end]
