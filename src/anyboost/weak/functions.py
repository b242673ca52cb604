"""Fitted trees: structured node arrays, apart from the code that grew them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from anyboost.weak.base import Joined


@dataclass(frozen=True, eq=False)
class TreeFunction:
    """A piecewise constant function.

    Node arrays; node 0 is the root. `feature` is -1 at leaves. A row goes left where x <= threshold.
    `missing_left` says where a missing value goes. `category_set` numbers a row of `category_sets`
    (256 bits each) at nodes that split on categories, and is -1 elsewhere.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    category_set: np.ndarray
    category_sets: np.ndarray
    value: np.ndarray

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    def with_leaf_values(self, values: np.ndarray) -> Self:
        """The same tree with other values in its leaves, in the order of their nodes."""
        value = self.value.copy()
        value[self.feature < 0] = values
        return replace(self, value=value)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """The leaf, as a node number, in which each row of X ends."""
        from anyboost.backends.forest import find_leaves

        return find_leaves(X, self)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        values = self.value[self.apply(X)]
        return values[:, 0] if values.shape[1] == 1 else values

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        """The sum of coefficient times tree, laid out for fast prediction."""
        from anyboost.backends.forest import add_trees, join

        forest = join(parts, coefficients)
        return lambda X, out, n_threads: add_trees(X, forest, out, n_threads)

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times tree at the rows of X, in place."""
        cls.join(parts, coefficients)(X, out, n_threads)
