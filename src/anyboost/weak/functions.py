"""Fitted trees: structured node arrays, apart from the code that grew them."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np


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
        from anyboost.backends.forest import as_kernel_input, find_leaves

        out = np.empty(len(X), dtype=np.int32)
        find_leaves(
            as_kernel_input(X), self.feature, self.threshold, self.left, self.right, self.missing_left, out
        )
        return out

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        values = self.value[self.apply(X)]
        return values[:, 0] if values.shape[1] == 1 else values

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times tree at the rows of X, in place."""
        from anyboost.backends.forest import add_trees, as_kernel_input

        sizes = np.array([len(part.feature) for part in parts])
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        value = np.concatenate([c * part.value for c, part in zip(coefficients, parts, strict=True)])

        names = ("feature", "threshold", "left", "right", "missing_left")
        nodes = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        add_trees(as_kernel_input(X), roots, **nodes, value=value, out=out, n_threads=n_threads)
