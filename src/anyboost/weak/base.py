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

from anyboost.backends.arrays import by_row
from anyboost.space import Masses, Space

# (X, out, n_threads): out += the sum, in place
Joined = Callable[[np.ndarray, np.ndarray, int], None]


class Hypothesis(Protocol):
    """A fitted function: what a model is a sum of.

    A class may also have `join(parts, coefficients) -> Joined`, which an ensemble keeps.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> run = ab.boost(X, [0.0, 2.0], "squared", "stump", ab.descent.Naive(1.0), rounds=1)
    >>> h = run.ensemble.hypotheses[0]
    >>> run.ensemble.coefficients[0] * h.predict(X)
    array([-1.,  1.])
    """

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X.

        Parameters
        ----------
        X : ndarray (n, d)
            The table.

        Returns
        -------
        ndarray (n,) or (n, k)
            The values.
        """

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """Add the sum of coefficient times hypothesis at the rows of X to `out`, in place.

        Parameters
        ----------
        parts : list of Hypothesis
            Hypotheses of this class.
        coefficients : ndarray
            One each.
        X : ndarray (n, d)
            The table.
        out : ndarray (n, k)
            What is added to.
        n_threads : int
            How many threads to use.
        """


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
        """What is left of the target, target - c kappa h.

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


@dataclass(frozen=True, eq=False)
class Projection(OnSample):
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

    @property
    def top(self) -> float:
        """max|h| on the sample."""
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
        """The coefficient c by which the descent multiplies h: that of the ray.

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

    def leaf_step(self, R: Any, scores: np.ndarray) -> "Projection":
        """Raise a TypeError: only trees have leaves to fill.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        scores : ndarray
            Raw scores.

        Returns
        -------
        Projection
            Never.
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
class LeafProjection(OnSample):
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
    def values(self) -> np.ndarray:
        """h on the rows, of the shape of scores."""
        return self.leaf_values[self.leaf].reshape(self.shape)

    @property
    def top(self) -> float:
        """max|h| on the sample, of which every leaf has rows."""
        return float(np.abs(self.leaf_values).max(initial=0.0))

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
        if self.moments is not None and self.measure is space.measure:
            integrals, measures = self.moments
            inner = float((self.leaf_values * integrals).sum())
            if measures.shape[1] == 1:
                return inner, float((self.leaf_values**2).sum(axis=1) @ measures[:, 0])
            return inner, float((self.leaf_values**2 * measures).sum())
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
        return min(max(inner / square, self.least), self.most)

    def leaf_step(self, R: Any, scores: np.ndarray) -> "LeafProjection":
        """The same tree with, in each leaf, the step that minimizes the loss R there.

        Any number for one output, a multiple of the leaf's vector for several. Signs: the descent subtracts it.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        scores : ndarray
            Raw scores.

        Returns
        -------
        LeafProjection
            The tree.
        """
        if scores.ndim == 1:
            values = -R.best_shifts(scores, self.leaf, len(self.leaf_values), None)[:, None]
        else:
            multiples = R.best_shifts(scores, self.leaf, len(self.leaf_values), -self.leaf_values)
            values = multiples[:, None] * self.leaf_values
        return self.with_leaf_values(values if self.amend is None else self.amend(values))

    def add_to(self, space: Space, scores: np.ndarray, factor: float) -> np.ndarray:
        """The scores after a step along h, scores + factor * h, without writing h down.

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


class AnyProjection(Protocol):
    """What the descent asks of a hypothesis h on the sample.

    `Projection` and `LeafProjection` answer it.

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

    def coefficient(self, inner: float, square: float) -> float:
        """The coefficient c by which the descent multiplies h.

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

    def leaf_step(self, R: Any, scores: np.ndarray) -> "AnyProjection":
        """The same h with the steps that minimize the loss R in its leaves.

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


class Support(NamedTuple):
    """The maximum over atoms |h| <= 1 of H of |<target, h>|, from both sides.

    They are equal up to rounding where the learner is exact.

    Attributes
    ----------
    upper : float
        Never below the maximum.
    lower : float
        What a known atom attains, or `upper` where none was looked for.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.array([[0.0], [1.0]]))
    >>> support = ab.weak.Stump().support(space, np.array([-1.0, 2.0]))
    >>> round(support.lower, 6), round(support.upper, 6)
    (1.5, 1.5)
    """

    upper: float
    lower: float


class Takes(NamedTuple):
    """What a learner can do with a sample, besides numbers in a dense table.

    Parameters
    ----------
    missing : bool, default True
        Whether it takes NaN.
    categories : bool, default True
        Whether it takes columns of categories.
    sparse : bool, default False
        Whether it takes sparse matrices.
    weights : bool, default True
        Whether it takes unequal weights.
    atoms : bool, default True
        Whether `extreme` finds an atom, for descents along atoms.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.Takes(missing=False)
    Takes(missing=False, categories=True, sparse=False, weights=True, atoms=True)
    """

    missing: bool = True
    categories: bool = True
    sparse: bool = False
    weights: bool = True  # unequal ones
    atoms: bool = True  # whether `extreme` finds one, for descents along atoms


class Learner:
    """A restriction set H: what a class of one's own inherits from, and overrides where it differs.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> learner = ab.weak.get("stump")
    >>> learner.project(ab.space.Space(np.array([[0.0], [1.0]])), np.array([0.0, 2.0])).values
    array([0., 2.])
    """

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
        """Refuse, in a sentence and before any work, a table that it cannot be fitted to.

        Parameters
        ----------
        n_features : int
            How many columns the table has.
        categorical : tuple of int, default ()
            Those that hold categories.
        outputs : int, default 1
            How many scores a row has.
        """

    def project(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The hypothesis nearest to `target` by the space's measure.

        A space that is lent to a projection may have rows of mass zero, which do not count (`space.drawn` are the
        others), and `space.features` that are the only ones to use. h has values on all rows.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            What to come near to, shaped like scores.

        Returns
        -------
        AnyProjection
            h on the sample.
        """
        raise NotImplementedError

    def extreme(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The atom |h| <= 1 furthest along `target`; a TypeError of those that cannot find it (`Takes.atoms`).

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        AnyProjection
            h on the sample.
        """
        raise TypeError(
            f"learner {type(self).__name__} has no way to find its extreme atom: use a stump, a tree or a dictionary"
        )

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom of H can reach along `target`: what a certificate needs.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to look for an atom. Without, a learner whose bound needs none may put the bound in its place.

        Returns
        -------
        Support
            Both bounds.
        """
        raise NotImplementedError


_UNSAID = Learner()


def declared(learner: Learner, name: str) -> Any:
    """What a learner says of itself; what one of another family leaves out is as in `Learner`.

    Parameters
    ----------
    learner : Learner
        The learner.
    name : str
        "takes", "draws", "one_sided", "curved" or "check".

    Returns
    -------
    object
        What it says.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.declared(ab.weak.Net(), "draws")
    True
    """
    return getattr(learner, name, getattr(_UNSAID, name))


def project(learner: Learner, space: Space, target: np.ndarray) -> AnyProjection:
    """The projection onto H in the space's metric, argmin over H of sum_n w_n (kappa_n h_n^2 - 2 target_n h_n).

    To a learner that knows nothing of curvature, it is a projection of target / kappa by the measure w kappa.

    Parameters
    ----------
    learner : Learner
        H.
    space : Space
        The sample, which may be curved.
    target : ndarray
        What to come near to, shaped like scores.

    Returns
    -------
    AnyProjection
        h on the sample.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.array([[0.0], [1.0]]))
    >>> curved = space.curved(np.array([2.0, 4.0]))
    >>> ab.weak.project(ab.weak.Linear(), curved, np.array([2.0, 8.0])).values.round(6)
    array([1., 2.])
    """
    kappa = space.kappa
    if kappa is None or declared(learner, "curved"):
        return learner.project(space, target)
    quotient = np.divide(target, kappa, out=np.zeros_like(target), where=kappa > 0)
    return learner.project(space.straight(kappa), quotient)


def safe_support(learner: Learner, space: Space, target: np.ndarray, search: bool) -> Support:
    """The bound sum w |target|, which no function with |h| <= 1 exceeds, and what the projection, scaled, attains."""
    bound = space.mean(np.abs(by_row(target)).sum(axis=1))
    if not search:
        return Support(bound, bound)
    h = learner.project(space, target).values
    top = float(np.abs(h).max(initial=0.0))
    return Support(bound, min(abs(space.inner(h, target)) / top, bound) if top > 0 else 0.0)
