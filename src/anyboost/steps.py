"""Step sizes: a schedule is a function t -> eta, with t counted from 1; a line search asks the loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anyboost import checks
from anyboost.losses.search import monotone_zeros

Schedule = Callable[[int], float]


@dataclass(frozen=True)
class _Scaled:
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.positive(self.scale, "scale")


@dataclass(frozen=True)
class Constant(_Scaled):
    """The same step in every round, eta_t = scale.

    Parameters
    ----------
    scale : float, default 1.0
        The step; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.steps.Constant(0.5)(10)
    0.5
    """

    def __call__(self, t: int) -> float:
        return self.scale


@dataclass(frozen=True)
class InverseSqrt(_Scaled):
    """Steps eta_t = scale / sqrt(t), for convex losses (Theorems 5 and 7).

    Parameters
    ----------
    scale : float, default 1.0
        The step of round 1; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> schedule = ab.steps.InverseSqrt(0.5)
    >>> schedule(1), schedule(4)
    (0.5, 0.25)
    """

    def __call__(self, t: int) -> float:
        return self.scale / t**0.5


@dataclass(frozen=True)
class InverseT(_Scaled):
    """Steps eta_t = scale / t, for strongly convex losses (Theorems 4 and 6).

    Parameters
    ----------
    scale : float, default 1.0
        The step of round 1; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> schedule = ab.steps.InverseT(0.5)
    >>> schedule(1), schedule(4)
    (0.5, 0.125)
    """

    def __call__(self, t: int) -> float:
        return self.scale / t


@dataclass(frozen=True)
class FrankWolfe:
    """Steps eta_t = 2 / (t + 1), those of `Hull`.

    Examples
    --------
    >>> import anyboost as ab
    >>> schedule = ab.steps.FrankWolfe()
    >>> schedule(1), schedule(4)
    (1.0, 0.4)
    """

    def __call__(self, t: int) -> float:
        return 2.0 / (t + 1)


@dataclass(frozen=True)
class LineSearch(_Scaled):
    """Steps eta_t = scale * argmin_s R(f - s * direction), exact for any convex loss, by its directional subgradient.

    The midpoint where an interval minimizes. (For a search in each leaf, give the tree `leaf="exact"`.)

    Parameters
    ----------
    scale : float, default 1.0
        The share of the best step to take; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> step = ab.steps.LineSearch()
    >>> round(step.search(lambda s: s - 2.0), 6)
    2.0
    """

    def search(self, slope: Callable[[float], float]) -> float:
        """The step, given the slope of s -> R(f - s * direction).

        Parameters
        ----------
        slope : callable
            The slope at s, a function that does not fall.

        Returns
        -------
        float
            `scale` times the place where the slope changes its sign.
        """
        return self.scale * float(monotone_zeros(lambda s: np.array([slope(s[0])]), 1)[0])


StepLike = Schedule | LineSearch | float


def get(step: StepLike) -> Schedule | LineSearch:
    """The schedule or search itself; a number is a constant step.

    Parameters
    ----------
    step : callable, LineSearch or float
        A function t -> eta, a search, or a number.

    Returns
    -------
    callable or LineSearch
        What `size` takes.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.steps.get(0.1)
    Constant(scale=0.1)
    """
    if callable(step) or isinstance(step, LineSearch):
        return step
    if isinstance(step, bool) or not isinstance(step, int | float):
        raise TypeError(f"step must be a schedule or a positive number, got {step!r}; try InverseSqrt(1.0)")
    return Constant(float(step))


def size(step: StepLike, t: int, slope: Callable[[], Callable[[float], float]]) -> float:
    """The step eta of round t.

    Parameters
    ----------
    step : callable, LineSearch or float
        A function t -> eta, a search, or a number.
    t : int
        The round, from 1 on.
    slope : callable
        Gives, without arguments, the slope of s -> R(f - s * direction). Only a search asks for it.

    Returns
    -------
    float
        eta.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.steps.size(ab.steps.InverseT(1.0), 4, slope=None)
    0.25
    """
    chosen = get(step)
    return chosen.search(slope()) if isinstance(chosen, LineSearch) else chosen(t)
