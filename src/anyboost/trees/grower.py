"""Growing one tree on binned rows, best leaf first or level by level.

The next leaf to split is the one whose best cut gains most; gains within 1e-9 of the largest are equal, and then the
oldest leaf goes first. A tree stops where no cut gains.

`_advance` is the whole of it, compiled, for every kind of tree. Rows that it can reach itself it counts and parts on
the spot, with threads that work together: a call and a handing over a split would cost more than the split. For others
it comes back and is called again when they have answered (see `rows`). The histogram of the lighter child is counted,
that of the other one is what it leaves of the parent's. Open leaves keep their histograms in the slots of a slab; where
those are too few, the leaves that gain least give theirs up, and are counted again when their turn comes.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends import team, threads
from anyboost.backends.atomics import rest
from anyboost.backends.compiler import bare, inlined
from anyboost.backends.draws import STEP, mixed
from anyboost.backends.sums import Fixed
from anyboost.backends.team import claim, finish, publish, wait
from anyboost.trees.histogram import Root, count_columns, count_vectors, gather, subtract, take_channel
from anyboost.trees.partition import leaf_masses, partition_part
from anyboost.trees.rows import Ground, Rows
from anyboost.trees.splitting import (
    EXTREME,
    LEAST_SQUARES,
    TIE,
    Columns,
    Limits,
    Scratch,
    choose_cut,
    part_bounds,
    score_columns,
)
from anyboost.trees.table import BINS, GROUP, Bins

MOST_MEMORY = 2**27  # bytes of histograms that open leaves keep
_SMALL = 300_000  # updates of the root's counters under which other threads are left alone


class Growth(NamedTuple):
    """What a tree may become; `noise`, `l2` and `least` are in units of fixed mass."""

    max_leaves: int
    max_depth: int | None = None
    criterion: int = LEAST_SQUARES
    by_level: bool = False
    noise: float = 0.0
    least: float = 0.0
    l2: float = 0.0
    signs: tuple[int, ...] | None = None  # of each column: 1 where values must not fall along it, -1 not rise
    together: tuple[tuple[int, ...], ...] | None = None  # the columns of a branch must share one of these
    node_features: float = 1.0  # the share of columns that a node may be cut along
    key: int = 0  # by which they are drawn


class Plan(NamedTuple):
    """What rows have to know of the tree that is to be grown on them."""

    drawn: np.ndarray | None  # the rows under it, all for None
    parts: bool  # whether nodes will be parted; else only the root's histogram is asked for
    shares: list[np.ndarray]  # the groups of columns to count, in a part for each thread
    last: Root | None  # what is remembered of the last tree's root, where that helps


class Shape(NamedTuple):
    """A grown tree: nodes in the order they were made, the root first; leaves in the order of their age."""

    feature: np.ndarray  # (nodes,), -1 at leaves
    bin: np.ndarray  # the last that goes left; -1 for a set of categories
    goes_left: np.ndarray  # (nodes, 256)
    left: np.ndarray
    right: np.ndarray
    order: np.ndarray  # 1 where the right side must not be under the left one, -1 not above
    gain: np.ndarray  # (nodes,): in units of the fixed targets squared over mass; 0 at leaves
    masses: np.ndarray  # (nodes,): whole numbers, of the rows it was grown on
    leaf_nodes: np.ndarray  # (leaves,)
    starts: np.ndarray  # (leaves,): where a leaf's rows lie in the list
    stops: np.ndarray


class Grown(NamedTuple):
    """A tree's shape, the integer sums in its leaves, and the leaf of each row."""

    shape: Shape
    sums: np.ndarray  # (leaves, k)
    masses: np.ndarray  # (leaves,)
    bounds: np.ndarray  # (leaves, 2, k): of raw values, sum over mass
    leaf: np.ndarray  # (n,)
    cover: np.ndarray  # (nodes,): the mass of all rows, also of those it was not grown on


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
        ("key", np.uint64),  # that of the way to it, by which columns are drawn
    ]
)
STATE = np.dtype(
    [
        ("n_leaves", np.int64),
        ("n_nodes", np.int64),
        ("parent", np.int64),  # the node that was split last
        ("waiting", np.int64),  # whether histograms and scores of its children, or of the root, are to come
        ("small", np.int64),  # the child to count
        ("large", np.int64),  # the other one; -1 for the root
        ("both", np.int64),  # whether the other one is counted too
    ]
)


class Tree(NamedTuple):
    """A tree as it grows. Arrays by node have room for all that it may get."""

    state: np.ndarray  # (1,) of STATE
    nodes: np.ndarray  # of NODE
    totals: np.ndarray  # (nodes, k + 1): the sums of the targets, and the mass
    lefts: np.ndarray  # the same on the left of the best cut
    goes_left: np.ndarray
    bounds: np.ndarray  # (nodes, 2, k)
    allowed: np.ndarray  # (nodes, columns)
    looked: np.ndarray  # (nodes, columns): those drawn for the node; `allowed` itself where all are
    sets: np.ndarray  # (nodes, sets): of the sets of columns that keep together, those that hold its branch
    leaves: np.ndarray  # nodes, in order of age
    slab: np.ndarray  # (slots, columns * 256, k + 1)
    holder: np.ndarray  # (slots,): the node whose histogram it is, -1 for none
    best: np.ndarray  # (2, columns): scores of the children's columns


class Search(NamedTuple):
    """What does not change while a tree grows."""

    groups: np.ndarray
    columns: Columns
    limits: Limits
    together: np.ndarray  # (sets, columns)
    max_leaves: int
    max_depth: int
    by_level: bool
    node_features: float


class Inside(NamedTuple):
    """Rows that compiled code reaches itself; without `words` it has to ask for them."""

    words: np.ndarray
    n_columns: int
    list: np.ndarray
    spare: np.ndarray
    columns: np.ndarray  # (channels, n), each channel by itself, or
    vectors: np.ndarray  # (n, channels), a row's together
    taken: np.ndarray  # (channels, rows): the columns' entries of the rows to count
    shift: int
    chunk: int


_NO_CHANNELS = np.empty((0, 0), dtype=np.int64)
_NO_ROWS = np.empty(0, dtype=np.uint32)
ELSEWHERE = Inside(
    np.empty((0, 0), dtype=np.uint64), 0, _NO_ROWS, _NO_ROWS, _NO_CHANNELS, _NO_CHANNELS, _NO_CHANNELS, 0, 1
)


@inlined
def _next(search, tree):
    # The place in `leaves` of the one to split; -1 where none can be.
    leaves, nodes = tree.leaves[: tree.state[0].n_leaves], tree.nodes
    level = nodes.shape[0]  # no node is as deep
    for node in leaves:
        if nodes[node].gain >= 0.0:
            level = min(level, nodes[node].depth)
    most = -1.0
    for node in leaves:
        if not search.by_level or nodes[node].depth == level:
            most = max(most, nodes[node].gain)
    if most < 0.0:
        return -1
    for place in range(leaves.shape[0]):
        node = nodes[leaves[place]]
        if (
            node.gain >= 0.0
            and node.gain >= most * (1.0 - TIE)
            and (not search.by_level or node.depth == level)
        ):
            return place
    return -1


@inlined
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


@inlined
def _allow(search, tree, node, parent):
    # The columns that a child of a split node may be cut along.
    # Fields of tuples are taken once: each look at one costs time to compile.
    allowed, own_sets, together = tree.allowed, tree.sets, search.together
    column, sets = tree.nodes[parent].column, together.shape[0]
    for c in range(allowed.shape[1]):
        allowed[node, c] = allowed[parent, c] and sets == 0
    for s in range(sets):
        own_sets[node, s] = own_sets[parent, s] and together[s, column]
        if own_sets[node, s]:
            for c in range(allowed.shape[1]):
                allowed[node, c] |= together[s, c] and allowed[parent, c]


@inlined
def _column_word(key, column):
    return mixed(key ^ mixed(np.uint64(column + 1) * STEP))


@bare
def _draw(share, key, own, looked):
    """The columns that a node looks at: of its own, the share with the smallest words."""
    count = 0
    for c in range(own.shape[0]):
        count += own[c]
    wanted, limit = max(1, math.ceil(share * count)), ~np.uint64(0)
    for bit in range(64):  # the smallest limit that lets enough in
        lower = limit ^ (np.uint64(1) << np.uint64(63 - bit))
        count = 0
        for c in range(own.shape[0]):
            count += own[c] and _column_word(key, c) <= lower
        limit = lower if count >= wanted else limit
    for c in range(own.shape[0]):
        looked[c] = own[c] and _column_word(key, c) <= limit


@inlined
def _open(search, tree, place):
    # Split a leaf: its children, and what has to be counted for them.
    state, nodes, leaves, totals, lefts = tree.state[0], tree.nodes, tree.leaves, tree.totals, tree.lefts
    bounds, holder, limits = tree.bounds, tree.holder, search.limits
    parent = leaves[place]
    left, right = state.n_nodes, state.n_nodes + 1
    state.parent, state.waiting = parent, 0
    state.n_nodes += 2
    nodes[parent].left = left
    depth, slot = nodes[parent].depth + 1, nodes[parent].slot
    for j in range(totals.shape[1]):
        totals[left, j] = lefts[parent, j]
        totals[right, j] = totals[parent, j] - lefts[parent, j]
    columns, column = search.columns, nodes[parent].column
    if 0 <= nodes[parent].cut < columns.n_thresholds[column]:
        nodes[parent].order = columns.signs[column]
    part_bounds(
        nodes[parent].order, totals[left], totals[right], limits, bounds[parent],
        bounds[left], bounds[right],
    )  # fmt: skip
    for child in (left, right):
        nodes[child].depth, nodes[child].gain, nodes[child].slot = depth, -1.0, -1
        nodes[child].key = mixed(nodes[parent].key + np.uint64(1 + child - left))
        _allow(search, tree, child, parent)
        if search.node_features < 1.0:
            _draw(search.node_features, nodes[child].key, tree.allowed[child], tree.looked[child])
    # Children are younger than every other leaf: the list stays in order of age.
    for younger in range(place, state.n_leaves - 1):
        leaves[younger] = leaves[younger + 1]
    leaves[state.n_leaves - 1], leaves[state.n_leaves] = left, right
    state.n_leaves += 1
    if state.n_leaves == search.max_leaves or depth == search.max_depth:
        if slot >= 0:
            holder[slot] = -1
        return
    last = totals.shape[1] - 1
    state.small, state.large = left, right
    if totals[right, last] < totals[left, last]:
        state.small, state.large = right, left
    if totals[state.large, last] < 2 * limits.least:  # neither can be split again
        if slot >= 0:
            holder[slot] = -1
        return
    state.both = slot < 0
    for child in (state.large, state.small):
        if slot < 0 or child == state.small:
            slot = _slot(tree, state.large)
        holder[slot] = child
        nodes[child].slot = slot
    state.waiting = 1


@inlined
def _take_in(search, tree, scratch):
    # The best cuts of the nodes that were waited for, by the scores of their columns.
    state, nodes, best, allowed, goes_left = (
        tree.state[0],
        tree.nodes,
        tree.best,
        tree.allowed,
        tree.goes_left,
    )
    slab, totals, bounds, lefts, limits = tree.slab, tree.totals, tree.bounds, tree.lefts, search.limits
    state.waiting = 0
    for which in range(2):
        node = state.small if which == 0 else state.large
        if node < 0:
            continue
        sums = slab[nodes[node].slot]
        column, cut, gain = choose_cut(
            sums, search.columns, totals[node], limits, bounds[node], best[which],
            scratch, goes_left[node],
        )  # fmt: skip
        nodes[node].column, nodes[node].cut, nodes[node].gain = column, cut, gain
        if not limits.ordered and search.node_features == 1.0:
            # What no cut parts here, for a side would be too light, none parts below.
            for c in range(best.shape[1]):
                allowed[node, c] &= best[which, c] > -np.inf
        if column >= 0:
            gather(sums, column, goes_left[node], lefts[node])
        else:
            tree.holder[nodes[node].slot] = -1
            nodes[node].slot = -1


@bare
def _survey(groups, search, tree, inside, scratch):
    """Histograms of the nodes that wait, where rows are inside, and scores of all cuts, for some groups of columns.

    The lighter child is counted, and subtracted from what was its parent's histogram and becomes the other's.
    """
    state, nodes, slab, columns = tree.state[0], tree.nodes, tree.slab, search.columns
    words, listed, n_cuts = inside.words, inside.list, columns.n_cuts
    small, large = state.small, state.large
    if words.size:
        first = nodes[state.parent].start if state.both else nodes[small].start
        for which in range(1 + state.both):
            node = nodes[small if which == 0 else large]
            rows, sums = listed[node.start : node.stop], slab[node.slot]
            if inside.vectors.size:
                count_vectors(words, groups, n_cuts, inside.n_columns, inside.vectors, rows, True, sums)
            for j in range(inside.taken.shape[0]):
                taken = inside.taken[j, node.start - first : node.stop - first]
                count_columns(
                    words, groups, n_cuts, inside.n_columns, taken, rows, inside.chunk, inside.shift,
                    j, scratch.counters, sums,
                )  # fmt: skip
    if large >= 0 and not state.both:
        subtract(slab[nodes[large].slot], slab[nodes[small].slot], groups, n_cuts)
    for which in range(1 + (large >= 0)):
        node = small if which == 0 else large
        score_columns(
            slab[nodes[node].slot], groups, columns, tree.totals[node], search.limits, tree.bounds[node],
            tree.looked[node], scratch, tree.best[which],
        )  # fmt: skip


@bare
def _assist(sync, search, tree, inside, scratch):
    # Take part in `_advance` from another thread, until it is through.
    looks = 0
    while True:
        number = claim(sync, search.groups.shape[0])
        if number == -2:
            return
        if number == -1:
            looks = rest(looks)
            continue
        _survey(search.groups[number : number + 1], search, tree, inside, scratch)
        finish(sync)
        looks = 0


@inlined
def _part(tree, inside):
    # Rows of the node that was split, to its children.
    nodes, spare = tree.nodes, inside.spare
    parent = tree.state[0].parent
    start, stop, column = nodes[parent].start, nodes[parent].stop, nodes[parent].column
    own, table = inside.list[start:stop], tree.goes_left[parent].view(np.uint8)
    words, n_left = inside.words[column >> 3], 0
    if own.size:
        n_left = partition_part(words, 8 * (column & 7), table, own, spare, 0, stop - start)
        for r in range(stop - start - n_left):
            own[n_left + r] = spare[r]
    left = nodes[parent].left
    nodes[left].start, nodes[left].stop = start, start + n_left
    nodes[left + 1].start, nodes[left + 1].stop = start + n_left, stop


@bare
def _advance(sync, search, tree, inside, scratch):
    """Grow on from where `tree` stands; whether it waits for rows that are not `inside`."""
    state, nodes, all_groups = tree.state[0], tree.nodes, search.groups
    groups, listed, columns, taken = all_groups.shape[0], inside.list, inside.columns, inside.taken
    elsewhere = inside.words.size == 0
    while True:
        if state.waiting:
            _take_in(search, tree, scratch)
        place = _next(search, tree) if state.n_leaves < search.max_leaves else -1
        if place < 0:
            return False
        _open(search, tree, place)
        if elsewhere:
            return True
        _part(tree, inside)
        if state.waiting:
            counted = nodes[state.parent if state.both else state.small]
            for j in range(columns.shape[0]):
                take_channel(columns[j], listed[counted.start : counted.stop], taken[j])
            publish(sync)
            number = claim(sync, groups)
            while number >= 0:
                _survey(all_groups[number : number + 1], search, tree, inside, scratch)
                finish(sync)
                number = claim(sync, groups)
            wait(sync, groups)


def least_mass(least: float) -> int:
    """The smallest whole mass that is `least`, but for rounding, and never 0; no more than any sample has."""
    return max(1, math.ceil(min(least * (1.0 - TIE), 2.0**62)))


def grow(
    rows: Rows,
    bins: Bins,
    fixed: Fixed,
    growth: Growth,
    drawn: np.ndarray | None = None,
    features: np.ndarray | None = None,
    masses: np.ndarray | None = None,
) -> Grown:
    """Grow a tree on targets in fixed point; on some of the rows and features where given.

    `masses` are those of all rows, where some are drawn: the tree keeps the cover of its nodes.
    """
    growth = growth._replace(max_leaves=_most_leaves(growth, rows.n))
    search, allowed = _search(bins, growth, features)
    tree = _plant(rows, fixed.outputs, growth, search, allowed)
    # Samples differ from round to round, and certificates look at sums of gradients, which change everywhere.
    all_of_it = drawn is None and features is None and growth.criterion == LEAST_SQUARES
    last = rows.once(("root", tree.slab.shape[1:]), Root) if all_of_it else None
    shares = _shared(search.groups, bins.n_columns, rows.n_threads)
    ground = rows.ground(bins, fixed, Plan(drawn, growth.max_leaves > 2, shares, last))
    tree.nodes[0]["stop"] = ground.listed
    ground.histogram(0, ground.listed, tree.slab[0])
    first = BINS * GROUP * search.groups[0]
    tree.totals[0] = tree.slab[0, first : first + BINS].sum(axis=0)
    _score_all(rows, search, tree, shares)
    _run(rows, search, tree, ground, shares)
    shape = _shape(tree)
    totals = tree.totals[shape.leaf_nodes]
    sums, held = totals[:, :-1], totals[:, -1]
    # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
    sums = np.where(np.abs(sums) > search.limits.noise * held[:, None], sums, 0)
    leaf = ground.leaves(shape)
    cover = shape.masses if masses is None else _cover(rows, shape, leaf, masses)
    return Grown(shape, sums, held, tree.bounds[shape.leaf_nodes], leaf, cover)


def _most_leaves(growth: Growth, n: int) -> int:
    """What a tree of so many rows can have: arrays are as long as that."""
    full = 2 ** min(growth.max_depth or 62, 62)
    return max(2, min(growth.max_leaves, full, n))


def _cover(rows: Rows, shape: Shape, leaf: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """The mass under each node of rows that were drawn for the tree and of those that were not."""
    cover = np.zeros(len(shape.feature), dtype=np.int64)
    cover[shape.leaf_nodes] = rows.add(leaf_masses(leaf, masses, len(shape.leaf_nodes)))
    for node in np.flatnonzero(shape.feature >= 0)[::-1]:  # children come after their parents
        cover[node] = cover[shape.left[node]] + cover[shape.right[node]]
    return cover


def histogram(rows: Rows, bins: Bins, fixed: Fixed) -> np.ndarray:
    """The histogram of all rows, (columns, 256, k + 1)."""
    sums = np.zeros((len(bins.n_cuts) * BINS, fixed.outputs + 1), dtype=np.int64)
    shares = _shared(np.arange(len(bins.n_cuts) // GROUP), bins.n_columns, rows.n_threads)
    rows.ground(bins, fixed, Plan(None, False, shares, None)).histogram(0, 0, sums)
    return sums.reshape(len(bins.n_cuts), BINS, -1)


def _search(bins: Bins, growth: Growth, features: np.ndarray | None) -> tuple[Search, np.ndarray]:
    """What does not change while the tree grows, and the columns that it may use."""
    n_cuts = bins.n_cuts
    allowed = n_cuts > 0
    if features is not None:
        chosen = np.zeros_like(allowed)
        chosen[features] = True
        allowed &= chosen
    categorical = np.zeros(len(n_cuts), dtype=np.bool_)
    if bins.categories is not None:
        categorical[: bins.n_columns] = bins.categories.first >= 0
    signs = np.zeros(len(n_cuts), dtype=np.int64)
    signs[: len(growth.signs or ())] = growth.signs or ()
    together = np.zeros((len(growth.together or ()), len(n_cuts)), dtype=np.bool_)
    for number, members in enumerate(growth.together or ()):
        together[number, list(members)] = True
    # Groups without an allowed column are neither counted nor looked at.
    groups = np.flatnonzero(allowed.reshape(-1, GROUP).any(axis=1))
    groups = groups if len(groups) else np.zeros(1, dtype=np.int64)
    limits = Limits(
        growth.noise, growth.l2, least_mass(growth.least), growth.criterion, growth.signs is not None
    )
    columns = Columns(n_cuts, bins.n_thresholds, categorical, signs)
    depth = growth.max_depth or 2 * growth.max_leaves
    searched = (growth.max_leaves, depth, growth.by_level, growth.node_features)
    return Search(groups, columns, limits, together, *searched), allowed


def _plant(rows: Rows, outputs: int, growth: Growth, search: Search, allowed: np.ndarray) -> Tree:
    """A tree that is a root without anything counted yet."""
    n_columns, most = len(allowed), 2 * growth.max_leaves - 1
    size = (n_columns * BINS, outputs + 1)
    room = max(2, MOST_MEMORY // (8 * size[0] * size[1]))
    slots = min(growth.max_leaves, room)
    slab = rows.once(("slab", size, slots), lambda: np.zeros((slots, *size), dtype=np.int64))
    sets = len(search.together)
    columns = np.zeros((most, n_columns), dtype=np.bool_)
    columns[0] = allowed
    tree = Tree(
        np.zeros(1, dtype=STATE),
        np.zeros(most, dtype=NODE),
        np.zeros((most, outputs + 1), dtype=np.int64),
        np.zeros((most, outputs + 1), dtype=np.int64),
        np.zeros((most, BINS), dtype=np.bool_),
        np.empty((most, 2, outputs)),
        columns,
        columns if growth.node_features == 1.0 else columns.copy(),
        np.ones((most if sets else 1, sets), dtype=np.bool_),
        np.zeros(growth.max_leaves, dtype=np.int64),
        slab,
        np.full(slots, -1),
        np.full((2, n_columns), -np.inf),
    )
    tree.bounds[0, 1] = 1.0 if growth.criterion == EXTREME else np.inf
    tree.bounds[0, 0] = -tree.bounds[0, 1]
    tree.nodes[0]["key"] = growth.key
    if growth.node_features < 1.0:
        _draw(growth.node_features, np.uint64(growth.key), tree.allowed[0], tree.looked[0])
    tree.holder[0] = 0
    state = tree.state[0]
    state["n_leaves"], state["n_nodes"], state["waiting"], state["large"] = 1, 1, 1, -1
    return tree


def _run(rows: Rows, search: Search, tree: Tree, ground: Ground, shares: list[np.ndarray]) -> None:
    """Grow from the root, whose histogram and scores are there."""
    inside, sync, outputs = ground.inside, team.zeros(), tree.totals.shape[1] - 1
    workers = min(rows.n_threads, len(search.groups)) - 1
    if inside.list.size * inside.n_columns * tree.totals.shape[1] > _SMALL:
        threads.invite(lambda: _assist(sync, search, tree, inside, Scratch.of(outputs)), workers)
    scratch = Scratch.of(outputs)
    try:
        while _advance(sync, search, tree, inside, scratch):
            _ask(rows, search, tree, ground, shares)
    finally:
        team.dismiss(sync)


def _ask(rows: Rows, search: Search, tree: Tree, ground: Ground, shares: list[np.ndarray]) -> None:
    """Have the rows parted, and counted for the children that wait."""
    state, nodes = tree.state[0], tree.nodes
    parent = nodes[state["parent"]]
    start, stop = int(parent["start"]), int(parent["stop"])
    middle = ground.partition(int(parent["column"]), tree.goes_left[state["parent"]], start, stop)
    for child, (begin, end) in enumerate(((start, middle), (middle, stop))):
        nodes[parent["left"] + child]["start"], nodes[parent["left"] + child]["stop"] = begin, end
    if state["waiting"]:
        for counted in ("small", "large")[: 1 + int(state["both"])]:
            node = nodes[state[counted]]
            ground.histogram(int(node["start"]), int(node["stop"]), tree.slab[node["slot"]])
        _score_all(rows, search, tree, shares)


def _score_all(rows: Rows, search: Search, tree: Tree, shares: list[np.ndarray]) -> None:
    work = BINS * GROUP * len(search.groups) * tree.totals.shape[1]
    workers = rows.n_threads if work > _SMALL else 1
    outputs = tree.totals.shape[1] - 1
    threads.each(
        lambda index: _survey(shares[index], search, tree, ELSEWHERE, Scratch.of(outputs)),
        len(shares),
        workers,
    )


def _shared(groups: np.ndarray, n_columns: int, n_threads: int) -> list[np.ndarray]:
    """The groups in as many parts as there are threads, of about as many columns each: the last group may have few."""
    columns = np.cumsum(np.minimum(GROUP, n_columns - GROUP * groups))
    goals = columns[-1] * np.arange(1, n_threads) / n_threads
    parts = np.split(groups, np.searchsorted(columns, goals + 1))
    return [part for part in parts if len(part)]


def _shape(tree: Tree) -> Shape:
    n_leaves, n_nodes = int(tree.state[0]["n_leaves"]), int(tree.state[0]["n_nodes"])
    nodes = tree.nodes[:n_nodes]
    split = nodes["left"] > 0
    leaves = tree.leaves[:n_leaves]
    return Shape(
        np.where(split, nodes["column"], -1).astype(np.int32),
        np.where(split, nodes["cut"], 0).astype(np.int32),
        tree.goes_left[:n_nodes] & split[:, None],
        nodes["left"].astype(np.int32),
        np.where(split, nodes["left"] + 1, 0).astype(np.int32),
        np.where(split, nodes["order"], 0),
        np.where(split, nodes["gain"], 0.0),
        tree.totals[:n_nodes, -1],
        leaves.astype(np.int32),
        nodes["start"][leaves],
        nodes["stop"][leaves],
    )
