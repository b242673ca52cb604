"""A tree an output: vector functions whose parts are trees of their own, one class H a part.

The class is a product, so its projection is that of each output, and its reach the sum of theirs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from anyboost.backends import threads
from anyboost.backends.few import left_to_right
from anyboost.space import Space
from anyboost.weak.functions import TreeFunction
from anyboost.weak.hypotheses import AsOne, Joined
from anyboost.weak.projections import AnyProjection

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class EachFunction(AsOne):
    """x -> (tree_1(x), ..., tree_k(x)), for trees of one output."""

    trees: tuple[TreeFunction, ...]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n, k)."""
        return np.column_stack([tree.predict(X) for tree in self.trees])

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        """The sum of coefficient times function, laid out for fast prediction."""
        outputs = range(len(parts[0].trees))
        sums = [TreeFunction.join([part.trees[j] for part in parts], coefficients) for j in outputs]

        def add(X: np.ndarray, out: np.ndarray, n_threads: int) -> None:
            for j in outputs:
                column = np.ascontiguousarray(out[:, j : j + 1])
                sums[j](X, column, n_threads)
                out[:, j] = column[:, 0]

        return add


def by_output(project: Callable[[Space, np.ndarray], T], space: Space, target: np.ndarray) -> list[T]:
    """The projection of each output's column, several at a time where they are many: no thread waits within a tree."""
    columns, free = space.columns(target), list(space.rows.apart())
    spaces = space.outputs(len(columns))
    if len(columns) < 2 * len(free):
        return [project(own, column) for own, column in zip(spaces, columns, strict=True)]
    found: dict[int, T] = {}
    _ = space.bins  # computed on all threads, which will be busy

    def one(j: int) -> None:
        rows = free.pop()
        found[j] = project(spaces[j].beside(rows), columns[j])
        free.append(rows)

    threads.each(one, len(columns), len(free))
    return [found[j] for j in range(len(columns))]


@dataclass(frozen=True, eq=False)
class EachProjection(AnyProjection):
    """Such a function on the sample: a tree on it for each output."""

    parts: list[Any]  # `LeafProjection`s, or `LinearProjection`s

    @cached_property
    def hypothesis(self) -> EachFunction:
        return EachFunction(tuple(part.hypothesis for part in self.parts))

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        return np.column_stack([part.values for part in self.parts])

    @property
    def top(self) -> float:
        """max|h| on the sample."""
        return max(part.top for part in self.parts)

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        """<h, target> and ||h||^2, for the target that was projected."""
        outputs = zip(self.parts, space.outputs(len(self.parts)), target.T, strict=True)
        rays = [part.ray(own, column) for part, own, column in outputs]
        inner, square = (left_to_right(part) for part in zip(*rays, strict=True))
        return inner, square

    def coefficient(self, inner: float, square: float) -> float:
        """c, by which the descent multiplies h: one for all outputs."""
        return self.parts[0].coefficient(inner, square)

    def leaf_step(self, R: Any, scores: np.ndarray) -> "EachProjection":
        """The same trees with, in each leaf, the step of its output that minimizes the loss there.

        One output after the other: a step starts from where those before it end.
        """
        scores, parts = scores.copy(), []
        for j, part in enumerate(self.parts):
            directions = np.zeros((len(part.leaf_values), len(self.parts)))
            directions[:, j] = -1.0
            values = R.best_shifts(scores, part.leaf, len(directions), directions)[:, None]
            values = values if part.amend is None else part.amend(values)
            parts.append(part.with_leaf_values(values))
            scores[:, j] -= values[part.leaf, 0]
        return EachProjection(parts)

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """scores + factor * h."""
        out = space.empty(scores.shape)
        for part, before, after in zip(self.parts, space.columns(scores), out.T, strict=True):
            after[:] = part.add_to(space, before, factor)
        return out
