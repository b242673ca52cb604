"""Passes over score arrays (n, k), in blocks of rows on several threads."""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel


@kernel
def _add_leaf_numbers(scores, leaf, values, start, stop, out):
    scores, leaf, out = scores[start:stop], leaf[start:stop], out[start:stop]
    for i in range(scores.size):
        out[i] = scores[i] + values[leaf[i]]


@kernel
def _add_leaf_vectors(scores, leaf, values, start, stop, out):
    for i in range(start, stop):
        row = leaf[i]
        for j in range(scores.shape[1]):
            out[i, j] = scores[i, j] + values[row, j]


@kernel
def _accumulate(added, weights, sums, start, stop):
    added = added[start:stop]
    for j in range(sums.shape[0]):
        weight, total = weights[j], sums[j, start:stop]
        for i in range(added.size):
            total[i] += weight * added[i]


def add_leaf_values(scores: np.ndarray, leaf: np.ndarray, values: np.ndarray, n_threads: int) -> np.ndarray:
    """scores + values[leaf], for scores (n, k) and values (leaves, k)."""
    out = np.empty_like(scores)
    if scores.shape[1] == 1:
        # One axis is a loop that compilers know how to make fast; two are not.
        add, arrays = _add_leaf_numbers, (scores[:, 0], leaf, values[:, 0].copy())
        target = out[:, 0]
    else:
        add, arrays, target = _add_leaf_vectors, (scores, leaf, values), out
    threads.over_blocks(lambda start, stop: add(*arrays, start, stop, target), len(scores), n_threads)
    return out


def accumulate(added: np.ndarray, weights: np.ndarray, sums: np.ndarray, n_threads: int) -> None:
    """sums[j] += weights[j] * added, for three sums at once; `added` (m,), sums (3, m)."""
    threads.over_blocks(
        lambda start, stop: _accumulate(added, weights, sums, start, stop), len(added), n_threads
    )
