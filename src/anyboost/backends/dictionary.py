"""Inner products of a target with every column of a matrix, in integers."""

import numpy as np

from anyboost.backends import sums, threads
from anyboost.backends.compiler import kernel


@kernel
def _column_dots(column, weighted, scale, out):
    for j in range(weighted.shape[1]):
        total = 0
        for i in range(column.shape[0]):
            total += np.int64(np.rint(column[i] * weighted[i, j] * scale))
        out[j] = total


def column_dots(columns: np.ndarray, weighted: np.ndarray, tops: np.ndarray, n_threads: int) -> np.ndarray:
    """sum_n columns[n, m] weighted[n, j] for every m, j: (M, k). `tops` are the columns' largest |values|."""
    n, count = columns.shape
    out = np.zeros((count, weighted.shape[1]), dtype=np.int64)
    top = np.abs(weighted).max(initial=0.0)
    if not top >= sums.SMALLEST:
        return out.astype(np.float64)
    exponents = np.frexp(tops * top)[1] - sums.sum_bits(n)
    scales = np.ldexp(1.0, -exponents)

    def one(index: int) -> None:
        _column_dots(columns[:, index], weighted, scales[index], out[index])

    threads.each(one, count, n_threads if columns.size * weighted.shape[1] > 100_000 else 1)
    return out * np.ldexp(1.0, exponents)[:, None]
