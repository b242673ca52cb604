"""A grown tree on its sample: as a function of raw features, with the values that its leaves may have."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.backends.arrays import by_row
from anyboost.space import Space
from anyboost.trees.grown import Grown
from anyboost.trees.table import MISSING
from anyboost.weak.functions import TreeFunction
from anyboost.weak.projections import LeafProjection, Projection

if TYPE_CHECKING:
    from anyboost.backends.fixed_point import Fixed

_NO_SETS = np.empty((0, 8), dtype=np.uint32)


def fill(
    space: Space,
    grown: Grown,
    fixed: "Fixed",
    leaf_values: np.ndarray,
    shape: tuple[int, ...],
    **known: Any,
) -> LeafProjection:
    """The grown tree with these values (leaves, k) in its leaves, on the sample; `known` are more of its fields."""
    function = _as_function(space, grown, fixed, leaf_values)
    return LeafProjection(function, grown.leaf, leaf_values, shape, **known)


@dataclass(frozen=True, eq=False)
class LinearProjection(Projection):
    """A tree with linear leaves on the sample: `bound` is its largest |value| on their ranges, `most` that of c."""

    bound: float = 0.0
    most: float = math.inf

    @property
    def top(self) -> float:
        return self.bound

    def coefficient(self, inner: float, square: float) -> float:
        """The coefficient c by which the descent multiplies h: a penalized tree must not be stretched back."""
        return min(inner / square, self.most)


def incline(
    space: Space,
    grown: Grown,
    fixed: "Fixed",
    leaf_values: np.ndarray,
    target: np.ndarray,
    penalty: np.ndarray,
    *,
    clamped: bool,
    most: float,
) -> LinearProjection:
    """The grown tree with these values in its leaves, and slopes that pay a penalty (leaves, 1 or k)."""
    from anyboost.trees import linear

    n = space.n
    mass = (
        space.rows.once("ones", lambda: np.ones(n)) if space.mass is None else space.mass.astype(np.float64)
    )
    kappa = space.rows.once("ones", lambda: np.ones(n)) if space.kappa is None else space.kappa
    sample = linear.PerRow(space.X, grown.leaf, mass, by_row(kappa), by_row(target))
    numeric = np.ones(space.X.shape[1], dtype=np.bool_)
    numeric[list(space.categorical)] = False
    masses = grown.masses * space.fixed_mass[1]
    slopes = linear.fit(space.rows, sample, grown.shape, numeric, masses, penalty, clamped)
    function = replace(
        _as_function(space, grown, fixed, leaf_values), slopes=slopes if len(slopes.node) else None
    )
    values = function.at(space.X, grown.shape.leaf_nodes[grown.leaf], space.n_threads)
    bound = float(np.abs(function.value).max()) if function.slopes is None else slopes.top(function.value)
    return LinearProjection(function, values.reshape(target.shape), bound, most)


def _as_function(space: Space, grown: Grown, fixed: "Fixed", leaf_values: np.ndarray) -> TreeFunction:
    tree, bins = grown.shape, space.bins
    sets = tree.bin < 0
    threshold = bins.thresholds[tree.feature, tree.bin]
    threshold[sets | (tree.feature < 0)] = 0.0
    value = np.zeros((len(tree.feature), leaf_values.shape[1]))
    value[tree.leaf_nodes] = leaf_values
    category_set, category_sets = np.full(len(tree.feature), -1, dtype=np.int32), _NO_SETS
    if bins.categories is not None:
        category_set[sets] = np.arange(np.count_nonzero(sets))
        bits = np.packbits(tree.goes_left[sets], axis=1, bitorder="little")
        category_sets = bits.view("<u4").astype(np.uint32, copy=False)
    weight_unit = space.fixed_mass[1] if fixed.kappa_unit is None else fixed.kappa_unit
    return TreeFunction(
        feature=tree.feature,
        threshold=threshold,
        left=tree.left,
        right=tree.right,
        missing_left=tree.goes_left[:, MISSING].copy(),
        category_set=category_set,
        category_sets=category_sets,
        value=value,
        categories=bins.categories if len(category_sets) else None,
        cover=grown.cover * space.full.weight_unit,
        gain=tree.gain * (fixed.unit**2 / weight_unit / space.total),
    )


def clip_leaves(grown: Grown, values: np.ndarray) -> np.ndarray:
    """Leaf values (leaves, k) of any origin, clipped so that the tree keeps its order.

    Bounds as in growth (see `trees.binding`), with the mean over the leaves under a child as its value. Values
    in order already, as far as these means can tell, stay as they are.
    """
    tree = grown.shape
    n_nodes, outputs = len(tree.feature), values.shape[1]
    mass = np.zeros(n_nodes)
    sums = np.zeros((n_nodes, outputs))
    mass[tree.leaf_nodes] = np.maximum(grown.masses, 1)
    sums[tree.leaf_nodes] = values * mass[tree.leaf_nodes, None]
    inner = np.flatnonzero(tree.feature >= 0)
    for node in inner[::-1]:  # children come after their parents
        children = [tree.left[node], tree.right[node]]
        mass[node], sums[node] = mass[children].sum(), sums[children].sum(axis=0)
    means = sums / mass[:, None]
    bounds = np.empty((n_nodes, 2, outputs))
    bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    for node in inner:
        left, right = tree.left[node], tree.right[node]
        bounds[left] = bounds[right] = bounds[node]
        if tree.order[node]:
            below, above = (left, right) if tree.order[node] > 0 else (right, left)
            middle = np.clip((means[left] + means[right]) / 2, *bounds[node])
            bounds[below, 1] = bounds[above, 0] = middle
    return np.clip(values, bounds[tree.leaf_nodes, 0], bounds[tree.leaf_nodes, 1])
