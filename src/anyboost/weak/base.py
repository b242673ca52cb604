"""What a restriction set H must offer the descent.

A weak learner projects a function given by its values on the sample onto H. A hypothesis is a function
that can be evaluated anywhere.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from anyboost.space import Masses, Space

# (X, out, n_threads): out += the sum, in place
Joined = Callable[[np.ndarray, np.ndarray, int], None]


class Hypothesis(Protocol):
    """A fitted function. A class may also have `join(parts, coefficients) -> Joined`, which an ensemble keeps."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place; out is (n, k)."""


class OneByOne:
    """For hypotheses that are added up as they are: a part of `Hypothesis` to inherit."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place."""
        for part, coefficient in zip(parts, coefficients, strict=True):
            out += coefficient * part.predict(X).reshape(out.shape)


class AsOne:
    """For hypotheses whose sum is a function that `join` lays out."""

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        raise NotImplementedError

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place."""
        cls.join(parts, coefficients)(X, out, n_threads)


class OnSample:
    """What all kinds of hypotheses on a sample share."""

    def take_off(self: "AnyProjection", space: Space, target: np.ndarray, c: float) -> np.ndarray:
        """target - c kappa h."""
        if space.kappa is None:
            return self.add_to(space, target, -c)
        return target - c * (space.kappa * self.values)


@dataclass(frozen=True, eq=False)
class Projection(OnSample):
    """A hypothesis h on the sample."""

    hypothesis: Any
    values: np.ndarray

    @property
    def top(self) -> float:
        """max|h| on the sample."""
        return float(np.abs(self.values).max(initial=0.0))

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        """<h, target> and ||h||^2, for the target that was projected."""
        return space.inner(self.values, target), space.square(self.values)

    def coefficient(self, inner: float, square: float) -> float:
        """c, by which the descent multiplies h: that of the ray."""
        return inner / square

    def leaf_step(self, R: Any, scores: np.ndarray) -> "Projection":
        raise TypeError(f"{type(self.hypothesis).__name__} has no leaves to fill")

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """scores + factor * h."""
        return scores + factor * self.values


@dataclass(frozen=True, eq=False)
class LeafProjection(OnSample):
    """A tree on the sample: the leaf of each row, the leaves' values (leaves, k), the shape of scores.

    `moments` are the integral of the target over each leaf (leaves, k) and the measure of each, or that of its
    curvature, (leaves, 1 or k), where the learner has them: they give the ray of any values in the leaves, by the
    `measure` they are of. `least` and `most`
    bound the coefficient c of h: a penalized tree must not be stretched back, nor a monotone one turned over. `amend`
    makes values that the loss would like in the leaves such as the learner may give.
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
    def values(self) -> np.ndarray:
        return self.leaf_values[self.leaf].reshape(self.shape)

    @property
    def top(self) -> float:
        """max|h| on the sample, of which every leaf has rows."""
        return float(np.abs(self.leaf_values).max(initial=0.0))

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        """<h, target> and ||h||^2, for the target that was projected."""
        if self.moments is not None and self.measure is space.measure:
            integrals, measures = self.moments
            inner = float((self.leaf_values * integrals).sum())
            if measures.shape[1] == 1:
                return inner, float((self.leaf_values**2).sum(axis=1) @ measures[:, 0])
            return inner, float((self.leaf_values**2 * measures).sum())
        return space.inner(self.values, target), space.square(self.values)

    def coefficient(self, inner: float, square: float) -> float:
        """c, by which the descent multiplies h: that of the ray, within the bounds of h."""
        return min(max(inner / square, self.least), self.most)

    def leaf_step(self, R: Any, scores: np.ndarray) -> "LeafProjection":
        """The same tree with, in each leaf, the step that minimizes the loss R there.

        Any number for one output, a multiple of the leaf's vector for several. Signs: the descent subtracts it.
        """
        if scores.ndim == 1:
            values = -R.best_shifts(scores, self.leaf, len(self.leaf_values), None)[:, None]
        else:
            multiples = R.best_shifts(scores, self.leaf, len(self.leaf_values), -self.leaf_values)
            values = multiples[:, None] * self.leaf_values
        return self.with_leaf_values(values if self.amend is None else self.amend(values))

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """scores + factor * h, without writing h down."""
        from anyboost.backends.vectors import add_leaf_values

        rows = scores.reshape(space.n, -1)
        out = space.empty(rows.shape)
        add_leaf_values(rows, self.leaf, factor * self.leaf_values, space.n_threads, out)
        return out.reshape(self.shape)

    def with_leaf_values(self, leaf_values: np.ndarray) -> "LeafProjection":
        """The same tree with other values in its leaves."""
        hypothesis = self.hypothesis.with_leaf_values(leaf_values)
        return LeafProjection(hypothesis, self.leaf, leaf_values, self.shape, self.moments, self.measure)


class AnyProjection(Protocol):
    """What the descent asks of a hypothesis h on the sample."""

    @property
    def hypothesis(self) -> Any:
        """h as a function."""

    @property
    def values(self) -> np.ndarray:
        """h on the rows, of the shape of scores."""

    @property
    def top(self) -> float:
        """max|h| on the rows."""

    def ray(self, space: Space, target: np.ndarray) -> tuple[float, float]:
        """<h, target> and ||h||^2, for the target that was projected."""

    def coefficient(self, inner: float, square: float) -> float:
        """c, by which the descent multiplies h."""

    def take_off(self, space: Space, target: np.ndarray, c: float) -> np.ndarray:
        """target - c kappa h, kappa being the curvature of the space."""

    def leaf_step(self, R: Any, scores: np.ndarray) -> "AnyProjection":
        """h with the steps that minimize the loss R in its leaves."""

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """scores + factor * h."""


class Support(NamedTuple):
    """max over atoms |h| <= 1 of H of |<target, h>|, from both sides.

    `upper` is never below the maximum; `lower` is what a known atom attains, or `upper` where none was looked for.
    They are equal up to rounding where the learner is exact.
    """

    upper: float
    lower: float


class Takes(NamedTuple):
    """What a learner can do with a sample, besides numbers in a dense table."""

    missing: bool = True
    categories: bool = True
    sparse: bool = False
    weights: bool = True  # unequal ones
    atoms: bool = True  # whether `extreme` finds one, for descents along atoms


class Learner:
    """A restriction set H: what a class of one's own inherits from, and overrides where it differs."""

    @property
    def exact_leaves(self) -> bool:
        """Whether the descent is to replace leaf values by exact leaf steps."""
        return False

    @property
    def takes(self) -> Takes:
        """What it can do with a sample: by default what a tree can."""
        return Takes()

    @property
    def draws(self) -> bool:
        """Whether `project` takes random numbers, from `space.random()`: it is lent a key of its own each time."""
        return False

    @property
    def one_sided(self) -> bool:
        """Whether h may be subtracted from the model, but not added."""
        return False

    @property
    def curved(self) -> bool:
        """Whether `project` knows what `space.kappa` is; others are lent a space of another measure instead."""
        return False

    def check(self, n_features: int, categorical: tuple[int, ...] = (), outputs: int = 1) -> None:
        """Refuse, in a sentence and before any work, a table that it cannot be fitted to."""

    def project(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The hypothesis nearest to `target` by the space's measure.

        A space that is lent to a projection may have rows of mass zero, which do not count (`space.drawn` are the
        others), and `space.features` that are the only ones to use. h has values on all rows.
        """
        raise NotImplementedError

    def extreme(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The atom |h| <= 1 furthest along `target`."""
        raise NotImplementedError

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom of H can reach along `target`: what a certificate needs.

        Without `search`, a learner whose bound needs no atom may put the bound in its place.
        """
        raise NotImplementedError


_UNSAID = Learner()


def declared(learner: Learner, name: str) -> Any:
    """What a learner says of itself; what one of another family leaves out is as in `Learner`."""
    return getattr(learner, name, getattr(_UNSAID, name))


def project(learner: Learner, space: Space, target: np.ndarray) -> AnyProjection:
    """h = argmin over H of sum_n w_n (kappa_n h_n^2 - 2 target_n h_n): the projection, in the space's metric.

    To a learner that knows nothing of curvature, it is a projection of target / kappa by the measure w kappa.
    """
    kappa = space.kappa
    if kappa is None or declared(learner, "curved"):
        return learner.project(space, target)
    quotient = np.divide(target, kappa, out=np.zeros_like(target), where=kappa > 0)
    return learner.project(space.straight(kappa), quotient)


def safe_support(learner: Learner, space: Space, target: np.ndarray, search: bool) -> Support:
    """The bound sum w |target|, which no function with |h| <= 1 exceeds, and what the projection, scaled, attains."""
    bound = space.mean(np.abs(target.reshape(space.n, -1)).sum(axis=1))
    if not search:
        return Support(bound, bound)
    h = learner.project(space, target).values
    top = float(np.abs(h).max(initial=0.0))
    return Support(bound, min(abs(space.inner(h, target)) / top, bound) if top > 0 else 0.0)
