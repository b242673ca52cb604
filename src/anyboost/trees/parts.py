"""Rows in several parts: members of a circle run the same loop, each on its own rows, and agree on every answer.

    add:     whole numbers, summed;     most:  the largest;     gather:  what all have, in the order of their places

Whatever is asked of rows, wherever it is asked, is asked of the circle that the thread is `within`; of the rows here
alone where it is within none. A circle has to know one thing, to `trade`: to hand each member its parcel, and to take
home what they have for this one. Sums of whole numbers are the same by any way that they take.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.trees.grown import Plan
from anyboost.trees.journal import Journal
from anyboost.trees.questions import Agreement
from anyboost.trees.rows import ELSEWHERE, Ground, Inside, Rows
from anyboost.trees.table import BINS, GROUP, MISSING, Bins

if TYPE_CHECKING:
    from anyboost.backends.fixed_point import Fixed

_LARGE = 2**20  # bytes, with all members', from which on each adds up a share, and not everything


class Circle(ABC):
    """Who runs the same loop: `size` members, of which this is the one at `place`."""

    place = 0
    size = 1
    journal: Journal | None = None  # of the trees that its members grow, where it is kept

    @abstractmethod
    def trade(self, parcels: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Give each member its parcel; what each has given to this one. Nobody may write into a parcel thereafter."""

    def add(self, counts: Any) -> Any:
        """Whole numbers, summed over the members."""
        own = np.asarray(counts)
        # Two members send the same either way, and once is quicker than twice.
        if self.size * own.nbytes < _LARGE or self.size == 2:
            return _sum(self.all_of(own))
        # Each member adds up a share and hands it round: what one sends does not grow with their number.
        share = _sum(self.trade(np.array_split(own.reshape(-1), self.size)))
        return np.concatenate(self.all_of(share)).reshape(own.shape)

    def most(self, values: Any) -> Any:
        """Numbers, the largest over the members; NaN where any is."""
        return np.max(self.all_of(np.asarray(values)), axis=0)

    def gather(self, values: np.ndarray) -> np.ndarray:
        """What all members have, one after the other."""
        found = self.all_of(values)
        # A member without rows cannot tell of what kind the others' are.
        return np.concatenate([part for part in found if len(part)] or found[:1])

    def all_of(self, values: np.ndarray) -> list[np.ndarray]:
        """What each member has."""
        return self.trade([values] * self.size)


def _sum(parcels: list[np.ndarray]) -> np.ndarray:
    total = parcels[0].copy()
    for parcel in parcels[1:]:  # one by one: `np.sum` would first put them into one array
        total += parcel
    return total


class _Nobody(Agreement, Circle):
    def trade(self, parcels: Sequence[np.ndarray]) -> list[np.ndarray]:
        return list(parcels)


_NOBODY = _Nobody()
_circle: ContextVar[Circle] = ContextVar("circle", default=_NOBODY)


def circle() -> Circle:
    """The circle that this thread is within; one of nobody else where it is within none."""
    return _circle.get()


def alone() -> bool:
    """Whether all rows are here."""
    return circle().size == 1


@contextmanager
def within(others: Circle) -> Iterator[None]:
    """Have this thread's rows be a part of those of a circle."""
    before = _circle.set(others)
    try:
        yield
    finally:
        _circle.reset(before)


@contextmanager
def on_ones_own() -> Iterator[None]:
    """Have this thread's rows be all there are: where they have been gathered."""
    with within(_NOBODY):
        yield


def total(values: np.ndarray) -> float:
    """The sum of finite numbers of all parts, rounded once: the same in any order."""
    own, rest = [], math.fsum(values)
    while rest and not alone():  # a few numbers whose sum is that of those here, and nothing less
        own.append(rest)
        rest = math.fsum(itertools.chain(values, [-number for number in own]))
    return rest if alone() else math.fsum(circle().gather(np.array(own)))


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values that rows of any part have, in order, and the place among them of each value here."""
    found = np.unique(circle().gather(np.unique(values)))
    return found, np.searchsorted(found, values)


def as_others(table: np.ndarray, name: str = "X") -> np.ndarray:
    """A table of numbers as all parts have it: of 32 bits where all rows are; refused where there is no row at all."""
    if alone():
        return table
    rows = len(table) > 0
    wide, some = circle().most(np.array([rows and table.dtype != np.float32, rows]))
    if not some:
        raise ValueError(f"{name} has no rows: give at least one")
    return table.astype(np.float64 if wide else np.float32, copy=False)


class Moved:
    """Rows of all parts that are looked at together: each by the part that its `owner` names.

    Nothing travels where every row is with its owner.
    """

    def __init__(self, owner: np.ndarray) -> None:
        self._others = circle()
        self._stays = not self._others.most(bool((owner != self._others.place).any()))
        if self._stays:
            return
        self._order = np.argsort(owner, kind="stable")
        self._edges = np.searchsorted(owner[self._order], np.arange(1, self._others.size))
        went = np.bincount(owner, minlength=self._others.size)
        self._ends = np.cumsum(self._others.trade(list(went)))[:-1]

    def there(self, values: np.ndarray) -> np.ndarray:
        """What rows hold, of those that have come to this part."""
        if self._stays:
            return values
        return np.concatenate(self._others.trade(np.split(values[self._order], self._edges)))

    def back(self, found: np.ndarray) -> np.ndarray:
        """What their owners have found of the rows of this part."""
        if self._stays:
            return found
        own = np.empty(len(self._order), found.dtype)
        own[self._order] = np.concatenate(self._others.trade(np.split(found, self._ends)))
        return own


def rows_of(n: int, n_threads: int = 1, folder: Any = None) -> Rows:
    """So many rows here, with those that the other members have; all members have to ask."""
    others = circle()
    return Rows(n, n_threads, folder, others.journal) if others.size == 1 else Part(n, n_threads, others)


class Part(Rows):
    """The rows of one member."""

    def __init__(self, here: int, n_threads: int, others: Circle) -> None:
        counts = [int(count) for count in others.all_of(np.array(here))]
        super().__init__(sum(counts), n_threads, journal=others.journal)
        first = sum(counts[: others.place])
        self.own, self.others = slice(first, first + here), others

    def add(self, counts: Any) -> Any:
        return self.others.add(counts)

    def most(self, values: Any) -> Any:
        return self.others.most(values)

    def tell(self, found: np.ndarray) -> np.ndarray:
        return np.concatenate(self.others.all_of(found))

    def gather(self, values: np.ndarray) -> np.ndarray:
        return self.others.gather(values)

    def apart(self) -> list[Rows]:
        return [self]  # members agree on what they ask in one order

    def bins(
        self, X: np.ndarray, masses: np.ndarray | None, max_bins: int, categorical: tuple[int, ...]
    ) -> Bins:
        from anyboost.trees.binning import bin_table

        return bin_table(X, masses, max_bins, self.n_threads, categorical, rows=self)

    def ground(self, bins: Bins, fixed: "Fixed", plan: Plan) -> "GroundOfPart":
        return GroundOfPart(self, bins, fixed, plan)


class GroundOfPart(Ground):
    """Rows of one member under one tree."""

    apart = True

    @property
    def inside(self) -> Inside:
        return ELSEWHERE

    def histogram(self, start: int, stop: int, sums: np.ndarray) -> None:
        self.histograms([(start, stop)], [sums])

    def histograms(self, ranges: Sequence[tuple[int, int]], sums: Sequence[np.ndarray]) -> None:
        for (start, stop), own in zip(ranges, sums, strict=True):
            super().histogram(start, stop, own)
        counted = self._counted
        # A channel after the other: numbers of a size lie together, and travel in fewer bytes.
        found = self._rows.add(np.stack([own[counted].T for own in sums]))
        for own, total in zip(sums, found, strict=True):
            own[counted] = total.T

    @property
    def _counted(self) -> np.ndarray | slice:
        """The entries of a histogram that may be other than zero: what members have to tell each other."""
        groups = np.concatenate(self._plan.shares)
        return self._rows.once(("counted", groups.tobytes()), lambda: _counted(self._bins, groups))


def _counted(bins: Bins, groups: np.ndarray) -> np.ndarray | slice:
    columns = (GROUP * groups[:, None] + np.arange(GROUP)).ravel()
    columns = columns[columns < bins.n_columns]
    used = [np.append(np.arange(min(bins.n_cuts[column] + 1, MISSING)), MISSING) for column in columns]
    entries = np.concatenate([BINS * column + own for column, own in zip(columns, used, strict=True)])
    # Most often it is all of some columns, which need not be picked out one by one.
    together = len(entries) == entries[-1] + 1 - entries[0]
    return slice(int(entries[0]), int(entries[-1]) + 1) if together else entries
