"""Mirror descent over all stumps of a table without a row of M numbers: a tree of partial sums for every feature.

A stump is +1 above its threshold and -1 below. So a row x splits the sorted thresholds of a feature in two, and a
subgradient adds the same number to zeta on one side as it takes on the other. At constant temperature that
multiplies the Gibbs weights of +h and -h by a number on each side, and the average (12) adds a multiple of every
weight to its running sum: both can wait at the inner nodes of a tree. A step costs O(log M) a feature.

`stumps.Trees` holds them. Node `root + k - 1` is the k-th of its tree, with children 2k and 2k + 1, and thresholds are
its leaves from left to right.
"""

import math

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import exp, log, log1p
from anyboost.backends.numbered import slope_of_sum
from anyboost.backends.reductions import sum_between
from anyboost.mirror.learning import LONGEST, add, descend, scaling, temperature
from anyboost.mirror.state import DOUBLING


@kernel
def _log_add(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + log1p(exp(low - high))


# Nodes ----------------------------------------------------------------------------------------------------------


@kernel
def _apply(node, shift, late_plus, late_minus):
    """To a subtree: sum += factor * weight, then weight *= exp(shift), for both signs; and remember it."""
    node.sum += exp(late_plus + node.plus) - exp(late_minus + node.minus)
    node.late_plus = _log_add(node.late_plus, late_plus + node.shift)
    node.late_minus = _log_add(node.late_minus, late_minus - node.shift)
    node.plus += shift
    node.minus -= shift
    node.shift += shift


@kernel
def _forget(node):
    """Nothing waits for its children."""
    node.shift = 0.0
    node.late_plus = -np.inf
    node.late_minus = -np.inf


@kernel
def _hand_down(nodes, root, k):
    node = nodes[root + k - 1]
    if node.shift != 0.0 or node.late_plus != -np.inf or node.late_minus != -np.inf:
        _apply(nodes[root + 2 * k - 1], node.shift, node.late_plus, node.late_minus)
        _apply(nodes[root + 2 * k], node.shift, node.late_plus, node.late_minus)
        _forget(node)


@kernel
def _sum_up(nodes, root, k):
    node, left, right = nodes[root + k - 1], nodes[root + 2 * k - 1], nodes[root + 2 * k]
    node.plus = _log_add(left.plus, right.plus)
    node.minus = _log_add(left.minus, right.minus)
    node.sum = left.sum + right.sum


@kernel
def _net(node, top):
    return exp(node.plus - top) - exp(node.minus - top)


# Trees ----------------------------------------------------------------------------------------------------------


@kernel
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


@kernel
def _read(nodes, root, leaves, above, top):
    """sum over a feature's stumps of h(x) theta, up to exp(top), and of h(x) times the sum so far."""
    last, mean, k, half = 0.0, 0.0, 1, leaves
    while half > 1:
        _hand_down(nodes, root, k)
        half //= 2
        left = nodes[root + 2 * k - 1]
        right = nodes[root + 2 * k]
        if above >= half:
            last += _net(left, top)
            mean += left.sum
            above -= half
            k = 2 * k + 1
        else:
            last -= _net(right, top)
            mean -= right.sum
            k = 2 * k
    leaf = nodes[root + k - 1]
    sign = 1.0 if above > 0 else -1.0
    return last + sign * _net(leaf, top), mean + sign * leaf.sum


@kernel
def _write(nodes, root, leaves, above, shift, late):
    """The step: every weight goes into its sum times exp(late), then +h gains `shift` where h = 1 and loses it else."""
    k, half = 1, leaves
    while half > 1:
        half //= 2
        if above >= half:
            _apply(nodes[root + 2 * k - 1], shift, late, late)
            above -= half
            k = 2 * k + 1
        else:
            _apply(nodes[root + 2 * k], -shift, late, late)
            k = 2 * k
    _apply(nodes[root + k - 1], shift if above > 0 else -shift, late, late)
    while k > 1:
        k //= 2
        _sum_up(nodes, root, k)


@kernel
def _log_total(trees):
    """log of the sum of all weights."""
    total = -np.inf
    for root in trees.roots:
        node = trees.nodes[root]
        total = _log_add(total, _log_add(node.plus, node.minus))
    return total


@kernel
def _hand_all_down(trees):
    """To the leaves."""
    for f in range(len(trees.roots)):
        for k in range(1, trees.leaves[f]):
            _hand_down(trees.nodes, trees.roots[f], k)
        for k in range(trees.leaves[f], 2 * trees.leaves[f]):
            _forget(trees.nodes[trees.roots[f] + k - 1])


@kernel
def _change_temperature(trees, ratio):
    """Log weights are -zeta/beta."""
    _hand_all_down(trees)
    for f in range(len(trees.roots)):
        for k in range(trees.leaves[f], 2 * trees.leaves[f]):
            leaf = trees.nodes[trees.roots[f] + k - 1]
            if leaf.plus != -np.inf:
                leaf.plus *= ratio
                leaf.minus *= ratio
        for k in range(trees.leaves[f] - 1, 0, -1):
            _sum_up(trees.nodes, trees.roots[f], k)


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
        for k in range(trees.leaves[f] - 1, 0, -1):
            _sum_up(trees.nodes, trees.roots[f], k)


@kernel
def read_all(trees, radius, theta, total):
    """Weights and sums of every stump, from the trees."""
    _hand_all_down(trees)
    top = _log_total(trees)
    for f in range(len(trees.roots)):
        for i in range(trees.starts[f + 1] - trees.starts[f]):
            leaf = trees.nodes[trees.roots[f] + trees.leaves[f] + i - 1]
            theta[trees.starts[f] + i] = radius * _net(leaf, top)
            total[trees.starts[f] + i] = leaf.sum


# Batches --------------------------------------------------------------------------------------------------------


@kernel
def _step(terms, settings, numbers, weight, last, y):
    """What a row adds to zeta where h = 1, and takes where h = -1; the clock moves on."""
    g = slope_of_sum(terms, last, y)
    norm = min(abs(g), LONGEST)
    length = norm / scaling(settings.lipschitz, numbers, norm)
    numbers.clock += weight
    numbers.squared_norms += weight * weight * length * length
    return weight * math.copysign(length, g)


@kernel
def _score_by_trees(trees, radius, above, top):
    last, mean = 0.0, 0.0
    for f in range(len(above)):
        if above[f] >= 0:
            a, b = _read(trees.nodes, trees.roots[f], trees.leaves[f], above[f], top)
            last += a
            mean += b
    return last * radius, mean


@kernel
def learn_by_trees(X, y, weights, terms, settings, trees, scores):
    """Learn from rows in order, in O(log M) a feature and step."""
    numbers, radius = trees.numbers[0], settings.radius
    above = np.empty(len(trees.roots), dtype=np.int64)
    for i in range(len(y)):
        _place(trees, X[i], above)
        top = _log_total(trees)
        last, mean = _score_by_trees(trees, radius, above, top)
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
            for f in range(len(above)):
                if above[f] >= 0:
                    _write(trees.nodes, trees.roots[f], trees.leaves[f], above[f], shift, late)
                else:
                    _apply(trees.nodes[trees.roots[f]], 0.0, late, late)
            if before > 0.0 and beta != before:
                _change_temperature(trees, before / beta)
            if left > 0.0:
                top = _log_total(trees)
                last, _ = _score_by_trees(trees, radius, above, top)


@kernel
def _shift(amount, vector, begin, end):
    for j in range(begin, end):
        vector[j] += amount


@kernel
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
