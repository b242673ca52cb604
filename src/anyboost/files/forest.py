"""Many trees as a few flat arrays, and back. A node costs a bit; a split also its feature, threshold and left
child; a leaf its values.

Nodes of all trees lie one after another, each tree's root first. `split.left` is how far after its parent the
left child lies; the right child is the next node, unless `split.right` is there too. Distances are positive, so
every walk moves forward; and `unpack` makes sure that each node but the roots has one parent.
"""

import numpy as np

from anyboost.files.container import Fault
from anyboost.files.fields import Tensors, finite, unsigned
from anyboost.weak.functions import TreeFunction

MOST_NODES = 2**31 - 1


def pack(trees: list[TreeFunction]) -> dict[str, np.ndarray]:
    """The tensors of these trees."""
    if any(len(tree.category_sets) for tree in trees):
        raise ValueError("model cannot be saved: it has trees that split on categories")
    sizes = np.array([len(tree.feature) for tree in trees])
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    feature = np.concatenate([tree.feature for tree in trees])
    split = feature >= 0
    place = np.flatnonzero(split)
    left = (np.concatenate([tree.left for tree in trees]) + first)[split]
    right = (np.concatenate([tree.right for tree in trees]) + first)[split]
    missing_left = np.concatenate([tree.missing_left for tree in trees])[split]
    threshold = np.concatenate([tree.threshold for tree in trees])[split]
    value = np.concatenate([tree.value for tree in trees])[~split]
    tensors = {
        "tree.nodes": unsigned(sizes),
        "node.split": np.packbits(split),
        "split.feature": unsigned(feature[split]),
        "split.threshold": finite(threshold, "thresholds", infinite=True),
        "split.left": unsigned(left - place),
        "leaf.value": finite(value, "leaf values"),
    }
    if not np.array_equal(right, left + 1):
        tensors["split.right"] = unsigned(right - place)
    if missing_left.any():
        tensors["split.missing_left"] = np.packbits(missing_left)
    return tensors


def unpack(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[TreeFunction]:
    """The trees, `count` of them; a Fault unless each is one whole tree on these features."""
    sizes = tensors.indices("tree.nodes", count, 1, MOST_NODES)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if count else 0
    split = tensors.bits("node.split", total)
    place = np.flatnonzero(split)
    splits = len(place)
    feature = tensors.indices("split.feature", splits, 0, n_features - 1)
    threshold = tensors.floats("split.threshold", (splits,), infinite=True)
    left = place + tensors.indices("split.left", splits, 1, MOST_NODES)
    right = left + 1
    if tensors.has("split.right"):
        right = place + tensors.indices("split.right", splits, 1, MOST_NODES)
    missing_left = np.zeros(splits, dtype=np.bool_)
    if tensors.has("split.missing_left"):
        missing_left = tensors.bits("split.missing_left", splits)
    value = tensors.floats("leaf.value", (total - splits, outputs))
    starts = ends - sizes
    tree = np.repeat(np.arange(count), sizes)[place]
    _check_parents(left, right, starts, ends[tree], total)
    nodes = _Nodes(total, outputs)
    nodes.feature[place] = feature
    nodes.threshold[place] = threshold
    nodes.left[place] = left - starts[tree]
    nodes.right[place] = right - starts[tree]
    nodes.missing_left[place] = missing_left
    nodes.value[~split] = value
    return [nodes.tree(slice(start, end)) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _check_parents(
    left: np.ndarray, right: np.ndarray, starts: np.ndarray, ends: np.ndarray, total: int
) -> None:
    # Children come after their parent in its own tree. If then every node but the roots has one parent, the
    # walk from a root reaches each node of its tree once, and ends.
    if (left >= ends).any() or (right >= ends).any():
        raise Fault("it has a tree with a child outside it")
    parents = np.bincount(np.concatenate([left, right]), minlength=total)
    expected = np.ones(total, dtype=np.int64)
    expected[starts] = 0
    if not np.array_equal(parents, expected):
        raise Fault("it has a tree in which a node has no parent, or two")


class _Nodes:
    """The node arrays of all trees, as the kernels want them."""

    def __init__(self, total: int, outputs: int) -> None:
        self.feature = np.full(total, -1, dtype=np.int32)
        self.threshold = np.zeros(total)
        self.left = np.zeros(total, dtype=np.int32)
        self.right = np.zeros(total, dtype=np.int32)
        self.missing_left = np.zeros(total, dtype=np.bool_)
        self.category_set = np.full(total, -1, dtype=np.int32)
        self.value = np.zeros((total, outputs))

    def tree(self, part: slice) -> TreeFunction:
        return TreeFunction(
            self.feature[part],
            self.threshold[part],
            self.left[part],
            self.right[part],
            self.missing_left[part],
            self.category_set[part],
            np.empty((0, 8), dtype=np.uint32),
            self.value[part],
        )
