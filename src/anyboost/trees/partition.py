"""Rows of a set sent left or right by a cut, and the leaves of a tree in which rows end, all on bins.

A cut is a table: goes_left[bin] for each of the 256 bins of its column.
"""

from collections.abc import Callable

import numpy as np

from anyboost.backends import threads
from anyboost.backends.atomics import AHEAD, prefetch
from anyboost.backends.compiler import bare, inlined
from anyboost.trees.grown import TreeShape

_BLOCK = 25_000  # rows from which on a second thread pays


@bare
def partition_part(words, shift, table, rows, spare, start, stop):
    """Those that stay left are moved to rows[start:], the others to spare[start:]; how many stay left."""
    byte, end = np.uint64(255), np.uint64(stop - 1)
    n_left = start
    n_right = start
    for r in range(start, stop):
        prefetch(words, np.uint64(rows[min(np.uint64(r + AHEAD), end)]))
        row = rows[r]
        goes_left = np.int64(table[(words[row] >> np.uint64(shift)) & byte])
        # Both are written and one kept: no branch to mispredict. n_left <= r, so nothing unread is lost.
        rows[n_left] = row
        spare[n_right] = row
        n_left += goes_left
        n_right += 1 - goes_left
    return n_left - start


def partition(
    words: np.ndarray,
    shift: int,
    goes_left: np.ndarray,
    rows: np.ndarray,
    spare: np.ndarray,
    n_threads: int = 1,
) -> int:
    """Reorder `rows` so that those that go left come first, each side in its old order; their number."""
    ranges = threads.blocks(len(rows), n_threads, smallest=_BLOCK)
    table = goes_left.view(np.uint8)
    stayed = [0] * len(ranges)

    def one(index: int) -> None:
        stayed[index] = partition_part(words, shift, table, rows, spare, *ranges[index])

    threads.each(one, len(ranges), n_threads)
    place = stayed[0]
    for (start, _), count in list(zip(ranges, stayed, strict=True))[1:]:
        rows[place : place + count] = rows[start : start + count]
        place += count
    n_left = place
    for (start, stop), count in zip(ranges, stayed, strict=True):
        moved = stop - start - count
        rows[place : place + moved] = spare[start : start + moved]
        place += moved
    return n_left


@bare
def _leaves_of_ranges(rows, starts, stops, first, last, out):
    for number in range(starts.shape[0]):
        for r in range(max(starts[number], first), min(stops[number], last)):
            out[rows[r]] = number


def leaves_of_ranges(
    rows: np.ndarray, starts: np.ndarray, stops: np.ndarray, out: np.ndarray, n_threads: int
) -> None:
    """out[row] = the number of the range of `rows` that the row is in."""
    threads.over_blocks(
        lambda first, last: _leaves_of_ranges(rows, starts, stops, first, last, out), len(rows), n_threads
    )


@bare
def _leaves_of_cut(words, shift, goes_left, out):
    for i in range(words.shape[0]):
        out[i] = not goes_left[(words[i] >> np.uint64(shift)) & np.uint64(255)]


def leaves_of_cut(
    words: np.ndarray, shift: int, goes_left: np.ndarray, out: np.ndarray, n_threads: int
) -> None:
    """out[row] = 0 for rows that go left, 1 for others."""
    threads.over_blocks(
        lambda start, stop: _leaves_of_cut(words[start:stop], shift, goes_left, out[start:stop]),
        len(words),
        n_threads,
    )


@inlined(early=True)
def place_of(column):
    """The word that holds a column's bins, and by how many bits they are shifted in it: eight columns to a word."""
    return column >> 3, 8 * (column & 7)


@bare
def _descend(words, feature, goes_left, left, right, number, start, stop, out):
    byte = np.uint64(255)
    for i in range(start, stop):
        if out[i] >= 0:
            continue
        node = 0
        while feature[node] >= 0:
            word, shift = place_of(feature[node])
            entry = (words[word, i] >> np.uint64(shift)) & byte
            node = left[node] if goes_left[node, entry] else right[node]
        out[i] = number[node]


def descend(
    words: np.ndarray,
    feature: np.ndarray,
    goes_left: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    number: np.ndarray,
    out: np.ndarray,
    n_threads: int,
) -> None:
    """out[row] = the number of the node in which the row ends, where it was negative; goes_left is (nodes, 256)."""
    tree = feature, goes_left, left, right, number
    threads.over_blocks(
        lambda start, stop: _descend(words, *tree, start, stop, out), words.shape[1], n_threads, _BLOCK
    )


def paths(shape: TreeShape) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What `descend` has to know of a tree, for leaves in the order of their age."""
    number = np.zeros(len(shape.feature), dtype=np.int32)
    number[shape.leaf_nodes] = np.arange(len(shape.leaf_nodes))
    return shape.feature, shape.goes_left, shape.left, shape.right, number


def leaves_of(shape: TreeShape, words: np.ndarray, n_threads: int) -> np.ndarray:
    """The leaf of every row of a tree that was grown elsewhere."""
    leaf = np.full(words.shape[1], -1, dtype=np.int32)
    descend(words, *paths(shape), leaf, n_threads)
    return leaf


@bare
def _add_masses(leaf, leaf_nodes, masses, out):
    for i in range(leaf.shape[0]):
        out[leaf_nodes[leaf[i]]] += masses[i]


@bare
def _add_upward(left, out):
    for node in range(left.shape[0] - 1, -1, -1):  # children come after their parents, side by side
        if left[node] > 0:
            out[node] = out[left[node]] + out[left[node] + 1]


def cover(
    leaf: np.ndarray,
    masses: np.ndarray,
    leaf_nodes: np.ndarray,
    left: np.ndarray,
    add: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The mass under each node, in whole numbers; `add` sums those in leaves over the parts of the rows."""
    out = np.zeros(len(left), dtype=np.int64)
    _add_masses(leaf, leaf_nodes, masses, out)
    out = add(out)
    _add_upward(left, out)
    return out
