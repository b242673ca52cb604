"""Predictions of a weighted sum of trees on raw features.

Trees lie one after another in flat node arrays; children are numbered within their tree. A row goes left
where x <= threshold; a missing value, for which that is false, goes right unless the node says otherwise.
"""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel

_BLOCK = 256  # rows that walk one tree together, so that its nodes stay in cache


@kernel
def _add_trees(X, roots, feature, threshold, left, right, missing_left, value, start, stop, out):
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        for tree in range(roots.shape[0]):
            root = roots[tree]
            for i in range(first, last):
                node = root
                while feature[node] >= 0:
                    x = X[i, feature[node]]
                    goes_left = x <= threshold[node] or (x != x and missing_left[node])
                    node = root + (left[node] if goes_left else right[node])
                for j in range(out.shape[1]):
                    out[i, j] += value[node, j]


def add_trees(X, roots, feature, threshold, left, right, missing_left, value, out, n_threads: int) -> None:
    """out += the sum of the trees at X; the order of the sum is the order of the trees."""
    ranges = threads.blocks(len(X), n_threads, smallest=2_000)

    def one(index: int) -> None:
        start, stop = ranges[index]
        _add_trees(X, roots, feature, threshold, left, right, missing_left, value, start, stop, out)

    threads.each(one, len(ranges), n_threads)


@kernel
def find_leaves(X, feature, threshold, left, right, missing_left, out):
    """The node in which each row of X ends, for one tree."""
    for i in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            goes_left = x <= threshold[node] or (x != x and missing_left[node])
            node = left[node] if goes_left else right[node]
        out[i] = node


def as_kernel_input(X: np.ndarray) -> np.ndarray:
    """X in one of the two types the kernels are compiled for, copied only where it has another."""
    if X.dtype in (np.float32, np.float64):
        return X
    return X.astype(np.float64)
