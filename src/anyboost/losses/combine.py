"""Sums and positive multiples of row-wise losses: `0.5 * Absolute() + Squared()`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import domains, links
from anyboost.losses.base import Array, RowwiseLoss
from anyboost.losses.sums import leaf_sums

_SWEEPS = 20


@dataclass(frozen=True)
class Sum(RowwiseLoss):
    """sum_i factor_i * loss_i(f, y), factors positive.

    Targets: those that every term accepts. Lambda, lambda and Lipschitz constants add up (an upper bound
    for Lambda and Lipschitz, a lower one for lambda). Link: the terms' common one, else the identity.

    Best constant: exact for one output. For several outputs the best of the terms' own best constants
    and 0, improved one coordinate at a time: exact for smooth losses, good for the others.
    """

    terms: tuple[tuple[float, RowwiseLoss], ...]

    @classmethod
    def of(cls, terms: list[tuple[float, RowwiseLoss]]) -> Sum:
        """Flatten sums of sums; refuse to mix losses of one score with losses of one score a class."""
        flat: list[tuple[float, RowwiseLoss]] = []
        for factor, loss in terms:
            flat += [(factor * f, l) for f, l in loss.terms] if isinstance(loss, Sum) else [(factor, loss)]
        kinds = {loss.domain.classes for _, loss in flat}
        if len(kinds) > 1:
            names = " and ".join(loss.name for _, loss in flat)
            raise ValueError(
                f"{names} cannot be added: some take one score a row and some one score a class; "
                "use losses of one kind"
            )
        return cls(tuple(flat))

    @property
    def name(self) -> str:  # type: ignore[override]
        return " + ".join(str(l) if f == 1.0 else f"{f:g}*{l}" for f, l in self.terms)

    def __str__(self) -> str:
        return self.name

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
    def link_(self) -> links.Link:  # type: ignore[override]
        return links.common([loss.link_ for _, loss in self.terms])

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        return all(loss.shift_invariant for _, loss in self.terms)

    @property
    def kinked(self) -> bool:
        # With several outputs a sum's envelope has no formula: such a sum is left as it is.
        return not self.domain.classes and any(loss.kinked for _, loss in self.terms)

    @property
    def smoothness(self) -> float:
        return sum(factor * loss.smoothness for factor, loss in self.terms)

    @property
    def strong_convexity(self) -> float:
        return sum(factor * loss.strong_convexity for factor, loss in self.terms)

    @property
    def lipschitz(self) -> float:
        return sum(factor * loss.lipschitz for factor, loss in self.terms)

    def check(self, y: Any) -> Array:
        checked = [loss.check(y) for _, loss in self.terms]
        return checked[0]

    def values(self, scores: Floats, y: Array) -> Floats:
        return np.add.reduce([factor * loss.values(scores, y) for factor, loss in self.terms])

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return np.add.reduce([factor * loss.subgradients(scores, y) for factor, loss in self.terms])

    def best_shifts(
        self,
        scores: Floats,
        y: Array,
        weights: Floats,
        leaf: Array,
        n_leaves: int,
        directions: Floats | None = None,
    ) -> Floats:
        if len(self.terms) == 1:
            return self.terms[0][1].best_shifts(scores, y, weights, leaf, n_leaves, directions)
        return super().best_shifts(scores, y, weights, leaf, n_leaves, directions)

    def _best_constant(self, y: Array, weights: Floats, outputs: int) -> float | Floats:
        if len(self.terms) == 1:
            return self.terms[0][1]._best_constant(y, weights, outputs)
        if not self.domain.classes:
            return super()._best_constant(y, weights, outputs)
        starts = [np.asarray(loss._best_constant(y, weights, outputs)) for _, loss in self.terms]
        return self._descend([np.zeros(outputs), *starts], y, weights)

    def _descend(self, starts: list[Floats], y: Array, weights: Floats) -> Floats:
        """The best constant vector found from the best start, one coordinate at a time."""
        classes, row = np.unique(y, return_inverse=True)
        mass = leaf_sums(row, weights, len(classes))
        mass /= mass.sum()
        leaf = np.zeros(len(classes), dtype=np.intp)

        def scores(constant: Floats) -> Floats:
            return np.tile(constant, (len(classes), 1))

        def value(constant: Floats) -> float:
            return float(mass @ self.values(scores(constant), classes))

        best = min(starts, key=value)
        for _ in range(_SWEEPS):
            before = value(best)
            for axis in np.eye(len(best))[classes]:
                shift = self.best_shifts(scores(best), classes, mass, leaf, 1, axis[None])[0]
                best = min(best, best + shift * axis, key=value)
            if value(best) >= before - 1e-10 * abs(before):
                break
        return best
