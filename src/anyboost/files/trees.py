"""Many trees as a few flat arrays, and back. A node costs a bit; a split also its feature, threshold, left child and
gain, on categories a set of 256 bins; a leaf its values and its cover; a slope of a leaf its node, column and range.

Nodes of all trees lie one after another, each tree's root first. `split.left` is how far after its parent the
left child lies; the right child is the next node, unless `split.right` is there too. Distances are positive, so
every walk moves forward; and `unpack` makes sure that each node but the roots has one parent.
"""

from typing import Any

import numpy as np

from anyboost.checks import MOST_CODES
from anyboost.files.codec import Place, Record
from anyboost.files.fields import MOST_PARTS, Fault, Fields, refuse
from anyboost.files.tensors import POSITIVE, Bits, Counts, Floats, Packed, Whole
from anyboost.trees.inclined import Slopes
from anyboost.trees.table import Categories
from anyboost.weak.functions import TreeFunction, numbered_sets, shared_categories

_TREES = Record("tree.", nodes=Whole("trees", least=1, most=MOST_PARTS))
_NODES = Record("node.", split=Bits("nodes"))
_SPLITS = Record(
    "split.",
    feature=Whole("splits", below="features"),
    threshold=Floats("splits", infinite=True, what="thresholds"),
    left=Whole("splits", least=1, most=MOST_PARTS),
    right=Place(Whole("splits", least=1, most=MOST_PARTS), default=None),
    missing_left=Bits("splits", sparse=True),
    gain=Place(Floats("splits"), default=None),
    on_set=Place(Bits("splits"), default=None),
)
_LEAVES = Record(
    "leaf.",
    value=Floats("leaves", "outputs", what="leaf values"),
    cover=Place(Counts("leaves"), default=None),
)
_SETS = Record("set.", bits=Whole("bytes", most=255))
_CATEGORIES = Record(
    "category.",
    column=Whole("columns", below="features", rise=1),
    codes=Whole("columns", most=MOST_CODES),
    bin=Whole(None, most=255),
)
_SLOPES = Record(
    "slope.",
    node=Whole("slopes", below="nodes", rise=0),
    feature=Whole("slopes", below="features"),
    value=Floats("slopes", "outputs"),
    center=Floats("slopes", "outputs"),
    low=Floats("slopes"),
    width=Floats("slopes", least=POSITIVE),
    free=Bits("slopes", sparse=True),
)


def pack(trees: list[TreeFunction]) -> Packed:
    """The tensors of these trees."""
    sizes = np.array([len(tree.feature) for tree in trees])
    starts = np.cumsum(sizes) - sizes
    names = ("feature", "threshold", "left", "right", "missing_left", "value")
    nodes: dict[str, Any] = {name: joined(trees, name) for name in names}
    split = nodes["feature"] >= 0
    own = {name: array[split] for name, array in nodes.items()}
    place, first = np.flatnonzero(split), np.repeat(starts, sizes)[split]
    right = None if np.array_equal(own["right"], own["left"] + 1) else own["right"] + first - place
    own |= {"left": own["left"] + first - place, "right": right, "gain": None, "on_set": None}
    leaves = {"value": nodes["value"][~split], "cover": None}
    if all(tree.cover is not None and tree.gain is not None for tree in trees):
        leaves["cover"], own["gain"] = joined(trees, "cover")[~split], joined(trees, "gain")[split]
    found = _TREES.pack(nodes=sizes) | _NODES.pack(split=split) | _LEAVES.pack(**leaves)
    categories = shared_categories(trees)
    if categories is not None:
        numbers, sets = numbered_sets(trees)
        numbers = numbers[split]
        own["on_set"] = numbers >= 0
        bits = sets[numbers[numbers >= 0]].astype("<u4").view(np.uint8).reshape(-1)
        columns = np.flatnonzero(categories.first >= 0)
        codes = categories.size[columns]
        found |= _SETS.pack(bits=bits) | _CATEGORIES.pack(column=columns, codes=codes, bin=categories.bins)
    return found | _SPLITS.pack(**own) | _pack_slopes(trees, starts)


def joined(parts: list[Any], name: str) -> np.ndarray:
    """The arrays that parts have under a name, one after another."""
    return np.concatenate([getattr(part, name) for part in parts])


def _pack_slopes(trees: list[TreeFunction], starts: np.ndarray) -> Packed:
    """The slopes of linear leaves, and which of them go on beyond the range of their leaf; nothing without any."""
    of = {start: tree.slopes for start, tree in zip(starts, trees, strict=True) if tree.slopes is not None}
    if not of:
        return Packed({}, {})
    found = {name: joined([*of.values()], name) for name in ("feature", "center", "low", "width")}
    found["value"] = joined([*of.values()], "slope")
    found["node"] = np.concatenate([start + own.node for start, own in of.items()])
    found["free"] = np.concatenate([np.full(len(own.node), not own.clamped) for own in of.values()])
    return _SLOPES.pack(**found)


def unpack(part: Fields, count: int, features: int, outputs: int) -> list[TreeFunction]:
    """The trees, `count` of them; a Fault unless each is one whole tree on these features."""
    sizes = _TREES.take(part, trees=count)["nodes"]
    ends = np.cumsum(sizes)
    starts, total = ends - sizes, int(ends[-1])
    split = _NODES.take(part, nodes=total)["split"]
    place = np.flatnonzero(split)
    own = _SPLITS.take(part, splits=len(place), features=features)
    leaves = _LEAVES.take(part, leaves=total - len(place), outputs=outputs)
    if (leaves["cover"] is None) != (own["gain"] is None):
        raise Fault("it has trees with gains and no covers, or with covers and no gains")
    left = place + own["left"]
    right = left + 1 if own["right"] is None else place + own["right"]
    _check_parents(left, right, starts, np.repeat(ends, sizes)[place], total)
    first = np.repeat(starts, sizes)[place]
    nodes = {
        "feature": spread(own["feature"].astype(np.int32), split, -1),
        "threshold": spread(own["threshold"], split),
        "left": spread((left - first).astype(np.int32), split),
        "right": spread((right - first).astype(np.int32), split),
        "missing_left": spread(own["missing_left"], split),
        "value": spread(leaves["value"], ~split),
    }
    if leaves["cover"] is not None:
        nodes["cover"], nodes["gain"] = spread(leaves["cover"], ~split), spread(own["gain"], split)
        _add_up(nodes["cover"], place, left, right, split)
    on_set, sets, categories = _unpack_categories(part, own, features)
    numbers = spread(np.where(on_set, np.cumsum(on_set) - 1, -1), split, -1)
    slopes = _unpack_slopes(part, starts, split, features, outputs)
    found = []
    for tree, own_slopes in zip(map(slice, starts.tolist(), ends.tolist()), slopes, strict=True):
        number = numbers[tree]
        used = number[number >= 0]  # one after another, as sets lie in the order of their nodes
        category: dict[str, Any] = {
            "category_set": np.where(number >= 0, number - used[0] if len(used) else number, -1).astype(
                np.int32
            ),
            "category_sets": sets[used[0] : used[-1] + 1] if len(used) else sets[:0],
            "categories": categories if len(used) else None,
        }
        category |= {name: array[tree] for name, array in nodes.items()}
        found.append(TreeFunction(**category, slopes=own_slopes))
    return found


def _unpack_slopes(
    part: Fields, starts: np.ndarray, split: np.ndarray, n_features: int, outputs: int
) -> list[Slopes | None]:
    """Those of each tree, of which these are the first nodes."""
    if not part.tensors.has("slope.node"):
        return [None] * len(starts)
    own = _SLOPES.take(part, nodes=len(split), features=n_features, outputs=outputs)
    node, free = own["node"], own.pop("free")
    refuse(split[node].any(), "it has slopes of nodes that are no leaves")
    arrays = [own["feature"].astype(np.int32), *(own[name] for name in ("value", "center", "low", "width"))]
    bounds = np.append(np.searchsorted(node, starts), len(node)).tolist()
    found: list[Slopes | None] = []
    for start, tree in zip(starts, map(slice, bounds[:-1], bounds[1:]), strict=True):
        if free[tree].any() and not free[tree].all():
            raise Fault("it has a tree only some of whose slopes end with the range of their leaf")
        numbers = (node[tree] - start).astype(np.int32)
        slopes = Slopes._make([numbers, *(array[tree] for array in arrays), not free[tree].any()])
        found.append(slopes if len(numbers) else None)
    return found


def _unpack_categories(
    part: Fields, splits: dict[str, Any], n_features: int
) -> tuple[np.ndarray, np.ndarray, Categories | None]:
    """Which splits are on sets of categories, the sets, and the bins of codes."""
    on_set = splits["on_set"]
    if on_set is None:
        return np.zeros(len(splits["feature"]), dtype=np.bool_), np.empty((0, 8), dtype=np.uint32), None
    bits = _SETS.take(part, bytes=32 * int(on_set.sum()))["bits"].astype(np.uint8).reshape(-1, 32)
    columns, codes, bins = _CATEGORIES.take(part, features=n_features).values()
    size, first = np.zeros(n_features, dtype=np.int64), np.full(n_features, -1, dtype=np.int64)
    size[columns], first[columns] = codes, np.cumsum(codes) - codes
    if len(bins) != codes.sum() or (first[splits["feature"][on_set]] < 0).any():
        raise Fault("it splits a column on categories that it does not list")
    if not np.array_equal(bits[:, 31] >> 7, splits["missing_left"][on_set]):
        raise Fault("it has a set of categories that sends missing values elsewhere than its split")
    return on_set, bits.view("<u4").astype(np.uint32), Categories(first, size, bins.astype(np.uint8))


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


def _check_parents(
    left: np.ndarray, right: np.ndarray, starts: np.ndarray, ends: np.ndarray, total: int
) -> None:
    # Children come after their parent in its own tree. If then every node but the roots has one parent, the
    # walk from a root reaches each node of its tree once, and ends.
    refuse((left >= ends).any() or (right >= ends).any(), "it has a tree with a child outside it")
    parents = np.bincount(np.concatenate([left, right]), minlength=total)
    expected = np.ones(total, dtype=np.int64)
    expected[starts] = 0
    refuse(not np.array_equal(parents, expected), "it has a tree in which a node has no parent, or two")
