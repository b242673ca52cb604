"""Ranking losses: a mean over the pairs of one query in which one row is to score above another.

    R(f) = sum over pairs of w_i w_j l(f_i - f_j) / sum over pairs of w_i w_j,    y_i > y_j, same query

Queries are the `groups`; without them all rows are one query. A constant changes nothing, so scores start at 0.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anyboost.checks import Array, Floats
from anyboost.losses.base import Loss
from anyboost.losses.functionals import FAR, Functional, Measure
from anyboost.trees.parts import Moved, circle, distinct


class Queries(NamedTuple):
    """A sample sorted by query: grades as 0, 1, 2, ... and the first row of each query (and the end)."""

    order: Array
    grades: Array
    starts: Array
    levels: int
    mass: Floats


class _Ranking(Loss):
    """A loss of the margins of pairs."""

    @property
    def uses_groups(self) -> bool:
        return True

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        return RankFunctional(self, self.check(y), space, groups)

    kinked: ClassVar[bool]

    def curvatures(self, scores: Floats, queries: Queries) -> Floats:
        """The curvatures of the rows, summed over pairs with the other's weight, in the order of `queries`.

        Parameters
        ----------
        scores : ndarray (n,)
            Raw scores, in the order of `queries`.
        queries : Queries
            The sample, sorted by query.

        Returns
        -------
        ndarray (n,)
            The curvatures.
        """
        raise TypeError(f"the loss {self.name} has no curvature: ask `has_curvature` first")

    @abstractmethod
    def sums(self, scores: Floats, queries: Queries) -> tuple[Floats, Floats]:
        """Values of the queries and gradients of their rows, in the order of `queries`, summed over weighted pairs.

        Parameters
        ----------
        scores : ndarray (n,)
            Raw scores, in the order of `queries`.
        queries : Queries
            The sample, sorted by query.

        Returns
        -------
        tuple of (ndarray (queries,), ndarray (n,))
            The values and the gradients.
        """


@dataclass(frozen=True)
class RankHinge(_Ranking):
    """The hinge of pairs, (1 - (f_i - f_j))+ over y_i > y_j of a query; subgradient 0 at margin 1 and above.

    Targets: real grades. One sort and one sweep a grade: O(n log n) a query, times grades at most.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y, query = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [7, 7, 8, 8]
    >>> run = ab.boost(X, y, "rank_hinge", ab.weak.Linear(), rounds=20, groups=query)
    >>> round(run.start_loss, 6), run.steps[-1].loss < run.start_loss
    (1.0, True)
    """

    kinked = True

    def sums(self, scores: Floats, queries: Queries) -> tuple[Floats, Floats]:
        from anyboost.backends.pairs import rank_hinge

        found = np.empty(len(queries.starts) - 1), np.empty(len(scores))
        rank_hinge(scores, queries.grades, queries.mass, queries.starts, queries.levels, *found)
        return found


@dataclass(frozen=True)
class RankLogistic(_Ranking):
    """The logistic loss of pairs, log(1 + exp(-(f_i - f_j))) over y_i > y_j of a query.

    Targets: real grades. Visits every pair, one at a time: memory O(n).

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y, query = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [7, 7, 8, 8]
    >>> run = ab.boost(X, y, "rank_logistic", ab.weak.Linear(), rounds=20, groups=query)
    >>> round(run.start_loss, 4), run.steps[-1].loss < run.start_loss
    (0.6931, True)
    """

    farthest = FAR
    kinked = False
    has_curvature = True

    def curvatures(self, scores: Floats, queries: Queries) -> Floats:
        from anyboost.backends.pairs import rank_logistic_curvature

        found = np.empty(len(scores))
        rank_logistic_curvature(scores, queries.grades, queries.mass, queries.starts, found)
        return found

    def sums(self, scores: Floats, queries: Queries) -> tuple[Floats, Floats]:
        from anyboost.backends.pairs import rank_logistic

        found = np.empty(len(queries.starts) - 1), np.empty(len(scores))
        rank_logistic(scores, queries.grades, queries.mass, queries.starts, *found)
        return found


class RankFunctional(Functional):
    """A ranking loss on a sample. Each query is looked at in one part of the rows: where most of its rows are."""

    outputs = 1

    def __init__(self, loss: _Ranking, y: Array, space: Measure, groups: Any) -> None:
        from anyboost.backends.pairs import pair_weights

        self.loss, self.y, self.space = loss, y, space
        query = np.zeros(len(y), dtype=np.intp) if groups is None else distinct(np.asarray(groups))[1]
        self._moved = Moved(_most_rows(query))
        there = self._moved.there
        self._codes = np.unique(there(query), return_inverse=True)[1]
        values, self._grades = np.unique(there(y), return_inverse=True)
        self._levels = len(values)
        self._mass = np.ones(len(self._codes)) if space.mass is None else there(space.mass)
        queries = self._sorted(np.zeros(len(self._codes)))
        weights = np.empty(len(queries.starts) - 1)
        pair_weights(queries.grades, queries.mass, queries.starts, weights)
        self._pairs, self._scale = space.rows.dot(weights[:, None], None, None)
        if self._pairs == 0:
            raise ValueError("y has no two rows of different grade in one query: there is nothing to rank")

    def value(self, scores: Floats) -> float:
        return self._mean(self._sums(scores)[0])

    def subgradient(self, scores: Floats) -> Floats:
        return self._spread(*self._sums(scores)[1:])

    def at(self, scores: Floats) -> tuple[float, Floats]:
        values, sums, queries = self._sums(scores)
        return self._mean(values), self._spread(sums, queries)

    def curvature(self, scores: Floats) -> Floats | None:
        if not self.loss.has_curvature:
            return None
        scores = self._moved.there(scores)
        queries = self._sorted(scores)
        return self._spread(self.loss.curvatures(scores[queries.order], queries), queries)

    def _sums(self, scores: Floats) -> tuple[Floats, Floats, Queries]:
        scores = self._moved.there(scores)
        queries = self._sorted(scores)
        return *self.loss.sums(scores[queries.order], queries), queries

    def _mean(self, values: Floats) -> float:
        total, self._scale = self.space.rows.dot(values[:, None], None, None, self._scale)
        return total / self._pairs

    def _spread(self, sums: Floats, queries: Queries) -> Floats:
        found = np.empty(len(sums))
        found[queries.order] = sums
        # In L2(P) a row's share of dR is divided by its weight: m_n drops out, the total remains.
        return self._moved.back(found) * (self.space.total / self._pairs)

    @property
    def infimum(self) -> float:
        return 0.0

    @property
    def kinked(self) -> bool:
        return self.loss.kinked

    @property
    def farthest(self) -> float:
        return self.loss.farthest

    def best_constant(self) -> float:
        return 0.0

    def _sorted(self, scores: Floats) -> Queries:
        # Ties in score are sorted by grade, then mass, so that the sums do not depend on the order of the rows.
        order = np.lexsort((self._mass, self._grades, scores, self._codes))
        counts = np.bincount(self._codes)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Queries(order, self._grades[order], starts, self._levels, self._mass[order])


def _most_rows(query: Array) -> Array:
    """The part that has most rows of each row's query, of several such the first."""
    others = circle()
    counts = np.bincount(query, minlength=int(others.most(query.max(initial=-1))) + 1)
    best = others.most(counts * others.size - others.place)
    return (-best % others.size)[query]
