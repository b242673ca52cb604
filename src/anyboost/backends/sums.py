"""Sums over rows that do not depend on the order of the rows.

Terms are scaled by a power of two, rounded to integers and added as int64: integer addition is
associative, so any order, partition or number of threads gives the same bits.

`dot` keeps the rounding error of each term as a second integer 30 bits further down, which makes its result
good to the last bits of a float64. Histograms, which round once, are in `fixed_point`.
"""

import math
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import bare, inlined

_SMALLEST_EXPONENT = -900
SMALLEST = (
    2.0**_SMALLEST_EXPONENT
)  # below this a largest term counts as zero: its unit could not be represented
_LOW = 2.0**30  # what a term's second integer counts of its first
MOST_BITS = 51  # what the rounding below can hold

# Adding this to |x| < 2^51 leaves x, rounded to even, in the low bits: a rounding and a conversion to an integer
# in one addition, which every machine can do several rows at a time.
ROUNDER = 1.5 * 2.0**52
ROUNDER_BITS = int(np.float64(ROUNDER).view(np.int64))

_INTEGER, _FLOAT = struct.Struct("=q"), struct.Struct("=d")


def sum_bits(n_terms: int) -> int:
    """Bits for the largest of `n_terms` terms such that their int64 sum cannot overflow."""
    return min(MOST_BITS, 62 - max(0, (n_terms - 1).bit_length()))


# One axis, a slice with its own zero, and no test of the weights within a loop: so the compiler takes several rows at
# a time.


@inlined(early=True)
def as_int(x):
    return np.float64(x + ROUNDER).view(np.int64) - ROUNDER_BITS


@inlined(early=True)
def magnitude(x):
    # |x| as the bits of a float64: they are ordered like the numbers, with NaN above all.
    return np.float64(abs(x)).view(np.int64)


@inlined(early=True)
def add_term(term, high, low, top):
    # One more term: in two integers, the second for what rounding to the first cuts off.
    whole = term + ROUNDER
    high += np.float64(whole).view(np.int64) - ROUNDER_BITS
    low += as_int((term - (whole - ROUNDER)) * _LOW)
    return high, low, max(top, magnitude(term))


@bare
def _largest(a, start, stop):
    a = a[start:stop]
    top = 0
    for i in range(a.size):
        top = max(top, magnitude(a[i]))
    return top


@bare
def _sum_block(a, scale, start, stop):
    # The sum at this scale, in two integers, and the bits of the largest scaled term.
    a = a[start:stop]
    high, low, top = 0, 0, 0
    for i in range(a.size):
        high, low, top = add_term(a[i] * scale, high, low, top)
    return high, low, top


@bare
def _dot_block(a, b, scale, start, stop):
    a, b = a[start:stop], b[start:stop]
    high, low, top = 0, 0, 0
    for i in range(a.size):
        high, low, top = add_term(a[i] * b[i] * scale, high, low, top)
    return high, low, top


@bare
def _dot_of_three_block(a, b, c, scale, start, stop):
    a, b, c = a[start:stop], b[start:stop], c[start:stop]
    high, low, top = 0, 0, 0
    for i in range(a.size):
        high, low, top = add_term(a[i] * b[i] * c[i] * scale, high, low, top)
    return high, low, top


@bare
def _dot_with_difference_block(a, b, c, scale, start, stop):
    a, b, c = a[start:stop], b[start:stop], c[start:stop]
    high, low, top = 0, 0, 0
    for i in range(a.size):
        high, low, top = add_term(a[i] * (b[i] - c[i]) * scale, high, low, top)
    return high, low, top


def as_float(bits: int) -> float:
    return _FLOAT.unpack(_INTEGER.pack(bits))[0]


class PartedRows(Protocol):
    """Rows whose parts agree on whole numbers and on extremes (see `trees.rows`)."""

    @property
    def n(self) -> int:
        """The rows of all parts."""

    @property
    def n_threads(self) -> int: ...

    def add(self, counts: Any) -> Any:
        """Whole numbers, summed over the parts."""

    def most(self, values: Any) -> Any:
        """Numbers, the largest over the parts."""

    def tell(self, found: np.ndarray) -> np.ndarray:
        """The few lines of numbers that parts have found, one part's after another's."""

    def gather(self, values: np.ndarray) -> np.ndarray:
        """What the parts' rows have, one after the other."""


# A sum at scale 2^e over rows start .. stop: two integers and the bits of the largest scaled term; and of other numbers
Block = Callable[[float, int, int], tuple[int, ...]]


def from_pairs(sums: np.ndarray, exponent: int) -> np.ndarray:
    """The numbers (...,) whose terms `add_term` has added to pairs of integers (..., 2), at the scale 2^exponent."""
    return np.ldexp(sums[..., 0] + sums[..., 1] / _LOW, -exponent)


def sum_at_own_scale(
    block: Block, n_terms: int, n_here: int, rows: PartedRows, guess: int, smallest: int = threads.SMALLEST
) -> tuple[float, int, list[float]]:
    """The sum that `block` takes of `n_here` terms, at the scale that the largest asks for, and that scale's exponent.

    The scale is not known before the terms are. So the sum is taken at the scale 2^guess, and again if the
    largest term asks for another; a caller that passes the exponent returned with its last sum of the kind
    rarely pays for two. The result does not depend on the guess. NaN if any term is not finite. `n_terms` are those of
    all parts; `smallest` is the number of terms under which other threads are left alone. With it the largest of
    what else a block tells of its rows. Parts agree on all of it at once.
    """
    room = sum_bits(n_terms)
    exponent = guess
    while True:
        scaled = partial(block, math.ldexp(1.0, exponent))
        found = threads.over_blocks(scaled, n_here, rows.n_threads, smallest)
        highs, lows, *bits = zip(*rows.tell(np.array(found, dtype=np.int64)).tolist(), strict=True)
        top, *others = (as_float(max(own)) for own in bits)
        if 0.0 < top < math.inf:
            wanted = exponent + room - math.frexp(top)[1]
            if wanted > room - _SMALLEST_EXPONENT:
                return 0.0, 0, others
            if wanted == exponent:
                return math.ldexp(sum(highs) + sum(lows) / _LOW, -exponent), exponent, others
            exponent = wanted
        elif exponent == 0:
            return (0.0 if top == 0.0 else math.nan), 0, others
        else:  # all terms vanished, or one overflowed, at the guessed scale: look at them as they are
            exponent = 0


def dot(
    a: np.ndarray,
    b: np.ndarray | None,
    mass: np.ndarray | None,
    rows: PartedRows,
    guess: int = 0,
    less: np.ndarray | None = None,
) -> tuple[float, int]:
    """sum_n mass_n <a_n, b_n - less_n> for (n, k) arrays, and its exponent (see `sum_at_own_scale`).

    `b` and `mass` are all ones where None, `less` is zero.
    """
    if less is not None and mass is not None:
        assert b is not None
        b, less = b - less, None
    given = (None if mass is None else spread(mass, a.shape[1]), a, b, less)
    factors = [factor.reshape(-1) for factor in given if factor is not None]
    block = (_sum_block, _dot_block, _dot_of_three_block)[len(factors) - 1]
    if less is not None:
        block = _dot_with_difference_block
    return sum_at_own_scale(
        lambda scale, start, stop: block(*factors, scale, start, stop),
        rows.n * a.shape[1],
        a.size,
        rows,
        guess,
    )[:2]


def spread(mass: np.ndarray, outputs: int) -> np.ndarray:
    return mass if outputs == 1 else np.repeat(mass, outputs)


# Leaves as unsigned numbers, so that none counts from the end.


@bare
def _leaf_largest(leaf, values, out):
    for i in range(leaf.size):
        k = np.uint64(leaf[i])
        out[k] = max(out[k], magnitude(values[i]))


@bare
def _leaf_add(leaf, values, scale, more, room, high, low, size):
    for i in range(leaf.size):
        k = np.uint64(leaf[i])
        term = values[i] * scale[k] * more[k]
        whole = np.rint(term)
        high[k] += np.int64(whole)
        low[k] += np.int64(np.rint((term - whole) * room))
        size[k] += np.int64(abs(whole))


@bare
def _leaf_scales(largest, bits_each, scales):
    # Two powers of two, for one could be out of range; whether all values are finite.
    for k in range(largest.size):
        if not np.isfinite(largest[k]):
            return False
        shift = bits_each - math.frexp(largest[k])[1]
        scales[0, k], scales[1, k] = math.ldexp(1.0, shift // 2), math.ldexp(1.0, shift - shift // 2)
    return True


@bare
def _leaf_results(sums, scales, room, out):
    for k in range(out.shape[1]):
        down = 1.0 / scales[0, k], 1.0 / scales[1, k]
        out[0, k] = (sums[0, k] + sums[1, k] / room) * down[0] * down[1]
        out[1, k] = sums[2, k] * down[0] * down[1]


def leaf_sums(
    leaf: np.ndarray, values: np.ndarray, n_leaves: int, rows: PartedRows, n_terms: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """sum of `values` in each leaf, whatever the order of the rows; NaN or infinite where a value of the leaf is.

    Scaled by its leaf's largest, each value is split into two whole numbers, so that adding them up is exact, and the
    sum at least as precise as a plain one. `n_terms` are the values of all parts, one a row for None. With it the sum
    of the |values| that are finite, from the first of the two numbers alone: within n_terms^2 / 2^53 of itself.
    """
    bits = np.zeros(n_leaves, dtype=np.int64)
    _leaf_largest(leaf, values, bits)
    bits_each = 53 - (rows.n if n_terms is None else n_terms).bit_length()
    scales = np.empty((2, n_leaves))
    if not _leaf_scales(rows.most(bits).view(np.float64), bits_each, scales):
        return _leaf_sums_beyond(leaf, values, n_leaves, rows, n_terms)
    sums = np.zeros((3, n_leaves), dtype=np.int64)
    _leaf_add(leaf, values, *scales, 2.0**bits_each, *sums)
    found = np.empty((2, n_leaves))
    _leaf_results(rows.add(sums), scales, 2.0**bits_each, found)
    return found[0], found[1]


def _leaf_sums_beyond(
    leaf: np.ndarray, values: np.ndarray, n_leaves: int, rows: PartedRows, n_terms: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """`leaf_sums` where not all values are finite: those that are not are counted."""
    finite, sizes = leaf_sums(leaf, np.where(np.isfinite(values), values, 0.0), n_leaves, rows, n_terms)
    kinds = (values == np.inf, values == -np.inf, np.isnan(values))
    up, down, nan = rows.add(np.array([np.bincount(leaf[kind], minlength=n_leaves) for kind in kinds])) > 0
    return np.select([nan | (up & down), up, down], [np.nan, np.inf, -np.inf], finite), sizes


def largest(a: np.ndarray, rows: PartedRows) -> float:
    """max |a|; NaN or infinite where any is."""
    flat = a.reshape(-1)
    found = threads.over_blocks(partial(_largest, flat), len(flat), rows.n_threads)
    return as_float(int(rows.most(max(found))))
