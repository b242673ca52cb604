"""Sums over rows that do not depend on the order of the rows.

Terms are scaled by a power of two, rounded to integers and added as int64: integer addition is
associative, so any order, partition or number of threads gives the same bits. With n rows the scale
leaves `fixed_bits(n)` bits to the largest term, so the sum cannot overflow.

`fixed` rounds once (for histograms: one rounding of at most half a unit a row). `dot` keeps the rounding
error as a second integer 30 bits further down, which makes its result good to the last bits of a float64.
"""

import math

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel

SMALLEST = 2.0**-900  # below this a largest term counts as zero: its unit could not be represented
_LOW_BITS = 30


def fixed_bits(n_terms: int) -> int:
    """Bits for the largest of `n_terms` terms such that their int64 sum cannot overflow."""
    return min(52, 62 - max(0, (n_terms - 1).bit_length()))


@kernel
def _largest(a, b, mass, start, stop):
    # Empty `b` and `mass` stand for all ones.
    largest = 0.0
    for i in range(start, stop):
        weight = mass[i] if mass.size else 1.0
        for j in range(a.shape[1]):
            term = abs(weight * a[i, j] * (b[i, j] if b.size else 1.0))
            if not term <= largest:  # also true for NaN, which then sticks
                largest = term
                if not math.isfinite(term):
                    return term
    return largest


@kernel
def _dot_block(a, b, mass, start, stop, scale):
    high = 0
    low = 0
    for i in range(start, stop):
        weight = mass[i] if mass.size else 1.0
        for j in range(a.shape[1]):
            term = weight * a[i, j] * (b[i, j] if b.size else 1.0) * scale
            whole = np.rint(term)
            high += np.int64(whole)
            low += np.int64(np.rint((term - whole) * 1073741824.0))
    return high, low


@kernel
def _fix_block(a, mass, whole, start, stop, scale, out):
    for i in range(start, stop):
        weight = mass[i] if mass.size else 1.0
        for j in range(a.shape[1]):
            if whole:
                out[i, j] = np.int64(weight) * np.int64(np.rint(a[i, j] * scale))
            else:
                out[i, j] = np.int64(np.rint(weight * a[i, j] * scale))


_NONE_1D = np.empty(0)
_NONE_2D = np.empty((0, 1))


def _over_blocks(function, n_rows: int, n_threads: int) -> list:
    ranges = threads.blocks(n_rows, n_threads)
    results = [None] * len(ranges)

    def task(index: int) -> None:
        results[index] = function(*ranges[index])

    threads.each(task, len(ranges), n_threads)
    return results


def dot(a: np.ndarray, b: np.ndarray | None, mass: np.ndarray | None, n_threads: int = 1) -> float:
    """sum_n mass_n <a_n, b_n> for (n, k) arrays; None stands for all ones. NaN if any term is not finite."""
    b = _NONE_2D if b is None else b
    mass = _NONE_1D if mass is None else mass
    n = len(a)
    tops = _over_blocks(lambda start, stop: _largest(a, b, mass, start, stop), n, n_threads)
    top = max(tops) if all(map(math.isfinite, tops)) else math.nan
    if not top >= SMALLEST:
        return 0.0 if top == top else math.nan
    exponent = math.frexp(top)[1] - fixed_bits(n * a.shape[1])
    scale = math.ldexp(1.0, -exponent)
    parts = _over_blocks(lambda start, stop: _dot_block(a, b, mass, start, stop, scale), n, n_threads)
    high = sum(part[0] for part in parts)
    low = sum(part[1] for part in parts)
    return math.ldexp(high + low / 2.0**_LOW_BITS, exponent)


def fixed(
    a: np.ndarray, mass: np.ndarray | None, whole: bool = False, n_threads: int = 1
) -> tuple[np.ndarray, float]:
    """Integers q and a unit such that mass_n a_n = q_n * unit, up to rounding.

    The largest |mass a| takes as many bits as the sum over rows leaves room for. Each term is rounded by
    at most half a unit. With `whole` masses it is a_n that is rounded, so that a row of mass m counts
    exactly as much as m rows. A non-finite term gives a NaN unit.
    """
    given = _NONE_1D if mass is None else mass
    n = len(a)
    ceiling = _NONE_1D if whole else given
    tops = _over_blocks(lambda start, stop: _largest(a, _NONE_2D, ceiling, start, stop), n, n_threads)
    top = max(tops) if all(map(math.isfinite, tops)) else math.nan
    if not top >= SMALLEST:
        return np.zeros(a.shape, dtype=np.int64), 1.0 if top == top else math.nan
    total = int(given.sum()) if whole and mass is not None else n
    exponent = math.frexp(top)[1] - fixed_bits(total)
    out = np.empty(a.shape, dtype=np.int64)
    scale = math.ldexp(1.0, -exponent)
    _over_blocks(lambda start, stop: _fix_block(a, given, whole, start, stop, scale, out), n, n_threads)
    return out, math.ldexp(1.0, exponent)
