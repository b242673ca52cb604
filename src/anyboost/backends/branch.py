"""A whole tree in one call, for samples so small that calls and threads would cost more than the work.

It takes the steps of `weak.grow`, and makes the same tree to the bit: the histogram of the smaller child is counted,
that of the larger one is what it leaves of the parent's. Every open leaf has its histogram in a slot of `slab`.
"""

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.histogram import _count_columns, _count_vectors, _take, gather, subtract
from anyboost.backends.partition import _partition
from anyboost.backends.sides import TIE
from anyboost.backends.split import choose_cut, score_columns

# Rows of `places`, by node: where its rows begin and end, its depth, its slot, and its best cut's column and bin.
START, STOP, DEPTH, SLOT, COLUMN, BIN = 0, 1, 2, 3, 4, 5
PLACES = 6


@kernel
def _count(words, groups, n_cuts, n_columns, columns, vectors, shift, chunk, rows, spare, sums):
    # `columns` (channels, n), each channel by itself, or `vectors` (n, channels); the other one is empty.
    if vectors.size:
        _count_vectors(words, groups, n_cuts, n_columns, vectors, rows, True, sums)
        return
    for j in range(columns.shape[0]):
        values = spare[: rows.shape[0]]
        _take(columns[j], rows, values)
        _count_columns(words, groups, n_columns, values, rows, chunk, shift, j, sums)


@kernel
def _look(node, slab, groups, n_cuts, allowed, limits, best, places, totals, lefts, tables, gains):
    # The best cut of a leaf; its gain is -1 where there is none.
    noise, l2, least, criterion = limits
    sums = slab[places[SLOT, node]]
    score_columns(sums, groups, totals[node], noise, l2, least, n_cuts, allowed, criterion, best)
    column, cut, score, whole = choose_cut(
        sums, totals[node], noise, l2, least, n_cuts, criterion, best, tables[node]
    )
    places[COLUMN, node], places[BIN, node] = column, cut
    gains[node] = score - whole if column >= 0 else -1.0
    if column >= 0:
        gather(sums, column, tables[node], lefts[node])


@kernel
def _next(leaves, gains, depths, by_level):
    # The place in `leaves`, which are in order of age, of the one to split; -1 where none can be.
    level = depths.max() + 1
    for node in leaves:
        if gains[node] >= 0.0:
            level = min(level, depths[node])
    most = -1.0
    for node in leaves:
        if not by_level or depths[node] == level:
            most = max(most, gains[node])
    if most < 0.0:
        return -1
    for place in range(leaves.shape[0]):
        node = leaves[place]
        if (
            gains[node] >= most * (1.0 - TIE)
            and gains[node] >= 0.0
            and (not by_level or depths[node] == level)
        ):
            return place
    return -1


@kernel
def branch(
    words, groups, n_cuts, n_columns, allowed, columns, vectors, shift, chunk, limits, max_leaves, max_depth,
    by_level, rows, spare_rows, spare, slab, best, places, totals, lefts, tables, gains, leaves, left, right,
):  # fmt: skip
    """Grow from the root, whose histogram is in slot 0 and whose totals are known; the number of leaves.

    `leaves` becomes the leaves' nodes, in order of age; left[node] is 0 where a node has not been split.
    """
    n_leaves, n_nodes, n_slots = 1, 1, 1
    free, n_free = np.empty(slab.shape[0], dtype=np.int64), 0
    places[START, 0], places[STOP, 0], places[DEPTH, 0], places[SLOT, 0] = 0, rows.shape[0], 0, 0
    leaves[0] = 0
    _look(0, slab, groups, n_cuts, allowed, limits, best, places, totals, lefts, tables, gains)
    while n_leaves < max_leaves:
        place = _next(leaves[:n_leaves], gains, places[DEPTH], by_level)
        if place < 0:
            break
        node = leaves[place]
        start, stop, slot = places[START, node], places[STOP, node], places[SLOT, node]
        column = places[COLUMN, node]
        own = rows[start:stop]
        shift_of_column = 8 * (column & 7)
        n_left = _partition(
            words[column >> 3], shift_of_column, tables[node].view(np.uint8), own, spare_rows, 0, stop - start
        )
        own[n_left:] = spare_rows[: stop - start - n_left]
        left[node], right[node] = n_nodes, n_nodes + 1
        depth = places[DEPTH, node] + 1
        for child in range(n_nodes, n_nodes + 2):
            places[DEPTH, child] = depth
            gains[child] = -1.0
        places[START, n_nodes], places[STOP, n_nodes] = start, start + n_left
        places[START, n_nodes + 1], places[STOP, n_nodes + 1] = start + n_left, stop
        totals[n_nodes] = lefts[node]
        totals[n_nodes + 1] = totals[node] - lefts[node]
        leaves[place : n_leaves - 1] = leaves[place + 1 : n_leaves].copy()
        leaves[n_leaves - 1], leaves[n_leaves] = n_nodes, n_nodes + 1
        n_leaves += 1
        small, large = n_nodes, n_nodes + 1
        n_nodes += 2
        if n_leaves == max_leaves or depth == max_depth:
            free[n_free] = slot
            n_free += 1
            continue
        if stop - start - n_left < n_left:
            small, large = large, small
        if n_free:
            n_free -= 1
            places[SLOT, small] = free[n_free]
        else:
            places[SLOT, small] = n_slots
            n_slots += 1
        places[SLOT, large] = slot
        counted = slab[places[SLOT, small]]
        some = rows[places[START, small] : places[STOP, small]]
        _count(words, groups, n_cuts, n_columns, columns, vectors, shift, chunk, some, spare, counted)
        subtract(slab[slot], counted, groups, n_cuts)
        for child in (small, large):
            _look(child, slab, groups, n_cuts, allowed, limits, best, places, totals, lefts, tables, gains)
            if gains[child] < 0.0:
                free[n_free] = places[SLOT, child]
                n_free += 1
    return n_leaves
