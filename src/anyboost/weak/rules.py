"""Columns with rules: which of the searches for cuts a column needs, and the choice among what they find.

Columns of numbers without bounds are searched by `backends.split`, with bounds by `backends.bounded`, columns of
categories by `backends.categories`. The tie rule is that of `backends.split` over all of them.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.bounded import cut_bounded, score_bounded, whole_worth
from anyboost.backends.categories import best_subset
from anyboost.backends.sides import TIE
from anyboost.backends.split import cut_column, score_columns
from anyboost.space import Space


class Limits(NamedTuple):
    """What every search has to know: units of noise and of the penalty, the least mass, the criterion."""

    noise: float
    l2: float
    least: int
    criterion: int


class Rules:
    """The rules of a sample's columns for a learner; `signs` (or None) are those of `Growth`."""

    def __init__(self, space: Space, signs: tuple[int, ...] | None) -> None:
        bins = space.bins
        self.n_cuts = bins.n_cuts
        self.n_thresholds = (bins.thresholds < np.inf).sum(axis=1)
        self.ordered = signs is not None
        self.signs = np.zeros(len(bins.n_cuts), dtype=np.int8)
        self.signs[: len(signs or ())] = signs or ()
        self.numbers = np.ones(len(bins.n_cuts), dtype=np.bool_)
        self.numbers[list(space.categorical)] = False

    @classmethod
    def of(cls, space: Space, signs: tuple[int, ...] | None) -> "Rules | None":
        """The rules, or None where there are none."""
        return None if signs is None and not space.categorical else cls(space, signs)

    def score(
        self,
        groups: np.ndarray,
        sums: np.ndarray,
        total: np.ndarray,
        limits: Limits,
        allowed: np.ndarray,
        bounds: np.ndarray,
        best: np.ndarray,
    ) -> None:
        """best[c] = the score of column c's best cut, -1 or less where it has none, for groups of eight columns."""
        noise, l2, least, criterion = limits
        given = (sums, groups, total, noise, l2, least, self.n_cuts)
        numbers = allowed & self.numbers
        if self.ordered:
            score_bounded(*given, numbers, criterion, self.n_thresholds, self.signs, bounds, best)
        else:
            score_columns(*given, numbers, criterion, best)
        for c in np.flatnonzero(allowed & ~self.numbers & (self.n_cuts > 0)).tolist():
            if c >> 3 in groups:
                best[c] = best_subset(sums, c, total, noise, l2, least, criterion, bounds, np.inf, _NOWHERE)

    def choose(
        self,
        sums: np.ndarray,
        total: np.ndarray,
        limits: Limits,
        bounds: np.ndarray,
        best: np.ndarray,
        goes_left: np.ndarray,
    ) -> tuple[int, int, float, float]:
        """Column, cut (-1 for categories) and score of the best cut, and the score without one; column -1: none."""
        noise, l2, least, criterion = limits
        whole = whole_worth(total, noise, l2, criterion, bounds)
        most = float(best.max())
        if (most <= -1.0 and not self.ordered) or not most > whole + TIE * abs(whole):
            return -1, -1, whole, whole
        enough = most - TIE * abs(most)
        c = int(np.argmax(best >= enough))
        if not self.numbers[c]:
            score = best_subset(sums, c, total, noise, l2, least, criterion, bounds, enough, goes_left)
            return c, -1, score, whole
        given = (sums, c, total, noise, l2, least, self.n_cuts, criterion)
        if self.ordered:
            cut, score = cut_bounded(*given, self.n_thresholds, self.signs, bounds, enough, goes_left)
        else:
            cut, score = cut_column(*given, enough, goes_left)
        return c, cut, score, whole


_NOWHERE = np.empty(256, dtype=np.bool_)
