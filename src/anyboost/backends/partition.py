"""Rows of a set sent left or right by a cut, and rows sent down a grown tree, both on bins."""

import numpy as np

from anyboost.backends.compiler import kernel


@kernel
def partition(words, shift, cut, rows, spare):
    """Reorder `rows` so that those in bins 0 .. cut come first, each side in its old order; their number."""
    byte = np.uint64(255)
    n_left = 0
    n_right = 0
    for r in range(rows.shape[0]):
        row = rows[r]
        goes_left = np.intp((words[row] >> np.uint64(shift)) & byte) <= cut
        # Both are written and one kept: no branch to mispredict. n_left <= r, so nothing unread is lost.
        rows[n_left] = row
        spare[n_right] = row
        n_left += goes_left
        n_right += not goes_left
    for r in range(n_right):
        rows[n_left + r] = spare[r]
    return n_left


@kernel
def mark(rows, label, out):
    """out[row] = label for every row of a set."""
    for r in range(rows.shape[0]):
        out[rows[r]] = label


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
