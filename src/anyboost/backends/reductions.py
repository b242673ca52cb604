"""Sums and extremes of vectors, on the whole width of the machine and in one order.

A compiler that may reorder sums takes another order on another processor, beside other code, and even in the process
that compiles than in one that loads. Here the order is written down: sixteen running sums, then four for what fills no
sixteen, these together by pairs, and then what fills no four. Vectors lie in one piece.
"""

import math

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.simd import WIDTH, fill, greatest, least, load, total

_FOUR = 4 * WIDTH


@kernel
def dot(a, b):
    """sum of a_j b_j."""
    s, t, u, v = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    count, j = len(a), 0
    while j + _FOUR <= count:
        s = s + load(a, 0, j) * load(b, 0, j)
        t = t + load(a, 0, j + WIDTH) * load(b, 0, j + WIDTH)
        u = u + load(a, 0, j + 2 * WIDTH) * load(b, 0, j + 2 * WIDTH)
        v = v + load(a, 0, j + 3 * WIDTH) * load(b, 0, j + 3 * WIDTH)
        j += _FOUR
    while j + WIDTH <= count:
        s = s + load(a, 0, j) * load(b, 0, j)
        j += WIDTH
    found = total((s + t) + (u + v))
    while j < count:
        found += a[j] * b[j]
        j += 1
    return found


@kernel
def sum_between(vector, begin, end):
    """sum of vector[begin:end]."""
    s, t, u, v = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    j = begin
    while j + _FOUR <= end:
        s = s + load(vector, 0, j)
        t = t + load(vector, 0, j + WIDTH)
        u = u + load(vector, 0, j + 2 * WIDTH)
        v = v + load(vector, 0, j + 3 * WIDTH)
        j += _FOUR
    while j + WIDTH <= end:
        s = s + load(vector, 0, j)
        j += WIDTH
    found = total((s + t) + (u + v))
    while j < end:
        found += vector[j]
        j += 1
    return found


@kernel
def sum_of_roots(vector, shift):
    """sum of sqrt(vector_j^2 + shift)."""
    s, t = fill(0.0), fill(0.0)
    count, j = len(vector), 0
    while j + 2 * WIDTH <= count:
        a, b = load(vector, 0, j), load(vector, 0, j + WIDTH)
        s = s + math.sqrt(a * a + shift)
        t = t + math.sqrt(b * b + shift)
        j += 2 * WIDTH
    found = total(s + t)
    while j < count:
        found += math.sqrt(vector[j] * vector[j] + shift)
        j += 1
    return found


@kernel
def smallest(vector):
    """The least entry; infinite where there is none."""
    s, t = fill(np.inf), fill(np.inf)
    count, j = len(vector), 0
    while j + 2 * WIDTH <= count:
        s, t = min(s, load(vector, 0, j)), min(t, load(vector, 0, j + WIDTH))
        j += 2 * WIDTH
    found = least(min(s, t))
    while j < count:
        found = min(found, vector[j])
        j += 1
    return found


@kernel
def largest_size(vector):
    """The greatest |entry|; 0 where there is none."""
    s, t = fill(0.0), fill(0.0)
    count, j = len(vector), 0
    while j + 2 * WIDTH <= count:
        s, t = max(s, abs(load(vector, 0, j))), max(t, abs(load(vector, 0, j + WIDTH)))
        j += 2 * WIDTH
    found = greatest(max(s, t))
    while j < count:
        found = max(found, abs(vector[j]))
        j += 1
    return found
