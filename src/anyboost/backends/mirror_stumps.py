"""Mirror descent over all stumps of a table without a row of M numbers: a tree of partial sums for every feature.

A stump is +1 above its threshold and -1 below. So a row x splits the sorted thresholds of a feature in two, and a
subgradient adds the same number to zeta on one side as it takes on the other. At constant temperature that
multiplies the Gibbs weights of +h and -h by a number on each side, and the average (12) adds a multiple of every
weight to its running sum: both can wait at the inner nodes of a tree. A step costs O(log M) a feature.

All is kept as logarithms but the sums of (12). Nodes are in heap order, a feature after the other; node `root + k - 1`
is the k-th of its tree, with children 2k and 2k + 1, and thresholds are its leaves from left to right.
"""

import math

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.mirror import OCTAHEDRON, SUMS, prox
from anyboost.backends.mirror_walk import (
    AVERAGES,
    BETA,
    CLOCK,
    DOUBLING,
    EXPONENT,
    PROXY,
    RADIUS,
    RULE,
    SQUARES,
    _scaling,
    _temperature,
)
from anyboost.backends.numbered import slope_of_sum

# Columns of a node: log sums of the weights of +h and -h in its subtree; what waits for its children: a
# logarithm to add to those of +h (and to take from those of -h), and for the average two logarithms of factors;
# and the subtree's sum over the average so far.
PLUS, MINUS, SHIFT, LATE_PLUS, LATE_MINUS, SUM = 0, 1, 2, 3, 4, 5
N_COLUMNS = 6


@kernel
def _log_add(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@kernel
def _take(node, shift, late_plus, late_minus):
    """Apply to a subtree: sum += factor * weight, then weight *= exp(shift), for both signs; and remember it."""
    node[SUM] += math.exp(late_plus + node[PLUS]) - math.exp(late_minus + node[MINUS])
    node[LATE_PLUS] = _log_add(node[LATE_PLUS], late_plus + node[SHIFT])
    node[LATE_MINUS] = _log_add(node[LATE_MINUS], late_minus - node[SHIFT])
    node[PLUS] += shift
    node[MINUS] -= shift
    node[SHIFT] += shift


@kernel
def _hand_down(nodes, root, k):
    node = nodes[root + k - 1]
    if node[SHIFT] != 0.0 or node[LATE_PLUS] != -np.inf or node[LATE_MINUS] != -np.inf:
        _take(nodes[root + 2 * k - 1], node[SHIFT], node[LATE_PLUS], node[LATE_MINUS])
        _take(nodes[root + 2 * k], node[SHIFT], node[LATE_PLUS], node[LATE_MINUS])
        _settle(node)


@kernel
def _settle(node):
    node[SHIFT] = 0.0
    node[LATE_PLUS] = -np.inf
    node[LATE_MINUS] = -np.inf


@kernel
def _sum_up(nodes, root, k):
    node, left, right = nodes[root + k - 1], nodes[root + 2 * k - 1], nodes[root + 2 * k]
    node[PLUS] = _log_add(left[PLUS], right[PLUS])
    node[MINUS] = _log_add(left[MINUS], right[MINUS])
    node[SUM] = left[SUM] + right[SUM]


@kernel
def _below(thresholds, start, count, x):
    """How many of a feature's thresholds x is above."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if thresholds[start + middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _net(node, top):
    return math.exp(node[PLUS] - top) - math.exp(node[MINUS] - top)


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
            mean += left[SUM]
            above -= half
            k = 2 * k + 1
        else:
            last -= _net(right, top)
            mean -= right[SUM]
            k = 2 * k
    leaf = nodes[root + k - 1]
    sign = 1.0 if above > 0 else -1.0
    return last + sign * _net(leaf, top), mean + sign * leaf[SUM]


@kernel
def _write(nodes, root, leaves, above, shift, late):
    """The step: every weight goes into its sum times exp(late), then +h gains `shift` where h = 1 and loses it else."""
    k, half = 1, leaves
    while half > 1:
        half //= 2
        if above >= half:
            _take(nodes[root + 2 * k - 1], shift, late, late)
            above -= half
            k = 2 * k + 1
        else:
            _take(nodes[root + 2 * k], -shift, late, late)
            k = 2 * k
    _take(nodes[root + k - 1], shift if above > 0 else -shift, late, late)
    while k > 1:
        k //= 2
        _sum_up(nodes, root, k)


@kernel
def _top(nodes, roots):
    """log of the sum of all weights."""
    top = -np.inf
    for f in range(len(roots)):
        node = nodes[roots[f]]
        top = _log_add(top, _log_add(node[PLUS], node[MINUS]))
    return top


@kernel
def _flush(nodes, roots, leaves):
    """Hand everything down to the leaves."""
    for f in range(len(roots)):
        for k in range(1, leaves[f]):
            _hand_down(nodes, roots[f], k)
        for k in range(leaves[f], 2 * leaves[f]):
            _settle(nodes[roots[f] + k - 1])


@kernel
def _reheat(nodes, roots, leaves, ratio):
    """Change the temperature: log weights are -zeta/beta."""
    _flush(nodes, roots, leaves)
    for f in range(len(roots)):
        for k in range(leaves[f], 2 * leaves[f]):
            leaf = nodes[roots[f] + k - 1]
            if leaf[PLUS] != -np.inf:
                leaf[PLUS] *= ratio
                leaf[MINUS] *= ratio
        for k in range(leaves[f] - 1, 0, -1):
            _sum_up(nodes, roots[f], k)


@kernel
def plant(roots, leaves, starts, zeta, total, beta, nodes):
    """Trees from the dual point and the sums of every stump."""
    for f in range(len(roots)):
        for k in range(2 * leaves[f] - 1):
            _settle(nodes[roots[f] + k])
        for i in range(leaves[f]):
            leaf = nodes[roots[f] + leaves[f] + i - 1]
            inside = starts[f] + i < starts[f + 1]
            leaf[PLUS] = -zeta[starts[f] + i] / beta if inside else -np.inf
            leaf[MINUS] = zeta[starts[f] + i] / beta if inside else -np.inf
            leaf[SUM] = total[starts[f] + i] if inside else 0.0
        for k in range(leaves[f] - 1, 0, -1):
            _sum_up(nodes, roots[f], k)


@kernel
def harvest(roots, leaves, starts, beta, radius, nodes, zeta, theta, total):
    """Dual point, weights and sums of every stump, from the trees."""
    _flush(nodes, roots, leaves)
    top = _top(nodes, roots)
    for f in range(len(roots)):
        for i in range(starts[f + 1] - starts[f]):
            leaf = nodes[roots[f] + leaves[f] + i - 1]
            zeta[starts[f] + i] = -leaf[PLUS] * beta
            theta[starts[f] + i] = radius * _net(leaf, top)
            total[starts[f] + i] = leaf[SUM]


@kernel
def _step(terms, dials, numbers, weight, last, y):
    """What a row adds to zeta where h = 1, and takes where h = -1; the clock moves on."""
    g = slope_of_sum(terms, last, y)
    norm = min(abs(g), 1e300)
    length = norm / _scaling(dials, numbers, norm)
    numbers[CLOCK] += weight
    numbers[SQUARES] += weight * weight * length * length
    return weight * math.copysign(length, g)


@kernel
def walk_trees(X, y, weights, terms, codes, dials, numbers, thresholds, starts, roots, leaves, nodes, scores):
    """Learn from rows in order, in O(log M) a feature and step."""
    features = len(roots)
    above = np.empty(features, dtype=np.int64)
    radius = dials[RADIUS]
    for i in range(len(y)):
        for f in range(features):
            x = X[i, f]
            count = starts[f + 1] - starts[f]
            above[f] = -1 if np.isnan(x) else _below(thresholds, starts[f], count, x)
        left, first = weights[i], True
        while left > 0.0 or first:
            top = _top(nodes, roots)
            last, mean = 0.0, 0.0
            for f in range(features):
                if above[f] >= 0:
                    a, b = _read(nodes, roots[f], leaves[f], above[f], top)
                    last += a
                    mean += b
            last *= radius
            if first:
                scores[i] = (mean + last) / (numbers[CLOCK] + 1.0) if codes[AVERAGES] else last
                first = False
            weight = min(left, 1.0)
            left -= weight
            if weight <= 0.0:
                continue
            before = numbers[BETA]
            step = _step(terms, dials, numbers, weight, last, y[i])
            beta = _temperature(codes, dials, numbers)
            late = math.log(weight * radius) - top
            # A change of temperature acts on zeta with this row in it, so the row's own shift is at the old one.
            shift = -step / (before if before > 0.0 else beta)
            for f in range(features):
                if above[f] >= 0:
                    _write(nodes, roots[f], leaves[f], above[f], shift, late)
                else:
                    _take(nodes[roots[f]], 0.0, late, late)
            if before > 0.0 and beta != before:
                _reheat(nodes, roots, leaves, before / beta)


@kernel(fastmath=SUMS)
def _side(h, vector, begin, end):
    total = 0.0
    for j in range(begin, end):
        total += vector[j]
    return h * total


@kernel(fastmath=SUMS)
def _shift_side(amount, vector, begin, end):
    for j in range(begin, end):
        vector[j] += amount


@kernel(fastmath=SUMS)
def _collect(weight, theta, total):
    for j in range(len(total)):
        total[j] += weight * theta[j]


@kernel
def walk_all(X, y, weights, terms, codes, dials, numbers, thresholds, starts, zeta, theta, total, scores):
    """The same in O(M) a step, for temperatures that change with every row and for any proxy."""
    features = len(starts) - 1
    splits = np.empty(features, dtype=np.int64)
    for i in range(len(y)):
        for f in range(features):
            x = X[i, f]
            count = starts[f + 1] - starts[f]
            splits[f] = -1 if np.isnan(x) else starts[f] + _below(thresholds, starts[f], count, x)
        left, first = weights[i], True
        while left > 0.0 or first:
            last, mean = 0.0, 0.0
            for f in range(features):
                if splits[f] >= 0:
                    last += _side(1.0, theta, starts[f], splits[f]) + _side(
                        -1.0, theta, splits[f], starts[f + 1]
                    )
                    if first and codes[AVERAGES]:
                        mean += _side(1.0, total, starts[f], splits[f])
                        mean += _side(-1.0, total, splits[f], starts[f + 1])
            if first:
                scores[i] = (mean + last) / (numbers[CLOCK] + 1.0) if codes[AVERAGES] else last
                first = False
            weight = min(left, 1.0)
            left -= weight
            if weight <= 0.0:
                continue
            step = _step(terms, dials, numbers, weight, last, y[i])
            _collect(weight, theta, total)
            if numbers[SQUARES] == 0.0 and codes[RULE] > DOUBLING:
                continue
            for f in range(features):
                if splits[f] >= 0:
                    _shift_side(step, zeta, starts[f], splits[f])
                    _shift_side(-step, zeta, splits[f], starts[f + 1])
            beta = _temperature(codes, dials, numbers)
            prox(codes[PROXY], OCTAHEDRON, dials[RADIUS], dials[EXPONENT], zeta, beta, theta)
