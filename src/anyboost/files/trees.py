"""Many trees as a few flat arrays, and back. A node costs a bit; a split also its feature, threshold, left child and
gain, on categories a set of 256 bins; a leaf its values and its cover; a slope of a leaf its node, column and range.

Nodes of all trees lie one after another, each tree's root first. `split.left` is how far after its parent the
left child lies; the right child is the next node, unless `split.right` is there too. Distances are positive, so
every walk moves forward; and `unpack` makes sure that each node but the roots has one parent.
"""

from typing import Any

import numpy as np

from anyboost.checks import MOST_CODES
from anyboost.files.fields import Fault
from anyboost.files.tensors import Tensors, finite, unsigned
from anyboost.trees.predictor import Slopes
from anyboost.trees.table import Categories
from anyboost.weak.functions import TreeFunction, numbered_sets, shared_categories

MOST_NODES = 2**31 - 1


def pack(trees: list[TreeFunction]) -> dict[str, np.ndarray]:
    """The tensors of these trees."""
    sizes = np.array([len(tree.feature) for tree in trees])
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    names = ("feature", "threshold", "left", "right", "missing_left", "value")
    nodes = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in names}
    split = nodes["feature"] >= 0
    place = np.flatnonzero(split)
    left, right = (nodes["left"] + first)[split], (nodes["right"] + first)[split]
    missing_left = nodes["missing_left"][split]
    tensors = {
        "tree.nodes": unsigned(sizes),
        "node.split": np.packbits(split),
        "split.feature": unsigned(nodes["feature"][split]),
        "split.threshold": finite(nodes["threshold"][split], "thresholds", infinite=True),
        "split.left": unsigned(left - place),
        "leaf.value": finite(nodes["value"][~split], "leaf values"),
    }
    if not np.array_equal(right, left + 1):
        tensors["split.right"] = unsigned(right - place)
    if missing_left.any():
        tensors["split.missing_left"] = np.packbits(missing_left)
    return tensors | _pack_categories(trees, split) | _pack_history(trees, split) | _pack_slopes(trees)


def _pack_history(trees: list[TreeFunction], split: np.ndarray) -> dict[str, np.ndarray]:
    """What training saw of the nodes: the gain of splits, the cover of leaves; nothing where a tree has none."""
    covers = [tree.cover for tree in trees if tree.cover is not None]
    gains = [tree.gain for tree in trees if tree.gain is not None]
    if len(covers) < len(trees) or len(gains) < len(trees):
        return {}
    cover = np.concatenate(covers)[~split]
    whole = np.all(cover == np.floor(cover)) and cover.max(initial=0.0) < 2**32
    return {
        "leaf.cover": unsigned(cover) if whole else finite(cover, "covers"),
        "split.gain": finite(np.concatenate(gains)[split], "gains"),
    }


def _pack_categories(trees: list[TreeFunction], split: np.ndarray) -> dict[str, np.ndarray]:
    """The splits on categories, their sets, and the bins of codes by column; nothing without such splits."""
    categories = shared_categories(trees)
    if categories is None:
        return {}
    numbers, sets = numbered_sets(trees)
    numbers = numbers[split]
    columns = np.flatnonzero(categories.first >= 0)
    return {
        "split.on_set": np.packbits(numbers >= 0),
        "set.bits": sets[numbers[numbers >= 0]].astype("<u4").view(np.uint8).reshape(-1),
        "category.column": unsigned(columns),
        "category.codes": unsigned(categories.size[columns]),
        "category.bin": categories.bins,
    }


def _pack_slopes(trees: list[TreeFunction]) -> dict[str, np.ndarray]:
    """The slopes of linear leaves, and which of them go on beyond the range of their leaf; nothing without any."""
    starts = np.cumsum([0, *(len(tree.feature) for tree in trees[:-1])])
    found = [
        (start, tree.slopes) for start, tree in zip(starts, trees, strict=True) if tree.slopes is not None
    ]
    if not found:
        return {}
    free = np.concatenate([np.full(len(own.node), not own.clamped) for _, own in found])
    tensors = {
        "slope.node": unsigned(np.concatenate([start + own.node for start, own in found])),
        "slope.feature": unsigned(np.concatenate([own.feature for _, own in found])),
        "slope.value": finite(np.concatenate([own.slope for _, own in found]), "slopes"),
        "slope.center": finite(np.concatenate([own.center for _, own in found]), "slopes"),
        "slope.low": finite(np.concatenate([own.low for _, own in found]), "slopes"),
        "slope.width": finite(np.concatenate([own.width for _, own in found]), "slopes"),
    }
    return tensors | ({"slope.free": np.packbits(free)} if free.any() else {})


def _unpack_slopes(
    tensors: Tensors, starts: np.ndarray, split: np.ndarray, n_features: int, outputs: int
) -> list[Slopes | None]:
    """Those of each tree, of which these are the first nodes."""
    if not tensors.has("slope.node"):
        return [None] * len(starts)
    count = tensors.length("slope.node")
    node = tensors.indices("slope.node", count, 0, len(split) - 1)
    feature = tensors.indices("slope.feature", count, 0, n_features - 1).astype(np.int32)
    shapes = {"value": (count, outputs), "center": (count, outputs), "low": (count,), "width": (count,)}
    slope, center, low, width = (tensors.floats(f"slope.{name}", shape) for name, shape in shapes.items())
    free = tensors.bits("slope.free", count) if tensors.has("slope.free") else np.zeros(count, dtype=np.bool_)
    if split[node].any() or (np.diff(node) < 0).any():
        raise Fault("it has slopes that are not those of leaves, in their order")
    if (width <= 0).any():
        raise Fault("it has a slope over a range without width")
    bounds = np.append(np.searchsorted(node, starts), count)
    found: list[Slopes | None] = []
    for start, part in zip(starts, map(slice, bounds[:-1].tolist(), bounds[1:].tolist()), strict=True):
        if free[part].any() and not free[part].all():
            raise Fault("it has a tree only some of whose slopes end with the range of their leaf")
        arrays = (feature[part], slope[part], center[part], low[part], width[part])
        own = Slopes((node[part] - start).astype(np.int32), *arrays, not free[part].any())
        found.append(own if len(own.node) else None)
    return found


def unpack(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[TreeFunction]:
    """The trees, `count` of them; a Fault unless each is one whole tree on these features."""
    sizes = tensors.indices("tree.nodes", count, 1, MOST_NODES)
    ends = np.cumsum(sizes)
    starts, total = ends - sizes, int(ends[-1])
    split = tensors.bits("node.split", total)
    place = np.flatnonzero(split)
    splits, leaves = len(place), total - len(place)
    feature = tensors.indices("split.feature", splits, 0, n_features - 1)
    left = place + tensors.indices("split.left", splits, 1, MOST_NODES)
    right, missing_left = left + 1, np.zeros(splits, dtype=np.bool_)
    if tensors.has("split.right"):
        right = place + tensors.indices("split.right", splits, 1, MOST_NODES)
    if tensors.has("split.missing_left"):
        missing_left = tensors.bits("split.missing_left", splits)
    _check_parents(left, right, starts, np.repeat(ends, sizes)[place], total)
    first = np.repeat(starts, sizes)[place]
    nodes = {
        "feature": spread(feature.astype(np.int32), split, -1),
        "threshold": spread(tensors.floats("split.threshold", (splits,), infinite=True), split),
        "left": spread((left - first).astype(np.int32), split),
        "right": spread((right - first).astype(np.int32), split),
        "missing_left": spread(missing_left, split),
        "value": spread(tensors.floats("leaf.value", (leaves, outputs)), ~split),
    }
    if tensors.has("leaf.cover"):
        nodes["cover"] = spread(tensors.counts_or_floats("leaf.cover", leaves), ~split)
        nodes["gain"] = spread(tensors.floats("split.gain", (splits,)), split)
        _add_up(nodes["cover"], place, left, right, split)
    on_set, sets, categories = _unpack_categories(tensors, feature, missing_left, n_features)
    numbers = spread(np.where(on_set, np.cumsum(on_set) - 1, -1), split, -1)
    slopes = _unpack_slopes(tensors, starts, split, n_features, outputs)
    found = []
    for part, own_slopes in zip(map(slice, starts.tolist(), ends.tolist()), slopes, strict=True):
        own = numbers[part]
        used = own[own >= 0]  # one after another, as sets lie in the order of their nodes
        tree_sets = sets[used[0] : used[-1] + 1] if len(used) else sets[:0]
        tree: dict[str, Any] = {name: array[part] for name, array in nodes.items()} | {
            "category_set": np.where(own >= 0, own - used[0] if len(used) else own, -1).astype(np.int32),
            "category_sets": tree_sets,
        }
        found.append(TreeFunction(**tree, categories=categories if len(used) else None, slopes=own_slopes))
    return found


def spread(values: np.ndarray, where: np.ndarray, blank: int = 0) -> np.ndarray:
    """An array of all nodes with values at some of them."""
    spread = np.full((len(where), *values.shape[1:]), blank, dtype=values.dtype)
    spread[where] = values
    return spread


def _add_up(
    cover: np.ndarray, place: np.ndarray, left: np.ndarray, right: np.ndarray, split: np.ndarray
) -> None:
    """The cover of splits from that of leaves, level by level, the lowest first."""
    children = np.zeros((len(cover), 2), dtype=np.int64)
    children[place, 0], children[place, 1] = left, right
    parents = np.zeros(len(cover), dtype=np.bool_)
    parents[children[place].reshape(-1)] = True
    levels = [place[~parents[place]]]  # the roots
    while len(levels[-1]):
        below = children[levels[-1]].reshape(-1)
        levels.append(below[split[below]])
    for level in levels[::-1]:
        cover[level] = cover[children[level]].sum(axis=1)


def _unpack_categories(
    tensors: Tensors, feature: np.ndarray, missing_left: np.ndarray, n_features: int
) -> tuple[np.ndarray, np.ndarray, Categories | None]:
    """Which splits are on sets of categories, the sets, and the bins of codes."""
    if not tensors.has("split.on_set"):
        return np.zeros(len(feature), dtype=np.bool_), np.empty((0, 8), dtype=np.uint32), None
    on_set = tensors.bits("split.on_set", len(feature))
    bits = tensors.indices("set.bits", 32 * int(on_set.sum()), 0, 255).astype(np.uint8).reshape(-1, 32)
    columns = tensors.indices("category.column", None, 0, n_features - 1)
    size = np.zeros(n_features, dtype=np.int64)
    size[columns] = tensors.indices("category.codes", len(columns), 0, MOST_CODES)
    bins = tensors.indices("category.bin", int(size.sum()), 0, 255).astype(np.uint8)
    first = np.full(n_features, -1, dtype=np.int64)
    first[columns] = (np.cumsum(size) - size)[columns]
    if (np.diff(columns) <= 0).any() or (first[feature[on_set]] < 0).any():
        raise Fault("it splits a column on categories that it does not list")
    if not np.array_equal(bits[:, 31] >> 7, missing_left[on_set]):
        raise Fault("it has a set of categories that sends missing values elsewhere than its split")
    return on_set, bits.view("<u4").astype(np.uint32), Categories(first, size, bins)


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
