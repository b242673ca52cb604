"""Stumps and trees: piecewise constant functions, fitted by least squares on histograms.

    project: argmin over trees of ||target - h||^2          (projection (4) of the paper)
    extreme: argmax over trees with |h| <= 1 of <target, h>

For two leaves the greedy search sees every tree of the class, so both are exact (for the binned columns).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anyboost import checks
from anyboost.space import Space
from anyboost.weak.base import LeafProjection, Support

if TYPE_CHECKING:
    from anyboost.weak.grow import Growth


@dataclass(frozen=True)
class Tree:
    """Trees of at most `max_leaves` leaves, grown best leaf first, or level by level with `growth="depth"`.

    `leaf="mean"` fills leaves with the mean of the target; `leaf="exact"` lets the descent replace them,
    in its step, by the values that minimize the loss leaf by leaf.
    """

    max_leaves: int = 31
    max_depth: int | None = None
    leaf: str = "mean"
    growth: str = "leaf"

    def __post_init__(self) -> None:
        checks.count(self.max_leaves, "max_leaves", least=2)
        if self.max_depth is not None:
            checks.count(self.max_depth, "max_depth", least=1)
        checks.choice(self.leaf, "leaf", ("mean", "exact"))
        checks.choice(self.growth, "growth", ("leaf", "depth"))

    @property
    def exact_leaves(self) -> bool:
        return self.leaf == "exact"

    def project(
        self,
        space: Space,
        target: np.ndarray,
        rows: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> LeafProjection:
        """The tree nearest to `target`, greedily; the nearest stump exactly."""
        from anyboost.backends.split import LEAST_SQUARES
        from anyboost.weak.grow import fill, grow

        fixed = space.fixed(target)
        grown = grow(space, fixed, self._growth(LEAST_SQUARES), rows, features)
        mass = grown.masses * space.fixed_mass[1]
        # A leaf can be massless only where a row's weight is lost against the others' in fixed point.
        sums = grown.sums * fixed.unit
        leaf_values = sums / np.where(mass > 0, mass, 1.0)[:, None]
        if rows is not None:
            return fill(space, grown, leaf_values, target.shape)
        # The sums over all rows are at hand, and with them both inner products.
        inner = float((leaf_values * sums).sum()) / space.total
        square = float((leaf_values**2).sum(axis=1) @ mass) / space.total
        return fill(space, grown, leaf_values, target.shape, (inner, square))

    def _growth(self, criterion: int) -> "Growth":
        from anyboost.weak.grow import Growth

        return Growth(self.max_leaves, self.max_depth, criterion, by_level=self.growth == "depth")

    def extreme(self, space: Space, target: np.ndarray) -> LeafProjection:
        """The tree with values in [-1, 1] furthest along `target`, greedily; the stump exactly."""
        return self._extreme(space, target)[0]

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """Two leaves: exact, rounding included. More: the safe bound sum w |target|, and greed's atom."""
        if not np.any(target):
            return Support(0.0, 0.0)
        if self.max_leaves == 2:
            _, value, rounding = self._extreme(space, target)
            return Support(value + rounding, value)
        bound = space.mean(np.abs(target.reshape(space.n, -1)).sum(axis=1))
        return Support(bound, self._extreme(space, target)[1] if search else bound)

    def _extreme(self, space: Space, target: np.ndarray) -> tuple[LeafProjection, float, float]:
        from anyboost.backends.split import EXTREME, NOISE
        from anyboost.weak.grow import fill, grow

        fixed = space.fixed(target)
        grown = grow(space, fixed, self._growth(EXTREME))
        leaf_values = np.sign(grown.sums).astype(np.float64)
        value = float(np.abs(grown.sums).sum()) * fixed.unit / space.total
        rounding = fixed.outputs * fixed.unit * (0.5 + 2 * NOISE)  # a row and output, averaged; two sides
        rounding += value * 1e-9  # cuts within the tie tolerance of the best are taken for it
        return fill(space, grown, leaf_values, target.shape), value, rounding


class Stump(Tree):
    """One cut, two leaves. `Stump()` is `Tree(max_leaves=2)`."""

    def __init__(self, leaf: str = "mean") -> None:
        super().__init__(max_leaves=2, leaf=leaf)

    def __repr__(self) -> str:
        return f"Stump(leaf={self.leaf!r})"
