"""Histograms: for every column and bin, the integer sum of a fixed-point target over a set of rows.

A group of eight columns fills 2048 counters; with one output they are 16 KB and stay in the first cache.
The histogram of a set is that of its parent minus that of its sibling, exactly.
"""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.bins import GROUP
from anyboost.backends.compiler import kernel

BINS = 256
_SMALL = 20_000  # row-group updates under which handing work to another thread costs more than it saves


@kernel
def _add_scalar(words, fixed, rows, out):
    # Empty `rows` stands for every row.
    byte = np.uint64(255)
    if rows.size == 0:
        for i in range(words.shape[0]):
            word = words[i]
            value = fixed[i]
            out[np.intp(word & byte)] += value
            out[256 + np.intp((word >> np.uint64(8)) & byte)] += value
            out[512 + np.intp((word >> np.uint64(16)) & byte)] += value
            out[768 + np.intp((word >> np.uint64(24)) & byte)] += value
            out[1024 + np.intp((word >> np.uint64(32)) & byte)] += value
            out[1280 + np.intp((word >> np.uint64(40)) & byte)] += value
            out[1536 + np.intp((word >> np.uint64(48)) & byte)] += value
            out[1792 + np.intp(word >> np.uint64(56))] += value
    else:
        for r in range(rows.shape[0]):
            i = rows[r]
            word = words[i]
            value = fixed[i]
            out[np.intp(word & byte)] += value
            out[256 + np.intp((word >> np.uint64(8)) & byte)] += value
            out[512 + np.intp((word >> np.uint64(16)) & byte)] += value
            out[768 + np.intp((word >> np.uint64(24)) & byte)] += value
            out[1024 + np.intp((word >> np.uint64(32)) & byte)] += value
            out[1280 + np.intp((word >> np.uint64(40)) & byte)] += value
            out[1536 + np.intp((word >> np.uint64(48)) & byte)] += value
            out[1792 + np.intp(word >> np.uint64(56))] += value


@kernel
def _add_vector(words, fixed, rows, out):
    byte = np.uint64(255)
    outputs = fixed.shape[1]
    count = rows.size if rows.size else words.shape[0]
    for r in range(count):
        i = rows[r] if rows.size else r
        word = words[i]
        for column in range(8):
            entry = 256 * column + np.intp((word >> np.uint64(8 * column)) & byte)
            for j in range(outputs):
                out[entry, j] += fixed[i, j]


def histogram(words: np.ndarray, fixed: np.ndarray, rows: np.ndarray, n_threads: int) -> np.ndarray:
    """Sums of `fixed` (n, k) by column and bin over `rows` (empty: all): int64 (groups * 8 * 256, k)."""
    groups, n = words.shape
    outputs = fixed.shape[1]
    per_group = GROUP * BINS
    out = np.zeros((groups * per_group, outputs), dtype=np.int64)

    if outputs == 1:
        flat_out, flat_fixed = out.reshape(-1), fixed.reshape(-1)

        def one(group: int) -> None:
            part = flat_out[group * per_group : (group + 1) * per_group]
            _add_scalar(words[group], flat_fixed, rows, part)
    else:

        def one(group: int) -> None:
            _add_vector(words[group], fixed, rows, out[group * per_group : (group + 1) * per_group])

    small = (len(rows) or n) * outputs * groups < _SMALL
    threads.each(one, groups, 1 if small else n_threads)
    return out
