"""Quantiles of what is to come, calibrated on rows that a model has not seen (conformal prediction).

A row's prediction stands for a distribution of its target: quantiles q_1 .. q_k at the levels t_1 .. t_k, linear in
the log odds z = log(t / (1 - t)) between them and beyond them; or one number, and then z is the distance from it.
Where the target of a row that the model has not seen lies in its own distribution is its rank, a number z. A quantile
of new rows at a level is the z that this share of the ranks is under, turned back into the unit of the target:

    z(a) = the rank number floor(a (n + 1)) for a < 1/2, ceil(a (n + 1)) for a > 1/2,    q_a(x) = F_x^-1(z(a))

so that an interval between two of them misses at most their share of new rows, where ranks are those of one more row
like them (split); weights count as rows, and the new one as 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import notices

LEAST_WIDTH = 0.01  # of the mean width of a tail: what a narrower one has all the same


def log_odds(levels: Any) -> np.ndarray:
    """z of each level."""
    levels = np.asarray(levels, dtype=np.float64)
    return np.log(levels) - np.log1p(-levels)


@dataclass(frozen=True)
class Distributions:
    """How predictions stand for distributions.

    Parameters
    ----------
    levels : tuple of float
        Those of the predicted quantiles; none where a prediction is a number.
    tails : tuple of float
        The least width of either tail, in the unit of the target.
    """

    levels: tuple[float, ...] = ()
    tails: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, levels: tuple[float, ...], predictions: np.ndarray) -> "Distributions":
        """Those of a model that has predicted these quantiles of some rows."""
        if not levels:
            return cls()
        # In the order of their sizes: the order of the rows does not matter.
        gaps = np.sort(np.diff(predictions, axis=1)[:, [0, -1]], axis=0).mean(axis=0) * LEAST_WIDTH
        return cls(levels, (float(gaps[0]), float(gaps[1])))

    def ranks(self, predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
        """z of each target in its own distribution; where quantiles are equal, that nearest to the median's."""
        if not self.levels:
            return y - predictions
        under = self._along(predictions, y, (predictions < y[:, None]).sum(axis=1))
        over = self._along(predictions, y, (predictions <= y[:, None]).sum(axis=1))
        return np.clip(0.0, under, over)

    def values(self, predictions: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(n, m): the target that has z[i, j] in the distribution of row i."""
        if not self.levels:
            return predictions[:, None] + z
        knots = log_odds(self.levels)
        left = np.clip(np.searchsorted(knots, z) - 1, 0, len(knots) - 2)
        rows = np.arange(len(predictions))[:, None]
        outside = (z < knots[0]) | (z > knots[-1])
        side = (z > knots[0]).astype(np.intp)
        nearest = np.where(outside, side * (len(knots) - 1), left)
        with np.errstate(invalid="ignore"):  # infinite ranks have infinite values
            inner = (z - knots[left]) / (knots[left + 1] - knots[left])
            along = predictions[rows, left] * (1.0 - inner) + predictions[rows, left + 1] * inner
            beyond = predictions[rows, nearest] + (z - knots[nearest]) * self._slopes(predictions)[rows, side]
        return np.where(outside, beyond, along)

    def _along(self, predictions: np.ndarray, y: np.ndarray, passed: np.ndarray) -> np.ndarray:
        """z of each target, which has passed so many quantiles of its row."""
        knots, rows = log_odds(self.levels), np.arange(len(y))
        left = np.clip(passed - 1, 0, len(knots) - 2)
        low, high = predictions[rows, left], predictions[rows, left + 1]
        wide = np.where(high > low, high - low, 1.0)
        inside = knots[left] + (y - low) / wide * (knots[left + 1] - knots[left])
        slopes = self._slopes(predictions)
        below = knots[0] + (y - predictions[:, 0]) / slopes[:, 0]
        above = knots[-1] + (y - predictions[:, -1]) / slopes[:, 1]
        return np.select([passed == 0, passed == len(knots)], [below, above], inside)

    def _slopes(self, predictions: np.ndarray) -> np.ndarray:
        """(n, 2): the width of the tails in the unit of the target, for one of z."""
        steps = np.diff(log_odds(self.levels))[[0, -1]]
        gaps = np.maximum(np.diff(predictions, axis=1)[:, [0, -1]], np.array(self.tails))
        return np.maximum(gaps / steps, np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Conformal:
    """Ranks of rows that were not fitted: what quantiles and intervals are calibrated by.

    Parameters
    ----------
    way : str
        "cv": rows held out in turn, each by a model of the others, while predictions come from a model of all: what
        such intervals cover is measured, and not proved. "split": rows that no model has been fitted to: an interval
        covers at least its share of new rows, on average over draws of all of them, at most 2 / (rows + 1) more.
    distributions : Distributions
        How predictions stand for distributions.
    ranks : ndarray (n,)
        Increasing.
    weights : ndarray (n,)
        One each.
    labels : tuple
        The groups, in order; empty where there are none.
    groups : ndarray (n,) or None
        The place of each row's group among them.
    """

    way: str
    distributions: Distributions
    ranks: np.ndarray
    weights: np.ndarray
    labels: tuple[Any, ...] = ()
    groups: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        way: str,
        distributions: Distributions,
        ranks: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
    ) -> "Conformal":
        """That of some rows, in any order."""
        weights = np.ones(len(ranks)) if weights is None else weights
        if groups is None:
            order = np.lexsort((weights, ranks))
            return cls(way, distributions, ranks[order], weights[order])
        labels, codes = np.unique(groups, return_inverse=True)
        order = np.lexsort((weights, codes.reshape(-1), ranks))
        places = codes.reshape(-1)[order]
        return cls(way, distributions, ranks[order], weights[order], tuple(labels.tolist()), places)

    def __repr__(self) -> str:
        own = f", {len(self.labels)} groups" if self.labels else ""
        return f"Conformal({self.way!r}, {len(self.ranks)} rows{own})"

    def at(self, levels: Sequence[float], name: str = "levels") -> np.ndarray:
        """z of each level, over all rows; ranks are too few for a level that is refused."""
        found = _at(self.ranks, self.weights, levels)
        if not np.isfinite(found).all():
            raise ValueError(
                f"{name} takes {_fewest(levels):.4g} rows or more to calibrate by, and this model has "
                f"{len(self.ranks)}, of total weight {self.weights.sum():.4g}: ask for less, or fit more rows"
            )
        return found

    def by_row(self, levels: Sequence[float], groups: np.ndarray, name: str = "levels") -> np.ndarray:
        """(n, levels): z of each level by the rows of a row's own group, or by all where those are too few."""
        everyone = self.at(levels, name)
        labels, codes = np.unique(groups, return_inverse=True)
        table = np.empty((len(labels), len(everyone)))
        few = []
        for number, label in enumerate(labels.tolist()):
            own = self._of(label)
            table[number] = _at(self.ranks[own], self.weights[own], levels)
            if not np.isfinite(table[number]).all():
                table[number] = everyone
                few.append(label)
        if few:
            named = ", ".join(repr(label) for label in few[:5]) + (", ..." if len(few) > 5 else "")
            notices.warn(
                f"groups {named} have fewer than the {_fewest(levels):.4g} rows that {name} need, or none: theirs are "
                "calibrated by all rows",
                stacklevel=4,
            )
        return table[codes.reshape(-1)]

    def _of(self, label: Any) -> np.ndarray:
        assert self.groups is not None
        return self.groups == (self.labels.index(label) if label in self.labels else -1)


def _fewest(levels: Sequence[float]) -> float:
    """How much weight the levels need."""
    return max(1.0 / min(level, 1.0 - level) for level in levels) - 1.0


def _at(ranks: np.ndarray, weights: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """The rank at each level, of increasing ones, infinite where there is none: see the head of the module."""
    reached = np.cumsum(weights)
    total = (reached[-1] if len(reached) else 0.0) + 1.0
    found = np.empty(len(levels))
    for j, level in enumerate(levels):
        # What a level asks for in exact numbers is not to be missed by a rounding of their product.
        wanted = level * total
        slack = 1e-9 * wanted
        # The new row, of weight 1, and all below the rank weigh no more than this; below the other, no less
        low = np.searchsorted(reached - weights, wanted - 1.0 + slack, side="right") - 1
        high = np.searchsorted(reached, wanted - slack, side="left")
        ends = (ranks[low] if low >= 0 else -np.inf, ranks[high] if high < len(ranks) else np.inf)
        found[j] = ends[0] if level < 0.5 else ends[1] if level > 0.5 else (ends[0] + ends[1]) / 2
    return found
