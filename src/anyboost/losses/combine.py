"""Sums and positive multiples of losses: `0.5 * Absolute() + Squared()`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.backends.few import left_to_right
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.base import Loss
from anyboost.losses.functionals import Functional, Measure
from anyboost.losses.joint import Crossing
from anyboost.losses.leaves import Leaves
from anyboost.losses.ranking import RankHinge, RankLogistic
from anyboost.losses.rowwise import RowwiseLoss
from anyboost.trees.parts import distinct
from anyboost.trees.rows import Rows

_SWEEPS = 20


def add(terms: list[tuple[float, Loss]]) -> Loss:
    """The sum of factor times loss; sums of sums are flattened."""
    flat: list[tuple[float, Any]] = []
    for factor, loss in terms:
        flat += [(factor * f, l) for f, l in terms_of(loss)]
    if len({loss.vector for _, loss in flat}) > 1:
        names = " and ".join(loss.name for _, loss in flat)
        raise ValueError(
            f"{names} cannot be added: some take one score a row and some several; use losses of one kind"
        )
    rowwise = all(isinstance(loss, RowwiseLoss) for _, loss in flat)
    return Sum(tuple(flat)) if rowwise else CoupledSum(tuple(flat))


Loss._summed = staticmethod(add)


def terms_of(loss: Loss) -> tuple[tuple[float, Any], ...]:
    """Factors and losses of a sum; of any other loss, itself."""
    return loss.terms if isinstance(loss, Sum | CoupledSum) else ((1.0, loss),)


def ranks(loss: Loss) -> bool:
    """Whether rows of a query are compared with each other."""
    return any(isinstance(term, RankHinge | RankLogistic) for _, term in terms_of(loss))


def written(terms: Iterable[tuple[float, Loss]]) -> str:
    """A sum as one writes it."""
    return " + ".join(str(loss) if factor == 1.0 else f"{factor:g}*{loss}" for factor, loss in terms)


class _Terms:
    """What all sums have of their terms."""

    terms: tuple[tuple[float, Any], ...]
    name: str

    def __str__(self) -> str:
        return self.name

    def check(self, y: Any) -> Array:
        checked = [loss.check(y) for _, loss in self.terms]
        return checked[0]

    @property
    def has_curvature(self) -> bool:
        return all(loss.has_curvature for _, loss in self.terms)

    @property
    def farthest(self) -> float:
        return max(loss.farthest for _, loss in self.terms)


@dataclass(frozen=True)
class Sum(_Terms, RowwiseLoss):
    """A sum of factors times losses, sum_i factor_i * loss_i(f, y), factors positive.

    Targets: those that every term accepts. Lambda, lambda and Lipschitz constants add up (an upper bound
    for Lambda and Lipschitz, a lower one for lambda). Link: the terms' common one, else the identity.

    Best constant: exact for one output. For several outputs the best of the terms' own best constants
    and 0, improved one coordinate at a time: exact for smooth losses, good for the others.

    Parameters
    ----------
    terms : tuple of (float, RowwiseLoss)
        Factors and losses.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = 0.5 * ab.losses.Absolute() + ab.losses.Squared()
    >>> loss.value([0.0], [2.0])
    3.0
    """

    terms: tuple[tuple[float, RowwiseLoss], ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        return written(self.terms)

    @property
    def domain(self) -> domains.Domain:  # type: ignore[override]
        inside = list(dict.fromkeys(loss.domain for _, loss in self.terms))
        if len(inside) == 1:
            return inside[0]
        return domains.Domain(
            " and ".join(domain.words for domain in inside),
            lambda y: np.logical_and.reduce([domain.contains(y) for domain in inside]),
            classes=inside[0].classes,
        )

    @property
    def vector(self) -> bool:
        return self.terms[0][1].vector

    def outputs(self, y: Array) -> int:
        sized = [loss for _, loss in self.terms if not isinstance(loss, Crossing)]
        counts = {loss.outputs(y) for loss in sized or [self.terms[0][1]]}
        if len(counts) > 1:
            raise ValueError(
                f"the terms of {self.name} have different numbers of outputs: use the same levels"
            )
        return counts.pop()

    @property
    def link_(self) -> links.Link:  # type: ignore[override]
        return links.common([loss.link_ for _, loss in self.terms])

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        return all(loss.shift_invariant for _, loss in self.terms)

    @property
    def kinked(self) -> bool:
        return any(loss.kinked for _, loss in self.terms)

    @property
    def smoothable(self) -> bool:
        # With several outputs a sum's envelope has no formula.
        return self.kinked and not self.vector

    @property
    def smoothness(self) -> float:
        return left_to_right(factor * loss.smoothness for factor, loss in self.terms)

    @property
    def strong_convexity(self) -> float:
        return left_to_right(factor * loss.strong_convexity for factor, loss in self.terms)

    @property
    def lipschitz(self) -> float:
        return left_to_right(factor * loss.lipschitz for factor, loss in self.terms)

    def infima(self, y: Array) -> Floats:
        return np.add.reduce([factor * loss.infima(y) for factor, loss in self.terms])

    def steepest(self, reach: float, label_bound: float) -> float:
        return left_to_right(factor * loss.steepest(reach, label_bound) for factor, loss in self.terms)

    @property
    def lines(self) -> tuple[float, float, float] | None:
        parts = [loss.lines for _, loss in self.terms]
        if None in parts:
            return None
        factors = np.array([[factor] for factor, _ in self.terms])
        return tuple((factors * np.array(parts)).sum(axis=0).tolist())

    def both(self, scores: Floats, y: Array) -> tuple[Floats, Floats]:
        parts = [(factor, *loss.both(scores, y)) for factor, loss in self.terms]
        values = np.add.reduce([factor * value for factor, value, _ in parts])
        return values, np.add.reduce([factor * slope for factor, _, slope in parts])

    def curvatures(self, scores: Floats, y: Array) -> Floats:
        return np.add.reduce([factor * loss.curvatures(scores, y) for factor, loss in self.terms])

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        if len(self.terms) == 1:
            return self.terms[0][1].shifts_in(scores, y, leaves, directions)
        return super()._best_shifts(scores, y, leaves, directions)

    def _has_constant(self, y: Array, sample: Leaves) -> bool:
        return len(self.terms) > 1 or self.terms[0][1]._has_constant(y, sample)

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float | Floats:
        if len(self.terms) == 1:
            return self.terms[0][1].constant_on(y, sample, outputs)
        if not self.vector:
            return super()._best_constant(y, sample, outputs)
        starts = [np.asarray(loss.constant_on(y, sample, outputs)) for _, loss in self.terms]
        return self._descend([np.zeros(outputs), *starts], y, sample)

    def _descend(self, starts: list[Floats], y: Array, sample: Leaves) -> Floats:
        """The best constant vector found from the best start, one coordinate at a time."""
        targets, row = distinct(y)
        mass = sample.by(row, len(targets)).masses()
        mass /= mass.sum()
        together = Leaves.one(mass, Rows(len(mass)))  # all parts have them

        def scores(constant: Floats) -> Floats:
            return np.tile(constant, (len(targets), 1))

        def value(constant: Floats) -> float:
            return float((mass * self.values(scores(constant), targets)).sum())

        best = min(starts, key=value)
        axes = np.eye(len(best))[targets if self.domain.classes else slice(None)]
        for _ in range(_SWEEPS):
            before = value(best)
            for axis in axes:
                shift = self._best_shifts(scores(best), targets, together, axis[None])[0]
                best = min(best, best + shift * axis, key=value)
            if value(best) >= before - 1e-10 * abs(before):
                break
        return best


@dataclass(frozen=True)
class CoupledSum(_Terms, Loss):
    """sum_i factor_i * loss_i where some loss couples rows. Link: the first term's."""

    terms: tuple[tuple[float, Any], ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        return written(self.terms)

    @property
    def domain(self) -> domains.Domain:  # type: ignore[override]
        return self.terms[0][1].domain

    @property
    def uses_groups(self) -> bool:
        return any(loss.uses_groups for _, loss in self.terms)

    def outputs(self, y: Array) -> int:
        return self.terms[0][1].outputs(y)

    @property
    def link_(self) -> links.Link:  # type: ignore[override]
        return self.terms[0][1].link_

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        self._check_groups(groups)
        parts = [
            (factor, loss.on(y, space, groups if loss.uses_groups else None, outputs))
            for factor, loss in self.terms
        ]
        return SumFunctional(parts, space, self.has_curvature)


class SumFunctional(Functional):
    """sum_i factor_i * R_i."""

    def __init__(self, parts: list[tuple[float, Any]], space: Measure, curved: bool) -> None:
        self.parts, self.space, self.curved = parts, space, curved
        self.y, self.outputs = parts[0][1].y, parts[0][1].outputs

    @property
    def infimum(self) -> float:
        return left_to_right(factor * part.infimum for factor, part in self.parts)

    @property
    def kinked(self) -> bool:
        return any(part.kinked for _, part in self.parts)

    @property
    def farthest(self) -> float:
        return max(part.farthest for _, part in self.parts)

    def value(self, scores: Floats) -> float:
        return left_to_right(factor * part.value(scores) for factor, part in self.parts)

    def subgradient(self, scores: Floats) -> Floats:
        return np.add.reduce([factor * part.subgradient(scores) for factor, part in self.parts])

    def curvature(self, scores: Floats) -> Floats | None:
        if not self.curved:
            return None
        return np.add.reduce([factor * part.curvature(scores) for factor, part in self.parts])
