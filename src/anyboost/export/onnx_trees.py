"""Trees as one TreeEnsemble of ai.onnx.ml, version 5.

An operator of float32 compares float32 numbers. Of a threshold t it is given the largest float32 that is not above t:
for every x of float32, x <= t and x <= rounded t are the same. Where a column can only have the values of a table, as
encoded categories do, the operator is given places in the order of the thresholds instead (see `Places`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost.trees.table import MISSING
from anyboost.weak.functions import TreeFunction

LEQ, MEMBER = 0, 6  # numbers of BRANCH_LEQ and BRANCH_MEMBER
_SUM, _NO_TRANSFORM = 1, 0
_OF_NODES = (
    *("nodes_featureids", "nodes_modes", "nodes_splits", "nodes_missing_value_tracks_true"),
    *("nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs"),
)


def round_down(values: np.ndarray, dtype: Any) -> np.ndarray:
    """The largest numbers of a type that are not above these."""
    with np.errstate(over="ignore"):
        near = values.astype(dtype)
        return np.where(near > values, np.nextafter(near, dtype(-np.inf)), near).astype(dtype)


class Places:
    """The thresholds of some columns, sorted: x is told by how many are below it, and x <= t_i by that being <= i."""

    def __init__(self, trees: Sequence[TreeFunction], columns: Sequence[int]) -> None:
        self.thresholds = {
            column: np.unique(
                np.concatenate([np.zeros(0), *(tree.threshold[tree.feature == column] for tree in trees)])
            )
            for column in columns
        }

    def of(self, column: int, values: np.ndarray) -> np.ndarray:
        """The places of values; a missing one stays missing."""
        if column not in self.thresholds:
            return values
        places = np.searchsorted(self.thresholds[column], values).astype(np.float64)
        return np.where(np.isnan(values), np.nan, places)

    def table(self, table: np.ndarray) -> np.ndarray:
        """A table as the operator takes it."""
        return np.column_stack([self.of(column, table[:, column]) for column in range(table.shape[1])])


class Weighted(NamedTuple):
    """A tree with a number for each leaf, in their order, to be added to one target."""

    tree: TreeFunction
    weights: np.ndarray
    target: int


def codes_apart(tree: TreeFunction, node: int) -> tuple[np.ndarray, bool]:
    """Which codes of a node's column go elsewhere than a missing value, and whether that goes left."""
    left = tree.bins_to_the_left(node)
    missing_left = bool(left[MISSING])
    return np.flatnonzero(left[tree.bins_of_codes(node)] != missing_left), missing_left


def attributes(trees: Sequence[Weighted], targets: int, places: Places, dtype: Any) -> dict[str, Any]:
    """The attributes of the operator; arrays are to become tensors."""
    nodes = _Nodes(places, dtype)
    # Leaves and nodes are numbered apart, and some runtimes take a node for a leaf whose two sides, a leaf and a node,
    # have the same number. With leaves that nobody comes to before the others, no leaf has the number of its sibling.
    spare = max((int(np.count_nonzero(one.tree.feature >= 0)) for one in trees), default=0)
    nodes.pad(spare)
    for one in trees:
        nodes.add(one)
    if not trees:  # the operator needs a node
        nodes.add_constant(0, np.zeros(1))
    found: dict[str, Any] = {
        "n_targets": targets,
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "tree_roots": nodes.roots,
        **nodes.lists,
        "nodes_modes": np.array(nodes.lists["nodes_modes"], dtype=np.uint8),
        "nodes_splits": np.array(nodes.lists["nodes_splits"], dtype=dtype),
        "leaf_targetids": nodes.target,
        "leaf_weights": np.array(nodes.weight, dtype=dtype),
    }
    if nodes.members:
        found["membership_values"] = np.array(nodes.members, dtype=dtype)
    return found


class _Nodes:
    """The operator's lists, filled tree by tree; nodes of splits and leaves are numbered apart."""

    def __init__(self, places: Places, dtype: Any) -> None:
        self.places, self.dtype = places, dtype
        self.roots: list[int] = []
        self.lists: dict[str, list[Any]] = {name: [] for name in _OF_NODES}
        self.members: list[float] = []  # those of each node, and NaN after them
        self.target: list[int] = []
        self.weight: list[float] = []

    def pad(self, count: int) -> None:
        """Leaves that no node leads to."""
        self._leaves(0, np.zeros(count))

    def add_constant(self, target: int, weights: np.ndarray) -> None:
        """A tree without a split: a node of which both sides are its leaf."""
        leaf = len(self.weight)
        self.roots.append(self._count())
        self._node(0, LEQ, 0.0, (leaf, 1), (leaf, 1), False)
        self._leaves(target, weights)

    def add(self, one: Weighted) -> None:
        tree = one.tree
        split = tree.feature >= 0
        if not split[0]:
            self.add_constant(one.target, one.weights)
            return
        first_node, first_leaf = self._count(), len(self.weight)
        number = np.where(split, first_node + np.cumsum(split) - 1, first_leaf + np.cumsum(~split) - 1)
        self.roots.append(first_node)
        for node in np.flatnonzero(split).tolist():
            left, right = (
                (int(number[child]), int(not split[child])) for child in (tree.left[node], tree.right[node])
            )
            self._split(tree, node, left, right)
        self._leaves(one.target, one.weights)

    def _split(self, tree: TreeFunction, node: int, left: tuple[int, int], right: tuple[int, int]) -> None:
        column = int(tree.feature[node])
        if tree.category_set[node] < 0:
            self._node(column, LEQ, self._threshold(tree, node), left, right, bool(tree.missing_left[node]))
            return
        codes, missing_left = codes_apart(tree, node)
        missing_side, other = (left, right) if missing_left else (right, left)
        if not len(codes):
            self._node(column, LEQ, np.inf, missing_side, other, True)
            return
        self._node(column, MEMBER, 0.0, other, missing_side, False)
        self.members += [*codes.tolist(), np.nan]

    def _threshold(self, tree: TreeFunction, node: int) -> float:
        column, threshold = int(tree.feature[node]), tree.threshold[node]
        known = self.places.thresholds.get(column)
        if known is not None:
            return float(np.searchsorted(known, threshold))
        return float(round_down(np.asarray(threshold), self.dtype))

    def _node(
        self,
        column: int,
        mode: int,
        split: float,
        true: tuple[int, int],
        false: tuple[int, int],
        missing: bool,
    ) -> None:
        values = (column, mode, split, int(missing), *true, *false)
        for kept, value in zip(self.lists.values(), values, strict=True):
            kept.append(value)

    def _count(self) -> int:
        return len(self.lists["nodes_modes"])

    def _leaves(self, target: int, weights: np.ndarray) -> None:
        self.target += [target] * len(weights)
        self.weight += weights.tolist()
