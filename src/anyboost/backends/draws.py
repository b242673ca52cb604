"""Words that stand for rows, and draws that depend on nothing but them.

A row's content becomes two words of 64 bits: sums over its columns of mix(column, value), so that columns may come in
any order and zeros need not be stored. Two rows are taken for equal where both words are: of n unequal rows, two are
mistaken for each other with a chance of n^2 / 2^129.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from anyboost.backends import mapped, threads
from anyboost.backends.arrays import ArrayPool
from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.sums import PartedRows
from anyboost.backends.taken import Taken, portions

STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, and near 2^64 over the golden ratio: its multiples lie apart
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NAN = np.uint64(0x7FF8000000000000)
_AT_ONCE = (
    512  # rows whose columns are read together: a table by rows and one by columns are both read in order
)
_COUNTERS = 2**16  # of digits at a time
_SHORT = 50_000  # rows that one thread has mixed before another has begun


@inlined(early=True)
def mixed(z):
    # The finalizer of splitmix64: one to one, and every bit of z turns about half of all bits.
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined(early=True)
def _value_word(x, salt):
    # 0 for both zeros, and one word for every NaN.
    bits = np.float64(x).view(np.uint64)
    if x != x:
        bits = _NAN
    return mixed(bits ^ salt) * np.uint64(x != 0.0)


@inlined(early=True)
def _other(word):
    # A second word from the first, such that sums of the ones say nothing about sums of the others.
    return (word ^ (word >> np.uint64(29))) * _FIRST


@kernel
def _add_dense(table, place, start, stop, words):
    for first in range(start, stop, _AT_ONCE):
        last = min(first + _AT_ONCE, stop)
        for column in range(table.shape[1]):
            salt = mixed((place + np.uint64(column)) * STEP)
            for i in range(first, last):
                word = _value_word(table[i, column], salt)
                words[i, 0] += word
                words[i, 1] += _other(word)


@kernel
def _add_sparse(data, columns, ends, place, start, stop, words):
    for i in range(start, stop):
        for entry in range(ends[i], ends[i + 1]):
            word = _value_word(data[entry], mixed((place + np.uint64(columns[entry])) * STEP))
            words[i, 0] += word
            words[i, 1] += _other(word)


def add_words(table: Any, place: int, words: np.ndarray, n_threads: int) -> None:
    """Add what a table (n, d), dense or in CSR form, says of its rows to their `words` (n, 2).

    Its columns are numbered from `place` on.
    """
    first, add = np.uint64(place), _add_dense
    given: tuple[Any, ...] = (table, first)
    if hasattr(table, "indptr"):
        add, given = _add_sparse, (table.data, table.indices, table.indptr, first)

    def some(start: int, stop: int) -> None:
        if not isinstance(table, Taken):
            add(*given, start, stop, words)
            return
        for rows in portions(start, stop):
            _add_dense(table[rows], first, 0, rows.stop - rows.start, words[rows])

    threads.over_blocks(some, len(words), n_threads, _SHORT)


@kernel
def _unit_keys(words, copies, ends, salt, start, stop, keys):
    for i in range(start, stop):
        own = mixed(words[i, 0] ^ salt)
        first = ends[i] if ends.size else i
        last = ends[i + 1] if ends.size else i + 1
        for unit in range(first, last):
            keys[unit] = mixed(own + np.uint64(copies[i] + unit - first) * STEP)


def unit_keys(
    words: np.ndarray, copies: np.ndarray, ends: np.ndarray, salt: int, n_threads: int
) -> np.ndarray:
    """mix(salt, row, j) for the units of each row: j counts from `copies` on.

    The units of row i are ends[i] .. ends[i + 1]; an empty `ends` says that it is unit i.
    """
    keys = mapped.zeros((int(ends[-1]) if len(ends) else len(words),), np.uint64, beside=words)
    salted = np.uint64(salt)
    threads.over_blocks(
        lambda start, stop: _unit_keys(words, copies, ends, salted, start, stop, keys),
        len(words),
        n_threads,
        _SHORT,
    )
    return keys


@kernel
def _draw_rows(keys, salt, limit, start, stop, counts, rows):
    # Every row is written down, and the next one over it where it is not drawn: no branch to guess wrong.
    found = np.uint64(0)
    for i in range(start, stop):
        drawn = np.uint64(mixed(keys[i] ^ salt) < limit)
        counts[i] = drawn
        rows[found] = i
        found += drawn
    return found


@kernel
def _draw_units(keys, ends, owners, salt, limit, start, stop, counts, rows):
    # By units, for the processor would guess wrong where those of a row end.
    for i in range(start, stop):
        counts[i] = 0
    for unit in range(ends[start], ends[stop]):
        counts[np.uint64(owners[unit])] += np.int64(mixed(keys[unit] ^ salt) < limit)
    found = np.uint64(0)
    for i in range(start, stop):
        rows[found] = i
        found += np.uint64(counts[i] > 0)
    return found


@kernel
def _least(keys, salt):
    best, smallest = 0, mixed(keys[0] ^ salt)
    for unit in range(1, keys.size):
        word = mixed(keys[unit] ^ salt)
        if word < smallest:
            best, smallest = unit, word
    return best, smallest


def least(keys: np.ndarray, owners: np.ndarray, salt: int) -> tuple[int, np.uint64]:
    """The row of the unit with the smallest mix(key, salt), and that (see `draw`)."""
    unit, word = _least(keys, np.uint64(salt))
    return (owners[unit] if len(owners) else unit), np.uint64(word)


def draw(
    keys: np.ndarray,
    ends: np.ndarray,
    owners: np.ndarray,
    salt: int,
    fraction: float,
    n_threads: int,
    arrays: ArrayPool,
) -> tuple[np.ndarray, np.ndarray]:
    """The number of units drawn of each row, and the rows with any, in order.

    The units of row i are ends[i] .. ends[i + 1], and `owners` their rows; empty ones say that it is unit i. Drawn are
    the units with mix(key, salt) < fraction * 2^64.
    """
    word, limit = np.uint64(salt), np.uint64(int(fraction * 2.0**64))
    block: Callable[..., int] = _draw_units if len(ends) else _draw_rows
    given = (keys, ends, owners, word, limit) if len(ends) else (keys, word, limit)

    def some(start: int, stop: int) -> np.ndarray:
        own = rows[start:stop]
        return own[: block(*given, start, stop, counts, own)]

    n = len(ends) - 1 if len(ends) else len(keys)
    counts, rows = arrays.empty(n, np.int64), arrays.empty(n, np.uint32)
    end = 0
    for part in threads.over_blocks(some, n, n_threads, _SHORT):
        rows[end : end + len(part)] = part  # one after another, in place
        end += len(part)
    return counts, rows[:end]


@kernel
def _count_digits(keys, owners, stratum, prefixes, above, left, counts):
    # Of the keys that begin with the prefix of their stratum, the next digits.
    mask = np.uint64(counts.shape[1] - 1)
    for unit in range(keys.size):
        s = 0
        if stratum.size:
            s = stratum[np.int64(owners[unit]) if owners.size else unit]
        if above == np.uint64(64) or keys[unit] >> above == prefixes[s]:
            counts[s, (keys[unit] >> left) & mask] += 1


@kernel
def _count_up_to(keys, owners, stratum, limits, wanted, counts):
    for unit in range(keys.size):
        row = np.int64(owners[unit]) if owners.size else unit
        s = stratum[row] if stratum.size else 0
        counts[row] += np.int64(wanted[s] > 0 and keys[unit] <= limits[s])


def count_smallest(
    keys: np.ndarray, owners: np.ndarray, stratum: np.ndarray, wanted: np.ndarray, n: int, rows: PartedRows
) -> np.ndarray:
    """How many units of each of n rows are among those of smallest key, `wanted` of each stratum over all parts.

    Nothing is sorted: the last key of each stratum is found digit by digit, from counts of the units that share the
    digits before. Units of equal keys, which are as rare as unequal rows with equal words, go together. An empty
    `stratum` (rows,) says that all are in the first; `owners` as in `draw`.
    """
    width = min(max(int(math.log2(_COUNTERS / len(wanted))), 4), 16)
    limits, before = np.zeros(len(wanted), dtype=np.uint64), np.zeros(len(wanted), dtype=np.int64)
    each, left = np.arange(len(wanted)), 64
    while left > 0:
        above, taken = left, min(width, left)
        left -= taken
        counts = np.zeros((len(wanted), 1 << taken), dtype=np.int64)
        _count_digits(keys, owners, stratum, limits, np.uint64(above), np.uint64(left), counts)
        counts = rows.add(counts)
        sums = before[:, None] + np.cumsum(counts, axis=1)
        digit = (sums < wanted[:, None]).sum(axis=1)
        before = (sums - counts)[each, digit]
        limits = (limits << np.uint64(taken)) | digit.astype(np.uint64)
    found = mapped.zeros((n,), np.int64, beside=keys)
    _count_up_to(keys, owners, stratum, limits, wanted, found)
    return found


@kernel
def _mix_numbers(salt, out):
    for number in range(out.size):
        out[number] = mixed(mixed(np.uint64(number + 1) * STEP) ^ salt)


def smallest(count: int, of: int, salt: int) -> np.ndarray:
    """The `count` numbers under `of` with the smallest mix(salt, number), in order."""
    words = np.empty(of, dtype=np.uint64)
    _mix_numbers(np.uint64(salt), words)
    return np.sort(np.argsort(words)[:count])
