"""Growing one tree on binned rows, best leaf first or level by level.

The next leaf to split is the one whose best cut gains most; gains within 1e-9 of the largest are equal, and then the
oldest leaf goes first. A tree stops where no cut gains.

Here is what comes before and after: the plan, the root's histogram, and the grown tree's shape. What lies between is
compiled (see `frontier`).
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from anyboost.backends import team, threads
from anyboost.backends.sums import Fixed
from anyboost.trees.binding import draw_columns
from anyboost.trees.frontier import NODE, STATE, Search, Tree, advance
from anyboost.trees.histogram import Root
from anyboost.trees.partition import leaf_masses
from anyboost.trees.rows import Ground, Rows
from anyboost.trees.splitting import EXTREME, LEAST_SQUARES, TIE, Limits, Rules, Scratch
from anyboost.trees.table import BINS, GROUP, Bins

MOST_MEMORY = 2**27  # bytes of histograms that open leaves keep
_SMALL = 300_000  # updates of the root's counters, or scores, under which other threads are left alone


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
    tree = _plant(rows, fixed.outputs, growth, allowed)
    rules = _rules(bins, fixed.outputs, growth, tree)
    # Samples differ from round to round, and certificates look at sums of gradients, which change everywhere.
    all_of_it = drawn is None and features is None and growth.criterion == LEAST_SQUARES
    last = rows.once(("root", tree.slab.shape[1:]), Root) if all_of_it else None
    shares = _shared(search.groups, bins.n_columns, rows.n_threads)
    ground = rows.ground(bins, fixed, Plan(drawn, growth.max_leaves > 2, shares, last))
    tree.nodes[0]["stop"] = ground.listed
    ground.histogram(0, ground.listed, tree.slab[0])
    first = BINS * GROUP * search.groups[0]
    tree.totals[0] = tree.slab[0, first : first + BINS].sum(axis=0)
    _run(rows, search, tree, ground, _categorical(bins), rules)
    shape = _shape(tree)
    totals = tree.totals[shape.leaf_nodes]
    sums, held = totals[:, :-1], totals[:, -1]
    # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
    sums = np.where(np.abs(sums) > search.limits.noise * held[:, None], sums, 0)
    leaf = ground.leaves(shape)
    cover = shape.masses if masses is None else _cover(rows, shape, leaf, masses)
    bounds = _bounds(fixed.outputs, growth)
    own = (
        np.broadcast_to(bounds, (len(held), *bounds.shape))
        if rules is None
        else rules.bounds[shape.leaf_nodes]
    )
    return Grown(shape, sums, held, own, leaf, cover)


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
    # Groups without an allowed column are neither counted nor looked at.
    groups = np.flatnonzero(allowed.reshape(-1, GROUP).any(axis=1))
    groups = groups if len(groups) else np.zeros(1, dtype=np.int64)
    limits = Limits(growth.noise, growth.l2, least_mass(growth.least))
    depth = growth.max_depth or 2 * growth.max_leaves
    return Search(groups, n_cuts, limits, growth.max_leaves, depth, growth.by_level), allowed


def _categorical(bins: Bins) -> np.ndarray | None:
    if bins.categories is None or not (bins.categories.first >= 0).any():
        return None
    categorical = np.zeros(len(bins.n_cuts), dtype=np.bool_)
    categorical[: bins.n_columns] = bins.categories.first >= 0
    return categorical


def _plant(rows: Rows, outputs: int, growth: Growth, allowed: np.ndarray) -> Tree:
    """A tree that is a root without anything counted yet."""
    n_columns, most = len(allowed), 2 * growth.max_leaves - 1
    size = (n_columns * BINS, outputs + 1)
    room = max(2, MOST_MEMORY // (8 * size[0] * size[1]))
    slots = min(growth.max_leaves, room)
    slab = rows.once(("slab", size, slots), lambda: np.zeros((slots, *size), dtype=np.int64))
    tree = Tree(
        np.zeros(1, dtype=STATE),
        np.zeros(most, dtype=NODE),
        np.zeros((most, outputs + 1), dtype=np.int64),
        np.zeros((most, outputs + 1), dtype=np.int64),
        np.zeros((most, BINS), dtype=np.bool_),
        np.zeros((most, n_columns), dtype=np.bool_),
        np.zeros(growth.max_leaves, dtype=np.int64),
        slab,
        slab.reshape(slots, -1),
        np.full(slots, -1),
        np.full((2, n_columns), -np.inf),
    )
    tree.allowed[0] = allowed
    tree.holder[0] = 0
    state = tree.state[0]
    state["n_leaves"], state["n_nodes"], state["waiting"], state["large"] = 1, 1, 1, -1
    return tree


def _bounds(outputs: int, growth: Growth) -> np.ndarray:
    """Those of the root, (2, outputs)."""
    high = np.full(outputs, 1.0 if growth.criterion == EXTREME else np.inf)
    return np.stack([-high, high])


def _rules(bins: Bins, outputs: int, growth: Growth, tree: Tree) -> Rules | None:
    """What the tree keeps to; None for plain ones."""
    together, draws = growth.together, growth.node_features < 1.0
    if (outputs, growth.criterion, growth.signs, together, draws) == (1, LEAST_SQUARES, None, None, False):
        return None
    most, n_columns = tree.allowed.shape
    signs = np.zeros(n_columns, dtype=np.int64)
    signs[: len(growth.signs or ())] = growth.signs or ()
    members = np.zeros((len(together or ()), n_columns), dtype=np.bool_)
    for number, columns in enumerate(together or ()):
        members[number, list(columns)] = True
    rules = Rules(
        growth.criterion,
        growth.signs is not None,
        signs,
        bins.n_thresholds,
        members,
        growth.node_features,
        np.empty((most, 2, outputs)),
        tree.allowed.copy() if draws else tree.allowed,
        np.ones((most if together else 1, len(members)), dtype=np.bool_),
        np.zeros(most, dtype=np.uint64),
    )
    rules.bounds[0] = _bounds(outputs, growth)
    rules.keys[0] = growth.key
    if draws:
        draw_columns(growth.node_features, rules.keys[0], tree.allowed[0], rules.looked[0])
    return rules


def _run(
    rows: Rows,
    search: Search,
    tree: Tree,
    ground: Ground,
    categorical: np.ndarray | None,
    rules: Rules | None,
) -> None:
    """Grow from the root, whose histogram is there."""
    inside, channels = ground.inside, tree.totals.shape[1]
    work = max(inside.list.size * inside.n_columns, BINS * GROUP * len(search.groups)) * channels
    workers = min(rows.n_threads, len(search.groups)) - 1 if work > _SMALL else 0

    def take_part(sync: np.ndarray, leads: bool) -> bool:
        return advance(sync, leads, search, tree, inside, Scratch.of(channels - 1), categorical, rules)

    waits = True
    while waits:
        sync = team.zeros()
        threads.invite(partial(take_part, sync, False), workers)
        try:
            waits = take_part(sync, True)
        finally:
            team.dismiss(sync)
        if waits:
            _ask(tree, ground)


def _ask(tree: Tree, ground: Ground) -> None:
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
