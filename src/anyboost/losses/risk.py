"""Losses of a whole sample's row losses: its tail, its worst group.

    CVaR:        the mean of the worst 1 - alpha of the measure
    WorstGroup:  the largest of the groups' means

Both are a maximum over reweightings of the rows; the subgradient is the row-wise one under a weighting that
attains it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses.base import Around
from anyboost.losses.functionals import Functional, Measure
from anyboost.losses.leaves import Leaves
from anyboost.losses.names import get
from anyboost.losses.rowwise import RowwiseLoss
from anyboost.trees.parts import distinct

FEW = 2**16  # rows whose losses are sorted sooner than counted, and gathered sooner than their digits
_TIE = 1e-12  # group means this close, relatively, are equal


class _Reweighted(Around):
    """A loss built on a row-wise one, with its targets, outputs and link."""

    loss: RowwiseLoss

    @property
    def vector(self) -> bool:
        return self.loss.vector

    def outputs(self, y: Array) -> int:
        return self.loss.outputs(y)


def _base(loss: Any) -> RowwiseLoss:
    chosen = get(loss)
    if not isinstance(chosen, RowwiseLoss):
        raise ValueError(f"loss must be a row-wise loss, got {chosen}; try Absolute()")
    return chosen


@dataclass(frozen=True)
class CVaR(_Reweighted):
    """The mean of `loss` over the worst 1 - alpha of the measure; rows tied at the border share what is left.

    Parameters
    ----------
    loss : RowwiseLoss
        The loss of a row.
    alpha : float, default 0.9
        The share of the measure that does not count: 0 is the plain mean; near 1, the worst row.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> R = ab.losses.CVaR(ab.losses.Absolute(), 0.5).on([1.0, 2.0, 3.0, 4.0], ab.space.Space(np.zeros((4, 1))))
    >>> R.value(np.zeros(4))
    3.5
    """

    loss: RowwiseLoss
    alpha: float = 0.9

    name = "cvar"

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", _base(self.loss))
        if not 0 <= checks.real(self.alpha, "alpha") < 1:
            raise ValueError(f"alpha must be at least 0 and below 1, got {self.alpha}")

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        inner = self.loss.on(y, space, groups, outputs)
        return TailFunctional(self.loss, inner.y, space, inner.outputs, self.alpha)


@dataclass(frozen=True)
class WorstGroup(_Reweighted):
    """The largest mean of `loss` over the groups; of equals the first in the order of their labels.

    Parameters
    ----------
    loss : RowwiseLoss
        The loss of a row.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> loss = ab.losses.WorstGroup(ab.losses.Absolute())
    >>> R = loss.on([1.0, 2.0, 3.0], ab.space.Space(np.zeros((3, 1))), groups=["a", "a", "b"])
    >>> R.value(np.zeros(3))
    3.0
    """

    loss: RowwiseLoss

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", _base(self.loss))

    @property
    def uses_groups(self) -> bool:
        return True

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        if groups is None:
            raise ValueError("groups must be given for the loss worst_group: one label a row")
        inner = self.loss.on(y, space, None, outputs)
        labels, codes = distinct(np.asarray(groups))
        return GroupFunctional(
            self.loss, inner.y, space, inner.outputs, Leaves(codes, len(labels), space.weights, space.rows)
        )


class _ReweightedFunctional(Functional):
    """R(f) = sum_n w_n factor_n l(f_n, y_n), the factors being those that make it largest."""

    def __init__(self, loss: RowwiseLoss, y: Array, space: Measure, outputs: int) -> None:
        self.loss, self.y, self.space, self.outputs = loss, y, space, outputs

    @abstractmethod
    def factors(self, losses: Floats) -> Floats:
        """The density of the worst measure, given the row losses."""

    def value(self, scores: Floats) -> float:
        losses = self.loss.values(scores, self.y)
        return self.space.mean(self.factors(losses) * losses)

    def subgradient(self, scores: Floats) -> Floats:
        losses, gradient = self.loss.both(scores, self.y)
        return np.ascontiguousarray((self.factors(losses) * gradient.T).T)

    @property
    def infimum(self) -> float:
        least = self.loss.infima(self.y)  # R grows with every row's loss
        finite = not self.space.rows.most(not np.isfinite(least).all())
        return self.space.mean(self.factors(least) * least) if finite else -math.inf

    def best_constant(self) -> float | Floats:
        if self.outputs == 1:
            return super().best_constant()
        sample = Leaves.one(self.space.weights, self.space.rows)
        return self.loss.constant_on(self.y, sample, self.outputs)


class TailFunctional(_ReweightedFunctional):
    """The mean of the worst 1 - alpha."""

    def __init__(self, loss: RowwiseLoss, y: Array, space: Measure, outputs: int, alpha: float) -> None:
        super().__init__(loss, y, space, outputs)
        self.alpha = alpha
        self._masses = space.fixed_mass[0]  # whole numbers: the order of rows cannot matter
        self._total = int(space.rows.add(self._masses.sum()))
        self._few = space.rows.gather(self._masses) if space.rows.n <= FEW else None

    def factors(self, losses: Floats) -> Floats:
        border, part = self._border(losses)
        return ((losses > border) + part * (losses == border)) / (1.0 - self.alpha)

    def _border(self, losses: Floats) -> tuple[float, float]:
        """The least loss in the tail, and the part of its rows that is in it."""
        rows, masses, tail = self.space.rows, self._masses, (1.0 - self.alpha) * float(self._total)
        filled = tail * (1 - 1e-12)  # sums of weights equal to the tail up to rounding fill it
        if self._few is None:
            border = self._least(losses, filled)
        else:
            border = _least_of_few(rows.gather(losses), self._few, filled)
        above, equal = rows.add(
            np.array([masses[losses > border].sum(), masses[losses == border].sum()])
        ).tolist()
        return border, min(max((tail - float(above)) / float(max(equal, 1)), 0.0), 1.0)

    def _least(self, losses: Floats, filled: float) -> float:
        """The largest loss at which so much mass is as large, by the digits of all losses: only sums over rows."""
        from anyboost.trees import cuts

        # Losses that are no numbers are not counted
        keys, _ = cuts.reached(
            lambda: [(-losses, self._masses)],
            lambda counted: np.array([min(filled, counted)]),
            0,
            self.space.rows,
        )
        return -float(cuts.values_of(keys)[0])


def _least_of_few(losses: Floats, masses: Array, filled: float) -> float:
    """The same of few rows, which are sorted sooner than counted."""
    worst_first = np.argsort(-losses, kind="stable")
    place = int(np.searchsorted(np.cumsum(masses[worst_first]), filled))
    return float(losses[worst_first[min(place, len(losses) - 1)]])


class GroupFunctional(_ReweightedFunctional):
    """The largest group mean."""

    def __init__(self, loss: RowwiseLoss, y: Array, space: Measure, outputs: int, groups: Leaves) -> None:
        super().__init__(loss, y, space, outputs)
        self._groups, self._shares = groups, groups.masses()

    def means(self, losses: Floats) -> Floats:
        """The mean loss of each group, in the order of their labels."""
        return self._groups.sums(losses) / self._shares

    def factors(self, losses: Floats) -> Floats:
        means = self.means(losses)
        worst = int(np.argmax(means >= means.max() - _TIE * np.abs(means).max()))
        return (self._groups.leaf == worst) / self._shares[worst]
