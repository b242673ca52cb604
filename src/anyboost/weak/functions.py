"""Fitted trees: structured node arrays, apart from the code that grew them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anyboost.backends.arrays import as_scores
from anyboost.trees.table import Categories
from anyboost.weak.hypotheses import AsOne, Joined

if TYPE_CHECKING:
    from anyboost.trees.inclined import Slopes


@dataclass(frozen=True, eq=False)
class TreeFunction(AsOne):
    """A piecewise constant function, or a piecewise linear one.

    Node arrays; node 0 is the root. `feature` is -1 at leaves. A row goes left where x <= threshold.
    `missing_left` says where a missing value goes. `category_set` numbers a row of `category_sets`
    (256 bits each) at nodes that split on categories, and is -1 elsewhere: bit b says whether bin b goes left.
    `categories` has the bins of category codes; codes it does not know go where missing values go.

    `slopes` are those of its leaves, where they are linear.

    `cover` is the weight of the training rows under a node, drawn for the tree or not, and `gain` what a cut took off
    the squared distance to the target, in L2(P); None in trees of files that have them not.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    category_set: np.ndarray
    category_sets: np.ndarray
    value: np.ndarray
    categories: Categories | None = None
    cover: np.ndarray | None = None
    gain: np.ndarray | None = None
    slopes: "Slopes | None" = None

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    def bins_to_the_left(self, node: int) -> np.ndarray:
        """Which of the 256 bins of its column a node of categories sends left; the last is that of missing values."""
        words = self.category_sets[self.category_set[node]].astype("<u4")
        return np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)

    def bins_of_codes(self, node: int) -> np.ndarray:
        """The bins of the category codes of a node's column."""
        assert self.categories is not None
        first, size, bins = self.categories
        column = self.feature[node]
        return bins[first[column] : first[column] + size[column]]

    def with_leaf_values(self, values: np.ndarray) -> Self:
        """The same tree with other values in its leaves, in the order of their nodes."""
        value = self.value.copy()
        value[self.feature < 0] = values
        return replace(self, value=value)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf, as a node number, in which each row of X ends."""
        from anyboost.trees.predictor import find_leaves

        return find_leaves(np.asarray(X), self)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        X = np.asarray(X)
        values = self.at(X, self.apply(X))
        return as_scores(values)

    def at(self, X: np.ndarray, nodes: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Its values (n, k) at rows that end in these leaves, node numbers."""
        from anyboost.trees.predictor import add_inclined

        if self.slopes is None:
            return self.value[nodes]
        values = np.zeros((len(nodes), self.value.shape[1]))
        add_inclined(X, nodes, self.value, self.slopes, values, n_threads)
        return values

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        """The sum of coefficient times tree, laid out for fast prediction."""
        from anyboost.trees.predictor import add_mixed_trees, add_trees, join, join_mixed

        categories = shared_categories(parts)
        if categories is not None:
            return JoinedTrees(
                join_mixed(parts, coefficients, *numbered_sets(parts), categories), add_mixed_trees
            )
        return JoinedTrees(join(parts, coefficients), add_trees)


class JoinedTrees:
    """A sum of trees in one layout, and what adds it up at the rows of a table."""

    def __init__(self, forest: Any, add: Callable[..., None]) -> None:
        self.forest, self.add = forest, add

    def __call__(self, X: np.ndarray, out: np.ndarray, n_threads: int) -> None:
        self.add(X, self.forest, out, n_threads)


def shared_categories(parts: Sequence[TreeFunction]) -> Categories | None:
    """The bins of categories that all trees share; None where no tree splits on any."""
    found = [part.categories for part in parts if part.categories is not None]
    if any(not found[0].same(other) for other in found[1:]):
        raise ValueError("trees of one sum must have the same categories")
    return found[0] if found else None


def numbered_sets(parts: Sequence[TreeFunction]) -> tuple[np.ndarray, np.ndarray]:
    """The category sets of all trees one after another, and every node's number among them."""
    counts = [len(part.category_sets) for part in parts]
    before = np.cumsum([0, *counts[:-1]])
    numbers = [
        np.where(part.category_set >= 0, part.category_set + first, -1).astype(np.int32)
        for part, first in zip(parts, before, strict=True)
    ]
    return np.concatenate(numbers), np.concatenate([part.category_sets for part in parts])
