"""The part of a file that is a run's trees as they were grown, in whole numbers and bins: what a replay starts from.

Nodes of all trees lie one after another, as in `files.trees`, and so do their leaves. Whole numbers of 64 bits are
stored as two of 32.
"""

from typing import Any

import numpy as np

from anyboost.files.fields import Fault
from anyboost.files.tensors import Tensors, finite, under, unsigned
from anyboost.files.trees import spread
from anyboost.trees.journal import Kept
from anyboost.trees.table import BINS, MISSING

_PREFIX = "grown."
_MOST = 2**31 - 1
_MOST_OUTPUTS = 2**16


def pack(trees: list[Kept]) -> dict[str, np.ndarray]:
    """The tensors of these trees."""
    if not trees:
        return under(_PREFIX, {"nodes": unsigned([])})
    nodes = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in _OF_NODES}
    split = nodes["feature"] >= 0
    bounds = [tree.bounds for tree in trees]
    return under(
        _PREFIX,
        {
            "nodes": unsigned([len(tree.feature) for tree in trees]),
            "outputs": unsigned([tree.sums.shape[1] for tree in trees]),
            "weights": unsigned([tree.weights.shape[1] for tree in trees]),
            "bounded": unsigned([bound is not None for bound in bounds]),
            "split": np.packbits(split),
            "split.feature": unsigned(nodes["feature"][split]),
            "split.bin": unsigned(nodes["bin"][split] + 1),
            "split.left": unsigned(nodes["left"][split]),
            "split.order": unsigned(nodes["order"][split] + 1),
            "split.goes_left": nodes["goes_left"][split].reshape(-1),
            "split.gain": finite(nodes["gain"][split], "gains"),
            "node.mass": _halves(nodes["masses"]),
            "node.cover": _halves(nodes["cover"]),
            "leaf.node": unsigned(np.concatenate([tree.leaf_nodes for tree in trees])),
            "leaf.sums": _halves(np.concatenate([tree.sums.reshape(-1) for tree in trees])),
            "leaf.weights": _halves(np.concatenate([tree.weights.reshape(-1) for tree in trees])),
            "leaf.masses": _halves(np.concatenate([tree.leaf_masses for tree in trees])),
            "leaf.bounds": finite(_flat(bounds), "bounds", infinite=True),
        },
    )


_OF_NODES = ("feature", "bin", "left", "order", "gain", "masses", "cover", "goes_left")


def _flat(arrays: list[np.ndarray | None]) -> np.ndarray:
    return np.concatenate([np.empty(0), *(array.reshape(-1) for array in arrays if array is not None)])


def _halves(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype="<i8").reshape(-1).view("<u4")


def _wholes(tensors: Tensors, name: str, count: int) -> np.ndarray:
    halves = tensors.indices(name, 2 * count, 0, 2**32 - 1)
    return halves[0::2] | halves[1::2] << 32


def unpack(tensors: Tensors, n_features: int) -> list[Kept]:
    """The trees; a Fault unless each is one whole tree on these features."""
    tensors = tensors.under(_PREFIX)
    count = tensors.length("nodes")
    sizes = tensors.indices("nodes", count, 1, _MOST)
    if not count:
        return []
    total, starts = int(sizes.sum()), np.cumsum(sizes) - sizes
    split = tensors.bits("split", total)
    place = np.flatnonzero(split)
    splits, leaves = len(place), total - len(place)
    outputs = tensors.indices("outputs", count, 1, _MOST_OUTPUTS)
    widths = tensors.indices("weights", count, 1, _MOST_OUTPUTS)
    bounded = tensors.indices("bounded", count, 0, 1).astype(np.bool_)
    own_leaves = (sizes + 1) // 2
    if ((widths != 1) & (widths != outputs)).any() or (sizes % 2 == 0).any():
        raise Fault("it has a grown tree whose parts are not of one shape")
    nodes: dict[str, np.ndarray] = {
        "feature": spread(tensors.indices("split.feature", splits, 0, n_features - 1), split, -1),
        "bin": spread(tensors.indices("split.bin", splits, 0, MISSING) - 1, split),
        "left": spread(tensors.indices("split.left", splits, 1, _MOST), split),
    }
    leaf_nodes = tensors.indices("leaf.node", leaves, 0, _MOST)
    _check(nodes["left"], leaf_nodes, split, starts, sizes, own_leaves)
    nodes = {name: values.astype(np.int32) for name, values in nodes.items()}
    packed = tensors.indices("split.goes_left", splits * BINS // 8, 0, 255).astype(np.uint8)
    nodes |= {
        "goes_left": spread(packed.reshape(splits, BINS // 8), split),
        "order": spread(tensors.indices("split.order", splits, 0, 2) - 1, split),
        "gain": spread(tensors.floats("split.gain", (splits,)), split),
        "masses": _wholes(tensors, "node.mass", total),
        "cover": _wholes(tensors, "node.cover", total),
    }
    of_leaves: dict[str, list[Any]] = {
        "leaf_nodes": _cut(leaf_nodes.astype(np.int32), own_leaves),
        "sums": _shaped(_wholes(tensors, "leaf.sums", int(own_leaves @ outputs)), own_leaves, outputs),
        "weights": _shaped(_wholes(tensors, "leaf.weights", int(own_leaves @ widths)), own_leaves, widths),
        "leaf_masses": _cut(_wholes(tensors, "leaf.masses", leaves), own_leaves),
    }
    lengths = 2 * own_leaves * outputs * bounded
    flat = tensors.floats("leaf.bounds", (int(lengths.sum()),), infinite=True)
    of_leaves["bounds"] = [
        own.reshape(-1, 2, k) if has else None
        for own, k, has in zip(_cut(flat, lengths), outputs.tolist(), bounded, strict=True)
    ]
    parts = {name: _cut(values, sizes) for name, values in nodes.items()} | of_leaves
    return [Kept(**{name: own[tree] for name, own in parts.items()}) for tree in range(count)]


def _check(
    left: np.ndarray,
    leaf_nodes: np.ndarray,
    split: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    own_leaves: np.ndarray,
) -> None:
    """Each tree is one whole tree, and its list of leaves has each of them once."""
    first = np.repeat(starts, sizes)
    place = np.flatnonzero(split)
    child, beyond = first[place] + left[place], first[place] + sizes.repeat(sizes)[place]
    roots = np.zeros(len(split), dtype=np.bool_)
    roots[starts] = True
    children = np.sort(np.concatenate([child, child + 1]))
    whole = (child > place).all() and (child + 1 < beyond).all()
    if not whole or not np.array_equal(children, np.flatnonzero(~roots)):
        raise Fault("it has a grown tree whose nodes are no tree")
    listed = np.repeat(starts, own_leaves) if own_leaves.sum() == len(leaf_nodes) else None
    if listed is None or not np.array_equal(np.sort(listed + leaf_nodes), np.flatnonzero(~split)):
        raise Fault("it has a grown tree that lists other leaves than its own")
    if (leaf_nodes >= np.repeat(sizes, own_leaves)).any():
        raise Fault("it has a grown tree that lists other leaves than its own")


def _cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])


def _shaped(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> list[np.ndarray]:
    parts = _cut(values, rows * columns)
    return [own.reshape(-1, width) for own, width in zip(parts, columns.tolist(), strict=True)]
