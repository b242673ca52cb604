"""What a fit keeps of its training rows for explanations: how each column that its trees cut is distributed.

    mass_c = sum of w_n over the rows whose value lies in cell c, as a share of all

Cells of numbers lie between the thresholds that the trees use, cells of categories are their levels; missing values
have a cell of their own, the last. With the means, for linear functions, it is all that closed forms need.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anyboost.explain.importances import trees_of
from anyboost.losses.leaves import Leaves
from anyboost.trees.parts import circle
from anyboost.weak.functions import TreeFunction

MOST_FEATURES = 2  # on a path, of trees whose shapes can be drawn


@dataclass(frozen=True, eq=False)
class Marginal:
    """How the training rows are distributed over the cells of a column; `edges` and `bounds` say nothing of levels."""

    edges: np.ndarray
    mass: np.ndarray  # (cells + 1,), the last of missing values; the sum is one
    bounds: tuple[float, float] = (0.0, 0.0)  # the least and the largest finite number

    @classmethod
    def of(
        cls, values: np.ndarray, weights: np.ndarray | None, edges: np.ndarray, n_levels: int
    ) -> "Marginal":
        """That of a column of numbers, or of codes of `n_levels` levels where that is not zero."""
        n_cells = n_levels or len(edges) + 1
        cell = cells_of(values, None if n_levels else edges, n_cells)
        mass = Leaves(cell, n_cells + 1, np.ones(len(cell)) if weights is None else weights).masses()
        finite = values[np.isfinite(values)]
        high = circle().most(np.array([(-finite).max(initial=-np.inf), finite.max(initial=-np.inf)]))
        if n_levels or np.isinf(high).any():
            return cls(edges, mass / mass.sum())
        return cls(edges, mass / mass.sum(), (-float(high[0]), float(high[1])))


class Marginals(NamedTuple):
    """Marginals by the number of the column, for trees of which shapes can be drawn, and means for linear functions."""

    columns: Mapping[int, Marginal]
    means: np.ndarray | None = None  # of the columns that the model takes

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.columns) or self.means is not None


def cells_of(values: np.ndarray, edges: np.ndarray | None, n_cells: int) -> np.ndarray:
    """The cell of each number, edges[c - 1] < x <= edges[c], or of each code; `n_cells` where it is missing."""
    missing = np.isnan(values)
    if edges is None:
        return np.where(missing, n_cells, values).astype(np.intp)
    return np.where(missing, n_cells, np.searchsorted(edges, values))


def edges_of(trees: Iterable[TreeFunction], source: np.ndarray) -> dict[int, np.ndarray]:
    """The thresholds that trees use, by the column they come from; none for categories."""
    found: dict[int, list[np.ndarray]] = {}
    for tree in trees:
        inner = tree.feature >= 0
        columns = source[tree.feature[inner]]
        numbers = np.isfinite(tree.threshold[inner]) & (tree.category_set[inner] < 0)
        for column in np.unique(columns).tolist():
            found.setdefault(column, []).append(tree.threshold[inner][(columns == column) & numbers])
    return {column: np.unique(np.concatenate(parts)) for column, parts in sorted(found.items())}


def most_on_a_path(tree: TreeFunction, source: np.ndarray) -> int:
    """The largest number of distinct columns that are asked about on the way to a leaf."""
    inner = np.flatnonzero(tree.feature >= 0)
    columns = source[tree.feature[inner]].tolist()
    if len(set(columns)) <= MOST_FEATURES:
        return len(set(columns))
    above: dict[int, frozenset[int]] = {0: frozenset()}
    for node, column in zip(inner.tolist(), columns, strict=True):  # a node comes before its children
        above[int(tree.left[node])] = above[int(tree.right[node])] = above[node] | {column}
    return max(map(len, above.values()))


def trees_with_shapes(hypotheses: Iterable[Any], source: np.ndarray) -> list[TreeFunction]:
    """The trees of a sum; a TypeError that says what to do where they have no shapes."""
    trees = []
    for term in hypotheses:
        own = trees_of(term)
        if own is None:
            raise TypeError(
                f"model is a sum of {type(term).__name__}, and shapes are those of trees: fit it without learner, with "
                "max_leaf_nodes=2 or 3"
            )
        for tree in own:
            if tree.slopes is not None:
                raise TypeError(
                    'model has trees of leaf="linear", whose shapes are no steps: fit it with another leaf'
                )
            most = most_on_a_path(tree, source)
            if most > MOST_FEATURES:
                raise TypeError(
                    f"model has trees with {most} columns on a path, and shapes are of one or two: fit it with "
                    'max_leaf_nodes=2 or 3, or interaction_cst="pairwise"'
                )
            trees.append(tree)
    return trees
