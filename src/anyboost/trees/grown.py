"""A tree before it is grown, as its rows have to know it, and after, as arrays of its nodes."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from anyboost.trees.histogram import Root


class Plan(NamedTuple):
    """What rows have to know of the tree that is to be grown on them."""

    drawn: np.ndarray | None  # the rows under it, all for None
    parts: bool  # whether nodes will be parted; else only the root's histogram is asked for
    shares: list[np.ndarray]  # the groups of columns to count, in a part for each thread
    last: "Root | None"  # what is remembered of the last tree's root, where that helps


class TreeShape(NamedTuple):
    """A grown tree: nodes in the order they were made, the root first; leaves in the order of their age."""

    feature: np.ndarray  # (nodes,), -1 at leaves
    bin: np.ndarray  # the last that goes left; -1 for a set of categories
    goes_left: np.ndarray  # (nodes, 256)
    left: np.ndarray
    right: np.ndarray
    order: np.ndarray  # 1 where the right child must not be under the left one, -1 not above
    gain: np.ndarray  # (nodes,): in units of the fixed targets squared over mass; 0 at leaves
    masses: np.ndarray  # (nodes,): whole numbers, of the rows it was grown on
    leaf_nodes: np.ndarray  # (leaves,)
    starts: np.ndarray  # (leaves,): where a leaf's rows lie in the list
    stops: np.ndarray


class Grown(NamedTuple):
    """A tree's shape, the integer sums in its leaves, and the leaf of each row."""

    shape: TreeShape
    sums: np.ndarray  # (leaves, k)
    weights: np.ndarray  # (leaves, k) of curvature, or (leaves, 1): by what sums are divided
    masses: np.ndarray  # (leaves,)
    bounds: np.ndarray | None  # (leaves, 2, k): of raw values, sum over mass; None where there are none
    leaf: np.ndarray  # (n,)
    cover: np.ndarray  # (nodes,): the mass of all rows, also of those it was not grown on
