"""Functionals: a loss on one sample, with its value, its subgradients and its curvature in L2(P).

    R(f) = sum_n w_n l(f(x_n), y_n)        for a row-wise loss,     sum_n w_n = 1

`Loss.on(y, space)` makes them; the descent asks them and knows nothing of losses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anyboost.backends import threads
from anyboost.checks import Array, Floats
from anyboost.losses.leaves import Leaves
from anyboost.losses.search import monotone_zeros
from anyboost.trees.rows import Rows

if TYPE_CHECKING:
    from anyboost.losses.rowwise import RowwiseLoss

LEAST = 1e-3  # of the largest curvature, where that is bounded: under it a step would rest on rounding and on luck
FAR = 8.0  # a step in which a curvature that changes by no more than a factor of e a unit is trusted
_FEW = 20_000  # rows with an exponential each, under which other threads are left alone
_BLOCK = 65_536  # numbers in a block: smaller ones cost more in handing the interpreter from thread to thread


class Measure(Protocol):
    """The part of a space that a row-wise loss needs."""

    n: int
    total: float
    mass: Floats | None
    n_threads: int

    @property
    def rows(self) -> Rows:
        """Its rows: the n here, and those of other parts."""

    @property
    def fixed_mass(self) -> tuple[Array, float]:
        """The mass as (n,) whole numbers, and their unit."""

    @property
    def weights(self) -> Floats:
        """(n,) positive weights of sum one: mass / total, where None stands for a mass of ones."""

    def mean(self, values: Any, /) -> float:
        """Weighted mean of (n,) values."""

    def empty(self, shape: int | tuple[int, ...], /) -> Floats:
        """An uninitialized array, perhaps one that was used before."""

    def know_largest(self, values: Floats, largest: float, /) -> None:
        """Take note of max |values|, known from the pass that made them."""


class Functional(ABC):
    """R on one sample: a convex function of all scores, (n,) or (n, K).

    `loss.on(y, space)` makes it.

    Attributes
    ----------
    outputs : int
        How many scores a row has.
    y : ndarray
        The targets.
    space : Space
        The sample.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.zeros((2, 1)))
    >>> R = ab.losses.Squared().on([0.0, 2.0], space)
    >>> scores = np.array([1.0, 1.0])
    >>> R.value(scores), R.subgradient(scores), R.best_constant()
    (0.5, array([ 1., -1.]), 1.0)
    """

    outputs: int
    y: Array
    space: Measure

    @abstractmethod
    def value(self, scores: Floats) -> float:
        """The loss at these scores, R(scores).

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.

        Returns
        -------
        float
            R(scores).
        """

    @abstractmethod
    def subgradient(self, scores: Floats) -> Floats:
        """A subgradient of R in L2(P), shaped like the scores.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.

        Returns
        -------
        ndarray
            It carries no weights and no 1/n.
        """

    def at(self, scores: Floats) -> tuple[float, Floats]:
        """R(scores) and a subgradient there: together where that is cheaper.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.

        Returns
        -------
        tuple of (float, ndarray)
            `value` and `subgradient`.
        """
        return self.value(scores), self.subgradient(scores)

    def curvature(self, scores: Floats) -> Floats | None:
        """The curvature of R in L2(P) at every score, shaped like them; None where it has none.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.

        Returns
        -------
        ndarray or None
            The curvature.
        """
        return None

    def expand(self, scores: Floats, curvature: bool) -> tuple[float, Floats, Floats | None]:
        """R(scores), a subgradient there and, where asked for, the curvature: together where that is cheaper.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        curvature : bool
            Whether to compute the curvature.

        Returns
        -------
        tuple of (float, ndarray, ndarray or None)
            `value`, `subgradient` and `curvature`.
        """
        return *self.at(scores), self.curvature(scores) if curvature else None

    @property
    def farthest(self) -> float:
        """The loss's `farthest`."""
        return math.inf

    @property
    def least_curvature(self) -> float:
        """What curvature is raised to where it all but vanishes, as for rows that are far on their own side."""
        return 0.0

    @property
    def infimum(self) -> float:
        """What R is under for no scores at all; -inf where nothing is known."""
        return -math.inf

    @property
    def kinked(self) -> bool:
        """Whether R has kinks."""
        return True

    @property
    def smoothable(self) -> bool:
        """Whether `envelope_gradient` can round the kinks off."""
        return False

    def envelope_gradient(self, scores: Floats, mu: float) -> Floats:
        """The gradient of the Moreau envelope, a subgradient of R at scores - mu * gradient.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        mu : float
            How much the envelope smooths.

        Returns
        -------
        ndarray
            The gradient, shaped like the scores.
        """
        raise TypeError(f"{type(self).__name__} has no Moreau envelope: ask `smoothable` first")

    def best_constant(self) -> float | Floats:
        """The constant score of least loss; here exact for one output, 0 for several.

        Returns
        -------
        float or ndarray (K,)
            The constant.
        """
        if self.outputs > 1:
            return np.zeros(self.outputs)
        leaf = np.zeros(self.space.n, dtype=np.intp)
        return float(self.best_shifts(np.zeros(self.space.n), leaf, 1)[0])

    def best_shifts(
        self, scores: Floats, leaf: Array, n_leaves: int, directions: Floats | None = None
    ) -> Floats:
        """The steps that minimize R one leaf after the other (see `RowwiseLoss.best_shifts`).

        Leaves are taken in their order, each from where the one before it left the scores.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        leaf : ndarray (n,)
            The leaf of each row.
        n_leaves : int
            How many there are.
        directions : ndarray (n_leaves, K) or None, default None
            For several scores, the direction of each leaf's step.

        Returns
        -------
        ndarray (n_leaves,)
            The steps.
        """
        weights, everyone = self.space.weights, self.space.rows
        current = scores.copy()
        shifts = np.zeros(n_leaves)
        for number in range(n_leaves):
            rows = np.flatnonzero(leaf == number)
            along = np.ones(len(rows)) if directions is None else directions[np.full(len(rows), number)]
            pull = (weights[rows] * along.T).T.ravel()  # of each score, in the place of its row's weight
            one = Leaves(np.zeros(pull.size, dtype=np.int32), 1, pull, everyone, int(everyone.add(pull.size)))
            begin = current[rows]

            def slope(
                shift: Floats,
                rows: Array = rows,
                along: Floats = along,
                one: Leaves = one,
                begin: Floats = begin,
            ) -> Floats:
                current[rows] = begin + shift[0] * along
                return one.balance(self.subgradient(current)[rows].ravel())

            shifts[number] = monotone_zeros(slope, 1)[0]
            current[rows] = begin + shifts[number] * along
        return shifts


class RowwiseFunctional(Functional):
    """R(f) = mean of l(f_n, y_n) under the space's measure."""

    def __init__(self, loss: RowwiseLoss, y: Array, space: Measure, outputs: int) -> None:
        self.loss, self.y, self.space, self.outputs = loss, y, space, outputs
        self._scale = 0  # of the sum of losses: a guess (see `sums.sum_at_own_scale`)

    def value(self, scores: Floats) -> float:
        return self.at(scores)[0]

    def subgradient(self, scores: Floats) -> Floats:
        return self.at(scores)[1]

    def at(self, scores: Floats) -> tuple[float, Floats]:
        return self.expand(scores, False)[:2]

    def expand(self, scores: Floats, curvature: bool) -> tuple[float, Floats, Floats | None]:
        gradient, bent = self.space.empty(scores.shape), None
        compute = self._of_round
        if compute is not None:
            bent = self.space.empty(scores.shape) if curvature and not self.loss.vector else None
            mean = self._pass(compute, scores, gradient, bent)
        else:
            mean = self._by_blocks(scores, gradient)
        self.loss.verify(scores, self.y, mean, gradient)
        return mean, gradient, self.curvature(scores) if curvature and bent is None else bent

    @cached_property
    def _of_round(self) -> Callable[..., Any] | None:
        return self.loss.kernel("round")

    def _pass(
        self, compute: Callable[..., Any], scores: Floats, gradient: Floats, bent: Floats | None
    ) -> float:
        """The mean loss; one pass over the rows fills in the rest."""
        from anyboost.backends.sums import sum_at_own_scale

        space, parameter = self.space, self.loss.parameter

        def block(scale: float, start: int, stop: int) -> tuple[int, ...]:
            part = slice(start, stop)
            mass = None if space.mass is None else space.mass[part]
            asked = (
                (gradient[part],)
                if self.loss.vector
                else (gradient[part], None if bent is None else bent[part])
            )
            return compute(scores[part], self.y[part], mass, parameter, scale, *asked)[:4]

        total, self._scale, (steepest,) = sum_at_own_scale(
            block, space.rows.n, len(scores), space.rows, self._scale, self._few
        )
        space.know_largest(gradient, steepest)
        return total / space.total

    @property
    def _few(self) -> int:
        """Rows that are not worth another thread: exponentials make them so sooner."""
        return _FEW // self.outputs if math.isfinite(self.loss.farthest) else threads.SMALLEST

    def _by_blocks(self, scores: Floats, gradient: Floats) -> float:
        """The same for a loss without a compiled loop."""
        # What a loss computes on the way to its result stays in the cache when asked for a block at a time.
        n, rows, values = len(scores), max(1, _BLOCK // self.outputs), self.space.empty(len(scores))

        def block(index: int) -> None:
            part = slice(rows * index, min(rows * (index + 1), n))
            values[part], gradient[part] = self.loss.both(scores[part], self.y[part])

        threads.each(block, -(-n // rows), self.space.n_threads)
        return float(self.space.mean(values))

    @property
    def farthest(self) -> float:
        return self.loss.farthest

    @property
    def least_curvature(self) -> float:
        bounded = math.isfinite(self.loss.farthest) and math.isfinite(self.loss.smoothness)
        return LEAST * self.loss.smoothness if bounded else 0.0

    def curvature(self, scores: Floats) -> Floats | None:
        if not self.loss.has_curvature:
            return None
        found = self.space.empty(scores.shape)

        def block(start: int, stop: int) -> None:
            found[start:stop] = self.loss.curvatures(scores[start:stop], self.y[start:stop])

        threads.over_blocks(block, len(scores), self.space.n_threads, self._few)
        return found

    def best_constant(self) -> float | Floats:
        return self.loss.constant_on(self.y, Leaves.one(self.space.weights, self.space.rows), self.outputs)

    @property
    def infimum(self) -> float:
        if math.isfinite(self.loss.infimum):
            return self.loss.infimum
        least = float(self.space.mean(self.loss.infima(self.y)))
        return least if math.isfinite(least) else -math.inf

    @property
    def kinked(self) -> bool:
        return self.loss.kinked

    @property
    def smoothable(self) -> bool:
        return self.loss.smoothable

    def envelope_gradient(self, scores: Floats, mu: float) -> Floats:
        return np.ascontiguousarray(self.loss.envelope_gradients(scores, self.y, mu))

    def best_shifts(
        self, scores: Floats, leaf: Array, n_leaves: int, directions: Floats | None = None
    ) -> Floats:
        leaves = Leaves(leaf, n_leaves, self.space.weights, self.space.rows)
        return self.loss.shifts_in(scores, self.y, leaves, directions)
