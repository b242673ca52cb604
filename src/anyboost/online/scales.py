"""A row as learners see it: a constant 1, then each feature divided by its root mean square, zeros left out.

One wild value must not silence a feature for ever, nor throw a learner out, and a lasting change of scale must be
followed: so a value counts as at most ten times the root mean square, and where a thousand values in a row stayed
under a tenth of it, it falls to them.
"""

import math
import sys
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.backends.simd import WIDTH, alone, fill, load_some, select, some, store, total
from anyboost.backends.simd import load as load_vector

FAR = 10.0
LARGEST = sys.float_info.max
MEMORY = 10_000.0  # values
WINDOW = 1000.0  # values
YOUNG, REST = 100.0, 16.0  # the scale of a young feature is due at each value, later at each sixteenth


class Scale(NamedTuple):
    """A feature's scale; or vectors of them, for features side by side."""

    inverse: float
    scale: float
    square: float  # the running mean square
    times: float  # how often there was a value
    peak: float  # the largest value of the current thousand
    due: float  # how many values until the scale is set,
    left: float  # and until the thousand is over


SCALE = np.dtype([(name, np.float64) for name in Scale._fields], align=True)
SEEN = np.dtype(
    [(name, np.float64) for name in ("rows", "norm", "share")], align=True
)  # the last two discounted


def named(array: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The numbers of an array, in the same memory, as records: one a row."""
    return array.view(kind).reshape(-1)


def shape(kind: np.dtype, *rows: int) -> tuple[int, ...]:
    """That of the numbers of so many records, or of one."""
    return (*rows, len(kind.names or ()))


@inlined
def scaled(scale, value):
    """The value as learners see it: one that has no scale yet is its own."""
    size = abs(value)
    inverse = scale.inverse
    unscaled = (inverse == 0.0) & (size > 0.0)
    if some(unscaled):
        inverse = select(unscaled, 1.0 / size, inverse)
    return min(max(value * inverse, -FAR), FAR)


@inlined
def scale_after(scale, value, real):
    """The feature's scale after a value; where that is not `real`, it counts for nothing."""
    size = abs(value)
    inverse, width, square, count, peak, due, left = scale
    first = real & (count == 0.0)
    if some(first):
        width, left = select(first, size, width), select(first, WINDOW, left)
    tamed = min(size, FAR * width)
    one = select(real, 1.0, 0.0)
    count = count + one
    share = one * (1.0 / MEMORY)
    if some(count < MEMORY):  # divisions are slow, and old features need none
        share = select(real, 1.0 / min(count, MEMORY), 0.0)
    square = square + share * (tamed * tamed - square)
    peak = select(real, max(peak, tamed), peak)
    due = due - one
    ripe = real & (due <= 0.0)
    if some(ripe):
        return _rescaled(Scale(inverse, width, square, count, peak, due, left), ripe)
    return Scale(inverse, width, square, count, peak, due, left)


@inlined
def _rescaled(scale, ripe):
    """Set the scale where it is ripe; after a thousand values under a tenth of it, let it fall."""
    inverse, width, square, count, peak, due, left = scale
    left = left - select(ripe, select(count <= YOUNG, 1.0, REST), 0.0)
    due = select(ripe, select(count < YOUNG, 1.0, REST), due)
    over = ripe & (left <= 0.0)
    quiet = over & (peak < 0.1 * width)
    square, count = select(quiet, peak * peak, square), select(quiet, YOUNG, count)
    peak, left = select(over, 0.0, peak), select(over, WINDOW, left)
    width = select(ripe, math.sqrt(square), width)
    inverse = select(ripe, select(width > 0.0, 1.0 / width, 0.0), inverse)
    return Scale(inverse, width, square, count, peak, due, left)


@inlined
def load(normal, scales, rows, begin, count, learning, v):
    """Fill v with the row, divided by its features' scales where `normal`; returns |v|^2."""
    v[0] = 1.0
    data, index = rows.values, rows.columns
    sparse = len(index) > 0
    if not (normal or sparse):
        return _copy(data, begin, count, v)
    squares = fill(0.0)
    for j in range(count):
        value = data[begin + j]
        feature = (index[begin + j] if sparse else j) + 1
        if normal:
            scale = _scale_of(scales[feature])
            if learning and value != 0.0:
                _note(scales[feature], scale_after(scale, value, True))
            value = scaled(scale, value)
        v[j + 1] = value
        squares = squares + part_of_sum(feature, value * value)
    return norm_of(squares)


@inlined
def _copy(data, begin, count, v):
    """A dense row as it is."""
    in_vectors, squares = count - count % WIDTH, fill(0.0)
    for j in range(0, in_vectors, WIDTH):
        values = load_vector(data, 0, begin + j)
        store(v, 0, j + 1, values)
        squares = squares + values * values
    if in_vectors < count:
        values = load_some(data, 0, begin + in_vectors, count - in_vectors)
        squares = squares + values * values
        for j in range(in_vectors, count):
            v[j + 1] = data[begin + j]
    return norm_of(squares)


@inlined
def norm_of(squares):
    """|v|^2 with the constant; finite for every row, so that steps divided by it are steps."""
    return min(1.0 + total(squares), LARGEST)


@inlined
def part_of_sum(feature, term):
    """A term of a sum over features: so many of these go on side by side that no term waits for another."""
    return alone(term, (feature - 1) & (WIDTH - 1))


@inlined
def _scale_of(kept):
    return Scale(kept.inverse, kept.scale, kept.square, kept.times, kept.peak, kept.due, kept.left)


@inlined
def _note(kept, scale):
    kept.square, kept.times, kept.peak, kept.due = scale.square, scale.times, scale.peak, scale.due
    if scale.left != kept.left:  # as whenever the scale is set
        kept.inverse, kept.scale, kept.left = scale.inverse, scale.scale, scale.left


@inlined
def count(seen, norm, forget):
    """Count a row."""
    seen[0].rows += 1.0
    seen[0].norm = seen[0].norm * (1.0 - forget) + norm
    seen[0].share = seen[0].share * (1.0 - forget) + 1.0


@inlined
def rate_of(learner, seen):
    """The learner's rate, which falls with the rows where it has a power."""
    return learner.rate * (seen[0].rows + 1.0) ** -learner.power if learner.power > 0.0 else learner.rate


@inlined
def load_scaled(learner, arrays, rows, begin, count, learning, values):
    """`load`, as a learner on scaled features has it; see `learners`."""
    return load(True, arrays.scales, rows, begin, count, learning, values)


@inlined
def rate_of_row(learner, arrays, norm):
    """`rate_of`, as a learner has it to whom all rows are alike; see `learners`."""
    return rate_of(learner, arrays.seen)


@inlined
def unknown_gain(learner, arrays, row, column):
    """The `gain` of a learner whose answer after a step cannot be told before it."""
    return -1.0


@inlined
def feature_of(row, j):
    """Which feature stands at place j of a row, behind the constant."""
    return row.columns[row.begin + j - 1] + 1 if len(row.columns) > 0 else j
