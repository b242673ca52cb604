"""A whole tree in one call, on which threads work together: a call and a handing over a split would cost too much.

It takes the steps of `weak.grow`, and makes the same tree to the bit: the histogram of the smaller child is counted,
that of the larger one is what it leaves of the parent's. Every open leaf has its histogram in a slot of `slab`.
"""

import numpy as np

from anyboost.backends.atomics import rest
from anyboost.backends.compiler import kernel
from anyboost.backends.histogram import count_columns, count_vectors, gather, subtract, take_channel
from anyboost.backends.partition import partition_part
from anyboost.backends.sides import TIE
from anyboost.backends.split import choose_cut, score_columns
from anyboost.backends.team import claim, finish, publish, wait

# Rows of `places`, by node: where its rows begin and end, its depth, its slot, and its best cut's column and bin.
START, STOP, DEPTH, SLOT, COLUMN, BIN = 0, 1, 2, 3, 4, 5
PLACES = 6


@kernel
def _work(number, job, words, groups, n_cuts, n_columns, allowed, taken, vectors, shift, chunk, limits, rows, slab,
          totals, best):  # fmt: skip
    # One group of columns of a job: count the smaller child, subtract it from the larger one, score the cuts of both.
    # Channels are those in `taken` (channels, rows), taken for the job, or all of `vectors` (n, channels).
    noise, l2, least, criterion = limits
    start, stop, small, small_slot, large, large_slot = job[0], job[1], job[2], job[3], job[4], job[5]
    group = groups[number : number + 1]
    some, counted, left_over = rows[start:stop], slab[small_slot], slab[large_slot]
    if vectors.size:
        count_vectors(words, group, n_cuts, n_columns, vectors, some, True, counted)
    else:
        for j in range(taken.shape[0]):
            count_columns(words, group, n_columns, taken[j, : stop - start], some, chunk, shift, j, counted)
    subtract(left_over, counted, group, n_cuts)
    score_columns(counted, group, totals[small], noise, l2, least, n_cuts, allowed, criterion, best[0])
    score_columns(left_over, group, totals[large], noise, l2, least, n_cuts, allowed, criterion, best[1])


@kernel
def assist(sync, job, words, groups, n_cuts, n_columns, allowed, taken, vectors, shift, chunk, limits, rows, slab,
           totals, best):  # fmt: skip
    """Take part in `branch` from another thread, until it is through."""
    looks = 0
    while True:
        number = claim(sync, groups.shape[0])
        if number == -2:
            return
        if number == -1:
            looks = rest(looks)
            continue
        _work(number, job, words, groups, n_cuts, n_columns, allowed, taken, vectors, shift, chunk, limits, rows,
              slab, totals, best)  # fmt: skip
        finish(sync)
        looks = 0


@kernel
def _look(node, slab, n_cuts, limits, best, places, totals, lefts, tables, gains):
    # The best cut of a leaf, by the scores of its columns; its gain is -1 where there is none.
    noise, l2, least, criterion = limits
    sums = slab[places[SLOT, node]]
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
    level = depths.shape[0]  # no node is as deep
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
    sync, job, words, groups, n_cuts, n_columns, allowed, taken, vectors, shift, chunk, limits, rows, slab, totals,
    best, columns, max_leaves, max_depth, by_level, spare, places, lefts, tables, gains, leaves, left, right,
):  # fmt: skip
    """Grow from the root, whose histogram is in slot 0 and whose totals are known; the number of leaves.

    `columns` (channels, n) are the channels, each by itself, where they are not `vectors`. `leaves` becomes the
    leaves' nodes, in order of age; left[node] is 0 where a node has not been split. Others may `assist`, until the
    caller dismisses them.
    """
    n_leaves, n_nodes, n_slots = 1, 1, 1
    free, n_free = np.empty(slab.shape[0], dtype=np.int64), 0
    places[START, 0], places[STOP, 0], places[DEPTH, 0], places[SLOT, 0] = 0, rows.shape[0], 0, 0
    leaves[0] = 0
    noise, l2, least, criterion = limits
    score_columns(slab[0], groups, totals[0], noise, l2, least, n_cuts, allowed, criterion, best[0])
    _look(0, slab, n_cuts, limits, best[0], places, totals, lefts, tables, gains)
    while n_leaves < max_leaves:
        place = _next(leaves[:n_leaves], gains, places[DEPTH], by_level)
        if place < 0:
            break
        node = leaves[place]
        start, stop, slot = places[START, node], places[STOP, node], places[SLOT, node]
        column = places[COLUMN, node]
        own = rows[start:stop]
        shift_of_column = 8 * (column & 7)
        n_left = partition_part(
            words[column >> 3], shift_of_column, tables[node].view(np.uint8), own, spare, 0, stop - start
        )
        for r in range(stop - start - n_left):
            own[n_left + r] = spare[r]
        left[node], right[node] = n_nodes, n_nodes + 1
        depth = places[DEPTH, node] + 1
        for child in range(n_nodes, n_nodes + 2):
            places[DEPTH, child] = depth
            gains[child] = -1.0
        places[START, n_nodes], places[STOP, n_nodes] = start, start + n_left
        places[START, n_nodes + 1], places[STOP, n_nodes + 1] = start + n_left, stop
        for j in range(totals.shape[1]):
            totals[n_nodes, j] = lefts[node, j]
            totals[n_nodes + 1, j] = totals[node, j] - lefts[node, j]
        for younger in range(place, n_leaves - 1):
            leaves[younger] = leaves[younger + 1]
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
        start, stop = places[START, small], places[STOP, small]
        for j in range(columns.shape[0]):
            take_channel(columns[j], rows[start:stop], taken[j])
        job[0], job[1], job[2], job[3], job[4], job[5] = start, stop, small, places[SLOT, small], large, slot
        publish(sync)
        number = claim(sync, groups.shape[0])
        while number >= 0:
            _work(number, job, words, groups, n_cuts, n_columns, allowed, taken, vectors, shift, chunk, limits,
                  rows, slab, totals, best)  # fmt: skip
            finish(sync)
            number = claim(sync, groups.shape[0])
        wait(sync, groups.shape[0])
        for which, child in ((0, small), (1, large)):
            _look(child, slab, n_cuts, limits, best[which], places, totals, lefts, tables, gains)
            if gains[child] < 0.0:
                free[n_free] = places[SLOT, child]
                n_free += 1
    return n_leaves
