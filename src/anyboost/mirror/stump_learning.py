"""Mirror descent over all stumps of a table without a row of M numbers: a tree of partial sums for every feature.

A stump is +1 above its threshold and -1 below. So a row x splits the sorted thresholds of a feature in two, and a
subgradient adds the same number to zeta on one side as it takes on the other. At constant temperature that
multiplies the Gibbs weights of +h and -h by a number on each side, and the average (12) adds a multiple of every
weight to its running sum: both can wait at the inner nodes of a tree. A step costs O(log M) a feature.

`stumps.Trees` holds them. Node `root + k - 1` is the k-th of its tree, with children 2k and 2k + 1, and thresholds are
its leaves from left to right.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import bare, inlined, inner, kernel
from anyboost.backends.elementary import exp, log, log1p
from anyboost.backends.reductions import sum_between
from anyboost.backends.simd import apart, beside, select
from anyboost.losses.numbered import slope_of_sum
from anyboost.mirror.learning import LONGEST, add, descend, scaling, temperature
from anyboost.mirror.state import DOUBLING


@inlined
def _log_add(a, b):
    """log(exp(a) + exp(b)), of numbers or vectors."""
    high, low = max(a, b), min(a, b)
    return select(low == -np.inf, high, high + log1p(exp(low - high)))


# Nodes, two at a time: the numbers of both signs of both fill a register. The two may be one and the same. ----------


@inner
def _apply(a, b, shift_a, shift_b, late_plus, late_minus):
    """To subtrees: sum += factor * weight, then weight *= exp(shift), for both signs; and remember it."""
    late = beside(late_plus, late_minus, late_plus, late_minus)
    weights = beside(a.plus, a.minus, b.plus, b.minus)
    waiting = beside(a.late_plus, a.late_minus, b.late_plus, b.late_minus)
    waiting = _log_add(waiting, late + beside(a.shift, -a.shift, b.shift, -b.shift))
    plus_a, minus_a, plus_b, minus_b = apart(exp(late + weights))
    a.sum, b.sum = a.sum + (plus_a - minus_a), b.sum + (plus_b - minus_b)
    a.late_plus, a.late_minus, b.late_plus, b.late_minus = apart(waiting)
    moved = weights + beside(shift_a, -shift_a, shift_b, -shift_b)
    a.plus, a.minus, b.plus, b.minus = apart(moved)
    a.shift, b.shift = a.shift + shift_a, b.shift + shift_b


@inlined
def _forget(node):
    """Nothing waits for its children."""
    node.shift = 0.0
    node.late_plus = -np.inf
    node.late_minus = -np.inf


@inner
def _hand_down(nodes, root, k):
    node = nodes[root + k - 1]
    if node.shift != 0.0 or node.late_plus != -np.inf or node.late_minus != -np.inf:
        left, right = nodes[root + 2 * k - 1], nodes[root + 2 * k]
        _apply(left, right, node.shift, node.shift, node.late_plus, node.late_minus)
        _forget(node)


@inner
def _sum_up(nodes, root_a, k_a, root_b, k_b):
    left_a, right_a = nodes[root_a + 2 * k_a - 1], nodes[root_a + 2 * k_a]
    left_b, right_b = nodes[root_b + 2 * k_b - 1], nodes[root_b + 2 * k_b]
    left = beside(left_a.plus, left_a.minus, left_b.plus, left_b.minus)
    right = beside(right_a.plus, right_a.minus, right_b.plus, right_b.minus)
    a, b = nodes[root_a + k_a - 1], nodes[root_b + k_b - 1]
    a.plus, a.minus, b.plus, b.minus = apart(_log_add(left, right))
    a.sum, b.sum = left_a.sum + right_a.sum, left_b.sum + right_b.sum


@inlined
def _net(a, b, top):
    """Weights of +h less those of -h, up to exp(top)."""
    plus_a, minus_a, plus_b, minus_b = apart(exp(beside(a.plus, a.minus, b.plus, b.minus) - top))
    return plus_a - minus_a, plus_b - minus_b


# Trees ----------------------------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """A row's way from the roots to a leaf of each tree."""

    above: np.ndarray  # how many of a feature's thresholds the row is above; -1 where its value is missing
    ends: (
        np.ndarray
    )  # k of the leaf, whose ancestors are k >> 1, k >> 2, up to 1; 0 where the value is missing
    heights: np.ndarray  # of the trees
    highest: int

    @classmethod
    def of(cls, leaves):
        """Memory for it, in trees with so many leaves."""
        heights = np.log2(leaves).astype(np.int64)
        return cls(np.empty_like(heights), np.empty_like(heights), heights, int(heights.max()))


@inner
def _place(stumps, x, above):
    """How many of each feature's thresholds the row is above; -1 where its value is missing."""
    for f in range(len(above)):
        low, high = stumps.starts[f], stumps.starts[f + 1]
        while low < high:
            middle = (low + high) // 2
            if stumps.thresholds[middle] < x[f]:
                low = middle + 1
            else:
                high = middle
        above[f] = -1 if np.isnan(x[f]) else low - stumps.starts[f]


@inner
def _go_down(trees, walk):
    """Leave nothing waiting on the way. All trees side by side, as in `_go_up`: they need not wait for each other."""
    for f in range(len(walk.ends)):
        end = trees.leaves[f] + min(walk.above[f], trees.leaves[f] - 1)
        walk.ends[f] = end if walk.above[f] >= 0 else 0
    for up in range(walk.highest, 0, -1):
        for f in range(len(walk.ends)):
            if walk.ends[f] >> up > 0:
                _hand_down(trees.nodes, trees.roots[f], walk.ends[f] >> up)


@inner
def _go_up(trees, walk):
    """Sum up on the way, two trees at a time."""
    for up in range(1, walk.highest + 1):
        single = -1
        for f in range(len(walk.ends)):
            if walk.ends[f] >> up > 0:
                if single >= 0:
                    _sum_up_two(trees, walk, up, single, f)
                single = f if single < 0 else -1
        if single >= 0:
            _sum_up_two(trees, walk, up, single, single)


@inlined
def _sum_up_two(trees, walk, up, f, g):
    _sum_up(trees.nodes, trees.roots[f], walk.ends[f] >> up, trees.roots[g], walk.ends[g] >> up)


@inlined
def _beside_way(trees, walk, f, i):
    """The node of the i-th subtree beside the way, from below, and h(x) of all its stumps; -1: of the leaf itself."""
    k, above = walk.ends[f] >> max(i, 0), walk.above[f] == trees.leaves[f]
    if i >= 0:
        k, above = k ^ 1, k & 1 == 1
    return trees.roots[f] + k - 1, 1.0 if above else -1.0


@inner
def _read(trees, walk, f, top):
    """sum over a feature's stumps of h(x) theta, up to exp(top), and of h(x) times the sum so far."""
    last, mean = 0.0, 0.0
    for i in range(walk.heights[f] - 1, -2, -2):
        number_a, sign_a = _beside_way(trees, walk, f, i)
        number_b, sign_b = _beside_way(trees, walk, f, max(i - 1, -1))
        a, b = trees.nodes[number_a], trees.nodes[number_b]
        net_a, net_b = _net(a, b, top)
        last, mean = last + sign_a * net_a, mean + sign_a * a.sum
        if i >= 0:
            last, mean = last + sign_b * net_b, mean + sign_b * b.sum
    return last, mean


@inner
def _write(trees, walk, f, shift, late):
    """The step: every weight goes into its sum times exp(late), then +h gains `shift` where h = 1 and loses it else."""
    for i in range(walk.heights[f] - 1, -2, -2):
        a, sign_a = _beside_way(trees, walk, f, i)
        b, sign_b = _beside_way(trees, walk, f, max(i - 1, -1))
        _apply(trees.nodes[a], trees.nodes[b], sign_a * shift, sign_b * shift, late, late)


@inner
def _log_total(trees):
    """log of the sum of all weights."""
    total = -np.inf
    for root in trees.roots:
        node = trees.nodes[root]
        total = _log_add(total, _log_add(node.plus, node.minus))
    return total


@inner
def _hand_all_down(trees):
    """To the leaves."""
    for f in range(len(trees.roots)):
        for k in range(1, trees.leaves[f]):
            _hand_down(trees.nodes, trees.roots[f], k)
        for k in range(trees.leaves[f], 2 * trees.leaves[f]):
            _forget(trees.nodes[trees.roots[f] + k - 1])


@inner
def _sum_all_up(trees, f):
    """From the leaves."""
    root = trees.roots[f]
    for k in range(trees.leaves[f] - 1, 0, -2):
        _sum_up(trees.nodes, root, k, root, max(k - 1, 1))


@inner
def _change_temperature(trees, ratio):
    """Log weights are -zeta/beta."""
    _hand_all_down(trees)
    for f in range(len(trees.roots)):
        for k in range(trees.leaves[f], 2 * trees.leaves[f]):
            leaf = trees.nodes[trees.roots[f] + k - 1]
            if leaf.plus != -np.inf:
                leaf.plus *= ratio
                leaf.minus *= ratio
        _sum_all_up(trees, f)


@kernel
def plant(trees):
    """Trees of stumps whose weights are the same, before any row."""
    for f in range(len(trees.roots)):
        for k in range(2 * trees.leaves[f] - 1):
            _forget(trees.nodes[trees.roots[f] + k])
        for i in range(trees.leaves[f]):
            leaf = trees.nodes[trees.roots[f] + trees.leaves[f] + i - 1]
            inside = trees.starts[f] + i < trees.starts[f + 1]
            leaf.plus = -0.0 if inside else -np.inf  # -zeta/beta
            leaf.minus = 0.0 if inside else -np.inf
            leaf.sum = 0.0
        _sum_all_up(trees, f)


@kernel
def read_all(trees, radius, theta, total):
    """Weights and sums of every stump, from the trees."""
    _hand_all_down(trees)
    top = _log_total(trees)
    for f in range(len(trees.roots)):
        for i in range(trees.starts[f + 1] - trees.starts[f]):
            leaf = trees.nodes[trees.roots[f] + trees.leaves[f] + i - 1]
            net, _ = _net(leaf, leaf, top)
            theta[trees.starts[f] + i] = radius * net
            total[trees.starts[f] + i] = leaf.sum


# Batches --------------------------------------------------------------------------------------------------------


@inner
def _step(terms, settings, numbers, weight, last, y):
    """What a row adds to zeta where h = 1, and takes where h = -1; the clock moves on."""
    g = slope_of_sum(terms, last, y)
    norm = min(abs(g), LONGEST)
    length = norm / scaling(settings.lipschitz, numbers, norm)
    numbers.clock += weight
    numbers.squared_norms += weight * weight * length * length
    return weight * math.copysign(length, g)


@inner
def _score_by_trees(trees, radius, walk, top):
    last, mean = 0.0, 0.0
    for f in range(len(walk.above)):
        if walk.above[f] >= 0:
            a, b = _read(trees, walk, f, top)
            last += a
            mean += b
    return last * radius, mean


@bare
def learn_by_trees(X, y, weights, terms, settings, trees, walk, scores):
    """Learn from rows in order, in O(log M) a feature and step."""
    numbers, radius = trees.numbers[0], settings.radius
    for i in range(len(y)):
        _place(trees, X[i], walk.above)
        _go_down(trees, walk)
        top = _log_total(trees)
        last, mean = _score_by_trees(trees, radius, walk, top)
        scores[i] = (mean + last) / (numbers.clock + 1.0) if settings.averages else last
        left = weights[i]
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            before = numbers.beta
            step = _step(terms, settings, numbers, weight, last, y[i])
            beta = temperature(settings, numbers)
            late = log(weight * radius) - top
            # A change of temperature acts on zeta with this row in it, so the row's own shift is at the old one.
            shift = -step / (before if before > 0.0 else beta)
            for f in range(len(walk.above)):
                if walk.above[f] >= 0:
                    _write(trees, walk, f, shift, late)
                else:
                    root = trees.nodes[trees.roots[f]]
                    _apply(root, root, 0.0, 0.0, late, late)
            _go_up(trees, walk)
            if before > 0.0 and beta != before:
                _change_temperature(trees, before / beta)
            if left > 0.0:
                top = _log_total(trees)
                last, _ = _score_by_trees(trees, radius, walk, top)


@inner
def _shift(amount, vector, begin, end):
    for j in range(begin, end):
        vector[j] += amount


@inner
def _score_by_arrays(arrays, above, averages):
    last, mean = 0.0, 0.0
    for f in range(len(above)):
        if above[f] >= 0:
            begin, end = arrays.starts[f], arrays.starts[f + 1]
            split = begin + above[f]
            last += sum_between(arrays.theta, begin, split) - sum_between(arrays.theta, split, end)
            if averages:
                mean += sum_between(arrays.total, begin, split) - sum_between(arrays.total, split, end)
    return last, mean


@kernel
def learn_by_arrays(X, y, weights, terms, settings, arrays, scores):
    """The same in O(M) a step, for temperatures that change with every row."""
    numbers = arrays.numbers[0]
    above = np.empty(len(arrays.starts) - 1, dtype=np.int64)
    for i in range(len(y)):
        _place(arrays, X[i], above)
        last, mean = _score_by_arrays(arrays, above, settings.averages)
        scores[i] = (mean + last) / (numbers.clock + 1.0) if settings.averages else last
        left = weights[i]
        while left > 0.0:
            weight = min(left, 1.0)
            left -= weight
            step = _step(terms, settings, numbers, weight, last, y[i])
            add(weight, arrays.theta, arrays.total)
            if numbers.squared_norms != 0.0 or settings.rule <= DOUBLING:
                for f in range(len(above)):
                    if above[f] >= 0:
                        split = arrays.starts[f] + above[f]
                        _shift(step, arrays.zeta, arrays.starts[f], split)
                        _shift(-step, arrays.zeta, split, arrays.starts[f + 1])
                descend(settings, numbers, arrays.zeta, arrays.theta)
            if left > 0.0:
                last, _ = _score_by_arrays(arrays, above, False)
