"""Histograms: for every column and bin, integer sums over a set of rows of one or more channels.

The channels of a row are its fixed-point targets and its mass. A group of eight columns fills 2048 counters a
channel; with one or two channels they stay in the first cache. The histogram of a set is that of its parent
minus that of its sibling, exactly.
"""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from anyboost.backends import threads
from anyboost.backends.bins import GROUP
from anyboost.backends.compiler import kernel

BINS = 256
_PER_GROUP = GROUP * BINS
_SMALL = 20_000  # row-group updates under which handing work to another thread costs more than it saves


@intrinsic
def _add_pair(_context, array, entry, first, second):  # noqa: ARG001 (read from `arguments` below)
    """array[entry, 0] += first; array[entry, 1] += second: one load, one add and one store."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        integer, pair = ir.IntType(64), ir.VectorType(ir.IntType(64), 2)
        place = builder.gep(data, [builder.shl(arguments[1], ir.Constant(integer, 1))])
        place = builder.bitcast(place, pair.as_pointer())
        old = builder.load(place)
        old.align = 8
        added = ir.Constant(pair, ir.Undefined)
        for position in (0, 1):
            where = ir.Constant(ir.IntType(32), position)
            added = builder.insert_element(added, arguments[2 + position], where)
        builder.store(builder.add(old, added), place).align = 8
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64, types.int64), generate


# Indices are unsigned: for signed ones every access would first ask whether it counts from the end.


@kernel
def _add_one(words, channels, out):
    byte = np.uint64(255)
    for i in range(words.shape[0]):
        word = words[i]
        value = channels[i, 0]
        out[word & byte, 0] += value
        out[np.uint64(256) + ((word >> np.uint64(8)) & byte), 0] += value
        out[np.uint64(512) + ((word >> np.uint64(16)) & byte), 0] += value
        out[np.uint64(768) + ((word >> np.uint64(24)) & byte), 0] += value
        out[np.uint64(1024) + ((word >> np.uint64(32)) & byte), 0] += value
        out[np.uint64(1280) + ((word >> np.uint64(40)) & byte), 0] += value
        out[np.uint64(1536) + ((word >> np.uint64(48)) & byte), 0] += value
        out[np.uint64(1792) + (word >> np.uint64(56)), 0] += value


@kernel
def _add_two(words, channels, rows, out):
    byte = np.uint64(255)
    for r in range(rows.shape[0]):
        i = np.uint64(rows[r])
        word = words[i]
        target = channels[i, 0]
        mass = channels[i, 1]
        _add_pair(out, word & byte, target, mass)
        _add_pair(out, np.uint64(256) + ((word >> np.uint64(8)) & byte), target, mass)
        _add_pair(out, np.uint64(512) + ((word >> np.uint64(16)) & byte), target, mass)
        _add_pair(out, np.uint64(768) + ((word >> np.uint64(24)) & byte), target, mass)
        _add_pair(out, np.uint64(1024) + ((word >> np.uint64(32)) & byte), target, mass)
        _add_pair(out, np.uint64(1280) + ((word >> np.uint64(40)) & byte), target, mass)
        _add_pair(out, np.uint64(1536) + ((word >> np.uint64(48)) & byte), target, mass)
        _add_pair(out, np.uint64(1792) + (word >> np.uint64(56)), target, mass)


@kernel
def _add_many(words, channels, rows, out):
    byte = np.uint64(255)
    count = channels.shape[1]
    for r in range(rows.shape[0]):
        i = np.uint64(rows[r])
        word = words[i]
        for column in range(8):
            entry = np.uint64(256 * column) + ((word >> np.uint64(8 * column)) & byte)
            for j in range(count):
                out[entry, j] += channels[i, j]


def histogram_of_all(words: np.ndarray, values: np.ndarray, n_threads: int) -> np.ndarray:
    """Sums of one channel (n, 1) over every row by column and bin: int64 (groups * 8 * 256, 1)."""
    return _by_group(
        words,
        values,
        lambda part, share, out: _add_one(part[share], values[share], out),
        len(values),
        n_threads,
    )


def histogram(words: np.ndarray, channels: np.ndarray, rows: np.ndarray, n_threads: int) -> np.ndarray:
    """Sums of the channels (n, c) over `rows` by column and bin: int64 (groups * 8 * 256, c)."""
    add = _add_two if channels.shape[1] == 2 else _add_many
    return _by_group(
        words, channels, lambda part, share, out: add(part, channels, rows[share], out), len(rows), n_threads
    )


def _by_group(words, channels, add, count: int, n_threads: int) -> np.ndarray:
    """Call `add` for every group of columns and share of the work, each with counters of its own."""
    groups, width = len(words), channels.shape[1]
    small = count * groups * width < _SMALL
    # With few groups a thread would idle while another has one group more: halve the work of each.
    shares = 2 if not small and n_threads > 1 and groups % n_threads else 1
    counters = np.zeros((shares, groups * _PER_GROUP, width), dtype=np.int64)

    def one(task: int) -> None:
        group, share = divmod(task, shares)
        part = slice(count * share // shares, count * (share + 1) // shares)
        add(words[group], part, counters[share, group * _PER_GROUP : (group + 1) * _PER_GROUP])

    threads.each(one, groups * shares, 1 if small else n_threads)
    if shares == 2:
        counters[0] += counters[1]
    return counters[0]
