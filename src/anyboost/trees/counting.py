"""Kernels that fill histograms (see `histogram.count`).

A group of eight columns fills 2048 counters a channel, which stay in the first cache; where target and mass are packed
into one number, one addition counts both.
"""

import numpy as np

from anyboost.backends.atomics import AHEAD, prefetch
from anyboost.backends.compiler import bare, inlined
from anyboost.trees.table import BINS, GROUP, MISSING

COUNTERS = GROUP * BINS  # of a group of columns, a channel
TARGET, CURVATURE, MASS = range(3)  # the channels of `count_pairs`

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
    for column in range(width):
        for b in range(BINS):
            if b <= n_cuts[column] or b == MISSING:
                entry = BINS * column + b
                target, other = counters[2 * entry], counters[2 * entry + 1]
                out[entry, TARGET] = keep * out[entry, TARGET] + target
                out[entry, CURVATURE] = keep * out[entry, CURVATURE] + (other >> shift)
                out[entry, MASS] = keep * out[entry, MASS] + (other & mask)
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
