"""Histograms: for every column and bin, integer sums over a set of rows of one or more channels.

The channels of a row are its fixed-point targets and its mass (see `fixed_point.Fixed`). A group of eight columns
fills 2048 counters a channel, which stay in the first cache; where target and mass are packed into one number,
one addition counts both. The histogram of a set is that of its parent minus that of its sibling, exactly.

A histogram is (columns * 256, channels), mass last. It is zero, and stays so, in bins that a column does not have:
memory that is never written to is none.
"""

from dataclasses import dataclass

import numpy as np

from anyboost.backends import threads
from anyboost.backends.atomics import AHEAD, prefetch
from anyboost.backends.compiler import bare, inlined
from anyboost.backends.fixed_point import FEW_CHANNELS, Fixed
from anyboost.trees.table import BINS, GROUP, MISSING

COUNTERS = GROUP * BINS  # of a group of columns, a channel

# Indices are unsigned: for signed ones every access would first ask whether it counts from the end.


@inlined(early=True)
def _add_word(counters, word, value):
    byte = np.uint64(255)
    counters[word & byte] += value
    counters[np.uint64(BINS) + ((word >> np.uint64(8)) & byte)] += value
    counters[np.uint64(2 * BINS) + ((word >> np.uint64(16)) & byte)] += value
    counters[np.uint64(3 * BINS) + ((word >> np.uint64(24)) & byte)] += value
    counters[np.uint64(4 * BINS) + ((word >> np.uint64(32)) & byte)] += value
    counters[np.uint64(5 * BINS) + ((word >> np.uint64(40)) & byte)] += value
    counters[np.uint64(6 * BINS) + ((word >> np.uint64(48)) & byte)] += value
    counters[np.uint64(7 * BINS) + (word >> np.uint64(56))] += value


@inlined(early=True)
def _add_part(counters, word, value, width):
    # The last group may have fewer columns than eight.
    for column in range(width):
        entry = (word >> np.uint64(8 * column)) & np.uint64(255)
        counters[np.uint64(BINS * column) + entry] += value


@inlined(early=True)
def _unpack(counters, n_cuts, width, shift, out, channel, fresh):
    # Add what the counters hold to the channel, and for packed ones to the next, and empty them; `fresh` sums start
    # from nothing. A column has its own bins, and that of missing values.
    keep, mask = 0 if fresh else 1, (1 << shift) - 1
    for piece in range(2 * width):
        column = piece >> 1
        last = BINS * column + n_cuts[column] + 1
        if piece & 1:
            first, last = max(last, BINS * column + MISSING), BINS * (column + 1)
        else:
            first = BINS * column
        if shift:
            for entry in range(np.uint64(first), np.uint64(last)):
                value = counters[entry]
                counters[entry] = 0
                out[entry, channel] = keep * out[entry, channel] + (value >> shift)
                out[entry, channel + 1] = keep * out[entry, channel + 1] + (value & mask)
        else:
            for entry in range(np.uint64(first), np.uint64(last)):
                out[entry, channel] = keep * out[entry, channel] + counters[entry]
                counters[entry] = 0


@inlined(early=True)
def _count_all(words, values, first, last, counters):
    # Two rows at a time, so that their additions overlap.
    for pair in range((last - first) // 2):
        i = np.uint64(first + 2 * pair)
        word, value = words[i], values[i]
        next_word, next_value = words[i + np.uint64(1)], values[i + np.uint64(1)]
        _add_word(counters, word, value)
        _add_word(counters, next_word, next_value)
    if (last - first) % 2:
        _add_part(counters, words[last - 1], values[last - 1], GROUP)


@inlined(early=True)
def _count_some(words, values, rows, first, last, counters):
    # values[r] belongs to row rows[r]. Words lie apart, so they are asked for ahead of their use.
    end = np.uint64(rows.shape[0] - 1)
    for pair in range((last - first) // 2):
        r = np.uint64(first + 2 * pair)
        prefetch(words, np.uint64(rows[min(r + np.uint64(AHEAD), end)]))
        prefetch(words, np.uint64(rows[min(r + np.uint64(AHEAD + 1), end)]))
        word, value = words[np.uint64(rows[r])], values[r]
        next_word, next_value = words[np.uint64(rows[r + np.uint64(1)])], values[r + np.uint64(1)]
        _add_word(counters, word, value)
        _add_word(counters, next_word, next_value)
    if (last - first) % 2:
        _add_part(counters, words[rows[last - 1]], values[last - 1], GROUP)


@bare
def count_columns(words, groups, n_cuts, n_columns, values, rows, chunk, shift, channel, counters, sums):
    """One channel of several groups of columns: see `count`. `counters` (2048, or more) are zero, and stay so."""
    # A chunk of values stays in the second cache for all of them.
    some = rows.size > 0
    for first in range(0, max(1, values.shape[0]), chunk):  # once, for no rows too: the sums are to be zero
        last = min(first + chunk, values.shape[0])
        for group in groups:
            width = min(GROUP, n_columns - GROUP * group)
            part = words[group]
            if width < GROUP:
                for r in range(first, last):
                    _add_part(counters, part[rows[r] if some else r], values[r], width)
            elif some:
                _count_some(part, values, rows, first, last, counters)
            else:
                _count_all(part, values, first, last, counters)
            own = sums[COUNTERS * group : COUNTERS * (group + 1)]
            _unpack(counters, n_cuts[GROUP * group :], width, shift, own, channel, first == 0)


@inlined(early=True)
def _add_pair(counters, word, target, other, width):
    byte, one = np.uint64(255), np.uint64(1)
    for column in range(width):
        entry = np.uint64(2 * BINS * column) + (((word >> np.uint64(8 * column)) & byte) << one)
        counters[entry] += target
        counters[entry + one] += other


@inlined(early=True)
def _pair_all(words, pairs, first, last, counters):
    # Two rows at a time, as in `_count_all`.
    for pair in range((last - first) // 2):
        i = np.uint64(first + 2 * pair)
        j = i + np.uint64(1)
        word, next_word = words[i], words[j]
        _add_pair(counters, word, pairs[i, 0], pairs[i, 1], GROUP)
        _add_pair(counters, next_word, pairs[j, 0], pairs[j, 1], GROUP)


@inlined(early=True)
def _pair_some(words, pairs, rows, first, last, counters):
    end = np.uint64(rows.shape[0] - 1)
    for pair in range((last - first) // 2):
        i = np.uint64(first + 2 * pair)
        j = i + np.uint64(1)
        prefetch(words, np.uint64(rows[min(i + np.uint64(AHEAD), end)]))
        prefetch(words, np.uint64(rows[min(j + np.uint64(AHEAD), end)]))
        word, next_word = words[np.uint64(rows[i])], words[np.uint64(rows[j])]
        _add_pair(counters, word, pairs[i, 0], pairs[i, 1], GROUP)
        _add_pair(counters, next_word, pairs[j, 0], pairs[j, 1], GROUP)


@inlined(early=True)
def _unpack_pairs(counters, n_cuts, width, shift, out, fresh):
    # As `_unpack` does.
    keep, mask = 0 if fresh else 1, (1 << shift) - 1
    for entry in range(BINS * width):
        b = entry & 255
        if b <= n_cuts[entry >> 8] or b == MISSING:
            target, other = counters[2 * entry], counters[2 * entry + 1]
            out[entry, 0] = keep * out[entry, 0] + target
            out[entry, 1] = keep * out[entry, 1] + (other >> shift)
            out[entry, 2] = keep * out[entry, 2] + (other & mask)
    for entry in range(2 * BINS * width):
        counters[entry] = 0


@bare
def count_pairs(words, groups, n_cuts, n_columns, pairs, rows, chunk, shift, counters, sums):
    """Targets, and curvatures packed with the mass, (rows, 2), of several groups of columns: see `count`.

    `counters` (4096,) are zero, and become so again.
    """
    some = rows.size > 0
    for first in range(0, max(1, pairs.shape[0]), chunk):  # once, for no rows too: the sums are to be zero
        last = min(first + chunk, pairs.shape[0])
        for group in groups:
            width, part = min(GROUP, n_columns - GROUP * group), words[group]
            paired = first if width < GROUP else last - (last - first) % 2
            if some:
                _pair_some(part, pairs, rows, first, paired, counters)
            else:
                _pair_all(part, pairs, first, paired, counters)
            for r in range(paired, last):
                _add_pair(counters, part[rows[r] if some else r], pairs[r, 0], pairs[r, 1], width)
            own = sums[COUNTERS * group : COUNTERS * (group + 1)]
            _unpack_pairs(counters, n_cuts[GROUP * group :], width, shift, own, first == 0)


@bare
def take_pairs(pairs, rows, out):
    """out = the pairs of some rows, in their order."""
    end = np.uint64(rows.shape[0] - 1)
    for r in range(rows.shape[0]):
        prefetch(pairs, np.uint64(2 * rows[min(np.uint64(r + AHEAD), end)]))
        i = np.uint64(rows[r])
        out[r, 0], out[r, 1] = pairs[i, 0], pairs[i, 1]


@bare
def count_vectors(words, groups, n_cuts, n_columns, channels, rows, by_row, flat):
    """All channels of several groups of columns, a row's vector as a whole; they lie by row number, or in turn.

    `flat` is a histogram as one line.
    """
    count = channels.shape[1]
    for group in groups:
        width = min(GROUP, n_columns - GROUP * group)
        part = words[group]
        out = flat[COUNTERS * group * count : COUNTERS * (group + 1) * count]
        for column in range(width):
            first = BINS * column * count
            out[first : first + (n_cuts[GROUP * group + column] + 1) * count] = 0
            out[first + MISSING * count : first + BINS * count] = 0
        for r in range(rows.shape[0] if rows.size else channels.shape[0]):
            i = rows[r] if rows.size else r
            word = part[i]
            values = channels[i] if by_row else channels[r]
            for column in range(width):
                entry = np.uint64(BINS * column) + ((word >> np.uint64(8 * column)) & np.uint64(255))
                own = out[entry * np.uint64(count) : (entry + np.uint64(1)) * np.uint64(count)]
                for j in range(count):
                    own[j] += values[j]


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
    if many(taken):
        by_row = len(channels) == words.shape[1]
        given = channels[:0] if rows is not None and not len(rows) else channels
        count_vectors(words, groups, n_cuts, n_columns, given, seen, by_row, sums.reshape(-1))
        return
    counters = np.zeros(2 * GROUP * BINS, dtype=np.int64)
    if taken.paired:
        count_pairs(
            words, groups, n_cuts, n_columns, channels, seen, taken.chunk, taken.shift, counters, sums
        )
        return
    for j in range(channels.shape[1]):
        count_columns(
            words,
            groups,
            n_cuts,
            n_columns,
            channels[:, j],
            seen,
            taken.chunk,
            taken.shift,
            j,
            counters,
            sums,
        )


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
