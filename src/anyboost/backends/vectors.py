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
def _accumulate(first, second, third, fourth, weights, sums, start, stop):
    # One after the other, so that the sums have the bits they would have without the company.
    first, second = first[start:stop], second[start:stop]
    third, fourth = third[start:stop], fourth[start:stop]
    for begin in range(
        0, first.size, 2048
    ):  # a few rows at a time, which stay in the cache for all three sums
        part = slice(begin, min(begin + 2048, first.size))
        p, q, r, s = first[part], second[part], third[part], fourth[part]
        for j in range(sums.shape[0]):
            total = sums[j, start + begin : start + part.stop]
            a, b, c, d = weights[0, j], weights[1, j], weights[2, j], weights[3, j]
            for i in range(total.size):
                total[i] = (((total[i] + a * p[i]) + b * q[i]) + c * r[i]) + d * s[i]


@kernel
def _scale_and_add(factor, a, b, start, stop, out):
    a, b, out = a[start:stop], b[start:stop], out[start:stop]
    for i in range(a.size):
        out[i] = factor * a[i] + b[i]


@kernel
def _at_least(a, least, b, factor, start, stop, out):
    a, b, out = a[start:stop], b[start:stop], out[start:stop]
    for i in range(a.size):
        out[i] = max(max(a[i], least), abs(b[i]) * factor)


def at_least(
    a: np.ndarray, least: float, b: np.ndarray, factor: float, n_threads: int, out: np.ndarray
) -> np.ndarray:
    """out = max(a, least, factor * |b|)."""
    a, b, flat = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    threads.over_blocks(
        lambda start, stop: _at_least(a, least, b, factor, start, stop, flat), a.size, n_threads
    )
    return out


def add_leaf_values(
    scores: np.ndarray, leaf: np.ndarray, values: np.ndarray, n_threads: int, out: np.ndarray
) -> np.ndarray:
    """out = scores + values[leaf], for scores (n, k) and values (leaves, k)."""
    if scores.shape[1] == 1:
        # One axis is a loop that compilers know how to make fast; two are not.
        add, arrays = _add_leaf_numbers, (scores[:, 0], leaf, values[:, 0].copy())
        target = out[:, 0]
    else:
        add, arrays, target = _add_leaf_vectors, (scores, leaf, values), out
    threads.over_blocks(lambda start, stop: add(*arrays, start, stop, target), len(scores), n_threads)
    return out


AT_ONCE = 4


def accumulate(added: list[tuple[np.ndarray, np.ndarray]], sums: np.ndarray, n_threads: int) -> None:
    """sums[j] += weights[j] * vector for each (weights, vector), of which there are at most AT_ONCE; sums (3, m)."""
    if not added:
        return
    missing = AT_ONCE - len(added)
    weights = np.array([weights for weights, _ in added] + [np.zeros(len(sums))] * missing)
    vectors = [vector for _, vector in added] + [added[0][1]] * missing
    threads.over_blocks(
        lambda start, stop: _accumulate(*vectors, weights, sums, start, stop), sums.shape[1], n_threads
    )


def scale_and_add(factor: float, a: np.ndarray, b: np.ndarray, n_threads: int, out: np.ndarray) -> np.ndarray:
    """out = factor * a + b."""
    flat = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    threads.over_blocks(
        lambda start, stop: _scale_and_add(factor, *flat[:2], start, stop, flat[2]), a.size, n_threads
    )
    return out
