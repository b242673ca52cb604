"""Losses of K classes, y in {0 .. K-1}: scores are (n, K), the largest one names the class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import domains, links
from anyboost.losses.base import FARTHEST_CONSTANT, Array, RowwiseLoss, no_best_constant
from anyboost.losses.sums import leaf_sums


@dataclass(frozen=True)
class Softmax(RowwiseLoss):
    """log sum_k exp(f_k) - f_y, the cross entropy.

    Targets: 0 .. K-1. Lambda = 1/2, Lipschitz sqrt(2). Best constant: log class shares, their mean taken out.
    Link: the class of the largest score; probabilities exp(f_k) / sum_j exp(f_j).
    """

    infimum = 0.0
    domain = domains.CLASSES
    shift_invariant = True
    link_ = links.LARGEST_SOFTMAX
    smoothness = 0.5
    lipschitz = 2.0**0.5

    def values(self, scores: Floats, y: Array) -> Floats:
        return self.both(scores, y)[0]

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return self.both(scores, y)[1]

    def both(self, scores: Floats, y: Array) -> tuple[Floats, Floats]:
        rows = np.arange(len(y))
        highest = scores.max(axis=1)
        with np.errstate(under="ignore"):
            powers = np.exp(scores - highest[:, None])
            together = powers.sum(axis=1)
            gradient = powers / together[:, None]
        # p_y - 1 as minus the others' sum: relatively exact where the row is all but certain.
        gradient[rows, y] = 0.0
        gradient[rows, y] = -gradient.sum(axis=1)
        return np.log(together) + (highest - scores[rows, y]), gradient

    def _best_constant(self, y: Array, weights: Floats, outputs: int) -> Floats:
        shares = leaf_sums(y, weights, outputs)
        present = shares > 0
        constant = np.full(len(shares), -FARTHEST_CONSTANT)
        logs = np.log(shares[present])
        constant[present] = logs - logs.mean()
        if not present.all():
            lowest = min(no_best_constant(self.name, -1.0), float(constant.min()))
            constant[~present] = lowest
        return constant


@dataclass(frozen=True)
class MulticlassHinge(RowwiseLoss):
    """max_k (f_k + 1[k != y]) - f_y, the hinge of Crammer and Singer; the lowest-numbered maximizer counts.

    Targets: 0 .. K-1. Lipschitz sqrt(2). Best constant: the unit vector of a class with more than half
    the weight, else 0. Link: the class of the largest score.
    """

    infimum = 0.0
    domain = domains.CLASSES
    shift_invariant = True
    link_ = links.LARGEST
    lipschitz = 2.0**0.5
    kinked = True

    def values(self, scores: Floats, y: Array) -> Floats:
        rows = np.arange(len(y))
        raised = scores + 1.0
        raised[rows, y] = scores[rows, y]
        return raised.max(axis=1) - scores[rows, y]

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        rows = np.arange(len(y))
        raised = scores + 1.0
        raised[rows, y] = scores[rows, y]
        gradient = np.zeros(scores.shape)
        gradient[rows, raised.argmax(axis=1)] = 1.0
        gradient[rows, y] -= 1.0
        return gradient

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        """The maximum's envelope is a projection onto the probability simplex."""
        rows = np.arange(len(y))
        raised = (scores + 1.0) / mu
        raised[rows, y] = scores[rows, y] / mu + 1.0
        gradient = onto_simplex(raised)
        gradient[rows, y] -= 1.0
        return gradient

    def _best_constant(self, y: Array, weights: Floats, outputs: int) -> Floats:
        shares = leaf_sums(y, weights, outputs)
        constant = np.zeros(len(shares))
        heaviest = int(np.argmax(shares))
        if shares[heaviest] > 0.5 * (1.0 + 1e-12) * shares.sum():
            constant[heaviest] = 1.0
        return constant


def onto_simplex(points: Floats) -> Floats:
    """The nearest point of {p >= 0, sum p = 1} to each row: (points - level)+ with the level that sums to one."""
    falling = -np.sort(-points, axis=1)
    excess = np.cumsum(falling, axis=1) - 1.0
    counts = np.arange(1, points.shape[1] + 1)
    used = (falling - excess / counts > 0).sum(axis=1)
    level = excess[np.arange(len(points)), used - 1] / used
    return np.maximum(points - level[:, None], 0.0)
