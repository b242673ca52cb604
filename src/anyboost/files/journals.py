"""The part of a file that is a run's trees as they were grown, in whole numbers and bins: what a replay starts from.

Nodes of all trees lie one after another, as in `files.trees`, and so do their leaves.
"""

from typing import Any

import numpy as np

from anyboost.files.codec import Place, Record
from anyboost.files.fields import MOST_PARTS, Fault, Fields
from anyboost.files.tensors import Bits, Floats, Kind, Packed, Tensors, Whole
from anyboost.files.trees import joined, spread
from anyboost.trees.journal import KeptTree
from anyboost.trees.table import BINS, MISSING

_MOST_OUTPUTS = 2**16


class Wide(Kind):
    """Whole numbers of 64 bits, each as two of 32, the lower half first."""

    def __init__(self, length: str) -> None:
        self.shape = (length,)

    def written(self, value: Any, name: str) -> np.ndarray:
        return np.ascontiguousarray(value, dtype="<i8").reshape(-1).view("<u4")

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> np.ndarray:
        count: int = named[self.shape[0]]  # type: ignore[index]
        return tensors.take(name, (2 * count,), "U32").view("<i8").astype(np.int64)


_NODES = Record("grown.", nodes=Whole("trees", least=1, most=MOST_PARTS))
_TREES = Record(
    "grown.",
    outputs=Whole("trees", least=1, most=_MOST_OUTPUTS),
    weights=Whole("trees", least=1, most=_MOST_OUTPUTS),
    bounded=Whole("trees", most=1),
    split=Bits("nodes"),
)
_SPLITS = Record(
    "grown.split.",
    feature=Whole("splits", below="features"),
    bin=Whole("splits", most=MISSING),  # one more than it is
    left=Whole("splits", least=1, most=MOST_PARTS),
    order=Whole("splits", most=2),  # one more than it is
    goes_left=Whole("bytes", most=255),
    gain=Floats("splits", what="gains"),
)
_SUMS = Record("grown.node.", mass=Place(Wide("nodes"), "masses"), cover=Wide("nodes"))
_LEAVES = Record(
    "grown.leaf.",
    node=Place(Whole("leaves", most=MOST_PARTS), "leaf_nodes"),
    sums=Wide("sums"),
    weights=Wide("weights"),
    masses=Place(Wide("leaves"), "leaf_masses"),
    bounds=Floats("bounds", infinite=True, what="bounds"),
)


def pack(trees: list[KeptTree]) -> Packed:
    """The tensors of these trees."""
    found = _NODES.pack(nodes=[len(tree.feature) for tree in trees])
    if not trees:
        return found
    names = ("feature", "bin", "left", "order", "gain", "goes_left", "masses", "cover")
    nodes = {name: joined(trees, name) for name in names}
    split, bounds = nodes["feature"] >= 0, [tree.bounds for tree in trees]
    own = {name: array[split] for name, array in nodes.items()}
    found |= _TREES.pack(
        outputs=[tree.sums.shape[1] for tree in trees],
        weights=[tree.weights.shape[1] for tree in trees],
        bounded=[bound is not None for bound in bounds],
        split=split,
    )
    found |= _SPLITS.pack(**own | {"bin": own["bin"] + 1, "order": own["order"] + 1})
    found |= _SUMS.pack(mass=nodes["masses"], cover=nodes["cover"])
    return found | _LEAVES.pack(
        node=joined(trees, "leaf_nodes"),
        sums=np.concatenate([tree.sums.reshape(-1) for tree in trees]),
        weights=np.concatenate([tree.weights.reshape(-1) for tree in trees]),
        masses=joined(trees, "leaf_masses"),
        bounds=np.concatenate([np.empty(0), *(bound.reshape(-1) for bound in bounds if bound is not None)]),
    )


def unpack(part: Fields, n_features: int) -> list[KeptTree]:
    """The trees; a Fault unless each is one whole tree on these features."""
    sizes = _NODES.take(part)["nodes"]
    count, total = len(sizes), int(sizes.sum())
    if not count:
        return []
    outputs, widths, bounded, split = _TREES.take(part, trees=count, nodes=total).values()
    if ((widths != 1) & (widths != outputs)).any() or (sizes % 2 == 0).any():
        raise Fault("it has a grown tree whose parts are not of one shape")
    own_leaves, splits = (sizes + 1) // 2, int(split.sum())
    lengths = {"sums": own_leaves * outputs, "weights": own_leaves * widths}
    lengths["bounds"] = 2 * lengths["sums"] * bounded
    leaves = _LEAVES.take(
        part, leaves=total - splits, **{name: int(own.sum()) for name, own in lengths.items()}
    )
    own = _SPLITS.take(part, splits=splits, bytes=splits * BINS // 8, features=n_features)
    _check(spread(own["left"], split), leaves["leaf_nodes"], split, sizes, own_leaves)
    goes_left = own["goes_left"].astype(np.uint8).reshape(splits, BINS // 8)
    nodes = _SUMS.take(part, nodes=total) | {
        "feature": spread(own["feature"].astype(np.int32), split, -1),
        "bin": spread(own["bin"].astype(np.int32) - 1, split),
        "left": spread(own["left"].astype(np.int32), split),
        "order": spread(own["order"] - 1, split),
        "gain": spread(own["gain"], split),
        "goes_left": spread(goes_left, split),
    }
    parts: dict[str, list[Any]] = {name: _cut(values, sizes) for name, values in nodes.items()}
    parts["leaf_nodes"] = _cut(leaves["leaf_nodes"].astype(np.int32), own_leaves)
    parts["leaf_masses"] = _cut(leaves["leaf_masses"], own_leaves)
    for name, columns in (("sums", outputs), ("weights", widths)):
        flat = zip(_cut(leaves[name], lengths[name]), columns.tolist(), strict=True)
        parts[name] = [values.reshape(-1, width) for values, width in flat]
    flat = zip(_cut(leaves["bounds"], lengths["bounds"]), outputs.tolist(), strict=True)
    bounds = [values.reshape(-1, 2, k) for values, k in flat]
    parts["bounds"] = [own if has else None for own, has in zip(bounds, bounded, strict=True)]
    return [KeptTree(**{name: each[tree] for name, each in parts.items()}) for tree in range(count)]


def _check(
    left: np.ndarray, leaf_nodes: np.ndarray, split: np.ndarray, sizes: np.ndarray, own_leaves: np.ndarray
) -> None:
    """Each tree is one whole tree, and its list of leaves has each of them once."""
    starts, place = np.cumsum(sizes) - sizes, np.flatnonzero(split)
    child = (np.repeat(starts, sizes) + left)[place]
    beyond = np.repeat(starts + sizes, sizes)[place]
    roots = np.zeros(len(split), dtype=np.bool_)
    roots[starts] = True
    children = np.sort(np.concatenate([child, child + 1]))
    whole = (child > place).all() and (child + 1 < beyond).all()
    if not whole or not np.array_equal(children, np.flatnonzero(~roots)):
        raise Fault("it has a grown tree whose nodes are no tree")
    # Whole trees have one leaf more than splits, so as many leaves as are asked for here
    listed = np.repeat(starts, own_leaves)
    inside = (leaf_nodes < np.repeat(sizes, own_leaves)).all()
    if not inside or not np.array_equal(np.sort(listed + leaf_nodes), np.flatnonzero(~split)):
        raise Fault("it has a grown tree that lists other leaves than its own")


def _cut(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])
