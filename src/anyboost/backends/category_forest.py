"""Predictions of trees some of whose nodes split on categories; `forest` is this without such nodes."""

from typing import NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.bins import MISSING
from anyboost.backends.compiler import kernel
from anyboost.backends.forest import as_kernel_input

_BLOCK = 256  # rows that walk one tree together, so that its nodes stay in cache


@kernel
def _walk(
    X, i, root, feature, threshold, left, right, missing_left, category_set, category_sets, first, size, bins
):
    # The node, counted from the first tree's root, in which row i ends.
    node = root
    while feature[node] >= 0:
        column = feature[node]
        x = X[i, column]
        number = category_set[node]
        if number < 0:
            goes_left = x <= threshold[node] or (x != x and missing_left[node])
        else:
            entry = MISSING  # also of codes that training had none of
            if x >= 0 and x < size[column]:
                code = np.int64(x)
                entry = bins[first[column] + code] if code == x else MISSING
            goes_left = (category_sets[number, entry >> 5] >> np.uint32(entry & 31)) & np.uint32(1) != 0
        node = root + (left[node] if goes_left else right[node])
    return node


@kernel
def _add_trees(
    X, roots, feature, threshold, left, right, missing_left, category_set, category_sets, first, size, bins,
    value, start, stop, out,
):  # fmt: skip
    for begin in range(start, stop, _BLOCK):
        for tree in range(roots.shape[0]):
            for i in range(begin, min(begin + _BLOCK, stop)):
                node = _walk(
                    X, i, roots[tree], feature, threshold, left, right, missing_left,
                    category_set, category_sets, first, size, bins,
                )  # fmt: skip
                for j in range(out.shape[1]):
                    out[i, j] += value[node, j]


class MixedForest(NamedTuple):
    """Joined trees, in the order that the kernels take their arrays; children are numbered within their tree."""

    roots: np.ndarray
    nodes: tuple[np.ndarray, ...]
    categories: tuple[np.ndarray, ...]
    value: np.ndarray


_NODES = ("feature", "threshold", "left", "right", "missing_left")


def join_categories(
    trees: list, coefficients: np.ndarray, category_set, category_sets, categories
) -> MixedForest:
    """The sum of coefficient times tree; `category_set` numbers the nodes' sets over all trees."""
    sizes = np.array([len(tree.feature) for tree in trees])
    nodes = tuple(np.concatenate([getattr(tree, name) for tree in trees]) for name in _NODES)
    value = np.concatenate([tree.value for tree in trees]) * np.repeat(coefficients, sizes)[:, None]
    return MixedForest(
        np.cumsum(sizes) - sizes, (*nodes, category_set, category_sets), tuple(categories), value
    )


def add_category_trees(X: np.ndarray, forest: MixedForest, out: np.ndarray, n_threads: int) -> None:
    """out (n, k) += the sum of the trees at X; the order of the sum is the order of the trees."""
    table = as_kernel_input(X)
    given = (forest.roots, *forest.nodes, *forest.categories, forest.value)
    threads.over_blocks(
        lambda start, stop: _add_trees(table, *given, start, stop, out), len(X), n_threads, smallest=2_000
    )


@kernel
def _find_leaves(
    X, feature, threshold, left, right, missing_left, category_set, category_sets, first, size, bins, out
):
    for i in range(X.shape[0]):
        out[i] = _walk(
            X, i, 0, feature, threshold, left, right, missing_left,
            category_set, category_sets, first, size, bins,
        )  # fmt: skip


def find_category_leaves(X: np.ndarray, tree, categories) -> np.ndarray:
    """The node in which each row of X ends, for one tree as it was grown."""
    out = np.empty(len(X), dtype=np.int32)
    nodes = [getattr(tree, name) for name in _NODES]
    _find_leaves(as_kernel_input(X), *nodes, tree.category_set, tree.category_sets, *categories, out)
    return out
