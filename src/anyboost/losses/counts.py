"""Losses of counts and amounts, with log link: the score is the logarithm of the mean.

All three have slope exp(a f) (exp(f) - y) for some a, so every exact step is the logarithm of a ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from anyboost import checks
from anyboost.backends import definitions
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.elementary import exp_of, log_each, log_of
from anyboost.losses.functionals import FAR
from anyboost.losses.leaves import Leaves
from anyboost.losses.rowwise import RowwiseLoss
from anyboost.losses.search import FADE


class _LogMean(RowwiseLoss):
    """Slope exp((1 - power) f) (exp(f) - y): Poisson (1), Tweedie (between), Gamma (2)."""

    farthest = FAR
    power: float
    link_ = links.LOG
    center = definitions.LOG_MEAN

    def steepest(self, reach: float, label_bound: float) -> float:
        return max(exp_of((2.0 - self.power) * reach), label_bound * exp_of((self.power - 1.0) * reach))

    def stand_ins(self, weight: float, first: float, second: float) -> tuple[list[float], list[float]]:
        return [first / weight], [weight]  # the loss is linear in the target

    def infima(self, y: Array) -> Floats:
        """What the loss of each row is under for no score.

        It is the loss at exp(f) = y, or toward f = -inf where y is 0: there both parts of it vanish.

        Parameters
        ----------
        y : ndarray
            Checked targets.

        Returns
        -------
        ndarray (n,)
            The infima.
        """
        positive = np.where(y > 0, y, 1.0)
        return np.where(y > 0, self.values(log_each(positive), positive), 0.0)

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        """log(sum w y exp((1 - power) f) / sum w exp((2 - power) f)); all targets zero: the slope fades."""
        down = leaves.log_sums((1.0 - self.power) * scores, y)
        up = leaves.log_sums((2.0 - self.power) * scores)
        fade = log_of(FADE) / (2.0 - self.power) if self.power < 2.0 else 0.0
        faded, empty = np.isneginf(down), np.isneginf(up)
        return np.where(empty, 0.0, np.where(faded, fade, down - np.where(empty, 0.0, up)))

    def _has_constant(self, y: Array, sample: Leaves) -> bool:
        return float(sample.sums(y)[0]) > 0.0

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        amount = float(sample.sums(y)[0])
        if amount == 0:
            raise ValueError(
                f"y is 0 in every row, which the loss {self.name} has no best constant for: "
                "give at least one row with a y above 0, or use squared or absolute"
            )
        return log_of(amount) - log_of(float(sample.masses()[0]))


@dataclass(frozen=True)
class Poisson(_LogMean):
    """The negative log likelihood of a count without its constant, exp(f) - y f.

    Targets: 0 or larger. No constants. Best constant: log of the mean. Link: exp(f), the mean.

    Examples
    --------
    >>> import anyboost as ab
    >>> round(ab.losses.Poisson().best_constant([0.0, 1.0, 5.0]), 4)
    0.6931
    """

    domain = domains.NONNEGATIVE
    power = 1.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        mean = exp(f)
        return mean - y * f, mean - y, mean

    def smoothness_within(self, reach: float) -> float:
        return exp_of(reach)

    def shortfall(self, reach: float, label_bound: float) -> float:
        return max(label_bound - exp_of(reach), exp_of(-reach))


@dataclass(frozen=True)
class Gamma(_LogMean):
    """The negative log likelihood of an amount without its constant, y exp(-f) + f.

    Targets: larger than 0. No constants. Best constant: log of the mean. Link: exp(f), the mean.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Gamma().value([0.0], [3.0])
    3.0
    """

    domain = domains.POSITIVE
    power = 2.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        ratio = y * exp(-f)
        return ratio + f, 1.0 - ratio, ratio


@dataclass(frozen=True)
class Tweedie(_LogMean):
    """Between `Poisson` and `Gamma`, y exp((1 - p) f) / (p - 1) + exp((2 - p) f) / (2 - p).

    Targets: 0 or larger. No constants. Best constant: log of the mean. Link: exp(f), the mean.

    Parameters
    ----------
    power : float, default 1.5
        p, strictly between 1 and 2.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Tweedie(1.5).value([0.0], [3.0])
    8.0
    """

    power: float = 1.5
    domain = domains.NONNEGATIVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", checks.between(self.power, "power", 1, 2))

    @staticmethod
    def row(f: float, y: float, power: float) -> tuple[float, float, float]:
        up = exp((2.0 - power) * f)
        # Zero times an overflow is zero here, not NaN: a target of zero has no shrinking part.
        down = y * exp((1.0 - power) * f) if y > 0.0 else 0.0
        value = down / (power - 1.0) + up / (2.0 - power)
        return value, up - down, (2.0 - power) * up + (power - 1.0) * down
