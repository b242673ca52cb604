"""Hypotheses on the sample: what a projection gives the descent, by its values on the rows or in its leaves."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from anyboost.backends import mapped
from anyboost.backends.arrays import by_row
from anyboost.space import Masses, Space


class AnyProjection:
    """A hypothesis h on the sample, as the descent asks for it: what all kinds inherit from.

    Attributes
    ----------
    hypothesis : Hypothesis
        h as a function.
    values : ndarray (n,) or (n, k)
        h on the rows, of the shape of scores.
    top : float
        max|h| on the rows.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X, target = np.array([[0.0], [1.0]]), np.array([0.0, 2.0])
    >>> space = ab.space.Space(X)
    >>> h = ab.weak.Stump().project(space, target)
    >>> h.coefficient(*h.ray(space, target))
    1.0
    """

    hypothesis: Any
    values: np.ndarray

    @property
    def top(self) -> float:
        """max|h| on the rows."""
        return float(np.abs(self.values).max(initial=0.0))

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        """The ray's two numbers, <h, target> and ||h||^2, for the target that was projected.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            What was projected.

        Returns
        -------
        tuple of (float, float)
            <h, target> and ||h||^2.
        """
        return space.inner(self.values, target), space.square(self.values)

    def coefficient(self, inner: float, square: float) -> float:
        """The coefficient c by which the descent multiplies h: that of the ray, within the bounds of h.

        Parameters
        ----------
        inner : float
            <h, target>.
        square : float
            ||h||^2.

        Returns
        -------
        float
            c.
        """
        return inner / square

    def take_off(self, space: Space, target: np.ndarray, c: float) -> np.ndarray:
        """What is left of the target, target - c kappa h, kappa being the curvature of the space.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            What was projected.
        c : float
            The coefficient of h.

        Returns
        -------
        ndarray
            What is left.
        """
        if space.kappa is None:
            return self.add_to(space, target, -c)
        return target - c * (space.kappa * self.values)

    def leaf_step(self, R: Any, scores: np.ndarray) -> "AnyProjection":
        """The same tree with the steps that minimize the loss R in its leaves; a TypeError where h has none.

        Any number for one output, a multiple of the leaf's vector for several. Signs: the descent subtracts it.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        scores : ndarray
            Raw scores.

        Returns
        -------
        AnyProjection
            h with other values.
        """
        raise TypeError(f"{type(self.hypothesis).__name__} has no leaves to fill")

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """The scores after a step along h, scores + factor * h.

        Parameters
        ----------
        space : Space
            The sample.
        scores : ndarray
            Raw scores.
        factor : float
            How far to step.

        Returns
        -------
        ndarray
            The sum.
        """
        return scores + factor * self.values


@dataclass(frozen=True, eq=False)
class Projection(AnyProjection):
    """A hypothesis h on the sample.

    Parameters
    ----------
    hypothesis : Hypothesis
        h as a function.
    values : ndarray (n,) or (n, k)
        h on the rows.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> h = ab.weak.Linear().project(ab.space.Space(X), np.array([1.0, 2.0, 3.0]))
    >>> h.values, h.top
    (array([1., 2., 3.]), 3.0)
    """

    hypothesis: Any
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class LeafProjection(AnyProjection):
    """A tree on the sample: the leaf of each row, and the leaves' values.

    Parameters
    ----------
    hypothesis : Hypothesis
        The tree as a function.
    leaf : ndarray (n,)
        The leaf of each row.
    leaf_values : ndarray (leaves, k)
        The leaves' values.
    shape : tuple of int
        The shape of scores.
    moments : tuple of ndarray or None, default None
        The integral of the target over each leaf (leaves, k) and the measure of each, or that of its curvature,
        (leaves, 1 or k), where the learner has them: they give the ray of any values in the leaves.
    measure : Masses or None, default None
        The measure that the moments are of.
    least : float, default -inf
        The least coefficient c of h: a monotone tree must not be turned over.
    most : float, default inf
        The largest coefficient c of h: a penalized tree must not be stretched back.
    amend : callable or None, default None
        Makes values that the loss would like in the leaves such as the learner may give.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> h = ab.weak.Stump().project(ab.space.Space(X), np.array([0.0, 0.0, 3.0]))
    >>> h.leaf, h.leaf_values.ravel()
    (array([0, 0, 1], dtype=int32), array([0., 3.]))
    """

    hypothesis: Any
    leaf: np.ndarray
    leaf_values: np.ndarray
    shape: tuple[int, ...]
    moments: tuple[np.ndarray, np.ndarray] | None = None
    measure: Masses | None = None
    least: float = -math.inf
    most: float = math.inf
    amend: Callable[[np.ndarray], np.ndarray] | None = None

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        """h on the rows, of the shape of scores."""
        return self.leaf_values[self.leaf].reshape(self.shape)

    @property
    def top(self) -> float:
        """max|h| on the sample, of which every leaf has rows."""
        return float(np.abs(self.leaf_values).max(initial=0.0))

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        if self.moments is not None and self.measure is space.measure:
            integrals, measures = self.moments
            inner = float((self.leaf_values * integrals).sum())
            squares = self.leaf_values**2
            if measures.shape[1] == 1:
                squares = squares.sum(axis=1, keepdims=True)
            return inner, float((squares * measures).sum())  # BLAS would add up in its processor's order
        values = space.empty((len(self.leaf), self.leaf_values.shape[1]))
        for part in mapped.blocks(len(values)):
            values[part] = self.leaf_values[self.leaf[part]]
        values = values.reshape(self.shape)
        return space.inner(values, target), space.square(values)

    def coefficient(self, inner: float, square: float) -> float:
        return min(max(inner / square, self.least), self.most)

    def leaf_step(self, R: Any, scores: np.ndarray) -> "LeafProjection":
        if scores.ndim == 1:
            values = -R.best_shifts(scores, self.leaf, len(self.leaf_values), None)[:, None]
        else:
            multiples = R.best_shifts(scores, self.leaf, len(self.leaf_values), -self.leaf_values)
            values = multiples[:, None] * self.leaf_values
        return self.with_leaf_values(values if self.amend is None else self.amend(values))

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        from anyboost.backends.vectors import add_leaf_values

        rows = by_row(scores)
        out = space.empty(rows.shape)
        add_leaf_values(rows, self.leaf, factor * self.leaf_values, space.n_threads, out)
        return out.reshape(self.shape)

    def with_leaf_values(self, leaf_values: np.ndarray) -> "LeafProjection":
        """The same tree with other values in its leaves.

        Parameters
        ----------
        leaf_values : ndarray (leaves, k)
            The values.

        Returns
        -------
        LeafProjection
            The tree.
        """
        hypothesis = self.hypothesis.with_leaf_values(leaf_values)
        return LeafProjection(hypothesis, self.leaf, leaf_values, self.shape, self.moments, self.measure)
