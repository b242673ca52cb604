"""Losses of several real outputs for one real target: quantiles fitted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anyboost import checks
from anyboost.backends.few import left_to_right
from anyboost.checks import Array, Floats
from anyboost.losses import links
from anyboost.losses.leaves import Leaves
from anyboost.losses.regression import pinball
from anyboost.losses.rowwise import RowwiseLoss


@dataclass(frozen=True)
class MultiQuantile(RowwiseLoss):
    """Several quantiles fitted together, one output each: sum_k pinball(tau_k, f_k, y).

    Targets: real. Best constant: the quantiles. Link: the scores of a row in increasing order, so that
    predicted quantiles never cross. Add `Crossing()` to keep the scores themselves in order.

    Parameters
    ----------
    taus : iterable of float
        Two levels or more, increasing, strictly between 0 and 1.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.MultiQuantile([0.1, 0.9])
    >>> loss.link([[3.0, 1.0]])
    array([[1., 3.]])
    """

    infimum = 0.0
    taus: tuple[float, ...]

    kinked = True
    link_ = links.SORTED

    def __init__(self, taus: Iterable[float]) -> None:
        levels = tuple(checks.between(tau, "taus", 0, 1) for tau in taus)
        if len(levels) < 2 or any(b <= a for a, b in pairwise(levels)):
            raise ValueError(
                f"taus must be two or more increasing levels, got {levels}; for one use Quantile(tau)"
            )
        object.__setattr__(self, "taus", levels)

    def __str__(self) -> str:
        return f"{self.name}:{','.join(map(repr, self.taus))}"

    @property
    def vector(self) -> bool:
        return True

    @property
    def lipschitz(self) -> float:
        return float(np.sqrt(left_to_right(max(tau, 1 - tau) ** 2 for tau in self.taus)))

    def outputs(self, y: Array) -> int:
        return len(self.taus)

    @property
    def parameter(self) -> Floats:
        return np.array(self.taus)

    @staticmethod
    def row(f: Floats, y: float, taus: Floats, slopes: Floats) -> float:
        value = 0.0
        for k in range(len(f)):
            short, slopes[k], _ = pinball(f[k], y, 1.0 - taus[k], taus[k])
            value += short
        return value

    def steepest(self, reach: float, label_bound: float) -> float:
        return left_to_right(max(tau, 1.0 - tau) for tau in self.taus)

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        tau = np.array(self.taus)
        return np.clip((scores - y[:, None]) / mu, -tau, 1.0 - tau)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> Floats:
        return np.array([sample.quantiles(y, tau)[0] for tau in self.taus])

    def _moves(self, scores: Floats, y: Array, leaves: Leaves, output: int) -> Floats:
        return leaves.quantiles(leaves.rest(y, scores[:, output]), self.taus[output])


@dataclass(frozen=True)
class Crossing(RowwiseLoss):
    """What a row's outputs cost for not increasing, sum_k (f_k - f_{k+1} + margin)+. For sums.

    Targets: any real; they do not matter. Best constant: 0, ..., (K - 1) * margin.

    Parameters
    ----------
    margin : float, default 0.0
        By how much each output shall exceed the one before it; not negative.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.MultiQuantile([0.1, 0.9]) + 2.0 * ab.losses.Crossing()
    >>> loss.value([[3.0, 1.0]], [2.0])
    5.8
    """

    infimum = 0.0
    margin: float = 0.0

    kinked = True
    smoothable = False
    link_ = links.SORTED

    def __post_init__(self) -> None:
        if checks.real(self.margin, "margin") < 0:
            raise ValueError(f"margin must not be negative, got {self.margin}")

    @property
    def vector(self) -> bool:
        return True

    @property
    def lipschitz(self) -> float:
        return 2.0 if self.margin == 0 else np.inf

    def outputs(self, y: Array) -> int:
        raise ValueError(
            "the loss crossing has no outputs of its own: add it to another, MultiQuantile(taus) + Crossing(), or take "
            '"multi_quantile:0.05,0.5,0.95" alone, whose predictions never cross'
        )

    def values(self, scores: Floats, y: Array) -> Floats:
        return np.maximum(scores[:, :-1] - scores[:, 1:] + self.margin, 0.0).sum(axis=1)

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        crossed = (scores[:, :-1] - scores[:, 1:] + self.margin > 0).astype(np.float64)
        gradient = np.zeros(scores.shape)
        gradient[:, :-1] += crossed
        gradient[:, 1:] -= crossed
        return gradient

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> Floats:
        return self.margin * np.arange(outputs, dtype=np.float64)
