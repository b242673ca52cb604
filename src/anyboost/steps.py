"""Step sizes: a schedule is a function t -> eta, with t counted from 1; a line search asks the loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anyboost import checks

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class _Scaled:
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.positive(self.scale, "scale")


@dataclass(frozen=True)
class Constant(_Scaled):
    """eta_t = scale."""

    def __call__(self, t: int) -> float:
        return self.scale


@dataclass(frozen=True)
class InverseSqrt(_Scaled):
    """eta_t = scale / sqrt(t): for convex losses (Theorems 5 and 7)."""

    def __call__(self, t: int) -> float:
        return self.scale / t**0.5


@dataclass(frozen=True)
class InverseT(_Scaled):
    """eta_t = scale / t: for strongly convex losses (Theorems 4 and 6)."""

    def __call__(self, t: int) -> float:
        return self.scale / t


@dataclass(frozen=True)
class FrankWolfe:
    """eta_t = 2 / (t + 1): the steps of `Hull`."""

    def __call__(self, t: int) -> float:
        return 2.0 / (t + 1)


@dataclass(frozen=True)
class LineSearch(_Scaled):
    """eta_t = scale * argmin_s R(f - s * direction): exact for any convex loss, by its directional subgradient.

    The midpoint where an interval minimizes. (For a search in each leaf, give the tree `leaf="exact"`.)
    """

    def search(self, slope: Callable[[float], float]) -> float:
        """The step, given the slope of s -> R(f - s * direction)."""
        from anyboost.losses.search import monotone_zeros

        return self.scale * float(monotone_zeros(lambda s: np.array([slope(s[0])]), 1)[0])


StepLike = Schedule | LineSearch | float


def get(step: StepLike) -> Schedule | LineSearch:
    """The schedule or search itself; a number is a constant step."""
    if callable(step) or isinstance(step, LineSearch):
        return step
    if isinstance(step, bool) or not isinstance(step, int | float):
        raise TypeError(f"step must be a schedule or a positive number, got {step!r}; try InverseSqrt(1.0)")
    return Constant(float(step))


def size(step: StepLike, t: int, slope: Callable[[], Callable[[float], float]]) -> float:
    """eta in round t; only a search asks for `slope`, which gives that of s -> R(f - s * direction)."""
    chosen = get(step)
    return chosen.search(slope()) if isinstance(chosen, LineSearch) else chosen(t)
