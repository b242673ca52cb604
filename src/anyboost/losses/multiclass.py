"""Losses of K classes, y in {0 .. K-1}: scores are (n, K), the largest one names the class."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np

from anyboost.backends import definitions
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.elementary import log_of
from anyboost.losses.functionals import FAR
from anyboost.losses.leaves import Leaves
from anyboost.losses.rowwise import FARTHEST_CONSTANT, RowwiseLoss, no_best_constant


def highest(f: Floats) -> float:
    """The largest score of a row."""
    top = f[0]
    for k in range(1, len(f)):
        top = max(top, f[k])
    return top


def shares(f: Floats, top: float, out: Floats) -> float:
    """out_k = exp(f_k) / sum_j exp(f_j), for the largest score; returns the sum over exp(top)."""
    for k in range(len(f)):
        out[k] = exp(f[k] - top)
    together = 0.0
    for k in range(len(f)):
        together += out[k]
    for k in range(len(f)):
        out[k] /= together
    return together


@dataclass(frozen=True)
class Softmax(RowwiseLoss):
    """The cross entropy, log sum_k exp(f_k) - f_y.

    Targets: 0 .. K-1. Lambda = 1/2, Lipschitz sqrt(2). Best constant: log class shares, their mean taken out.
    Link: the class of the largest score; probabilities exp(f_k) / sum_j exp(f_j).

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.Softmax().probabilities([[0.0, 0.0]])
    array([[0.5, 0.5]])
    """

    farthest = FAR
    infimum = 0.0
    domain = domains.CLASSES
    shift_invariant = True
    link_ = links.LARGEST_SOFTMAX
    smoothness = 0.5
    lipschitz = 2.0**0.5

    center = definitions.LOG_SHARES

    @staticmethod
    def row(f: Floats, y: int, _: float, slopes: Floats) -> float:
        top, own = highest(f), int(y)
        together = shares(f, top, slopes)
        # p_y - 1 as minus the others' sum: relatively exact where the row is all but certain.
        slopes[own], others = 0.0, 0.0
        for k in range(len(f)):
            others += slopes[k]
        slopes[own] = -others
        return log(together) + (top - f[own])

    @staticmethod
    def row_curvatures(f: Floats, _y: int, _: float, curvatures: Floats) -> None:
        # 2 p (1 - p), twice the diagonal: a diagonal matrix above diag(p) - p p'.
        top = highest(f)
        shares(f, top, curvatures)
        largest, others = -1, 0.0
        for k in range(len(f)):
            if f[k] == top and largest < 0:
                largest = k
            else:
                others += curvatures[k]
        for k in range(len(f)):
            curvatures[k] *= 2.0 * (others if k == largest else 1.0 - curvatures[k])

    def steepest(self, reach: float, label_bound: float) -> float:
        return 2.0

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> Floats:
        mass = sample.by(y, outputs).masses()
        present = mass > 0
        constant = np.full(len(mass), -FARTHEST_CONSTANT)
        logs = np.array([log_of(float(part)) for part in mass[present]])
        constant[present] = logs - logs.mean()
        if not present.all():
            lowest = min(no_best_constant(self.name, -1.0), float(constant.min()))
            constant[~present] = lowest
        return constant


@dataclass(frozen=True)
class MulticlassHinge(RowwiseLoss):
    """The hinge of Crammer and Singer, max_k (f_k + 1[k != y]) - f_y; the lowest-numbered maximizer counts.

    Targets: 0 .. K-1. Lipschitz sqrt(2). Best constant: the unit vector of a class with more than half
    the weight, else 0. Link: the class of the largest score.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.MulticlassHinge().value([[0.0, 0.5, 0.0]], [1])
    0.5
    """

    infimum = 0.0
    domain = domains.CLASSES
    shift_invariant = True
    link_ = links.LARGEST
    lipschitz = 2.0**0.5
    kinked = True

    reach = 4.0

    @staticmethod
    def row(f: Floats, y: int, _: float, slopes: Floats) -> float:
        own, best, top = int(y), 0, -inf
        for k in range(len(f)):
            raised = f[k] if k == own else f[k] + 1.0
            slopes[k] = 0.0
            if raised > top:
                best, top = k, raised
        slopes[best] += 1.0
        slopes[own] -= 1.0
        return top - f[own]

    def steepest(self, reach: float, label_bound: float) -> float:
        return 2.0

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        """The gradient of the Moreau envelope: the maximum's is a projection onto the probability simplex.

        Parameters
        ----------
        scores : ndarray (n, K)
            Raw scores.
        y : ndarray
            Checked targets.
        mu : float
            How much the envelope smooths.

        Returns
        -------
        ndarray (n, K)
            The gradients.
        """
        rows = np.arange(len(y))
        raised = (scores + 1.0) / mu
        raised[rows, y] = scores[rows, y] / mu + 1.0
        gradient = onto_simplex(raised)
        gradient[rows, y] -= 1.0
        return gradient

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> Floats:
        mass = sample.by(y, outputs).masses()
        constant = np.zeros(len(mass))
        heaviest = int(np.argmax(mass))
        if mass[heaviest] > 0.5 * (1.0 + 1e-12) * mass.sum():
            constant[heaviest] = 1.0
        return constant

    def _moves(self, scores: Floats, y: Array, leaves: Leaves, output: int) -> Floats:
        """As for the hinge of two classes: a row's kink is where the output meets the best of the others."""
        rows, own = np.arange(len(y)), y == output
        raised = scores + 1.0
        raised[rows, y] = scores[rows, y]
        moving = raised[:, output].copy()
        raised[:, output] = -np.inf
        return leaves.quantiles(raised.max(axis=1) - moving, leaves.means(own))


def onto_simplex(points: Floats) -> Floats:
    """The nearest point of {p >= 0, sum p = 1} to each row: (points - level)+ with the level that sums to one."""
    falling = -np.sort(-points, axis=1)
    excess = np.cumsum(falling, axis=1) - 1.0
    counts = np.arange(1, points.shape[1] + 1)
    used = (falling - excess / counts > 0).sum(axis=1)
    level = excess[np.arange(len(points)), used - 1] / used
    return np.maximum(points - level[:, None], 0.0)
