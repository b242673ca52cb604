"""Losses of two classes, y in {-1, +1}: functions of the margin m = y f."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from anyboost.backends import definitions
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.elementary import exp_of, log_of
from anyboost.losses.functionals import FAR
from anyboost.losses.leaves import Leaves
from anyboost.losses.rowwise import RowwiseLoss, no_best_constant
from anyboost.losses.search import FADE


def _class_weights(y: Array, sample: Leaves) -> tuple[float, float]:
    """Total weight of +1 and of -1."""
    return float(sample.sums(y > 0)[0]), float(sample.sums(y < 0)[0])


def _log_odds(name: str, y: Array, sample: Leaves, factor: float = 1.0) -> float:
    plus, minus = _class_weights(y, sample)
    if plus == 0 or minus == 0:
        return no_best_constant(name, plus - minus)
    return factor * (log_of(plus) - log_of(minus))


@dataclass(frozen=True)
class Logistic(RowwiseLoss):
    """The logistic loss, log(1 + exp(-y f)).

    Targets: -1, +1. Lambda = 1/4, Lipschitz 1. Best constant: the log odds. Link: the label f > 0;
    P(+1) = 1 / (1 + exp(-f)).

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Logistic()
    >>> loss.link([-2.0, 0.5]), round(loss.best_constant([-1, 1, 1, 1]), 4)
    (array([-1.,  1.]), 1.0986)
    """

    farthest = FAR
    infimum = 0.0
    domain = domains.SIGNS
    link_ = links.SIGN_LOGISTIC
    smoothness = 0.25
    lipschitz = 1.0

    center = definitions.LOG_ODDS

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        margin = y * f
        small = exp(-abs(margin))
        # 1 / (1 + exp(margin)), relatively exact in both tails.
        wrong = (1.0 if margin <= 0.0 else small) / (1.0 + small)
        value = log1p(small) + max(-margin, 0.0)
        return value, -y * wrong, small / ((1.0 + small) * (1.0 + small))

    def steepest(self, reach: float, label_bound: float) -> float:
        return 1.0 / (1.0 + exp_of(-reach))

    def shortfall(self, reach: float, label_bound: float) -> float:
        return 1.0 / (1.0 + exp_of(reach))

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        return _log_odds(self.name, y, sample)


@dataclass(frozen=True)
class Exponential(RowwiseLoss):
    """The loss of AdaBoost, exp(-y f).

    Targets: -1, +1. No constants. Best constant: half the log odds. Link: the label f > 0;
    P(+1) = 1 / (1 + exp(-2 f)).

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Exponential().value([0.0, 0.0], [-1, 1])
    1.0
    """

    farthest = FAR
    infimum = 0.0
    domain = domains.SIGNS
    link_ = links.SIGN_HALF_LOGISTIC

    center = definitions.HALF_LOG_ODDS
    reach = 3.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        value = exp(-y * f)
        return value, -y * value, value

    def smoothness_within(self, reach: float) -> float:
        return exp_of(reach)

    def steepest(self, reach: float, label_bound: float) -> float:
        return exp_of(reach)

    def shortfall(self, reach: float, label_bound: float) -> float:
        return exp_of(-reach)

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        """log(sum over +1 of w exp(-f) / sum over -1 of w exp(f)) / 2."""
        plus, minus = leaves.log_sums(-scores, y > 0), leaves.log_sums(scores, y < 0)
        no_plus, no_minus = np.isneginf(plus), np.isneginf(minus)
        one_class = log_of(FADE) * (no_plus.astype(float) - no_minus)
        odds = np.where(no_plus, 0.0, plus) - np.where(no_minus, 0.0, minus)
        return np.where(no_plus | no_minus, one_class, 0.5 * odds)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        return _log_odds(self.name, y, sample, 0.5)


@dataclass(frozen=True)
class Hinge(RowwiseLoss):
    """The hinge, (1 - y f)+; subgradient 0 at margin 1 and above.

    Targets: -1, +1. Lipschitz 1. Best constant: the heavier label, 0 on a tie. Link: the label f > 0.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Hinge().value([-1.0, 2.0], [1, 1])
    1.0
    """

    infimum = 0.0
    domain = domains.SIGNS
    link_ = links.SIGN
    lipschitz = 1.0
    kinked = True
    reach = 2.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        short = 1.0 - y * f
        return max(short, 0.0), -y if short > 0.0 else 0.0, 0.0

    def shortfall(self, reach: float, label_bound: float) -> float:
        return float(reach < 1.0)

    @property
    def lines(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 1.0

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        return -y * np.clip((1.0 - y * scores) / mu, 0.0, 1.0)

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        """The slope at c is -W(+1) plus the weight of all kinks y_n - f_n below c: a weighted quantile."""
        return leaves.quantiles(leaves.rest(y, scores), leaves.means(y > 0))

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        return float(self._best_shifts(np.zeros(len(y)), y, sample, None)[0])


@dataclass(frozen=True)
class SquaredHinge(RowwiseLoss):
    """Half the squared hinge, ((1 - y f)+)^2 / 2.

    Targets: -1, +1. Lambda = 1. Best constant: P(+1) - P(-1). Link: the label f > 0;
    P(+1) = (1 + f) / 2, clipped to [0, 1].

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.SquaredHinge().value([-1.0, 2.0], [1, 1])
    1.0
    """

    infimum = 0.0
    domain = domains.SIGNS
    link_ = links.SIGN_CLIPPED
    smoothness = 1.0
    reach = 2.0

    @staticmethod
    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        short = max(1.0 - y * f, 0.0)
        # No parabola of less curvature stays above the loss, also where the loss is 0.
        return 0.5 * (short * short), -y * short, 1.0

    def steepest(self, reach: float, label_bound: float) -> float:
        return 1.0 + reach

    def shortfall(self, reach: float, label_bound: float) -> float:
        return max(1.0 - reach, 0.0)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float:
        plus, minus = _class_weights(y, sample)
        return (plus - minus) / (plus + minus)
