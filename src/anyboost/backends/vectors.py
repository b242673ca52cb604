"""Passes over score arrays (n, k), in blocks of rows on several threads."""

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import kernel


@kernel
def _add_leaf_values(scores, leaf, values, start, stop, out):
    for i in range(start, stop):
        row = leaf[i]
        for j in range(scores.shape[1]):
            out[i, j] = scores[i, j] + values[row, j]


@kernel
def _accumulate(added, weights, sums, start, stop):
    first, second, third = weights[0], weights[1], weights[2]
    for i in range(start, stop):
        x = added[i]
        sums[0, i] += first * x
        sums[1, i] += second * x
        sums[2, i] += third * x


def add_leaf_values(scores: np.ndarray, leaf: np.ndarray, values: np.ndarray, n_threads: int) -> np.ndarray:
    """scores + values[leaf], for scores (n, k) and values (leaves, k)."""
    out = np.empty_like(scores)
    threads.over_blocks(
        lambda start, stop: _add_leaf_values(scores, leaf, values, start, stop, out), len(scores), n_threads
    )
    return out


def accumulate(added: np.ndarray, weights: np.ndarray, sums: np.ndarray, n_threads: int) -> None:
    """sums[j] += weights[j] * added, for three sums at once; `added` (m,), sums (3, m)."""
    threads.over_blocks(
        lambda start, stop: _accumulate(added, weights, sums, start, stop), len(added), n_threads
    )
