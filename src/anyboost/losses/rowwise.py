"""Losses of rows one by one: their mean, and the constants and leaf steps that make it least.

R(f) = sum_n w_n l(f(x_n), y_n),     sum_n w_n = 1
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost import checks, notices
from anyboost.checks import Array, Floats
from anyboost.losses.definition import RowDefinition
from anyboost.losses.functionals import Functional, Measure, RowwiseFunctional
from anyboost.losses.leaves import Leaves
from anyboost.losses.search import monotone_zeros, zeros_and_fading
from anyboost.trees.parts import on_ones_own

FARTHEST_CONSTANT = 10.0


class RowwiseLoss(RowDefinition):
    """A weighted mean of l(score, target) over rows.

    A loss of your own is easiest made by `pointwise`. A class has a static method `row(f, y, parameter)`, compiled on
    first use, that gives value, slope and curvature at one row; for several scores `row(f, y, parameter, slopes)` gives
    the value and fills in the slopes, and `row_curvatures(f, y, parameter, curvatures)` fills in the last. One without
    `row` overrides `values` and `subgradients`, or `both`.

    Attributes
    ----------
    infimum : float
        What the loss of a row is under for no score and no target.
    shift_invariant : bool
        Whether l(f + c, y) = l(f, y) for the same c added to all K scores.
    center : int
        What a constant would answer to a stream, where scores do not lie on the scale of the targets.
    reach : float
        How far scores of a stream may go there.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Absolute()
    >>> loss.value(scores=[0.0, 1.0], y=[1.0, 3.0])
    1.5
    >>> loss.best_constant([1.0, 2.0, 6.0])
    2.0
    """

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        self._check_groups(groups)
        targets = self.check(y)
        return RowwiseFunctional(self, targets, space, self._fitting_outputs(targets, outputs))

    def value(self, scores: Any, y: Any, sample_weight: Any = None) -> float:
        """The weighted mean loss of raw scores.

        Parameters
        ----------
        scores : array_like (n,) or (n, K)
            Raw scores.
        y : array_like
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        float
            The mean.
        """
        targets, weights, kept = self._weighted(y, sample_weight)
        predicted = checks.numbers(scores, "scores")
        if len(predicted) != len(kept) or predicted.ndim != 1 + self.vector:
            shape = f"({len(kept)}, K)" if self.vector else f"({len(kept)},)"
            raise ValueError(
                f"scores must have shape {shape} for the loss {self.name}, got {predicted.shape}"
            )
        if self.vector:
            self._fitting_outputs(targets, predicted.shape[1])
        return float(Leaves.one(weights).means(self.values(predicted[kept], targets))[0])

    def best_constant(self, y: Any, sample_weight: Any = None, outputs: int | None = None) -> float | Floats:
        """The constant score c of the least weighted mean loss (midpoint where many are best).

        Where it would be infinite (logistic with one class, Poisson with zeros only): -10 or +10, with a warning.

        Parameters
        ----------
        y : array_like
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.
        outputs : int or None, default None
            The number of classes, where y may not show all of them.

        Returns
        -------
        float or ndarray (K,)
            The constant.
        """
        targets, weights, _ = self._weighted(y, sample_weight)
        return self._best_constant(targets, Leaves.one(weights), self._fitting_outputs(targets, outputs))

    def has_best_constant(self, y: Any, sample_weight: Any = None) -> bool:
        """Whether `best_constant` has an answer for these targets: losses of counts have none where all are 0.

        Parameters
        ----------
        y : array_like
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        bool
            Whether there is one.
        """
        targets, weights, _ = self._weighted(y, sample_weight)
        return self._has_constant(targets, Leaves.one(weights))

    def best_shifts(
        self,
        scores: Floats,
        y: Array,
        weights: Floats,
        leaf: Array,
        n_leaves: int,
        directions: Floats | None = None,
    ) -> Floats:
        """The exact leaf step, for all leaves at once.

            (n,) scores:    argmin_c sum_{n in leaf} w_n l(f_n + c, y_n)
            (n, K) scores:  argmin_s sum_{n in leaf} w_n l(f_n + s * directions[leaf], y_n)

        The midpoint where an interval minimizes; 0 for a leaf without weight; where the minimizer is at
        infinity, the point where the slope has fallen to 1e-6 of its value at 0.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.
        weights : ndarray (n,)
            Weights of the rows.
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
        kept = weights > 0
        leaves = Leaves(leaf[kept], n_leaves, weights[kept])
        return self._best_shifts(scores[kept], y[kept], leaves, directions)

    def envelope_gradients(self, scores: Floats, y: Array, mu: float) -> Floats:
        """The gradient of min_p l(p, y) + |p - f|^2 / (2 mu), row by row; here by root search, one output.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores f.
        y : ndarray
            Checked targets.
        mu : float
            How much the envelope smooths.

        Returns
        -------
        ndarray
            The gradients, shaped like `scores`.
        """

        def slope(gap: Floats) -> Floats:
            return gap / mu + self.subgradients(scores + gap, y)

        return -monotone_zeros(slope, len(scores)) / mu

    def constant_on(self, y: Array, sample: Leaves, outputs: int) -> float | Floats:
        """The `best_constant` of rows in any parts.

        Parameters
        ----------
        y : ndarray
            Checked targets.
        sample : Leaves
            The rows as one leaf.
        outputs : int
            How many scores a row has.

        Returns
        -------
        float or ndarray (K,)
            The constant.
        """
        if type(self).best_constant is RowwiseLoss.best_constant:
            return self._best_constant(y, sample, outputs)
        gather = sample.rows.gather  # a loss that has a method of its own for it is shown all rows
        everything = gather(y), gather(sample.weights)
        with on_ones_own():
            return self.best_constant(*everything, outputs)

    def shifts_in(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None = None) -> Floats:
        """The `best_shifts` of rows in any parts.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.
        leaves : Leaves
            The leaves.
        directions : ndarray (n_leaves, K) or None, default None
            For several scores, the direction of each leaf's step.

        Returns
        -------
        ndarray (n_leaves,)
            The steps.
        """
        if type(self).best_shifts is RowwiseLoss.best_shifts:
            return self._best_shifts(scores, y, leaves, directions)
        gather = leaves.rows.gather  # as above
        everything = gather(scores), gather(y), gather(leaves.weights), gather(leaves.leaf)
        with on_ones_own():
            return self.best_shifts(*everything, leaves.n, directions)

    def _has_constant(self, y: Array, sample: Leaves) -> bool:
        """`has_best_constant` on checked targets."""
        return True

    def _best_constant(self, y: Array, sample: Leaves, outputs: int) -> float | Floats:
        """`best_constant` on checked targets; here for one output."""
        shifts, fading = self._search_shifts(np.zeros(len(y)), y, sample, None)
        return no_best_constant(self.name, float(shifts[0])) if fading[0] else float(shifts[0])

    def _best_shifts(self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None) -> Floats:
        """`best_shifts`; here by root search, unless a single output moves and its steps are known (`_moves`)."""
        if directions is not None and len(moved := np.flatnonzero(np.any(directions, axis=0))) == 1:
            moves, along = self._moves(scores, y, leaves, int(moved[0])), directions[:, moved[0]]
            if moves is not None:
                return np.divide(moves, along, out=np.zeros(len(along)), where=along != 0)
        return self._search_shifts(scores, y, leaves, directions)[0]

    def _moves(self, scores: Floats, y: Array, leaves: Leaves, output: int) -> Floats | None:
        """By how much one output alone is best moved in each leaf; None where nothing faster than a search is known."""
        return None

    def _search_shifts(
        self, scores: Floats, y: Array, leaves: Leaves, directions: Floats | None
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The shifts, and which leaves have their minimizer at infinity."""
        leaf = leaves.leaf
        along = None if directions is None else directions[leaf]
        if along is not None and self.shift_invariant:
            # The own class's term drops out, and with it the rounding of gradients that sum to zero.
            along = along - along[np.arange(len(y)), y][:, None]

        def slope(shift: Floats) -> Floats:
            if along is None:
                gradient = self.subgradients(scores + shift[leaf], y)
            else:
                gradient = self.subgradients(scores + shift[leaf, None] * along, y)
                gradient = np.einsum("nk,nk->n", gradient, along)
            return leaves.balance(gradient)

        return zeros_and_fading(slope, leaves.n)

    def _weighted(self, y: Any, sample_weight: Any) -> tuple[Array, Floats, npt.NDArray[np.bool_]]:
        """Checked targets and weights of the rows that have weight, and which rows those are."""
        targets = self.check(y)
        weights = checks.sample_weight(sample_weight, len(targets))
        kept = weights > 0
        return targets[kept], weights[kept], kept

    def _fitting_outputs(self, y: Array, outputs: int | None) -> int:
        needed = self.outputs(y)
        if outputs is None:
            return needed
        if not self.domain.classes and outputs != needed:
            raise ValueError(f"outputs must be {needed} for the loss {self.name}, got {outputs}")
        if outputs < needed:
            row = int(np.argmax(y))
            raise ValueError(
                f"y holds class {y[row]} at row {row}, but there are {outputs} outputs (classes 0 to "
                f"{outputs - 1}): drop that row or give the loss more outputs"
            )
        return outputs


def no_best_constant(name: str, toward: float) -> float:
    """The stand-in for a best constant at infinity: +-10, and a warning that says so."""
    constant = math.copysign(FARTHEST_CONSTANT, toward)
    notices.warn(
        f"y leaves the loss {name} without a best constant (it would be infinite: one class only, or all "
        f"targets zero); scores start at {constant:+g} instead",
        stacklevel=2,
    )
    return constant
