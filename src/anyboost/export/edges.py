"""Rows that try every decision of some trees: for each node, rows that reach it and lie on both edges of its cut."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost.export.onnx_trees import codes_apart, round_down
from anyboost.weak.functions import TreeFunction


class _Way(NamedTuple):
    """What the way to a node leaves of a column: low < x <= high and, of some, the values; and whether none may be."""

    low: float = -np.inf
    high: float = np.inf
    missing: bool = True
    values: tuple[float, ...] | None = None


class Edges:
    """Rows for some trees on a table of so many columns, of numbers that a type has.

    `known` has the values of columns that can have no others: codes of categories, statistics of levels.
    """

    def __init__(
        self, trees: Sequence[TreeFunction], n_columns: int, known: dict[int, np.ndarray], dtype: Any
    ) -> None:
        self.trees, self.n_columns, self.dtype = trees, n_columns, dtype
        self.known = {column: tuple(np.unique(values).tolist()) for column, values in known.items()}
        self.pool = [self._of_column(column) for column in range(n_columns)]

    def _of_column(self, column: int) -> np.ndarray:
        """Values that any tree's cut of the column has on its edges, and those no cut expects."""
        if column in self.known:
            return np.array([np.nan, *self.known[column]])
        cuts = [
            tree.threshold[(tree.feature == column) & (tree.category_set < 0)].astype(np.float64)
            for tree in self.trees
        ]
        cut = round_down(np.unique(np.concatenate([np.zeros(0), *cuts])), self.dtype)
        strange = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype=self.dtype)
        return np.concatenate([*self._near(cut), strange]).astype(np.float64)

    def _near(self, cut: np.ndarray) -> list[np.ndarray]:
        """Some numbers, and their neighbours below and above."""
        with np.errstate(over="ignore"):
            return [cut, *(np.nextafter(cut, self.dtype(side)) for side in (-np.inf, np.inf))]

    def random(self, count: int, draw: np.random.Generator) -> np.ndarray:
        """Rows of any values that are an edge of some cut."""
        return np.column_stack([draw.choice(values, count) for values in self.pool])

    def rows(self, most: int, draw: np.random.Generator) -> np.ndarray:
        """Rows at the edges of nodes, of each node or of as many as `most` rows allow; random ones elsewhere."""
        nodes: list[tuple[TreeFunction, int, dict[int, _Way]]] = []
        for number in draw.permutation(len(self.trees)).tolist():
            nodes += self._nodes(self.trees[number])
            if 16 * len(nodes) > 4 * most:  # enough to choose from: a model may have a million
                break
        nodes = [nodes[number] for number in draw.permutation(len(nodes))[: most // 4]]
        rows = [row for tree, node, way in nodes for row in self._at(tree, node, way, draw)]
        return np.array(rows).reshape(-1, self.n_columns)

    def _nodes(self, tree: TreeFunction) -> Iterator[tuple[TreeFunction, int, dict[int, _Way]]]:
        ways: list[tuple[int, dict[int, _Way]]] = [(0, {})]
        while ways:
            node, way = ways.pop()
            if tree.feature[node] < 0:
                continue
            yield tree, node, way
            column = int(tree.feature[node])
            before = way.get(column, _Way(values=self.known.get(column)))
            for child, goes_left in ((int(tree.left[node]), True), (int(tree.right[node]), False)):
                ways.append((child, way | {column: _narrowed(tree, node, before, goes_left)}))

    def _at(
        self, tree: TreeFunction, node: int, way: dict[int, _Way], draw: np.random.Generator
    ) -> Iterator[np.ndarray]:
        row = np.array([draw.choice(values) for values in self.pool])
        for column, found in way.items():
            options = self._allowed(found, [found.high, found.low, *draw.choice(self.pool[column], 4)])
            if not options:
                return  # no row of this type comes here
            row[column] = options[0]
        column = int(tree.feature[node])
        found = way.get(column, _Way(values=self.known.get(column)))
        tried = [np.nan, float(tree.threshold[node])]
        if found.values is not None:
            tried += draw.choice(found.values, 2).tolist() if found.values else []
        for value in self._allowed(found, tried):
            row[column] = value
            yield row.copy()

    def _allowed(self, way: _Way, tried: list[float]) -> list[float]:
        """Those of some values, and of their neighbours, that a way allows; the first that are there, if any."""
        if way.values is not None:
            inside = [value for value in way.values if way.low < value <= way.high]
            return inside[:3] + ([np.nan] if way.missing else [])
        near = self._near(round_down(np.array([value for value in tried if value == value]), self.dtype))
        found = [float(value) for value in np.concatenate(near) if way.low < float(value) <= way.high]
        if way.low == -np.inf:
            found.append(-np.inf)
        return list(dict.fromkeys(found)) + ([np.nan] if way.missing else [])


def _narrowed(tree: TreeFunction, node: int, way: _Way, goes_left: bool) -> _Way:
    if tree.category_set[node] < 0:
        threshold = float(tree.threshold[node])
        missing = way.missing and bool(tree.missing_left[node]) == goes_left
        if goes_left:
            return way._replace(high=min(way.high, threshold), missing=missing)
        return way._replace(low=max(way.low, threshold), missing=missing)
    codes, missing_left = codes_apart(tree, node)
    kept = tuple(
        code for code in way.values or () if (code in set(codes.tolist())) == (goes_left != missing_left)
    )
    return way._replace(values=kept, missing=way.missing and missing_left == goes_left)
