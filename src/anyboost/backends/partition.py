"""Rows of a set sent left or right by a cut, and rows sent down a grown tree, both on bins."""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel

_BLOCK = 25_000  # rows from which on a second thread pays


@kernel
def _partition(words, shift, cut, rows, spare, start, stop):
    # Those that stay left are moved to rows[start:], the others to spare[start:]; how many stay left.
    byte = np.uint64(255)
    n_left = start
    n_right = start
    for r in range(start, stop):
        row = rows[r]
        goes_left = np.intp((words[row] >> np.uint64(shift)) & byte) <= cut
        # Both are written and one kept: no branch to mispredict. n_left <= r, so nothing unread is lost.
        rows[n_left] = row
        spare[n_right] = row
        n_left += goes_left
        n_right += not goes_left
    return n_left - start


def partition(words, shift: int, cut: int, rows: np.ndarray, spare: np.ndarray, n_threads: int = 1) -> int:
    """Reorder `rows` so that those in bins 0 .. cut come first, each side in its old order; their number."""
    ranges = threads.blocks(len(rows), n_threads, smallest=_BLOCK)
    stayed = [0] * len(ranges)

    def one(index: int) -> None:
        stayed[index] = _partition(words, shift, cut, rows, spare, *ranges[index])

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


@kernel
def mark(rows, label, out):
    """out[row] = label for every row of a set."""
    for r in range(rows.shape[0]):
        out[rows[r]] = label


@kernel
def _sides(words, shift, cut, out):
    for i in range(words.shape[0]):
        out[i] = np.intp((words[i] >> np.uint64(shift)) & np.uint64(255)) > cut


def sides(words, shift: int, cut: int, out: np.ndarray, n_threads: int) -> None:
    """out[row] = 0 for rows in bins 0 .. cut, 1 for others."""
    threads.over_blocks(
        lambda start, stop: _sides(words[start:stop], shift, cut, out[start:stop]), len(words), n_threads
    )


@kernel
def descend_bins(words, feature, cut, left, right, out):
    """The node in which each row of the binned sample ends."""
    byte = np.uint64(255)
    for i in range(words.shape[1]):
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            word = words[column >> 3, i]
            goes_left = np.intp((word >> np.uint64(8 * (column & 7))) & byte) <= cut[node]
            node = left[node] if goes_left else right[node]
        out[i] = node
