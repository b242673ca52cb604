"""A tree as it grows, and the compiled code that grows it.

`advance` is the whole of it, for every kind of tree. Rows that it can reach itself it counts and parts on the spot,
with threads that work together: a call and a handing over a split would cost more than the split. For others it comes
back and is called again when they have answered (see `rows`). The histogram of the lighter child is counted, that of
the other one is what it leaves of the parent's. Open leaves keep their histograms in the slots of a slab; where those
are too few, the leaves that gain least give theirs up, and are counted again when their turn comes.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.atomics import rest
from anyboost.backends.compiler import bare, inlined, inner
from anyboost.backends.shared_work import claim, finish, publish, wait
from anyboost.trees.binding import bind
from anyboost.trees.counting import COUNTERS, count_columns, count_pairs, count_vectors
from anyboost.trees.histogram import gather, subtract, subtract_seen, take_channel, take_pairs
from anyboost.trees.partition import partition_part, place_of
from anyboost.trees.rules import TIE, Limits
from anyboost.trees.splitting import choose_cut, score_columns
from anyboost.trees.table import BINS

NODE = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("depth", np.int64),
        ("slot", np.int64),  # -1 where it has none
        ("column", np.int64),
        ("cut", np.int64),
        ("left", np.int64),  # 0 while it is a leaf
        ("order", np.int64),
        ("gain", np.float64),  # negative where no cut gains
    ]
)
STATE = np.dtype(
    [
        ("n_leaves", np.int64),
        ("n_nodes", np.int64),
        ("parent", np.int64),  # the node that was split last
        ("waiting", np.int64),  # what its children, or the root, wait for: see below; 0 for nothing
        ("small", np.int64),  # the child to count
        ("large", np.int64),  # the other one; -1 for the root, whose histogram is there
        ("both", np.int64),  # whether the other one is counted too
    ]
)


TO_BE_SCORED, TO_BE_COUNTED = 1, 2  # the second is the root, where its rows are inside


class Tree(NamedTuple):
    """A tree as it grows. Arrays by node have room for all that it may get."""

    state: np.ndarray  # (1,) of STATE
    nodes: np.ndarray  # of NODE
    totals: (
        np.ndarray
    )  # (nodes, channels): the sums of the targets, of curvatures, if there are any, and the mass
    lefts: np.ndarray  # the same on the left of the best cut
    goes_left: np.ndarray
    allowed: np.ndarray  # (nodes, columns)
    leaves: np.ndarray  # nodes, in order of age
    slab: np.ndarray  # (slots, columns * 256, channels)
    flat: np.ndarray  # (slots, columns * 256 * channels), the same memory
    holder: np.ndarray  # (slots,): the node whose histogram it is, -1 for none
    best: np.ndarray  # (2, columns): scores of the children's columns


class Search(NamedTuple):
    """What does not change while a tree grows."""

    groups: np.ndarray
    n_cuts: np.ndarray  # by column, padded to groups of eight
    limits: Limits
    max_leaves: int
    max_depth: int
    by_level: bool


@inlined(early=True)
def _next(tree, by_level):
    # The place in `leaves` of the one to split; -1 where none can be.
    leaves, nodes = tree.leaves[: tree.state[0].n_leaves], tree.nodes
    most, level = -1.0, 0
    for number in leaves:
        node = nodes[number]
        better = node.gain > most
        if by_level and node.depth != level:
            better = node.depth < level
        if node.gain >= 0.0 and (most < 0.0 or better):
            most, level = node.gain, node.depth
    for place in range(leaves.shape[0]):
        node = nodes[leaves[place]]
        if node.gain >= 0.0 and node.gain >= most * (1.0 - TIE) and (not by_level or node.depth == level):
            return place
    return -1


@inlined(early=True)
def _slot(tree, other):
    # A slot for a new histogram: a free one, or that of the leaf that gains least, but not that of its sibling.
    holder, nodes, found = tree.holder, tree.nodes, -1
    for slot in range(holder.shape[0]):
        if holder[slot] < 0:
            return slot
        worse = found < 0 or nodes[holder[slot]].gain < nodes[holder[found]].gain
        if holder[slot] != other and worse:
            found = slot
    nodes[holder[found]].slot = -1
    return found


@inlined(early=True)
def _open(search, tree, rules, place):
    # Split a leaf: its children, and what has to be counted for them.
    state, nodes, leaves, totals, lefts = tree.state[0], tree.nodes, tree.leaves, tree.totals, tree.lefts
    holder, allowed, limits = tree.holder, tree.allowed, search.limits
    number, left, last = leaves[place], state.n_nodes, totals.shape[1] - 1
    parent = nodes[number]
    parent.left = left
    depth, slot = parent.depth + 1, parent.slot
    for j in range(last + 1):
        totals[left, j] = lefts[number, j]
        totals[left + 1, j] = totals[number, j] - lefts[number, j]
    for child in range(left, left + 2):
        nodes[child].depth, nodes[child].gain, nodes[child].slot = depth, -1.0, -1
        for c in range(allowed.shape[1]):
            allowed[child, c] = allowed[number, c]
    if rules is not None:
        parent.order = bind(rules, limits, number, parent.column, parent.cut, left, totals, allowed)
    # Children are younger than every other leaf: the list stays in order of age.
    for younger in range(place, state.n_leaves - 1):
        leaves[younger] = leaves[younger + 1]
    leaves[state.n_leaves - 1], leaves[state.n_leaves] = left, left + 1
    state.parent, state.n_nodes, state.n_leaves = number, left + 2, state.n_leaves + 1
    lighter = totals[left + 1, last] < totals[left, last]
    small, large = left + lighter, left + 1 - lighter
    state.small, state.large, state.both = small, large, slot < 0
    state.waiting = (
        state.n_leaves < search.max_leaves
        and depth != search.max_depth
        and totals[large, last] >= 2 * limits.least  # else neither can be split again
    )
    if not state.waiting:
        if slot >= 0:
            holder[slot] = -1
        return
    for which in range(2):
        child = large if which == 0 else small
        if slot < 0 or which == 1:
            slot = _slot(tree, large)
        holder[slot] = child
        nodes[child].slot = slot


@inlined(early=True)
def _take_in(search, tree, scratch, categorical, rules, bends):
    # The best cuts of the nodes that were waited for, by the scores of their columns.
    state, nodes, best, allowed, lefts = tree.state[0], tree.nodes, tree.best, tree.allowed, tree.lefts
    slab, totals, goes_left, holder = tree.slab, tree.totals, tree.goes_left, tree.holder
    state.waiting = 0
    for which in range(1 + (state.large >= 0)):
        number = state.small if which == 0 else state.large
        node = nodes[number]
        sums = slab[node.slot]
        column, cut, gain = choose_cut(
            sums, search.n_cuts, categorical, totals[number], search.limits, best[which], scratch,
            goes_left[number], rules, number, bends,
        )  # fmt: skip
        node.column, node.cut, node.gain = column, cut, gain
        if rules is None or not (rules.ordered or rules.node_features < 1.0 or rules.node_thresholds > 0):
            # What no cut parts here, for a child would be too light, none parts below.
            for c in range(best.shape[1]):
                allowed[number, c] &= best[which, c] > -np.inf
        if column >= 0:
            gather(sums, column, goes_left[number], lefts[number])
        else:
            holder[node.slot] = -1
            node.slot = -1


@inlined(early=True)
def _of_all(inside):
    # Whether the root has all rows: then they are listed in their order, or not at all.
    listed = inside.list.shape[0]
    return listed == 0 or listed == inside.words.shape[1]


@inner
def _survey(groups, search, tree, inside, scratch, categorical, rules, bends):
    # Histograms of the nodes that wait, where rows are inside, and scores of all cuts, for some groups of columns.
    # The lighter child is counted, and subtracted from what was its parent's histogram and becomes the other's.
    # A root that is to be counted is not scored: its total is not known yet.
    # A kernel of its own: written into `advance`, it made trees of several outputs a tenth slower.
    state, nodes, slab, totals, best = tree.state[0], tree.nodes, tree.slab, tree.totals, tree.best
    words, n_columns, taken, n_cuts = inside.words, inside.n_columns, inside.taken, search.n_cuts
    small, large, root = state.small, state.large, state.waiting == TO_BE_COUNTED
    everything = root and _of_all(inside)
    if words.size and (large >= 0 or root):
        first = nodes[state.parent].start if state.both else nodes[small].start
        for which in range(1 + state.both):
            node = nodes[small if which == 0 else large]
            # No rows are named where it is all of them.
            rows, sums = inside.list[node.start : node.start if everything else node.stop], slab[node.slot]
            if rules is not None and inside.vectors.size:
                own_flat = tree.flat[node.slot]
                count_vectors(words, groups, n_cuts, n_columns, inside.vectors, rows, True, own_flat)
            if bends is not None and inside.pairs.size:
                own_pairs = inside.taken_pairs[node.start - first : node.stop - first]
                if everything:
                    own_pairs = inside.pairs[0 : words.shape[1]]
                count_pairs(
                    words, groups, n_cuts, n_columns, own_pairs, rows, inside.chunk, inside.shift,
                    scratch.counters, sums,
                )  # fmt: skip
            for j in range(taken.shape[0]):
                own = taken[j, node.start - first : node.stop - first]
                if everything:
                    own = inside.columns[j, 0 : words.shape[1]]
                count_columns(
                    words, groups, n_cuts, n_columns, own, rows, inside.chunk, inside.shift,
                    j, scratch.counters, sums,
                )  # fmt: skip
    if root:
        return
    if large >= 0 and not state.both:
        sums, part = tree.flat[nodes[large].slot], tree.flat[nodes[small].slot]
        if rules is not None and inside.vectors.size and search.limits.whole:
            subtract_seen(sums, part, slab.shape[2], groups, n_cuts)
        else:
            subtract(sums, part, slab.shape[2], groups, n_cuts)
    for which in range(1 + (large >= 0)):
        node = small if which == 0 else large
        looked = tree.allowed[node] if rules is None else rules.looked[node]
        score_columns(
            slab[nodes[node].slot], groups, n_cuts, categorical, totals[node], search.limits, looked, scratch,
            rules, node, bends, best[which],
        )  # fmt: skip


@inlined(early=True)
def _add_up(tree, group):
    # The root's total, by the bins of any column.
    slab, totals = tree.slab[0], tree.totals[0]
    for j in range(totals.shape[0]):
        totals[j] = 0
        for entry in range(COUNTERS * group, COUNTERS * group + BINS):
            totals[j] += slab[entry, j]


@inlined(early=True)
def _part(tree, inside):
    # Rows of the node that was split, to its children.
    nodes, spare = tree.nodes, inside.spare
    number = tree.state[0].parent
    parent = nodes[number]
    start, stop, column, left = parent.start, parent.stop, parent.column, parent.left
    own, table = inside.list[start:stop], tree.goes_left[number].view(np.uint8)
    (word, shift), n_left = place_of(column), 0
    if own.size:
        n_left = partition_part(inside.words[word], shift, table, own, spare, 0, stop - start)
        for r in range(stop - start - n_left):
            own[n_left + r] = spare[r]
    nodes[left].start, nodes[left].stop = start, start + n_left
    nodes[left + 1].start, nodes[left + 1].stop = start + n_left, stop


@inlined(early=True)
def _end(tree):
    # What is known of cuts of leaves will not be done.
    nodes, goes_left = tree.nodes, tree.goes_left
    for number in tree.leaves[: tree.state[0].n_leaves]:
        nodes[number].column, nodes[number].cut, nodes[number].gain = -1, 0, 0.0
        for b in range(goes_left.shape[1]):
            goes_left[number, b] = False


@inlined(early=True)
def _take_channels(tree, inside, bends):
    # Entries of the rows to count, side by side.
    state, columns, taken = tree.state[0], inside.columns, inside.taken
    counted = tree.nodes[state.parent if state.both else state.small]
    rows = inside.list[counted.start : counted.stop]
    if bends is not None and inside.pairs.size:
        take_pairs(inside.pairs, rows, inside.taken_pairs)
    for j in range(columns.shape[0]):
        take_channel(columns[j], rows, taken[j])


@bare
def advance(sync, leads, search, tree, inside, scratch, categorical, rules, bends):
    """Grow on from where `tree` stands; whether it waits for rows that are not `inside`.

    One thread leads. Others take part in the survey of columns until they are dismissed: where nothing is left to
    claim, the leader goes on to the next split, and they wait for it. `categorical` (columns,), `rules` and `bends`
    (256,) are None where a tree has none, or no curvature (see `splitting`).
    """
    state, groups, looks = tree.state[0], search.groups.shape[0], 0
    if leads and state.waiting:
        if state.waiting == TO_BE_COUNTED and not _of_all(inside):
            _take_channels(tree, inside, bends)
        publish(sync)
    while True:
        number = claim(sync, groups)
        if number >= 0:
            _survey(
                search.groups[number : number + 1], search, tree, inside, scratch, categorical, rules, bends
            )
            finish(sync)
            looks = 0
            continue
        if not leads:
            if number == -2:
                return False
            looks = rest(looks)
            continue
        if state.waiting:
            wait(sync, groups)
            if state.waiting == TO_BE_COUNTED:
                _add_up(tree, search.groups[0])
                state.waiting = TO_BE_SCORED
                publish(sync)
                continue
            _take_in(search, tree, scratch, categorical, rules, bends)
        place = _next(tree, search.by_level) if state.n_leaves < search.max_leaves else -1
        if place < 0:
            _end(tree)
            return False
        _open(search, tree, rules, place)
        if inside.words.size == 0:
            return True
        _part(tree, inside)
        if state.waiting:
            _take_channels(tree, inside, bends)
            publish(sync)
