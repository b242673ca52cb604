"""Losses of real targets: what they estimate is their best constant.

squared: mean; absolute: median; quantile: tau-quantile; Huber: between median and mean; expectile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anyboost import checks
from anyboost.backends.arrays import by_row
from anyboost.checks import Array, Floats
from anyboost.losses.leaves import Leaves
from anyboost.losses.rowwise import RowwiseLoss


@dataclass(frozen=True)
class Squared(RowwiseLoss):
    """Half the squared error, (y - f)^2 / 2.

    Targets: real. Lambda = lambda = 1. Best constant: the mean. Link: identity.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Squared()
    >>> loss.value([0.0, 1.0], [2.0, 1.0]), loss.best_constant([0.0, 1.0, 5.0])
    (1.0, 2.0)
    """

    infimum = 0.0
    smoothness = 1.0
    strong_convexity = 1.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        r = f - y
        return 0.5 * (r * r), r, 1.0

    def steepest(self, reach: float, label_bound: float) -> float:
        return reach + label_bound

    def shortfall(self, reach: float, label_bound: float) -> float:
        return max(label_bound - reach, 0.0)

    def stand_ins(self, weight: float, first: float, second: float) -> tuple[list[float], list[float]]:
        mean = first / weight
        deviation = math.sqrt(max(second / weight - mean * mean, 0.0))
        return [mean - deviation, mean + deviation], [0.5 * weight, 0.5 * weight]

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        return leaves.means(leaves.rest(y, scores))

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        return float(sample.means(y)[0])


def pinball(f: float, y: float, up: float, down: float) -> tuple[float, float, float]:
    """up (f - y)+ + down (y - f)+ at one row: value, slope (0 at the kink), curvature."""
    r = f - y
    slope = (up if r > 0.0 else 0.0) - (down if r < 0.0 else 0.0)
    return slope * r, slope, 0.0


class _PiecewiseLinear(RowwiseLoss):
    """(1 - tau) (f - y)+ + tau (y - f)+ times a scale; its exact steps are weighted quantiles."""

    infimum = 0.0
    kinked = True
    _level: float
    _slopes: tuple[float, float]

    def shortfall(self, reach: float, label_bound: float) -> float:
        return self.lipschitz * (reach < label_bound)

    @property
    def lines(self) -> tuple[float, float, float]:
        return -self._slopes[0], self._slopes[1], 0.0

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        return np.clip((scores - y) / mu, *self._slopes)

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        return leaves.quantiles(leaves.rest(y, scores), self._level)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        return float(sample.quantiles(y, self._level)[0])


@dataclass(frozen=True)
class Absolute(_PiecewiseLinear):
    """The absolute error, |y - f|; subgradient 0 at the kink.

    Targets: real. Lipschitz 1. Best constant: the median. Link: identity.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Absolute()
    >>> loss.value([0.0, 1.0], [2.0, 1.0]), loss.best_constant([0.0, 1.0, 5.0])
    (1.0, 1.0)
    """

    lipschitz = 1.0
    _level = 0.5
    _slopes = (-1.0, 1.0)

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        return pinball(f, y, 1.0, 1.0)


@dataclass(frozen=True)
class Quantile(_PiecewiseLinear):
    """The pinball loss, tau (y - f)+ + (1 - tau) (f - y)+; subgradient 0 at the kink.

    Targets: real. Lipschitz max(tau, 1 - tau). Best constant: the tau-quantile. Link: identity.

    Parameters
    ----------
    tau : float, default 0.5
        The level, strictly between 0 and 1.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Quantile(0.8).best_constant([1.0, 2.0, 3.0, 4.0])
    4.0
    """

    tau: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.between(self.tau, "tau", 0, 1))

    @property
    def lipschitz(self) -> float:
        return max(self.tau, 1.0 - self.tau)

    @property
    def _level(self) -> float:  # type: ignore[override]
        return self.tau

    @property
    def _slopes(self) -> tuple[float, float]:  # type: ignore[override]
        return -self.tau, 1.0 - self.tau

    @staticmethod
    def row(f: float, y: float, tau: float) -> tuple[float, float, float]:
        return pinball(f, y, 1.0 - tau, tau)


@dataclass(frozen=True)
class Huber(RowwiseLoss):
    """Squares near the middle and lines beyond: r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2), with r = y - f.

    Targets: real. Lambda = 1, Lipschitz delta. Best constant: where clipped residuals cancel. Link: identity.

    Parameters
    ----------
    delta : float, default 1.0
        Where the squares end; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Huber(1.0).value([0.0, 0.0], [1.0, 3.0])
    1.5
    """

    infimum = 0.0
    delta: float = 1.0
    smoothness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.positive(self.delta, "delta"))

    @classmethod
    def suited_to(cls, y: Array, weights: Floats | None = None) -> Huber:
        """Huber with the 0.9 quantile of |y - median| for delta: nine targets in ten count as near the middle.

        Where more than nine in ten are the same, their mean distance from it; where all are, 1. Columns of y have a
        median each.

        Parameters
        ----------
        y : ndarray
            Checked targets.
        weights : ndarray (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        Huber
            The loss.
        """
        table = by_row(y)
        mass = (
            np.ones(table.shape) if weights is None else np.repeat(weights[:, None], table.shape[1], axis=1)
        )
        everywhere = Leaves.one(mass.ravel())
        column = np.broadcast_to(np.arange(table.shape[1]), table.shape).ravel()
        medians = everywhere.by(column, table.shape[1]).quantiles(table.ravel(), 0.5)
        far = np.abs(table - medians).ravel()
        delta = everywhere.quantiles(far, 0.9)[0] or everywhere.means(far)[0]
        return cls(float(delta) or 1.0)

    @property
    def lipschitz(self) -> float:
        return self.delta

    @staticmethod
    def row(f: float, y: float, delta: float) -> tuple[float, float, float]:
        r = f - y
        far = abs(r)
        near = min(far, delta)
        # Where the loss is straight, the curvature is that of the flattest parabola above it.
        return near * (far - 0.5 * near), max(-delta, min(r, delta)), 1.0 if far <= delta else delta / far

    def shortfall(self, reach: float, label_bound: float) -> float:
        return min(self.delta, max(label_bound - reach, 0.0))


@dataclass(frozen=True)
class Expectile(RowwiseLoss):
    """Asymmetric squares, |tau - 1[y < f]| (y - f)^2; tau = 0.5 is `Squared`.

    Targets: real. Lambda = 2 max(tau, 1 - tau), lambda = 2 min(tau, 1 - tau). Best constant: the
    tau-expectile. Link: identity.

    Parameters
    ----------
    tau : float, default 0.5
        The level, strictly between 0 and 1.

    Examples
    --------
    >>> import anyboost as ab
    >>> round(ab.losses.Expectile(0.8).best_constant([0.0, 1.0]), 6)
    0.8
    """

    infimum = 0.0
    tau: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.between(self.tau, "tau", 0, 1))

    @property
    def smoothness(self) -> float:
        return 2.0 * max(self.tau, 1.0 - self.tau)

    @property
    def strong_convexity(self) -> float:
        return 2.0 * min(self.tau, 1.0 - self.tau)

    @staticmethod
    def row(f: float, y: float, tau: float) -> tuple[float, float, float]:
        r = f - y
        side = 1.0 - tau if r > 0.0 else tau
        return side * (r * r), 2.0 * side * r, 2.0 * side

    def steepest(self, reach: float, label_bound: float) -> float:
        return self.smoothness * (reach + label_bound)

    def shortfall(self, reach: float, label_bound: float) -> float:
        return self.smoothness * max(label_bound - reach, 0.0)
