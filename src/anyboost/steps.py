"""Step sizes: a schedule is a function t -> eta, with t counted from 1."""

from collections.abc import Callable
from dataclasses import dataclass

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


def get(step: Schedule | float) -> Schedule:
    """The schedule itself; a number is a constant step."""
    if callable(step):
        return step
    if isinstance(step, bool) or not isinstance(step, int | float):
        raise TypeError(f"step must be a schedule or a positive number, got {step!r}; try InverseSqrt(1.0)")
    return Constant(float(step))
