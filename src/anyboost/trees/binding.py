"""What the rules of a tree leave to the children of a split node: bounds on values, and columns to be cut along.

Trees without rules need none of this (see `splitting`).
"""

import math

import numpy as np

from anyboost.backends.compiler import bare, inlined, inner
from anyboost.backends.draws import mixed
from anyboost.trees.splitting import column_word
from anyboost.trees.worth import free_value


@inlined(early=True)
def _part_bounds(sign, left, right, limits, criterion, bounds, lower, upper):
    # The bounds (2, k) on the left and the right of a cut of a set within `bounds`, given the sums of its children.
    # Where the cut has an order, all that is under its lower child stays below the mean of its two values, and all that
    # is under its upper child above it. So a tree whose leaves keep their bounds keeps the order: moving along the
    # column can only move from the lower child of such a cut to the upper one.
    outputs = bounds.shape[1]
    for j in range(outputs):
        low, high = bounds[0, j], bounds[1, j]
        lower[0, j], lower[1, j] = low, high
        upper[0, j], upper[1, j] = low, high
        if sign == 0:
            continue
        p = min(max(free_value(left, outputs, j, limits, criterion), low), high)
        q = min(max(free_value(right, outputs, j, limits, criterion), low), high)
        middle = min(max((p + q) / 2, low), high)
        if sign > 0:
            lower[1, j], upper[0, j] = middle, middle
        else:
            lower[0, j], upper[1, j] = middle, middle


@bare
def draw_columns(share, key, own, words, looked):
    """The columns that a node looks at: of its own, the share with the smallest words; `words` is room for them."""
    count, none = 0, ~np.uint64(0)
    for c in range(own.shape[0]):
        count += own[c]
        words[c] = column_word(key, c) if own[c] else none
    wanted, limit = max(1, math.ceil(share * count)), none
    for bit in range(64):  # the smallest limit that lets enough in
        lower = limit ^ (np.uint64(1) << np.uint64(63 - bit))
        count = 0
        for c in range(words.shape[0]):
            count += words[c] <= lower
        limit = lower if count >= wanted else limit
    for c in range(own.shape[0]):
        looked[c] = own[c] and words[c] <= limit


@inner
def bind(rules, limits, parent, column, cut, left, totals, allowed):
    """Bounds and columns of the children `left` and `left` + 1 of a node that is cut; the order that they keep."""
    keys, sets, together, looked, bounds = rules.keys, rules.sets, rules.together, rules.looked, rules.bounds
    order = rules.signs[column] if 0 <= cut < rules.n_thresholds[column] else 0
    _part_bounds(
        order, totals[left], totals[left + 1], limits, rules.criterion, bounds[parent],
        bounds[left], bounds[left + 1],
    )  # fmt: skip
    for child in range(left, left + 2):
        keys[child] = mixed(keys[parent] + np.uint64(1 + child - left))
        if together.shape[0]:
            for c in range(allowed.shape[1]):
                allowed[child, c] = False
        for s in range(together.shape[0]):
            sets[child, s] = sets[parent, s] and together[s, column]
            if sets[child, s]:
                for c in range(allowed.shape[1]):
                    allowed[child, c] |= together[s, c] and allowed[parent, c]
        if rules.node_features < 1.0:
            draw_columns(rules.node_features, keys[child], allowed[child], rules.words, looked[child])
    return order
