"""Histograms: for every column and bin, integer sums over a set of rows of one or more channels.

The channels of a row are its fixed-point targets and its mass (see `fixed_point.Fixed`). The histogram of a set is that
of its parent minus that of its sibling, exactly.

A histogram is (columns * 256, channels), mass last. It is zero, and stays so, in bins that a column does not have:
memory that is never written to is none.
"""

from dataclasses import dataclass

import numpy as np

from anyboost.backends import threads
from anyboost.backends.atomics import AHEAD, prefetch
from anyboost.backends.compiler import bare, inlined
from anyboost.backends.fixed_point import FEW_CHANNELS, Fixed
from anyboost.trees.counting import count_columns, count_pairs, count_vectors
from anyboost.trees.table import BINS, GROUP, MISSING


@bare
def subtract(sums, part, channels, groups, n_cuts):
    """sums -= part, flat histograms, in these groups of columns. Both are zero in bins beyond a column's own."""
    for group in groups:
        for column in range(GROUP * group, GROUP * (group + 1)):
            first = BINS * column * channels
            _take_off(sums, part, first, first + (n_cuts[column] + 1) * channels)
            if n_cuts[column] < MISSING:
                _take_off(sums, part, first + MISSING * channels, first + BINS * channels)


@bare
def subtract_seen(sums, part, channels, groups, n_cuts):
    """The same where a bin without mass has nothing to subtract, as most bins of a small node: those are passed by."""
    for group in groups:
        for column in range(GROUP * group, GROUP * (group + 1)):
            for b in range(n_cuts[column] + 1):
                _take_bin_off(sums, part, BINS * column + b, channels)
            if n_cuts[column] < MISSING:
                _take_bin_off(sums, part, BINS * column + MISSING, channels)


@inlined(early=True)
def _take_bin_off(sums, part, entry, channels):
    if part[entry * channels + channels - 1]:
        _take_off(sums, part, entry * channels, entry * channels + channels)


@inlined(early=True)
def _take_off(sums, part, first, last):
    for i in range(np.uint64(first), np.uint64(last)):
        sums[i] -= part[i]


@inlined(early=True)
def gather(sums, column, goes_left, out):
    """out = the sums over the bins of a column that go left."""
    for j in range(out.shape[0]):
        out[j] = 0
    for entry in range(BINS):
        if goes_left[entry]:
            for j in range(sums.shape[1]):
                out[j] += sums[BINS * column + entry, j]


@bare
def take_pairs(pairs, rows, out):
    """out = the pairs of some rows, in their order."""
    end = np.uint64(rows.shape[0] - 1)
    for r in range(rows.shape[0]):
        prefetch(pairs, np.uint64(2 * rows[min(np.uint64(r + AHEAD), end)]))
        i = np.uint64(rows[r])
        out[r, 0], out[r, 1] = pairs[i, 0], pairs[i, 1]


@bare
def take_channel(channel, rows, out):
    """out = the channel of some rows, in their order."""
    end = np.uint64(rows.shape[0] - 1)
    for r in range(rows.shape[0]):
        prefetch(channel, np.uint64(rows[min(np.uint64(r + AHEAD), end)]))
        out[r] = channel[np.uint64(rows[r])]


def take(fixed: Fixed, rows: np.ndarray, n_threads: int = 1) -> Fixed:
    """The channels of some rows, in their order."""
    channels = fixed.channels
    if many(fixed):
        return fixed._replace(channels=channels[rows])
    if fixed.paired:
        pairs = np.empty((len(rows), 2), dtype=np.int64)
        if len(rows):
            take_pairs(channels, rows, pairs)
        return fixed._replace(channels=pairs)
    taken = np.empty((len(rows), channels.shape[1]), dtype=np.int64, order="F")
    if len(rows):

        def some(start: int, stop: int) -> None:
            for j in range(channels.shape[1]):
                take_channel(channels[:, j], rows[start:stop], taken[start:stop, j])

        threads.over_blocks(some, len(rows), n_threads, smallest=25_000)
    return fixed._replace(channels=taken)


@bare
def _differing(old, new, start, stop, rows):
    # Every row is written down, and the next one over it where it is the same: no branch to guess wrong.
    found = np.uint64(0)
    for i in range(start, stop):
        differs = False
        for j in range(old.shape[1]):
            differs |= old[i, j] != new[i, j]
        rows[found] = i
        found += np.uint64(differs)
    return found


@bare
def _count_differing(old, new, step):
    # Of every so many rows, those in which two arrays of channels differ.
    found = 0
    for i in range(0, old.shape[0], step):
        for j in range(old.shape[1]):
            if old[i, j] != new[i, j]:
                found += 1
                break
    return found


def differing(old: np.ndarray, new: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The rows start .. stop in which two arrays of channels differ."""
    rows = np.empty(stop - start, dtype=np.uint32)
    return rows[: _differing(old, new, start, stop, rows)]


def many(fixed: Fixed) -> bool:
    """Whether a row's channels lie together, and are counted as a whole: then they need not be taken first."""
    return fixed.channels.shape[1] > FEW_CHANNELS


_ALL = np.empty(0, dtype=np.uint32)


def count(
    words: np.ndarray,
    groups: np.ndarray,
    n_cuts: np.ndarray,
    n_columns: int,
    taken: Fixed,
    rows: np.ndarray | None,
    sums: np.ndarray,
) -> None:
    """Fill the part of a histogram that belongs to these groups of columns.

    Over all rows (None), or over some, whose channels are `taken`, or those of all rows where they are `many`.
    """
    channels = taken.channels
    seen = _ALL if rows is None else rows
    table, sizes = (words, groups, n_cuts, n_columns), (taken.chunk, taken.shift)
    if many(taken):
        by_row = len(channels) == words.shape[1]
        given = channels[:0] if rows is not None and not len(rows) else channels
        count_vectors(*table, given, seen, by_row, sums.reshape(-1))
        return
    counters = np.zeros(2 * GROUP * BINS, dtype=np.int64)
    if taken.paired:
        count_pairs(*table, channels, seen, *sizes, counters, sums)
        return
    for j in range(channels.shape[1]):
        count_columns(*table, channels[:, j], seen, *sizes, j, counters, sums)


# A kinked loss has a subgradient of few values, which changes only where a score crosses its kink. So from one round to
# the next most rows keep their target, and the others' difference is all there is to count. Sums are integers: the
# histogram is the same, to the bit, as one that counts every row.

_SAMPLE = 1024  # rows that tell whether it is worth a try
_MOST = 0.25  # of the rows: counting those apart costs more than counting all in order
_LEAST_ROWS = 5_000


@dataclass
class Change:
    """The rows whose targets are not those of the round before, and by how much they differ."""

    rows: np.ndarray
    fixed: Fixed


class Root:
    """The targets of the last round and their histogram."""

    def __init__(self) -> None:
        self.fixed: Fixed | None = None
        self.sums: np.ndarray | None = None

    def change(self, fixed: Fixed, n_threads: int) -> Change | None:
        """What is to be counted; None where that is every row."""
        old, new = self.fixed, fixed
        n = len(new.channels)
        if (
            self.sums is None
            or old is None
            or n < _LEAST_ROWS
            or (old.unit, old.shift) != (new.unit, new.shift)
        ):
            return None
        step = n // _SAMPLE
        if _count_differing(old.channels, new.channels, step) > _MOST * len(range(0, n, step)):
            return None
        found = threads.over_blocks(
            lambda start, stop: differing(old.channels, new.channels, start, stop), n, n_threads
        )
        rows = np.concatenate(found)
        difference = take(new, rows, n_threads).channels - take(old, rows, n_threads).channels
        # Differences are up to twice as large as targets.
        return Change(rows, new._replace(channels=difference, chunk=max(1, new.chunk // 2)))

    def complete(self, sums: np.ndarray, groups: np.ndarray) -> None:
        """Add the round before to the change, in these groups of columns."""
        assert self.sums is not None
        for group in groups:
            own = slice(GROUP * BINS * group, GROUP * BINS * (group + 1))
            sums[own] += self.sums[own]

    def keep(self, fixed: Fixed, sums: np.ndarray) -> None:
        """Remember this round."""
        self.fixed = fixed
        if self.sums is None:
            self.sums = sums.copy()
        else:
            np.copyto(self.sums, sums)
