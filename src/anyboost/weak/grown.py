"""What a tree may become, and what became of it: limits, cuts, the grown shape, and the function it is."""

from typing import NamedTuple

import numpy as np

from anyboost.backends.bins import MISSING
from anyboost.space import Space
from anyboost.weak.base import LeafProjection
from anyboost.weak.functions import TreeFunction


class Growth(NamedTuple):
    """What a tree may become; weights are in units of the sample weights given, 1 a row without any."""

    max_leaves: int
    max_depth: int | None
    criterion: int
    by_level: bool = False
    min_leaf_weight: float = 0.0
    l2: float = 0.0
    signs: tuple[int, ...] | None = None  # of each column: 1 where values must not fall along it, -1 not rise
    together: tuple[tuple[int, ...], ...] | None = (
        None  # the columns of a branch must share one of these sets
    )


class Cut(NamedTuple):
    feature: int
    bin: int  # the last that goes left; -1 for a set of categories
    goes_left: np.ndarray  # (256,): which bins of the feature go left
    gain: float
    left: np.ndarray  # (k + 1,): the sums of the targets, and the mass, of the rows that go left


class Grown(NamedTuple):
    """A tree's shape and the integer sums in its leaves."""

    feature: np.ndarray
    bin: np.ndarray
    goes_left: np.ndarray  # (nodes, 256)
    left: np.ndarray
    right: np.ndarray
    order: np.ndarray  # (nodes,): 1 where the right side must not be under the left one, -1 not above
    leaf_nodes: np.ndarray
    sums: np.ndarray  # (leaves, k)
    masses: np.ndarray  # (leaves,)
    bounds: np.ndarray  # (leaves, 2, k): of raw values, sum over mass; (leaves, 2, 0) where there are none
    leaf: np.ndarray  # (n,) which leaf each row of the sample is in


def fill(space: Space, grown: Grown, leaf_values: np.ndarray, shape: tuple[int, ...]) -> LeafProjection:
    """The grown tree with these values (leaves, k) in its leaves, on the sample."""
    return LeafProjection(_as_function(space, grown, leaf_values), grown.leaf, leaf_values, shape)


def _as_function(space: Space, grown: Grown, leaf_values: np.ndarray) -> TreeFunction:
    """The grown tree as a function of raw features."""
    n_nodes = len(grown.feature)
    inside, sets = grown.feature >= 0, grown.bin < 0
    threshold = space.bins.thresholds[np.maximum(grown.feature, 0), np.maximum(grown.bin, 0)]
    value = np.zeros((n_nodes, leaf_values.shape[1]))
    value[grown.leaf_nodes] = leaf_values
    category_set = np.full(n_nodes, -1, dtype=np.int32)
    category_set[sets] = np.arange(np.count_nonzero(sets))
    bits = np.packbits(grown.goes_left[sets], axis=1, bitorder="little")
    return TreeFunction(
        feature=grown.feature,
        threshold=np.where(inside & ~sets, threshold, 0.0),
        left=grown.left,
        right=grown.right,
        missing_left=grown.goes_left[:, MISSING].copy(),
        category_set=category_set,
        category_sets=bits.view("<u4").astype(np.uint32, copy=False),
        value=value,
        categories=space.bins.categories if sets.any() else None,
    )
