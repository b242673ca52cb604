"""The weights as they are added up: whole numbers where they can be, for whole numbers add up exactly."""

from typing import NamedTuple

import numpy as np

from anyboost.trees.rows import Rows

MOST_WHOLE = 2**31  # a larger total of whole weights leaves too few bits to the targets
_FRACTIONS = 12  # weights are tried as multiples of 1/1 .. 1/12 of the smallest


def total_weight(weights: np.ndarray, rows: Rows) -> float:
    """The sum of all weights, in the same bits for any order and any parts."""
    return rows.dot(weights[:, None], None, None)[0]


def as_mass(weights: np.ndarray, rows: Rows) -> tuple[np.ndarray | None, bool, float]:
    """Weights up to a factor: whole where they are multiples of one number (None: all ones), else of mean one.

    And whether they are whole, and their sum. Whole numbers add up exactly. So 1/n for every row, or 1/7 and 3/7, are
    the model of 1, or of 1 and 3.
    """
    smallest = -float(rows.most(-weights.min(initial=np.inf)))
    for parts in range(1, _FRACTIONS + 1):
        scaled = weights * (parts / smallest)
        whole = np.rint(scaled)
        unlike = np.count_nonzero(np.abs(scaled - whole) > 1e-12 * whole)
        others = np.count_nonzero(whole != 1)
        sums = np.array([unlike, others, int(min(whole.sum(), 2.0**53))])
        unlike, others, total = rows.add(sums).tolist()
        if not unlike and total <= MOST_WHOLE:
            return (whole if others else None), True, float(total)
    return weights * (rows.n / total_weight(weights, rows)), False, float(rows.n)


class Masses(NamedTuple):
    """A measure of the rows of a table: their weights up to a factor.

    `mass` is None for all ones, and whole numbers where `whole`; `total` is its sum, `unit` the weight, as given, of
    mass one. `drawn` are the rows of positive mass, in order; None for all of them.
    """

    mass: np.ndarray | None
    whole: bool
    total: float
    unit: float = 1.0
    drawn: np.ndarray | None = None

    @classmethod
    def of(cls, weights: np.ndarray | None, rows: Rows) -> "Masses":
        """That of rows with these positive weights; None: all one."""
        if weights is None:
            return cls(None, True, float(rows.n))
        mass, whole, total = as_mass(weights, rows)
        return cls(mass, whole, total, total_weight(weights, rows) / total)
