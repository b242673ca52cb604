"""How far from optimal: edge, floor and gap.

Convexity bounds the loss of every function from below by what a run has already computed. With g_t a
subgradient at f_t, weights w_t >= 0 of sum one and G = sum w_t g_t,

    R(f) >= sum_t w_t [R(f_t) - <g_t, f_t - a>] - C max_h |<G, h>|    for every f in a + C conv(+-H),

where a is the start. This holds for any sequence f_t, so for any step, memory, leaf rule or early stop.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

# A function G -> (upper bound of max_h |<G, h>|, value that a known atom attains)
Support = Callable[[np.ndarray], tuple[float, float]]
WEIGHTINGS = ("step", "uniform", "late", "last")


class Witness(NamedTuple):
    """One proof: no f in a + C conv(+-H) has a loss under `intercept - C * reach`.

    `reach` bounds max_h |<G, h>| from above; `reach_found` is what a known atom attains.
    """

    intercept: float
    reach: float
    reach_found: float
    weighting: str
    rounds: int


def edge(inner: float, hypothesis_norm: float, target_norm: float) -> float:
    """cos of the angle between a hypothesis and what it was fitted to; 0 where either vanishes."""
    length = hypothesis_norm * target_norm
    return min(inner / length, 1.0) if length > 0 else 0.0  # rounding may leave it above 1


def floor(witnesses: Iterable[Witness], radius: float, *, estimate: bool = False) -> float:
    """The largest lower bound that the witnesses give at this radius.

    With `estimate` the reach that a known atom attains stands in for its upper bound: an estimate of the
    floor, not a certificate.
    """
    if not radius >= 0:
        raise ValueError(f"radius must be a number >= 0, got {radius!r}")
    return max(
        (w.intercept - radius * (w.reach_found if estimate else w.reach) for w in witnesses), default=-np.inf
    )


class Evidence:
    """What a run keeps for its floor: weighted sums of subgradients, and witnesses at t = 1, 2, 4, 8, ...

    Early witnesses matter: a run that leaves the ball of radius C only loosens the later ones.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.rounds = 0
        self.witnesses: list[Witness] = []
        self.weight = dict.fromkeys(WEIGHTINGS[:3], 0.0)
        self.intercept = dict.fromkeys(WEIGHTINGS, 0.0)
        self.gradient = {name: np.zeros(shape) for name in WEIGHTINGS[:3]}
        self.latest: tuple[int, list[Witness]] | None = None  # the last answer of `current`, and its round

    def add(
        self,
        loss: float,
        gradient: np.ndarray,
        slope: float,
        step: float,
        support: Support,
    ) -> None:
        """Take in round t: R(f_t), g_t, <g_t, f_t - a> and the step size."""
        self.rounds += 1
        for name, weight in zip(WEIGHTINGS[:3], (step, 1.0, float(self.rounds)), strict=True):
            self.weight[name] += weight
            self.intercept[name] += weight * (loss - slope)
            self.gradient[name] += weight * gradient
        self.intercept["last"] = loss - slope
        self.last_gradient = gradient
        if self.rounds & (self.rounds - 1) == 0:
            self.witnesses += self.current(support)

    def current(self, support: Support) -> list[Witness]:
        """The witnesses of all rounds so far."""
        if self.rounds == 0:
            return []
        if self.latest is None or self.latest[0] != self.rounds:
            self.latest = (self.rounds, [self._witness(name, support) for name in self._usable()])
        return self.latest[1]

    def _usable(self) -> list[str]:
        return [name for name in WEIGHTINGS if name == "last" or self.weight[name] > 0]

    def _witness(self, name: str, support: Support) -> Witness:
        total = 1.0 if name == "last" else self.weight[name]
        gradient = self.last_gradient if name == "last" else self.gradient[name] / total
        upper, lower = support(gradient)
        return Witness(self.intercept[name] / total, upper, lower, name, self.rounds)
