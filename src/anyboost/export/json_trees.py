"""Trees as lists of nodes, for JSON, and back to the tensors of a model file, which are checked there."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost.checks import MOST_CODES
from anyboost.files import container
from anyboost.files import trees as tree_files
from anyboost.files.fields import MOST_PARTS, Fault, Fields, choice, count, flag, items, real, record, refusal
from anyboost.files.tensors import Tensors
from anyboost.trees.inclined import Slopes
from anyboost.trees.table import BINS, MISSING, Categories
from anyboost.weak.functions import TreeFunction, shared_categories

_FORMS = {"trees": False, "trees an output": True}  # how a header names them, and whether each has one output
_PREFIXES = ("tree.", "node.", "split.", "leaf.", "set.", "category.", "slope.")
_STRANGE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Arrays = dict[str, np.ndarray]


def split_off(header: dict[str, Any], tensors: Arrays) -> tuple[list[Any], list[Any], Arrays]:
    """The trees of a model as lists of nodes, the bins of their categories, and the other tensors."""
    model = header["model"]
    ensemble = model.get("ensemble", model)
    if ensemble.get("hypotheses") not in _FORMS:
        return [], [], tensors
    own = {name: array for name, array in tensors.items() if name.startswith(_PREFIXES)}
    outputs = 1 if _FORMS[ensemble["hypotheses"]] else ensemble["outputs"]
    functions = tree_files.unpack(
        Fields({}, "trees", Tensors(container.held({}, own))),
        len(tensors["tree.nodes"]),
        ensemble["features"],
        outputs,
    )
    return *_listed(functions), {name: array for name, array in tensors.items() if name not in own}


def _listed(functions: Sequence[TreeFunction]) -> tuple[list[Any], list[Any]]:
    """The trees, and the bins of categories that they share."""
    categories = shared_categories(functions)
    listed = []
    if categories is not None:
        for column in np.flatnonzero(categories.first >= 0).tolist():
            first, size = categories.first[column], categories.size[column]
            listed.append({"column": column, "bins": categories.bins[first : first + size].tolist()})
    return [_tree(tree) for tree in functions], listed


def _tree(tree: TreeFunction) -> dict[str, Any]:
    nodes = [_split(tree, i) if tree.feature[i] >= 0 else _leaf(tree, i) for i in range(len(tree.feature))]
    found: dict[str, Any] = {"nodes": nodes}
    if tree.slopes is not None:
        found["clamped"] = bool(tree.slopes.clamped)
    return found


def _split(tree: TreeFunction, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {"column": int(tree.feature[node])}
    if tree.category_set[node] < 0:
        found["threshold"] = float(tree.threshold[node])
        found["missing"] = "left" if tree.missing_left[node] else "right"
    else:
        found["bins_left"] = np.flatnonzero(tree.bins_to_the_left(node)).tolist()
    found |= {"left": int(tree.left[node]), "right": int(tree.right[node])}
    return found if tree.gain is None else found | {"gain": float(tree.gain[node])}


def _leaf(tree: TreeFunction, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {"value": tree.value[node].tolist()}
    if tree.cover is not None:
        found["cover"] = float(tree.cover[node])
    if tree.slopes is not None:
        own = np.flatnonzero(tree.slopes.node == node)
        if len(own):
            found["slopes"] = [
                {
                    "column": int(tree.slopes.feature[e]),
                    "slope": tree.slopes.slope[e].tolist(),
                    "center": tree.slopes.center[e].tolist(),
                    "low": float(tree.slopes.low[e]),
                    "width": float(tree.slopes.width[e]),
                }
                for e in own.tolist()
            ]
    return found


def number(value: Any, name: str) -> float:
    """A number of JSON, or the word for one that is not finite."""
    return _STRANGE[value] if isinstance(value, str) and value in _STRANGE else real(value, name)


_numbers = items(each=number)
_SLOPE = record(column=count(0, MOST_PARTS), slope=_numbers, center=_numbers, low=real, width=real)
_CATEGORIES = record(column=count(0, MOST_PARTS), bins=items(each=count(0, BINS - 1)))


def joined(trees: list[Any], categories: list[Any]) -> Arrays:
    """The tensors of trees that are lists of nodes; whether they are trees, who reads the tensors will ask."""
    known = _categories([_CATEGORIES(entry, "categories") for entry in categories])
    functions = [_function(tree, known) for tree in trees]
    if not functions or (known is not None and all(tree.categories is None for tree in functions)):
        raise Fault("it has no trees, or none that splits on its categories")
    return tree_files.pack(functions).tensors


def _categories(listed: list[dict[str, Any]]) -> Categories | None:
    if not listed:
        return None
    columns = np.array([entry["column"] for entry in listed])
    if (np.diff(columns) <= 0).any():
        raise Fault("its categories are not in the order of their columns")
    if columns[-1] >= MOST_CODES:
        raise Fault("it names a column of categories that no table has")
    first, size = np.full(columns[-1] + 1, -1, dtype=np.int64), np.zeros(columns[-1] + 1, dtype=np.int64)
    size[columns] = [len(entry["bins"]) for entry in listed]
    first[columns] = (np.cumsum(size) - size)[columns]
    return Categories(first, size, np.concatenate([entry["bins"] for entry in listed]).astype(np.uint8))


def _function(tree: Any, categories: Categories | None) -> TreeFunction:
    found = Fields(tree, "trees")
    clamped = found.take("clamped", flag) if found.has("clamped") else None
    nodes = _Nodes()
    for entry in found.take("nodes", items()):
        node = Fields(entry, "nodes")
        (nodes.leaf if node.has("value") else nodes.split)(node)
        node.done()
    found.done()
    return nodes.function(clamped, categories)


class _Nodes:
    """The nodes of one tree, taken one after another."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, int, int, bool, int]] = []
        self.sets: list[np.ndarray] = []
        self.values: list[list[float]] = []
        self.covers: list[float] = []
        self.gains: list[float] = []
        self.slopes: list[tuple[int, dict[str, Any]]] = []

    def split(self, node: Fields) -> None:
        column, missing, number_of_set, threshold = node.take("column", count(0, MOST_PARTS)), False, -1, 0.0
        if node.has("bins_left"):
            bits = np.zeros(BINS, dtype=np.uint8)
            bits[node.take("bins_left", items(BINS, count(0, BINS - 1)))] = 1
            missing, number_of_set = bool(bits[MISSING]), len(self.sets)
            self.sets.append(np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32))
        else:
            threshold = node.take("threshold", number)
            missing = node.take("missing", choice("left", "right")) == "left"
        left, right = (node.take(side, count(1, MOST_PARTS)) for side in ("left", "right"))
        self.rows.append((column, threshold, left, right, missing, number_of_set))
        self.values.append([])
        self._history(node, "gain", self.gains)

    def leaf(self, node: Fields) -> None:
        self.slopes += [
            (len(self.rows), slope)
            for slope in (node.take("slopes", items(each=_SLOPE)) if node.has("slopes") else [])
        ]
        self.rows.append((-1, 0.0, 0, 0, False, -1))
        self.values.append(node.take("value", _numbers))
        self._history(node, "cover", self.covers)

    def _history(self, node: Fields, name: str, kept: list[float]) -> None:
        if node.has(name):
            kept.append(node.take(name, real))

    def function(self, clamped: bool | None, categories: Categories | None) -> TreeFunction:
        columns: list[Any] = list(zip(*self.rows, strict=True)) if self.rows else [[]] * 6
        kinds: tuple[Any, ...] = (np.int32, np.float64, np.int32, np.int32, np.bool_, np.int32)
        feature, threshold, left, right, missing_left, category_set = (
            np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)
        )
        leaf = feature < 0
        widths = {len(value) for value in self.values if value}
        if len(widths) != 1 or not all(
            value for value, is_leaf in zip(self.values, leaf, strict=True) if is_leaf
        ):
            raise Fault("it has a tree whose leaves have no values, or different numbers of them")
        value = np.array([own or [0.0] * max(widths) for own in self.values])
        if self.sets and categories is None:
            raise Fault("it splits on categories that it does not list")
        if (clamped is not None) != bool(self.slopes):
            raise refusal("clamped")
        return TreeFunction(
            feature, threshold, left, right, missing_left, category_set,
            np.array(self.sets, dtype=np.uint32).reshape(-1, BINS // 32),
            value,
            categories if self.sets else None,
            *self._seen(leaf),
            self._slopes(bool(clamped), max(widths)) if self.slopes else None,
        )  # fmt: skip

    def _seen(self, leaf: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """What training saw of the nodes: covers and gains, of all or of none."""
        if not self.covers and not self.gains:
            return None, None
        if len(self.covers) != leaf.sum() or len(self.gains) != (~leaf).sum():
            raise Fault("it has a tree only some of whose nodes have a gain or a cover")
        if min(self.covers) < 0:
            raise Fault("it has a leaf that covers less than nothing")
        cover, gain = np.zeros(len(leaf)), np.zeros(len(leaf))
        cover[leaf], gain[~leaf] = self.covers, self.gains
        return cover, gain

    def _slopes(self, clamped: bool, outputs: int) -> Slopes:
        entries = [entry for _, entry in self.slopes]
        if any(len(entry[name]) != outputs for entry in entries for name in ("slope", "center")):
            raise Fault("it has a slope with another number of outputs than its leaf")
        columns = {name: np.array([entry[name] for entry in entries]) for name in entries[0]}
        feature = columns.pop("column").astype(np.int32)
        node = np.array([node for node, _ in self.slopes], dtype=np.int32)
        slope, center, low, width = (array.astype(np.float64) for array in columns.values())
        return Slopes(node, feature, slope, center, low, width, clamped)
