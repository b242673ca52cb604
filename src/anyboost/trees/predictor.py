"""Predictions of trees, and of weighted sums of them, on raw features.

Trees lie one after another in flat node arrays (see `Forest`). A row goes left where x <= threshold; a missing
value goes where the node says. A leaf leads to itself, so that rows can walk a tree in step, without a branch that
the machine would have to guess, until none of them moves. Trees some of whose nodes split on categories (`MixedForest`)
are walked row by row.
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.compiler import inlined, kernel
from anyboost.trees.table import MISSING

_BLOCK = 128  # rows that walk a tree together: their features and the tree stay in the first cache
_MIXED_BLOCK = 256  # rows that walk one tree after another, so that its nodes stay in cache


class Slopes(NamedTuple):
    """Slopes of some leaves of a tree: a leaf is its value + sum of slope (u - center), u = (x - low) / width.

    An entry is a leaf, as a node number, and a column; entries lie in the order of their leaves. A column whose value
    is missing adds nothing. Where they are `clamped`, u is not taken beyond [0, 1].
    """

    node: np.ndarray  # (m,)
    feature: np.ndarray  # (m,)
    slope: np.ndarray  # (m, k)
    center: np.ndarray  # (m, k)
    low: np.ndarray  # (m,)
    width: np.ndarray  # (m,)
    clamped: bool

    def top(self, values: np.ndarray) -> float:
        """The largest |value| on the ranges of all leaves, of which the values (nodes, k) are these."""
        reach = np.abs(values)
        np.add.at(
            reach, self.node, np.abs(self.slope) * np.maximum(np.abs(self.center), np.abs(1 - self.center))
        )
        return float(reach.max(initial=0.0))


class Inclined(NamedTuple):
    """Slopes as kernels take them, those of node v from first[v] to end[v].

    A term has the ends of its range, infinite where it goes on, then each output's slope in units of x, and its mean of
    x: a row's numbers lie together. Leaves of a tree with fewer terms than least[tree] have ones that add nothing up to
    there: most rows then take as many, which the machine guesses, where guessing wrong costs as much as five terms.
    """

    first: np.ndarray
    end: np.ndarray
    least: np.ndarray
    feature: np.ndarray
    terms: np.ndarray  # (m, 2 + 2 k)


def _inclined(
    slopes: list[Slopes | None], coefficients: np.ndarray, nodes: list[np.ndarray]
) -> Inclined | None:
    """The slopes of some trees, each times its coefficient; nodes[tree] are the numbers that its nodes have now."""
    found = [
        (own, c, number)
        for own, c, number in zip(slopes, coefficients, nodes, strict=True)
        if own is not None
    ]
    if not found:
        return None
    node = np.concatenate([number[own.node] for own, _, number in found])
    order = np.argsort(node, kind="stable")
    counts = np.bincount(node, minlength=sum(map(len, nodes)))
    least = np.array([_usual(counts[number]) for number in nodes])
    room = counts.copy()
    for number, usual in zip(nodes, least, strict=True):
        room[number] = np.maximum(counts[number], usual)
    first = np.cumsum(room) - room
    places = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(len(node))
    given = np.concatenate([_terms(own, c) for own, c, _ in found])[order]
    feature, terms = np.zeros(room.sum(), dtype=np.uint32), np.zeros((room.sum(), given.shape[1]))
    terms[:, 2 : 1 + given.shape[1] // 2] = -0.0  # adding it changes nothing, not the sign of a zero
    feature[places] = np.concatenate([own.feature for own, _, _ in found])[order]
    terms[places] = given
    ends = [part.astype(np.uint64) for part in (first, first + counts, least)]
    return Inclined(ends[0], ends[1], ends[2], feature, terms)


def _usual(counts: np.ndarray) -> int:
    """How many slopes the nodes that have some have: half of them have no more."""
    some = np.sort(counts[counts > 0])
    return int(some[len(some) // 2]) if len(some) else 0


def _terms(slopes: Slopes, coefficient: float) -> np.ndarray:
    low, width = slopes.low[:, None], slopes.width[:, None]
    ends = [low, low + width] if slopes.clamped else [np.full_like(low, -np.inf), np.full_like(low, np.inf)]
    return np.hstack([*ends, coefficient * slopes.slope / width, low + slopes.center * width])


@inlined(early=True)
def _within(x, low, high):
    x = x if x > low else low
    return x if x < high else high


@kernel
def _add_numbers(X, nodes, value, first, end, least, feature, terms, out):
    # As `_add_inclined`, for one output, whose sum stays in a register
    for r in range(nodes.size):
        node = np.uint64(nodes[r])
        e = first[node]
        stop = max(end[node], e + least)
        total = out[r, 0] + value[node, 0]
        while e < stop:
            x = np.float64(X[r, feature[e]])
            if x == x:
                total += terms[e, 2] * (_within(x, terms[e, 0], terms[e, 1]) - terms[e, 3])
            e += np.uint64(1)
        out[r, 0] = total


@kernel
def _add_inclined(X, nodes, value, first, end, least, feature, terms, out):
    # Arrays one by one: those of a tuple are counted as used in every row.
    outputs = out.shape[1]
    if outputs == 1:
        _add_numbers(X, nodes, value, first, end, least, feature, terms, out)
        return
    for r in range(nodes.size):
        node = np.uint64(nodes[r])
        e = first[node]
        stop = max(end[node], e + least)
        for j in range(outputs):
            out[r, j] += value[node, j]
        while e < stop:
            x = np.float64(X[r, feature[e]])
            if x == x:
                x = _within(x, terms[e, 0], terms[e, 1])
                for j in range(outputs):
                    out[r, j] += terms[e, 2 + j] * (x - terms[e, 2 + outputs + j])
            e += np.uint64(1)


@inlined(early=True)
def _add_leaves(X, nodes, tree, value, slopes, out):
    # out (n, k) += what the tree is at the rows of X, which end in these nodes
    if slopes is None:
        for r in range(nodes.size):
            for j in range(out.shape[1]):
                out[r, j] += value[nodes[r], j]
    else:
        _add_inclined(
            X, nodes, value, slopes.first, slopes.end, slopes.least[tree], slopes.feature, slopes.terms, out
        )


def add_inclined(
    X: np.ndarray, nodes: np.ndarray, value: np.ndarray, slopes: Slopes, out: np.ndarray, n_threads: int
) -> None:
    """out (n, k) += what a tree of these values (nodes, k) and slopes is at the rows of X, which end in these nodes."""
    table, own = as_kernel_input(X), _inclined([slopes], np.ones(1), [np.arange(len(value))])
    assert own is not None

    def some(start: int, stop: int) -> None:
        part = slice(start, stop)
        arrays = own.first, own.end, own.least[0], own.feature, own.terms
        _add_inclined(table[part], nodes[part], value, *arrays, out[part])

    threads.over_blocks(some, len(X), n_threads, smallest=10_000)


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
        _inclined([tree.slopes for tree in trees], coefficients, numbers),
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
            _add_leaves(part, nodes, tree, value, slopes, out[first : first + nodes.size])


def for_one_row(
    X: np.ndarray, forest: "Forest | MixedForest", out: np.ndarray
) -> tuple[Any, tuple[Any, ...]]:
    """The kernel, and its arguments, that has out (1, k) += the sum of the trees at X (1, d)."""
    if isinstance(forest, Forest):
        return _add_trees, (X, *forest, out)
    return _add_mixed_trees, (X, *_of_mixed(forest), 0, 1, out)


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


@kernel
def _walk_mixed(
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
def _add_mixed_trees(
    X, roots, feature, threshold, left, right, missing_left, category_set, category_sets, first, size, bins,
    value, slopes, start, stop, out,
):  # fmt: skip
    walkers = np.empty(_MIXED_BLOCK, dtype=np.int32)
    for begin in range(start, stop, _MIXED_BLOCK):
        end = min(begin + _MIXED_BLOCK, stop)
        nodes = walkers[: end - begin]
        for tree in range(roots.shape[0]):
            for i in range(begin, end):
                nodes[i - begin] = _walk_mixed(
                    X, i, roots[tree], feature, threshold, left, right, missing_left,
                    category_set, category_sets, first, size, bins,
                )  # fmt: skip
            _add_leaves(X[begin:end], nodes, tree, value, slopes, out[begin:end])


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
    slopes = _inclined([tree.slopes for tree in trees], coefficients, numbers)
    return MixedForest(roots, (*nodes, category_set, sets), tuple(categories), value, slopes)


def add_mixed_trees(X: np.ndarray, forest: MixedForest, out: np.ndarray, n_threads: int) -> None:
    """out (n, k) += the sum of the trees at X; the order of the sum is the order of the trees."""
    table = as_kernel_input(X)
    given = _of_mixed(forest)
    threads.over_blocks(
        lambda start, stop: _add_mixed_trees(table, *given, start, stop, out),
        len(X),
        n_threads,
        smallest=2_000,
    )


def _of_mixed(forest: MixedForest) -> tuple[Any, ...]:
    return (forest.roots, *forest.nodes, *forest.categories, forest.value, forest.slopes)


@kernel
def _find_mixed_leaves(
    X, feature, threshold, left, right, missing_left, category_set, category_sets, first, size, bins, out
):
    for i in range(X.shape[0]):
        out[i] = _walk_mixed(
            X, i, 0, feature, threshold, left, right, missing_left,
            category_set, category_sets, first, size, bins,
        )  # fmt: skip


def find_leaves(X: np.ndarray, tree) -> np.ndarray:
    """The node in which each row of X ends, for one tree as it was grown."""
    out = np.empty(len(X), dtype=np.int32)
    nodes = [getattr(tree, name) for name in _NODES]
    if tree.categories is None:
        _find_leaves(as_kernel_input(X), *nodes, out)
    else:
        sets = tree.category_set, tree.category_sets
        _find_mixed_leaves(as_kernel_input(X), *nodes, *sets, *tree.categories, out)
    return out
