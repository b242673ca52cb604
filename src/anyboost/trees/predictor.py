"""Predictions of trees, and of weighted sums of them, on raw features.

Trees lie one after another in flat node arrays (see `Forest`). A row goes left where x <= threshold; a missing
value goes where the node says. A leaf leads to itself, so that rows can walk a tree in step, without a branch that
the machine would have to guess, until none of them moves. Trees some of whose nodes split on categories (`MixedForest`)
are walked row by row.
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import inlined, inner, kernel

# Runs that earlier versions pickled look for `Slopes` here.
from anyboost.trees.inclined import Inclined, Slopes, add_leaves, add_terms, incline
from anyboost.trees.table import MISSING

_BLOCK = 128  # rows that walk a tree together: their features and the tree stay in the first cache
_MIXED_BLOCK = 256  # rows that walk one tree after another, so that its nodes stay in cache


class Forest(NamedTuple):
    """Joined trees. A node's children follow each other: `child` is the left one, child + 1 the right one."""

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray  # inf at leaves
    child: np.ndarray  # numbered over all trees; of a leaf, the leaf itself
    missing_side: np.ndarray  # 1: to the right; 0 at leaves
    value: np.ndarray
    slopes: Inclined | None


def join(trees: list, coefficients: np.ndarray) -> Forest:
    """The sum of coefficient times tree; a tree has feature, threshold, left, right, missing_left and value."""
    sizes = np.array([len(tree.feature) for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    orders = [_siblings_together(tree.left, tree.right, tree.feature < 0) for tree in trees]

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name)[order] for tree, order in zip(trees, orders, strict=True)])

    feature = joined("feature")
    leaf = feature < 0
    left = np.concatenate(
        [np.argsort(order)[tree.left[order]] for tree, order in zip(trees, orders, strict=True)]
    )
    values = joined("value") * np.repeat(coefficients, sizes)[:, None]
    numbers = [root + np.argsort(order) for root, order in zip(roots, orders, strict=True)]
    return Forest(
        roots,
        np.where(leaf, 0, feature).astype(np.int32),
        np.where(leaf, np.inf, joined("threshold")),
        np.where(leaf, np.arange(len(feature)), np.repeat(roots, sizes) + left).astype(np.int32),
        np.where(leaf | joined("missing_left"), 0, 1).astype(np.int32),
        values,
        incline([tree.slopes for tree in trees], coefficients, numbers),
    )


def _siblings_together(left: np.ndarray, right: np.ndarray, leaf: np.ndarray) -> np.ndarray:
    """The nodes in an order in which every right child follows its left sibling, the root being first."""
    if np.array_equal(right[~leaf], left[~leaf] + 1):
        return np.arange(len(left))
    order = [0]
    for node in order:
        if not leaf[node]:
            order += [left[node], right[node]]
    return np.array(order + sorted(set(range(len(left))) - set(order)))


@kernel
def _walk(X, root, feature, threshold, child, nodes):
    # The leaves of the rows of X in one tree, where no value is missing.
    for r in range(nodes.size):
        nodes[r] = root
    moved = True
    while moved:
        differences = 0
        for r in range(nodes.size):
            node = np.uint64(nodes[r])
            following = child[node] + np.int32(X[r, np.uint64(feature[node])] > threshold[node])
            differences |= following ^ nodes[r]
            nodes[r] = following
        moved = differences != 0


@kernel
def _walk_with_holes(X, root, feature, threshold, child, missing_side, nodes):
    for r in range(nodes.size):
        nodes[r] = root
    moved = True
    while moved:
        moved = False
        for r in range(nodes.size):
            node = nodes[r]
            x = X[r, feature[node]]
            side = missing_side[node] if x != x else np.int32(x > threshold[node])
            nodes[r] = child[node] + side
            moved |= nodes[r] != node


@kernel
def _has_holes(X):
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if X[i, j] != X[i, j]:
                return True
    return False


@kernel
def _add_trees(X, roots, feature, threshold, child, missing_side, value, slopes, out):
    walkers = np.empty(_BLOCK, dtype=np.int32)
    for first in range(0, X.shape[0], _BLOCK):
        nodes = walkers[: min(_BLOCK, X.shape[0] - first)]
        part = X[first : first + nodes.size]
        holes = _has_holes(part)
        for tree in range(roots.shape[0]):
            if holes:
                _walk_with_holes(part, roots[tree], feature, threshold, child, missing_side, nodes)
            else:
                _walk(part, roots[tree], feature, threshold, child, nodes)
            add_leaves(part, nodes, tree, value, slopes, out[first : first + nodes.size])


def for_one_row(
    X: np.ndarray, forest: "Forest | MixedForest", out: np.ndarray
) -> tuple[Any, tuple[Any, ...]]:
    """The kernel, and its arguments, that has out (1, k) += the sum of the trees at X (1, d)."""
    if isinstance(forest, Forest):
        return _add_trees, (X, *forest, out)
    return _add_mixed_trees, (X, *forest, 0, 1, out)


def add_trees(X: np.ndarray, forest: Forest, out: np.ndarray, n_threads: int) -> None:
    """out (n, k) += the sum of the trees at X; the order of the sum is the order of the trees."""
    table = as_kernel_input(X)
    threads.over_blocks(
        lambda start, stop: _add_trees(table[start:stop], *forest, out[start:stop]),
        len(X),
        n_threads,
        smallest=2_000,
    )


@kernel
def _find_leaves(X, feature, threshold, left, right, missing_left, out):
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


def add_inclined(
    X: np.ndarray, nodes: np.ndarray, value: np.ndarray, slopes: Slopes, out: np.ndarray, n_threads: int
) -> None:
    """out (n, k) += what a tree of these values (nodes, k) and slopes is at the rows of X, which end in these nodes."""
    table, own = as_kernel_input(X), incline([slopes], np.ones(1), [np.arange(len(value))])
    assert own is not None

    def some(start: int, stop: int) -> None:
        part = slice(start, stop)
        arrays = own.first, own.end, own.least[0], own.feature, own.terms
        add_terms(table[part], nodes[part], value, *arrays, out[part])

    threads.over_blocks(some, len(X), n_threads, smallest=10_000)


@inlined(early=True)
def entry_of(x, column, categories):
    """The bin of a category's code, as a whole number: that of missing values where training had none of it."""
    first, size, bins = categories
    entry = MISSING
    if x >= 0 and x < size[column]:
        code = np.int64(x)
        entry = np.int64(bins[first[column] + code]) if code == x else MISSING
    return entry


@inner
def _walk_mixed(X, i, root, nodes, categories):
    # The node, counted from the first tree's root, in which row i ends.
    feature, threshold, left, right, missing_left, category_set, category_sets = nodes
    node = root
    while feature[node] >= 0:
        x = X[i, feature[node]]
        number = category_set[node]
        if number < 0:
            goes_left = x <= threshold[node] or (x != x and missing_left[node])
        else:
            entry = entry_of(x, feature[node], categories)
            goes_left = (category_sets[number, entry >> 5] >> np.uint32(entry & 31)) & np.uint32(1) != 0
        node = root + (left[node] if goes_left else right[node])
    return node


@kernel
def _add_mixed_trees(X, roots, nodes, categories, value, slopes, start, stop, out):
    walkers = np.empty(_MIXED_BLOCK, dtype=np.int32)
    for begin in range(start, stop, _MIXED_BLOCK):
        end = min(begin + _MIXED_BLOCK, stop)
        reached = walkers[: end - begin]
        for tree in range(roots.shape[0]):
            for i in range(begin, end):
                reached[i - begin] = _walk_mixed(X, i, roots[tree], nodes, categories)
            add_leaves(X[begin:end], reached, tree, value, slopes, out[begin:end])


class MixedForest(NamedTuple):
    """Joined trees, in the order that the kernels take their arrays; children are numbered within their tree."""

    roots: np.ndarray
    nodes: tuple[np.ndarray, ...]
    categories: tuple[np.ndarray, ...]
    value: np.ndarray
    slopes: Inclined | None


_NODES = ("feature", "threshold", "left", "right", "missing_left")


def join_mixed(trees: list, coefficients: np.ndarray, category_set, category_sets, categories) -> MixedForest:
    """The sum of coefficient times tree; `category_set` numbers the nodes' sets over all trees."""
    sizes = np.array([len(tree.feature) for tree in trees])
    nodes = tuple(np.concatenate([getattr(tree, name) for tree in trees]) for name in _NODES)
    value = np.concatenate([tree.value for tree in trees]) * np.repeat(coefficients, sizes)[:, None]
    # Sets joined from trees of one set each may lie by columns, for which kernels would be compiled again.
    sets, roots = np.ascontiguousarray(category_sets), np.cumsum(sizes) - sizes
    numbers = [root + np.arange(size) for root, size in zip(roots, sizes, strict=True)]
    slopes = incline([tree.slopes for tree in trees], coefficients, numbers)
    return MixedForest(roots, (*nodes, category_set, sets), tuple(categories), value, slopes)


def add_mixed_trees(X: np.ndarray, forest: MixedForest, out: np.ndarray, n_threads: int) -> None:
    """out (n, k) += the sum of the trees at X; the order of the sum is the order of the trees."""
    table = as_kernel_input(X)
    threads.over_blocks(
        lambda start, stop: _add_mixed_trees(table, *forest, start, stop, out),
        len(X),
        n_threads,
        smallest=2_000,
    )


@kernel
def _find_mixed_leaves(X, nodes, categories, out):
    for i in range(X.shape[0]):
        out[i] = _walk_mixed(X, i, 0, nodes, categories)


def find_leaves(X: np.ndarray, tree) -> np.ndarray:
    """The node in which each row of X ends, for one tree as it was grown."""
    out = np.empty(len(X), dtype=np.int32)
    nodes = tuple(getattr(tree, name) for name in _NODES)
    if tree.categories is None:
        _find_leaves(as_kernel_input(X), *nodes, out)
    else:
        nodes += (tree.category_set, tree.category_sets)
        _find_mixed_leaves(as_kernel_input(X), nodes, tuple(tree.categories), out)
    return out
