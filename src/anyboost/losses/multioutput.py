"""Several real targets a row: a loss of one score, added up over the columns of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses.base import Around
from anyboost.losses.leaves import Leaves
from anyboost.losses.names import get
from anyboost.losses.rowwise import RowwiseLoss


@dataclass(frozen=True)
class Multioutput(Around, RowwiseLoss):
    """A loss for every column of the targets, sum_k loss(f_k, y_k), y being (n, k).

    Targets: the loss's, in every column. Lambda and lambda are the loss's. Best constant: that of each column.
    Link: the loss's, for every score.

    Parameters
    ----------
    loss : RowwiseLoss
        A loss of one output.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Multioutput(ab.losses.Absolute())
    >>> loss.best_constant([[1.0, 10.0], [2.0, 20.0], [9.0, 90.0]])
    array([ 2., 20.])
    """

    loss: RowwiseLoss

    def __post_init__(self) -> None:
        base = get(self.loss)
        if not isinstance(base, RowwiseLoss) or base.vector:
            raise ValueError(f"loss must be a row-wise loss of one score, got {base}; try Squared()")
        object.__setattr__(self, "loss", base)

    @property
    def vector(self) -> bool:
        return True

    @property
    def kinked(self) -> bool:
        return self.loss.kinked

    @property
    def smoothable(self) -> bool:
        return self.loss.smoothable

    @property
    def smoothness(self) -> float:
        return self.loss.smoothness

    @property
    def strong_convexity(self) -> float:
        return self.loss.strong_convexity

    def check(self, y: Any) -> Array:
        targets = checks.numbers(y, "y")
        if targets.ndim != 2 or targets.shape[1] < 2:
            raise ValueError(
                f"y must have two or more columns for the loss {self.name}, got shape {targets.shape}: "
                f"use the loss {self.loss} itself"
            )
        return np.ascontiguousarray(np.stack([self.loss.check(column) for column in targets.T], axis=1))

    def outputs(self, y: Array) -> int:
        return y.shape[1]

    def infima(self, y: Array) -> Floats:
        return np.add.reduce([self.loss.infima(column) for column in y.T])

    @property
    def has_curvature(self) -> bool:
        return self.loss.has_curvature

    @property
    def farthest(self) -> float:
        return self.loss.farthest

    def both(self, scores: Floats, y: Array) -> tuple[Floats, Floats]:
        values, slopes = self.loss.both(scores.ravel(), y.ravel())
        return values.reshape(scores.shape).sum(axis=1), slopes.reshape(scores.shape)

    def curvatures(self, scores: Floats, y: Array) -> Floats:
        return self.loss.curvatures(scores.ravel(), y.ravel()).reshape(scores.shape)

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        return self.loss.envelope_gradients(scores.ravel(), y.ravel(), mu).reshape(scores.shape)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> Floats:
        return np.array([self.loss.constant_on(column, sample, 1) for column in y.T])
