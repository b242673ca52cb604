"""Sums over rows that do not depend on the order of the rows.

Terms are scaled by a power of two, rounded to integers and added as int64: integer addition is
associative, so any order, partition or number of threads gives the same bits. With n rows the scale
leaves `fixed_bits(n)` bits to the largest term, so the sum cannot overflow.

`fixed` rounds once (for histograms: one rounding of at most half a unit a row). `dot` keeps the rounding
error as a second integer 30 bits further down, which makes its result good to the last bits of a float64.
"""

import math
from functools import partial

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel

_SMALLEST_EXPONENT = -900
SMALLEST = (
    2.0**_SMALLEST_EXPONENT
)  # below this a largest term counts as zero: its unit could not be represented
_LOW_BITS = 30


def fixed_bits(n_terms: int) -> int:
    """Bits for the largest of `n_terms` terms such that their int64 sum cannot overflow."""
    return min(52, 62 - max(0, (n_terms - 1).bit_length()))


@kernel
def _largest(a, mass, start, stop):
    # max |mass a| as the bits of a float64: they are ordered like the numbers, with NaN above all, and an
    # integer maximum can be taken eight at a time. Empty `mass` stands for all ones.
    top = 0
    for i in range(start, stop):
        weight = mass[i] if mass.size else 1.0
        for j in range(a.shape[1]):
            top = max(top, np.float64(abs(weight * a[i, j])).view(np.int64))
    return top


@kernel
def _dot_block(a, b, mass, scale, start, stop):
    # The sum at this scale, in two integers, and the bits of the largest scaled term.
    high = 0
    low = 0
    top = 0
    for i in range(start, stop):
        weight = mass[i] if mass.size else 1.0
        for j in range(a.shape[1]):
            term = weight * a[i, j] * (b[i, j] if b.size else 1.0) * scale
            top = max(top, np.float64(abs(term)).view(np.int64))
            whole = np.rint(term)
            high += np.int64(whole)
            low += np.int64(np.rint((term - whole) * 1073741824.0))
    return high, low, top


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


def _as_float(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def dot(
    a: np.ndarray, b: np.ndarray | None, mass: np.ndarray | None, n_threads: int = 1, guess: int = 0
) -> tuple[float, int]:
    """sum_n mass_n <a_n, b_n> for (n, k) arrays; None stands for all ones. NaN if any term is not finite.

    The scale is that of the largest term, which is not known before the terms are. So the sum is taken at
    the scale 2^guess, and again if the largest term asks for another; a caller that passes the exponent
    returned with its last sum of the kind rarely pays for two. The result does not depend on the guess.
    """
    b = _NONE_2D if b is None else b
    mass = _NONE_1D if mass is None else mass
    room = fixed_bits(a.size)
    exponent = guess
    while True:
        scale = math.ldexp(1.0, exponent)
        parts = threads.over_blocks(partial(_dot_block, a, b, mass, scale), len(a), n_threads)
        top = _as_float(max(part[2] for part in parts))
        if 0.0 < top < math.inf:
            wanted = exponent + room - math.frexp(top)[1]
            if wanted > room - _SMALLEST_EXPONENT:
                return 0.0, 0
            if wanted == exponent:
                high, low = sum(part[0] for part in parts), sum(part[1] for part in parts)
                return math.ldexp(high + low / 2.0**_LOW_BITS, -exponent), exponent
            exponent = wanted
        elif exponent == 0:
            return (0.0 if top == 0.0 else math.nan), 0
        else:  # all terms vanished, or one overflowed, at the guessed scale: look at them as they are
            exponent = 0


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
    tops = threads.over_blocks(lambda start, stop: _largest(a, ceiling, start, stop), n, n_threads)
    top = _as_float(max(tops))
    if not math.isfinite(top):
        return np.zeros(a.shape, dtype=np.int64), math.nan
    if top < SMALLEST:
        return np.zeros(a.shape, dtype=np.int64), 1.0
    total = int(given.sum()) if whole and mass is not None else n
    exponent = math.frexp(top)[1] - fixed_bits(total)
    out = np.empty(a.shape, dtype=np.int64)
    scale = math.ldexp(1.0, -exponent)
    threads.over_blocks(
        lambda start, stop: _fix_block(a, given, whole, start, stop, scale, out), n, n_threads
    )
    return out, math.ldexp(1.0, exponent)
