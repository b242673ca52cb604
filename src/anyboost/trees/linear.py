"""Leaves with slopes: in each, a ridge over the columns of numbers that the way to it asks about.

A column is measured by u = (x - low) / width over the range that the leaf saw, less its mean there; a missing value
stands at the mean. So the constant of a leaf is the one it has without slopes, and the slopes b solve

    (C + penalty diag C) b = sum_n w_n D_n u_n,    C = sum_n w_n kappa_n u_n u_n'

Sums of products are two integers each (see `backends.sums`), so that neither the order nor the parts of the rows
matter; sums that are not centered first would lose the slope of a timestamp. The system is solved in one order.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import bare, inlined
from anyboost.backends.sums import SMALLEST, add_term, from_pairs, sum_bits
from anyboost.trees.grown import TreeShape
from anyboost.trees.inclined import Slopes
from anyboost.trees.predictor import as_kernel_input
from anyboost.trees.rows import Rows

_ROWS_A_SLOPE = 5  # in weight: a leaf with less for each slope and its constant keeps the constant alone
_BLOCK = 10_000  # rows under which a second thread costs more than it saves
_LEAST_WIDTH = 1e-150  # of a leaf's range of a column: by less a slope may be beyond all floats
_LEAST_PIVOT = 1e-8  # of the diagonal: below it columns tell the same, and the leaf keeps its constant


class PerRow(NamedTuple):
    """What a round knows of every row."""

    X: np.ndarray
    leaf: np.ndarray
    mass: np.ndarray  # (n,), 0 for rows that are not drawn
    kappa: np.ndarray  # (n, 1 or k)
    target: np.ndarray  # (n, k)


@bare
def _note_columns(feature, left, right, numeric, used):
    # used[node, column]: whether the way to it asks about this column of numbers. Children come after their parents.
    for node in range(feature.shape[0]):
        if feature[node] >= 0:
            for child in (left[node], right[node]):
                for c in range(used.shape[1]):
                    used[child, c] = used[node, c] or (c == feature[node] and numeric[c])


@bare
def _ranges(X, leaf, mass, first, feature, start, stop, low, high):
    for i in range(start, stop):
        if mass[i] > 0.0:
            for e in range(first[leaf[i]], first[leaf[i] + 1]):
                x = np.float64(X[i, feature[e]])
                low[e] = x if x < low[e] else low[e]
                high[e] = x if x > high[e] else high[e]


@inlined(early=True)
def _add(term, sums):
    sums[0], sums[1], _ = add_term(term, sums[0], sums[1], 0)


@bare
def _weigh(X, leaf, mass, kappa, first, feature, low, width, scale, start, stop, sums):
    # sums[entry, output]: of w kappa u, and of w kappa, over rows that have the value
    for i in range(start, stop):
        if mass[i] > 0.0:
            for e in range(first[leaf[i]], first[leaf[i] + 1]):
                x = np.float64(X[i, feature[e]])
                if x == x:
                    u = (x - low[e]) / width[e]
                    for j in range(kappa.shape[1]):
                        weight = mass[i] * kappa[i, j] * scale
                        _add(weight * u, sums[e, j, 0])
                        _add(weight, sums[e, j, 1])


@bare
def _multiply(
    X, leaf, mass, kappa, target, first, feature, low, width, center, scale, target_scale, block, start, stop,
    room, products, inner,
):  # fmt: skip
    # products: of pairs of a leaf's columns, the rows of a lower triangle one after another from block[leaf] on;
    # inner: of the target and each column. `room` (entries of a leaf, outputs) is for a row's centered values.
    kinds, outputs = kappa.shape[1], target.shape[1]
    for i in range(start, stop):
        begin, end = first[leaf[i]], first[leaf[i] + 1]
        if mass[i] == 0.0 or begin == end:
            continue
        place = block[leaf[i]]
        for e in range(begin, end):
            own = room[e - begin]
            x = np.float64(X[i, feature[e]])
            for j in range(kinds):
                own[j] = (x - low[e]) / width[e] - center[e, j] if x == x else 0.0
            for j in range(outputs):
                _add(mass[i] * target[i, j] * own[j if kinds > 1 else 0] * target_scale, inner[e, j])
            for other in range(e - begin + 1):
                for j in range(kinds):
                    _add(mass[i] * kappa[i, j] * own[j] * room[other, j] * scale, products[place, j])
                place += 1


@bare
def _solve(first, block, products, inner, penalty, room, slope):
    # Cholesky's L L' = C + penalty diag C in `room` (p, p), then two triangles. Where a pivot is next to nothing, all
    # slopes of the leaf are 0.
    for number in range(first.shape[0] - 1):
        begin, size = first[number], first[number + 1] - first[number]
        for j in range(slope.shape[1]):
            kind = j if products.shape[1] > 1 else 0
            place, good = block[number], True
            for row in range(size):
                for column in range(row + 1):
                    value = products[place, kind]
                    if row == column:
                        value *= 1.0 + penalty[number, kind]
                    least = _LEAST_PIVOT * value
                    for before in range(column):
                        value -= room[row, before] * room[column, before]
                    if row == column:
                        good = good and value > least
                        room[row, row] = math.sqrt(value) if value > 0.0 else 1.0
                    else:
                        room[row, column] = value / room[column, column]
                    place += 1
            for row in range(size):
                value = inner[begin + row, j]
                for before in range(row):
                    value -= room[row, before] * slope[begin + before, j]
                slope[begin + row, j] = value / room[row, row]
            for row in range(size - 1, -1, -1):
                value = slope[begin + row, j]
                for after in range(row + 1, size):
                    value -= room[after, row] * slope[begin + after, j]
                slope[begin + row, j] = value / room[row, row]
            if not good:
                for row in range(size):
                    slope[begin + row, j] = 0.0


class Entries(NamedTuple):
    """The columns that have slopes, leaf by leaf: those of leaf l are first[l] .. first[l + 1]."""

    first: np.ndarray  # (leaves + 1,)
    feature: np.ndarray
    low: np.ndarray
    width: np.ndarray

    @property
    def leaf(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def keep(self, which: np.ndarray) -> "Entries":
        counts = np.bincount(self.leaf[which], minlength=len(self.first) - 1)
        return Entries(np.append(0, np.cumsum(counts)), *(part[which] for part in self[1:]))


def fit(
    rows: Rows,
    sample: PerRow,
    shape: TreeShape,
    numeric: np.ndarray,
    masses: np.ndarray,
    penalty: np.ndarray,
    clamped: bool,
) -> Slopes:
    """The slopes of a grown tree, by the masses of its leaves (leaves,) and what they are to pay (leaves, 1 or k)."""
    sample = sample._replace(X=as_kernel_input(sample.X))
    entries = _entries(rows, sample, shape, numeric, masses)
    scale = _scale(rows, sample.mass[:, None] * sample.kappa)
    center = _centers(rows, sample, entries, scale)
    sizes = np.diff(entries.first)
    triangles = sizes * (sizes + 1) // 2
    block, most = np.cumsum(triangles) - triangles, int(sizes.max(initial=0))
    products, inner = _moments(rows, sample, entries, center, block, int(triangles.sum()), scale)
    slope = np.zeros(inner.shape)
    _solve(entries.first, block, products, inner, penalty, np.empty((most, most)), slope)
    kept = slope.any(axis=1)
    return Slopes(
        shape.leaf_nodes[entries.leaf][kept],
        entries.feature[kept],
        slope[kept],
        np.broadcast_to(center, slope.shape)[kept],
        entries.low[kept],
        entries.width[kept],
        clamped,
    )


def _entries(
    rows: Rows, sample: PerRow, shape: TreeShape, numeric: np.ndarray, masses: np.ndarray
) -> Entries:
    """The columns on the way to each leaf that has rows enough for them, where they vary in it."""
    used = np.zeros((len(shape.feature), len(numeric)), dtype=np.bool_)
    _note_columns(shape.feature, shape.left, shape.right, numeric, used)
    used = used[shape.leaf_nodes]
    counts = used.sum(axis=1)
    used[masses < _ROWS_A_SLOPE * (1 + counts)] = False
    first = np.append(0, np.cumsum(used.sum(axis=1)))
    feature = np.nonzero(used)[1].astype(np.int32)

    def some(start: int, stop: int) -> np.ndarray:
        low, high = np.full(len(feature), np.inf), np.full(len(feature), -np.inf)
        _ranges(sample.X, sample.leaf, sample.mass, first, feature, start, stop, low, high)
        return np.array([-low, high])

    parts = threads.over_blocks(some, len(sample.X), rows.n_threads, _BLOCK)
    low, high = rows.most(np.max(parts, axis=0))
    with np.errstate(over="ignore", invalid="ignore"):
        width = high + low
    return Entries(first, feature, -low, width).keep((width > _LEAST_WIDTH) & np.isfinite(width))


def _scale(rows: Rows, terms: np.ndarray) -> int:
    """The exponent by which sums of such terms, times numbers up to 1, are taken."""
    top = float(rows.most(np.abs(terms).max(initial=0.0)))
    return sum_bits(rows.n) - math.frexp(top)[1] if top >= SMALLEST else 0


def _centers(rows: Rows, sample: PerRow, entries: Entries, exponent: int) -> np.ndarray:
    """The mean of u over each leaf's rows that have the value, by weight times curvature: (entries, 1 or k)."""
    shape = (len(entries.feature), sample.kappa.shape[1], 2, 2)

    def some(start: int, stop: int) -> np.ndarray:
        sums = np.zeros(shape, dtype=np.int64)
        given = (sample.X, sample.leaf, sample.mass, sample.kappa, *entries)
        _weigh(*given, math.ldexp(1.0, exponent), start, stop, sums)
        return sums

    parts = threads.over_blocks(some, len(sample.X), rows.n_threads, _BLOCK)
    found = from_pairs(rows.add(sum(parts)), exponent)
    return np.divide(found[..., 0], found[..., 1], out=np.zeros(shape[:2]), where=found[..., 1] > 0)


def _moments(
    rows: Rows,
    sample: PerRow,
    entries: Entries,
    center: np.ndarray,
    block: np.ndarray,
    pairs: int,
    exponent: int,
) -> tuple[np.ndarray, np.ndarray]:
    """C, as triangles (pairs, 1 or k), and the products with the target (entries, k)."""
    kinds, outputs = sample.kappa.shape[1], sample.target.shape[1]
    target_exponent = _scale(rows, sample.mass[:, None] * sample.target)
    scales = math.ldexp(1.0, exponent), math.ldexp(1.0, target_exponent)
    most = int(np.diff(entries.first).max(initial=0))

    def some(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        products = np.zeros((pairs, kinds, 2), dtype=np.int64)
        inner = np.zeros((len(entries.feature), outputs, 2), dtype=np.int64)
        room = np.empty((most, kinds))
        _multiply(*sample, *entries, center, *scales, block, start, stop, room, products, inner)
        return products, inner

    parts = threads.over_blocks(some, len(sample.X), rows.n_threads, _BLOCK)
    products, inner = (rows.add(sum(part)) for part in zip(*parts, strict=True))
    return from_pairs(products, exponent), from_pairs(inner, target_exponent)
