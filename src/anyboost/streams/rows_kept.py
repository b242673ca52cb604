"""The rows that batch experts are refitted on: the last ones, and a fair sample of all before them, in bounded memory.

    kept = the last r rows, and of the n - r before them those with the smallest mix(seed, number of the row)

So it is after a thinning, which comes where there is no room for the next row, and frees a quarter of it. All rows
since then are kept as well: the last ones are r and up to a quarter of the most.

Rows are packed one after another as (column, value) pairs. What is kept depends on the rows in their order and on
nothing else, so a model that is saved and loaded goes on with the same rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anyboost import draws
from anyboost.checks import Floats
from anyboost.online.rows import Table, sparse_table

THINNED = 0.75  # of the most rows are left when there is no room for the next


class Labelled(NamedTuple):
    """Some rows with their targets and weights."""

    rows: Table
    y: Floats
    weights: Floats


class RowArrays(NamedTuple):
    """Arrays of which the first `n` rows, and the pairs before starts[n], are in use."""

    columns: np.ndarray  # int32
    values: Floats
    starts: np.ndarray
    y: Floats
    weights: Floats
    numbers: np.ndarray  # which row of the stream each is


class RowsKept:
    """At most `most` rows of a stream; the last `recent` of them are always there, and all since the last thinning."""

    def __init__(self, most: int, recent: int, seed: int) -> None:
        self.most, self.recent, self.seed = most, recent, seed
        self.n = 0
        self.seen = 0
        self.width = 1
        none = np.zeros(0, dtype=np.int64)
        self.packed = RowArrays(
            none.astype(np.int32), np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros(0), none
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may lie in memory that cannot be written."""
        self.__dict__.update(state)
        self.packed = RowArrays(*(np.require(array, requirements="W") for array in self.packed))

    def add(self, rows: Table, y: np.ndarray, weights: Floats) -> None:
        """Keep rows, and thin out older ones where there is no room."""
        begin = 0
        while begin < rows.n:
            if self.n == self.most:
                self._thin()
            end = min(rows.n, begin + self.most - self.n)
            self._append(rows.part(slice(begin, end)), y[begin:end], weights[begin:end])
            begin = end

    def add_row(self, columns: np.ndarray, values: Floats, width: int, y: float, weight: float) -> None:
        """The same for one encoded row."""
        if self.n == self.most:
            self._thin()
        n, pairs = self.n, int(self.packed.starts[self.n])
        more = pairs + len(values)
        self._make_room(n + 1, more)
        kept = self.packed
        kept.columns[pairs:more], kept.values[pairs:more] = columns, values
        kept.starts[n + 1], kept.y[n], kept.weights[n], kept.numbers[n] = more, y, weight, self.seen
        self.n, self.seen, self.width = n + 1, self.seen + 1, max(self.width, width)

    def _append(self, rows: Table, y: np.ndarray, weights: Floats) -> None:
        starts, columns, values = _pairs(rows)
        n, pairs = self.n + rows.n, int(self.packed.starts[self.n])
        more = pairs + len(values)
        self._make_room(n, more)
        kept = self.packed
        kept.columns[pairs:more], kept.values[pairs:more] = columns, values
        kept.starts[self.n + 1 : n + 1] = pairs + starts[1:] - starts[0]
        kept.y[self.n : n], kept.weights[self.n : n] = y, weights
        kept.numbers[self.n : n] = np.arange(self.seen, self.seen + rows.n)
        self.n, self.seen, self.width = n, self.seen + rows.n, max(self.width, rows.width)

    def _make_room(self, rows: int, pairs: int) -> None:
        """Longer arrays where these are too short; twice as long, so that rows one by one cost no more than many."""
        if pairs <= len(self.packed.values) and rows < len(self.packed.starts) and rows <= len(self.packed.y):
            return
        sizes = (pairs, pairs, rows + 1, rows, rows, rows)  # of the fields, in their order
        self.packed = RowArrays(
            *(
                array
                if len(array) >= size
                else np.concatenate([array, np.zeros(2 * size - len(array), array.dtype)])
                for array, size in zip(self.packed, sizes, strict=True)
            )
        )

    def _thin(self) -> None:
        """Leave the last rows, and of the older ones a sample that is fair to all that ever were."""
        older = self.n - self.recent
        room = int(THINNED * self.most) - self.recent
        words = [draws.mix(self.seed, number) for number in self.packed.numbers[:older].tolist()]
        chosen = np.sort(np.argsort(np.array(words, dtype=np.uint64), kind="stable")[: max(room, 0)])
        self._take(np.concatenate([chosen, np.arange(older, self.n)]))

    def _take(self, rows: np.ndarray) -> None:
        kept = self.packed
        lengths = np.diff(kept.starts[: self.n + 1])[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.repeat(kept.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        self.packed = RowArrays(
            kept.columns[pairs],
            kept.values[pairs],
            starts,
            kept.y[rows],
            kept.weights[rows],
            kept.numbers[rows],
        )
        self.n = len(rows)

    def last(self, count: int | None = None) -> Labelled:
        """The last `count` rows that are kept; None: all. In the memory of the store, which the next `add` changes."""
        kept, first = self.packed, 0 if count is None else max(0, self.n - count)
        starts = kept.starts[first : self.n + 1]
        own, pairs = slice(first, self.n), slice(int(starts[0]), int(starts[-1]))
        rows = sparse_table(self.width, kept.values[pairs], kept.columns[pairs], starts - starts[0])
        return Labelled(rows, kept.y[own], kept.weights[own])


def _pairs(rows: Table) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Starts, columns and values of a table, sparse or dense."""
    if not len(rows.starts):
        columns = np.tile(np.arange(rows.width), rows.n)
        return np.arange(rows.n + 1) * rows.width, columns, rows.values
    pairs = slice(int(rows.starts[0]), int(rows.starts[-1]))
    return rows.starts, rows.columns[pairs], rows.values[pairs]
