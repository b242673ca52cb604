"""Trees that keep an order: rising or falling along some columns, whatever fills their leaves.

Where a cut has an order, everything under its lower side stays below the mean of its two values, and everything
under its upper side above it. So every leaf has bounds, and a tree whose leaves keep theirs is monotone: moving
along the column can only move from the lower side of such a cut to the upper one.
"""

from typing import TYPE_CHECKING

import numpy as np

from anyboost.backends.sides import LEAST_SQUARES

if TYPE_CHECKING:
    from anyboost.weak.grown import Grown
    from anyboost.weak.rules import Limits


def free_bounds(outputs: int, criterion: int) -> np.ndarray:
    """The bounds (2, k) at the root: none, or those of an atom."""
    size = np.inf if criterion == LEAST_SQUARES else 1.0
    return np.array([np.full(outputs, -size), np.full(outputs, size)])


def side_value(total: np.ndarray | None, limits: "Limits", bounds: np.ndarray) -> np.ndarray:
    """What a side with these sums and mass (k + 1,) would be filled with, as in `sides.bounded_side`."""
    assert total is not None
    sums, mass = total[:-1].astype(np.float64), float(total[-1])
    sums[np.abs(sums) <= limits.noise * mass] = 0.0
    means = sums / (mass + limits.l2)
    return np.clip(means if limits.criterion == LEAST_SQUARES else np.sign(sums), *bounds)


def child_bounds(
    sign: int, bounds: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds on either side of a cut whose sides would be filled with `left` and `right` (k,)."""
    if sign == 0:
        return bounds, bounds
    middle = np.clip((left + right) / 2, *bounds)
    below, above = np.array([bounds[0], middle]), np.array([middle, bounds[1]])
    return (below, above) if sign > 0 else (above, below)


def clip_leaves(grown: "Grown", values: np.ndarray) -> np.ndarray:
    """Leaf values (leaves, k) of any origin, clipped so that the tree keeps its order.

    Bounds as in growth, with the mean over the leaves under a side as its value. Values in order already, as far
    as these means can tell, stay as they are.
    """
    n_nodes, outputs = len(grown.feature), values.shape[1]
    mass = np.zeros(n_nodes)
    sums = np.zeros((n_nodes, outputs))
    mass[grown.leaf_nodes] = np.maximum(grown.masses, 1)
    sums[grown.leaf_nodes] = values * mass[grown.leaf_nodes, None]
    inner = np.flatnonzero(grown.feature >= 0)
    for node in inner[::-1]:  # children come after their parents
        children = [grown.left[node], grown.right[node]]
        mass[node], sums[node] = mass[children].sum(), sums[children].sum(axis=0)
    means = sums / mass[:, None]
    bounds = np.empty((n_nodes, 2, outputs))
    bounds[0] = free_bounds(outputs, LEAST_SQUARES)
    for node in inner:
        left, right = grown.left[node], grown.right[node]
        bounds[left], bounds[right] = child_bounds(grown.order[node], bounds[node], means[left], means[right])
    return np.clip(values, bounds[grown.leaf_nodes, 0], bounds[grown.leaf_nodes, 1])
