"""Stumps and trees: piecewise constant functions, fitted by least squares on histograms.

    project: argmin over trees of ||target - h||^2          (projection (4) of the paper)
    extreme: argmax over trees with |h| <= 1 of <target, h>

For two leaves the greedy search sees every tree of the class, so both are exact (for the binned columns).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.backends.arrays import by_row
from anyboost.backends.few import left_to_right
from anyboost.space import Space
from anyboost.trees.grown import Grown
from anyboost.trees.rules import EXTREME, LEAST_SQUARES, NOISE, Growth
from anyboost.weak.each import EachProjection, by_output
from anyboost.weak.learner import Learner, Support
from anyboost.weak.leaves import LinearProjection, clip_leaves, fill, incline
from anyboost.weak.projections import LeafProjection


@dataclass(frozen=True)
class Tree(Learner):
    """Trees on histograms, grown best leaf first or level by level.

    A missing value goes where it gains more, right where both ways gain the same; from a node that saw none in
    training, to the heavier child. Columns of categories are cut into any two sets (see `trees.categories`).

    Parameters
    ----------
    max_leaves : int, default 31
        The most leaves.
    max_depth : int or None, default None
        The most questions above a leaf; None: any number.
    leaf : str, default "mean"
        "mean" fills leaves with the mean of the target; "exact" lets the descent replace them, in its step, by the
        values that minimize the loss leaf by leaf; "linear" adds slopes to the mean, a ridge over the columns of
        numbers that the way to a leaf asks about. A leaf without rows enough, or whose columns tell the same, keeps
        the mean; a missing value counts as the leaf's mean of its column.
    growth : str, default "leaf"
        "leaf" cuts the best leaf first, "depth" goes level by level.
    min_leaf_weight : float, default 0.0
        No leaf weighs less, in units of sample weight (1 a row without weights; of the rows drawn, where rows are
        sampled).
    l2 : float, default 0.0
        With W a leaf's weight and S its sum of weighted targets, makes leaves S / (W + l2) and the gains of cuts sums
        of ||S||^2 / (W + l2); the descent then steps along the tree as it is, c <= 1, for the c of the ray would undo
        the penalty; exact leaf steps are multiplied by W / (W + l2).
    monotone : tuple of int or None, default None
        A number for each column: 1 where the model must not fall along it, -1 where it must not rise, 0 elsewhere, in
        every output. The model is start - sum of trees, so the trees themselves keep the opposite order, and c >= 0.
    interactions : tuple of tuples of int or None, default None
        Sets of columns: those of a branch must lie in one of them; columns in none form one more set.
    outputs : str, default "joint"
        "joint" grows one tree with vectors in its leaves, "each" a tree an output: a richer class.
    node_features : float, default 1.0
        The share of columns that a node may be cut along, drawn anew for each node.
    node_thresholds : int or None, default None
        The thresholds of a column that a node looks at, drawn anew from those that part its rows; None: all.
        Columns of fewer than 17 values, and categories, keep all of their cuts.
    ridge : float, default 0.01
        What slopes of linear leaves pay, as a share of their own variance; `l2` shrinks them as it does the mean.
    extrapolate : bool, default False
        Whether slopes go on beyond the range of a column that their leaf saw.

    Notes
    -----
    In a space with curvature K, the sum of weight times curvature, stands in the place of W, an output its own; the
    least weight of a leaf is still one of W.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 5.0]
    >>> run = ab.boost(X, y, "squared", ab.weak.Tree(max_leaves=3), ab.descent.Naive(1.0), rounds=1)
    >>> run.ensemble.predict(X)
    array([0., 1., 1., 5.])
    """

    max_leaves: int = 31
    max_depth: int | None = None
    leaf: str = "mean"
    growth: str = "leaf"
    min_leaf_weight: float = 0.0
    l2: float = 0.0
    monotone: tuple[int, ...] | None = None
    interactions: tuple[tuple[int, ...], ...] | None = None
    outputs: str = "joint"
    node_features: float = 1.0
    node_thresholds: int | None = None
    ridge: float = 0.01
    extrapolate: bool = False

    def __post_init__(self) -> None:
        checks.count(self.max_leaves, "max_leaves", least=2)
        if self.max_depth is not None:
            checks.count(self.max_depth, "max_depth", least=1)
        checks.choice(self.leaf, "leaf", ("mean", "exact", "linear"))
        checks.choice(self.growth, "growth", ("leaf", "depth"))
        checks.not_negative(self.min_leaf_weight, "min_leaf_weight")
        checks.not_negative(self.l2, "l2")
        if self.monotone is not None:
            object.__setattr__(self, "monotone", _check_signs(self.monotone))
        if self.interactions is not None:
            object.__setattr__(self, "interactions", _check_sets(self.interactions))
        checks.choice(self.outputs, "outputs", ("joint", "each"))
        checks.fraction(self.node_features, "node_features", zero=False)
        if self.node_thresholds is not None:
            checks.count(self.node_thresholds, "node_thresholds", least=1)
        checks.not_negative(self.ridge, "ridge")
        if self.leaf == "linear" and self.one_sided:
            raise ValueError('monotone cannot be kept by leaf="linear": use leaf="mean" or leaf="exact"')

    @property
    def exact_leaves(self) -> bool:
        """Whether the descent is to replace leaf values by exact leaf steps: where `leaf` is "exact"."""
        return self.leaf == "exact"

    @property
    def curved(self) -> bool:
        return True

    @property
    def draws(self) -> bool:
        """Whether projections are to be lent a key, by which nodes draw columns and thresholds."""
        return self.node_features < 1.0 or self.node_thresholds is not None

    @property
    def one_sided(self) -> bool:
        """Whether h may be subtracted from the model, but not added."""
        return self.monotone is not None and any(self.monotone)

    def check(self, n_features: int, categorical: tuple[int, ...] = (), outputs: int = 1) -> None:
        """Refuse a table whose columns are not those that this tree was told about.

        Parameters
        ----------
        n_features : int
            The columns of the table.
        categorical : tuple of int, default ()
            Those that hold categories.
        outputs : int, default 1
            How many scores a row has.
        """
        if self.monotone is not None and len(self.monotone) != n_features:
            raise ValueError(
                f"monotone must have a number for each of the {n_features} columns, got {len(self.monotone)}"
            )
        for column in categorical:
            if self.monotone is not None and self.monotone[column]:
                raise ValueError(
                    f"monotone is {self.monotone[column]} for column {column}, which holds categories: use 0 there"
                )
        largest = max((column for columns in self.interactions or () for column in columns), default=0)
        if largest >= n_features:
            raise ValueError(
                f"interactions name column {largest}, but X has {n_features} columns, 0 .. {n_features - 1}"
            )

    def project(
        self, space: Space, target: np.ndarray
    ) -> "LeafProjection | LinearProjection | EachProjection":
        """The tree nearest to `target`, greedily; the nearest stump exactly.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        LeafProjection, LinearProjection or EachProjection
            h on the sample.
        """
        if self._splits(target):
            return EachProjection(by_output(self._project, space, target))
        return self._project(space, target)

    def _splits(self, target: np.ndarray) -> bool:
        return self.outputs == "each" and target.ndim > 1

    def _project(self, space: Space, target: np.ndarray) -> LeafProjection | LinearProjection:
        from anyboost.trees.grower import grow

        fixed = space.fixed(target)
        growth = self._growth(space, LEAST_SQUARES, fixed.kappa_unit)
        grown = grow(space.rows, space.bins, fixed, growth, *space.seen)
        unit = space.fixed_mass[1] if fixed.kappa_unit is None else fixed.kappa_unit
        weights = grown.weights * unit
        sums = grown.sums * fixed.unit
        penalty = self._penalty(space)
        # A leaf can be without weight where a row's is lost against the others' in fixed point, or where curvature and
        # target are zero.
        leaf_values = sums / np.where(weights > 0, weights + penalty, 1.0)
        if self.one_sided:
            assert grown.bounds is not None
            leaf_values = np.clip(leaf_values, *(grown.bounds * (fixed.unit / unit)).swapaxes(0, 1))
        if self.leaf == "linear":
            shrunk = self.ridge + np.divide(penalty, weights, out=np.zeros_like(weights), where=weights > 0)
            most = 1.0 if self.l2 or self.ridge else np.inf
            clamped = not self.extrapolate
            return incline(space, grown, fixed, leaf_values, target, shrunk, clamped=clamped, most=most)
        curvature = None if fixed.kappa_unit is None else weights
        amend = partial(self._amend, space.full, grown, curvature) if self.l2 or self.one_sided else None
        return fill(
            space,
            grown,
            fixed,
            leaf_values,
            target.shape,
            moments=(sums / space.total, weights / space.total),
            measure=space.measure,
            least=0.0 if self.one_sided else -np.inf,
            most=1.0 if self.l2 else np.inf,
            amend=amend,
        )

    def _amend(
        self, space: Space, grown: Grown, curvature: np.ndarray | None, values: np.ndarray
    ) -> np.ndarray:
        """What the loss would like in the leaves, times W / (W + l2) over all rows or K / (K + l2), and in order."""
        if self.l2:
            penalty = self._penalty(space)
            mass = (grown.cover[grown.shape.leaf_nodes] * space.fixed_mass[1])[:, None]
            weights = mass if curvature is None else curvature
            values = values * (weights / (weights + penalty))
        return clip_leaves(grown, values) if self.one_sided else values

    def _penalty(self, space: Space) -> float:
        """What is added to the weight of a leaf, in the space's mass."""
        return self.l2 / space.weight_unit * space.fixed_mass[1]

    def _growth(self, space: Space, criterion: int, kappa_unit: float | None = None) -> Growth:
        growth = space.once(("growth", self, criterion), lambda own: self._growth_on(own, criterion))
        if self.draws:
            growth = growth._replace(key=space.key)
        if self.l2 and kappa_unit is not None:
            growth = growth._replace(l2=self.l2 / (space.measure.unit * kappa_unit))
        return growth

    def _growth_on(self, space: Space, criterion: int) -> Growth:
        """The same for every tree on a sample."""
        n_features = space.X.shape[1]
        self.check(n_features, space.categorical)
        together = None
        if self.interactions is not None:
            listed = {column for columns in self.interactions for column in columns}
            others = tuple(column for column in range(n_features) if column not in listed)
            together = (*self.interactions, others)
        return Growth(
            self.max_leaves,
            self.max_depth,
            criterion,
            self.growth == "depth",
            NOISE * space.fixed_mass[1],
            self.min_leaf_weight / space.weight_unit,
            self.l2 / space.weight_unit,
            tuple(-sign for sign in self.monotone or ()) if self.one_sided else None,
            together,
            # an extreme atom is searched everywhere
            self.node_features if criterion == LEAST_SQUARES else 1.0,
            self.node_thresholds or 0 if criterion == LEAST_SQUARES else 0,
        )

    def extreme(self, space: Space, target: np.ndarray) -> LeafProjection | EachProjection:
        """The tree with values in [-1, 1] furthest along `target`, greedily; the stump exactly.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        LeafProjection or EachProjection
            h on the sample.
        """
        if self._splits(target):
            return EachProjection([self._extreme(space, column)[0] for column in space.columns(target)])
        return self._extreme(space, target)[0]

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom can reach along `target`.

        Two leaves: exact, rounding included. More: the safe bound sum w |target|, and greed's atom. Cuts of categories
        are exact for one output and no limit of leaf weight; else what no set of them exceeds stands in. For trees an
        output, the sum over outputs.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to look for an atom.

        Returns
        -------
        Support
            Both bounds.
        """
        if not space.rows.most(np.any(target)):
            return Support(0.0, 0.0)
        if self._splits(target):
            parts = [self.support(space, column, search) for column in space.columns(target)]
            return Support(*(left_to_right(bounds) for bounds in zip(*parts, strict=True)))
        if self.max_leaves > 2 or self.leaf == "linear":
            sizes = np.abs(by_row(target))
            bound = space.mean(sizes[:, 0] if sizes.shape[1] == 1 else sizes.sum(axis=1))
            return Support(bound, self._extreme(space, target)[1] if search else bound)
        _, value, rounding = self._extreme(space, target)
        if space.categorical and (target.ndim > 1 or self.min_leaf_weight > 0):
            return Support(max(value, _most_of_categories(space, target)) + rounding, value)
        return Support(value + rounding, value)

    def _extreme(self, space: Space, target: np.ndarray) -> tuple[LeafProjection, float, float]:
        from anyboost.trees.grower import grow

        fixed = space.fixed(target)
        grown = grow(space.rows, space.bins, fixed, self._growth(space, EXTREME))
        leaf_values = np.sign(grown.sums).astype(np.float64)
        reach = float(np.abs(grown.sums).sum())
        if self.one_sided:
            assert grown.bounds is not None
            leaf_values = np.clip(leaf_values, *grown.bounds.swapaxes(0, 1))
            reach = float((leaf_values * grown.sums).sum())
        value = reach * fixed.unit / space.total
        rounding = fixed.outputs * fixed.unit * (0.5 + 2 * NOISE)  # a row and output, averaged; two children
        rounding += value * 1e-9  # cuts within the tie tolerance of the best are taken for it
        return fill(space, grown, fixed, leaf_values, target.shape), value, rounding


def _most_of_categories(space: Space, target: np.ndarray) -> float:
    """The largest sum_b ||S_b||_1 of a column of categories, but for rounding: what no cut of it exceeds."""
    from anyboost.trees.grower import histogram

    fixed = space.fixed(target)
    sums = np.abs(histogram(space.rows, space.bins, fixed)[list(space.categorical), :, :-1])
    return float(sums.sum(axis=(1, 2)).max()) * fixed.unit / space.total


def _check_signs(signs: Any) -> tuple[int, ...]:
    found = tuple(signs) if isinstance(signs, tuple | list | np.ndarray) else (None,)
    if not all(np.ndim(sign) == 0 and sign in (-1, 0, 1) for sign in found):
        raise ValueError(f"monotone must have -1, 0 or 1 for each column, got {signs!r}")
    return tuple(int(sign) for sign in found)


def _check_sets(sets: Any) -> tuple[tuple[int, ...], ...]:
    try:
        found = tuple(tuple(sorted(set(columns))) for columns in sets)
    except TypeError:
        raise ValueError(f"interactions must be sets of column numbers, got {sets!r}") from None
    for columns in found:
        for column in columns:
            checks.count(column, "a column of interactions", least=0)
    return tuple(tuple(int(column) for column in columns) for columns in found)


class Stump(Tree):
    """Trees of one cut and two leaves: `Stump()` is `Tree(max_leaves=2)`.

    Parameters
    ----------
    leaf : str, default "mean"
        "mean" or "exact", as for `Tree`.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", ab.weak.Stump(), ab.descent.Naive(1.0), rounds=1)
    >>> run.ensemble.predict(X)
    array([0., 0., 3.])
    """

    def __init__(self, leaf: str = "mean") -> None:
        super().__init__(max_leaves=2, leaf=leaf)

    def __repr__(self) -> str:
        return f"Stump(leaf={self.leaf!r})"
