"""Losses of real targets: what they estimate is their best constant.

squared: mean; absolute: median; quantile: tau-quantile; Huber: between median and mean; expectile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses.base import Array, RowwiseLoss
from anyboost.losses.quantiles import weighted_quantiles
from anyboost.losses.sums import leaf_sums, total


@dataclass(frozen=True)
class Squared(RowwiseLoss):
    """Half the squared error, (y - f)^2 / 2.

    Targets: real. Lambda = lambda = 1. Best constant: the mean. Link: identity.
    """

    infimum = 0.0
    smoothness = 1.0
    strong_convexity = 1.0
    compiled = "squared"

    def values(self, scores: Floats, y: Array) -> Floats:
        return 0.5 * (y - scores) ** 2

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return scores - y

    def best_shifts(
        self,
        scores: Floats,
        y: Array,
        weights: Floats,
        leaf: Array,
        n_leaves: int,
        directions: Floats | None = None,
    ) -> Floats:
        mass = leaf_sums(leaf, weights, n_leaves)
        pull = leaf_sums(leaf, weights * (y - scores), n_leaves)
        return np.divide(pull, mass, out=np.zeros(n_leaves), where=mass > 0)

    def _best_constant(self, y: Array, weights: Floats, outputs: int) -> float:
        return _constant(self, y, weights)


class _PiecewiseLinear(RowwiseLoss):
    """(1 - tau) (f - y)+ + tau (y - f)+ times a scale; its exact steps are weighted quantiles."""

    infimum = 0.0
    kinked = True
    compiled = "pinball"
    _level: float
    _slopes: tuple[float, float]

    @property
    def parameters(self) -> tuple[float, float]:
        return self._slopes[1], -self._slopes[0]

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        return np.clip((scores - y) / mu, *self._slopes)

    def best_shifts(
        self,
        scores: Floats,
        y: Array,
        weights: Floats,
        leaf: Array,
        n_leaves: int,
        directions: Floats | None = None,
    ) -> Floats:
        return weighted_quantiles(y - scores, weights, leaf, n_leaves, self._level)

    def _best_constant(self, y: Array, weights: Floats, outputs: int) -> float:
        return _constant(self, y, weights)


@dataclass(frozen=True)
class Absolute(_PiecewiseLinear):
    """The absolute error, |y - f|; subgradient 0 at the kink.

    Targets: real. Lipschitz 1. Best constant: the median. Link: identity.
    """

    lipschitz = 1.0
    _level = 0.5
    _slopes = (-1.0, 1.0)

    def values(self, scores: Floats, y: Array) -> Floats:
        return np.abs(y - scores)

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return np.subtract(scores > y, scores < y, dtype=np.float64)


@dataclass(frozen=True)
class Quantile(_PiecewiseLinear):
    """The pinball loss, tau (y - f)+ + (1 - tau) (f - y)+; subgradient 0 at the kink.

    Targets: real. Lipschitz max(tau, 1 - tau). Best constant: the tau-quantile. Link: identity.
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

    def values(self, scores: Floats, y: Array) -> Floats:
        short = y - scores
        return np.maximum(self.tau * short, (self.tau - 1.0) * short)

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return np.where(scores > y, 1.0 - self.tau, np.where(scores < y, -self.tau, 0.0))


@dataclass(frozen=True)
class Huber(RowwiseLoss):
    """r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2), with r = y - f.

    Targets: real. Lambda = 1, Lipschitz delta. Best constant: where clipped residuals cancel. Link: identity.
    """

    infimum = 0.0
    delta: float = 1.0
    smoothness = 1.0
    compiled = "huber"

    @property
    def parameters(self) -> tuple[float, float]:
        return self.delta, 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.positive(self.delta, "delta"))

    @classmethod
    def suited_to(cls, y: Array, weights: Floats | None = None) -> Huber:
        """Huber with the 0.9 quantile of |y - median| for delta: nine targets in ten count as near the middle.

        Where more than nine in ten are the same, their mean distance from it; where all are, 1. Columns of y have a
        median each.
        """
        table = y.reshape(len(y), -1)
        mass = (
            np.ones(table.shape) if weights is None else np.repeat(weights[:, None], table.shape[1], axis=1)
        )
        column = np.broadcast_to(np.arange(table.shape[1]), table.shape).ravel()
        medians = weighted_quantiles(table.ravel(), mass.ravel(), column, table.shape[1], 0.5)
        far = np.abs(table - medians).ravel()
        delta = weighted_quantiles(far, mass.ravel(), np.zeros(far.size, dtype=np.intp), 1, 0.9)[0]
        delta = delta or total(mass.ravel() * far) / total(mass.ravel())
        return cls(float(delta) or 1.0)

    @property
    def lipschitz(self) -> float:
        return self.delta

    def values(self, scores: Floats, y: Array) -> Floats:
        far = np.abs(y - scores)
        near = np.minimum(far, self.delta)
        return near * (far - 0.5 * near)

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return np.clip(scores - y, -self.delta, self.delta)


@dataclass(frozen=True)
class Expectile(RowwiseLoss):
    """|tau - 1[y < f]| (y - f)^2: asymmetric squares; tau = 0.5 is `Squared`.

    Targets: real. Lambda = 2 max(tau, 1 - tau), lambda = 2 min(tau, 1 - tau). Best constant: the
    tau-expectile. Link: identity.
    """

    infimum = 0.0
    tau: float = 0.5
    compiled = "expectile"

    @property
    def parameters(self) -> tuple[float, float]:
        return 1.0 - self.tau, self.tau

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", checks.between(self.tau, "tau", 0, 1))

    @property
    def smoothness(self) -> float:
        return 2.0 * max(self.tau, 1.0 - self.tau)

    @property
    def strong_convexity(self) -> float:
        return 2.0 * min(self.tau, 1.0 - self.tau)

    def values(self, scores: Floats, y: Array) -> Floats:
        return self._side(scores, y) * (y - scores) ** 2

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return 2.0 * self._side(scores, y) * (scores - y)

    def _side(self, scores: Floats, y: Array) -> Floats:
        return np.where(y < scores, 1.0 - self.tau, self.tau)


def _constant(loss: RowwiseLoss, y: Array, weights: Floats) -> float:
    """The exact step of a single leaf from scores of zero."""
    leaf = np.zeros(len(y), dtype=np.intp)
    return float(loss.best_shifts(np.zeros(len(y)), y, weights, leaf, 1)[0])
