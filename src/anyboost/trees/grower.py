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

from anyboost.backends import shared_work, threads
from anyboost.backends.fixed_point import Fixed
from anyboost.trees.ahead import Ahead
from anyboost.trees.binding import draw_columns
from anyboost.trees.frontier import NODE, STATE, TO_BE_COUNTED, Search, Tree, advance
from anyboost.trees.grown import Grown, Plan, TreeShape
from anyboost.trees.histogram import Root
from anyboost.trees.partition import cover, leaves_of
from anyboost.trees.rows import Ground, Inside, Rows
from anyboost.trees.rules import EXTREME, LEAST_SQUARES, TIE, Growth, Limits, Rules
from anyboost.trees.table import BINS, GROUP, Bins
from anyboost.trees.worth import Scratch

MOST_MEMORY = 2**27  # bytes of histograms that open leaves keep
# n_leaves, n_nodes, parent, waiting, small, large, both
_PLANTED = np.array((1, 1, 0, 1, 0, -1, 0), dtype=STATE)
_FEW = 500_000  # values of a table so small that counting all of them is nothing to avoid
_SMALL = 300_000  # updates of counters below the root, or scores, under which other threads are left alone


class Look(NamedTuple):
    """Which columns a tree looks at."""

    allowed: np.ndarray  # (columns,)
    groups: np.ndarray  # those with an allowed column; others are neither counted nor looked at
    shares: list[np.ndarray]  # of them, for each thread
    categorical: np.ndarray | None


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
    known = None if rows.journal is None else rows.journal.recall()
    if known is not None:
        return known._replace(leaf=leaves_of(known.shape, bins.words, rows.n_threads))
    most = _most_leaves(growth, rows.n)
    look = rows.once("look", lambda: _look(bins, rows)) if features is None else _look(bins, rows, features)
    limits = Limits(growth.noise, growth.l2, least_mass(growth.least), fixed.whole)
    search = Search(look.groups, bins.n_cuts, limits, most, growth.max_depth or 2 * most, growth.by_level)
    tree = _plant(rows, fixed.sums, most, look)
    rules = _rules(bins, fixed.outputs, growth, tree)
    # Samples differ from round to round, and certificates look at sums of gradients, which change everywhere.
    # So does curvature.
    all_of_it = drawn is None and features is None and growth.criterion == LEAST_SQUARES
    all_of_it &= fixed.kappa_unit is None and rows.n * bins.n_columns > _FEW
    last = rows.once(("root", tree.slab.shape[1:]), Root) if all_of_it else None
    ground = rows.ground(bins, fixed, Plan(drawn, most > 2, look.shares, last))
    tree.nodes[0]["stop"] = ground.listed
    inside = ground.inside
    if 0 < inside.words.shape[1] * inside.n_columns <= _FEW:
        tree.state[0]["waiting"] = TO_BE_COUNTED
    else:
        ground.histogram(0, ground.listed, tree.slab[0])
        first = BINS * GROUP * search.groups[0]
        tree.totals[0] = tree.slab[0, first : first + BINS].sum(axis=0)
    _run(rows, search, tree, ground, inside, look.categorical, rules, fixed.kappa_unit is not None)
    shape = _shape(tree)
    totals = tree.totals[shape.leaf_nodes]
    sums, held = totals[:, : fixed.outputs], totals[:, -1]
    weights = held[:, None] if fixed.kappa_unit is None else totals[:, fixed.outputs : -1]
    # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
    sums = np.where(np.abs(sums) > search.limits.noise * held[:, None], sums, 0)
    leaf = ground.leaves(shape)
    under = shape.masses
    if masses is not None:
        under = cover(leaf, masses, shape.leaf_nodes, shape.left, rows.add)
    bounds = None if rules is None else rules.bounds[shape.leaf_nodes]
    grown = Grown(shape, sums, weights, held, bounds, leaf, under)
    if rows.journal is not None:
        rows.journal.remember(grown)
    return grown


def _most_leaves(growth: Growth, n: int) -> int:
    """What a tree of so many rows can have: arrays are as long as that."""
    full = 2 ** min(growth.max_depth or 62, 62)
    return max(2, min(growth.max_leaves, full, n))


def histogram(rows: Rows, bins: Bins, fixed: Fixed) -> np.ndarray:
    """The histogram of all rows, (columns, 256, channels)."""
    sums = np.zeros((len(bins.n_cuts) * BINS, fixed.sums), dtype=np.int64)
    shares = _shared(np.arange(len(bins.n_cuts) // GROUP), bins.n_columns, rows.n_threads)
    rows.ground(bins, fixed, Plan(None, False, shares, None)).histogram(0, 0, sums)
    return sums.reshape(len(bins.n_cuts), BINS, -1)


def _look(bins: Bins, rows: Rows, features: np.ndarray | None = None) -> Look:
    """Which columns a tree looks at: all that can be cut, of some features where given."""
    allowed = bins.n_cuts > 0
    if features is not None:
        chosen = np.zeros_like(allowed)
        chosen[features] = True
        allowed &= chosen
    groups = np.flatnonzero(allowed.reshape(-1, GROUP).any(axis=1))
    groups = groups if len(groups) else np.zeros(1, dtype=np.int64)
    return Look(allowed, groups, _shared(groups, bins.n_columns, rows.n_threads), _categorical(bins))


def _categorical(bins: Bins) -> np.ndarray | None:
    if bins.categories is None or not (bins.categories.first >= 0).any():
        return None
    categorical = np.zeros(len(bins.n_cuts), dtype=np.bool_)
    categorical[: bins.n_columns] = bins.categories.first >= 0
    return categorical


def _plant(rows: Rows, channels: int, max_leaves: int, look: Look) -> Tree:
    """A tree that is a root without anything counted yet, in arrays that the last one had."""
    n_columns, most = len(look.allowed), 2 * max_leaves - 1
    size = (n_columns * BINS, channels)
    slots = min(max_leaves, max(2, MOST_MEMORY // (8 * size[0] * size[1])))
    slab = rows.once(("slab", size, slots), lambda: np.zeros((slots, *size), dtype=np.int64))
    tree = rows.once(
        ("tree", size, max_leaves),
        lambda: Tree(
            np.zeros(1, dtype=STATE),
            np.zeros(most, dtype=NODE),
            np.zeros((most, channels), dtype=np.int64),
            np.zeros((most, channels), dtype=np.int64),
            np.zeros((most, BINS), dtype=np.bool_),
            np.zeros((most, n_columns), dtype=np.bool_),
            np.zeros(max_leaves, dtype=np.int64),
            slab,
            slab.reshape(slots, -1),
            np.zeros(slots, dtype=np.int64),
            np.zeros((2, n_columns)),
        ),
    )
    tree.nodes.fill(0)
    tree.leaves[0] = 0
    tree.allowed[0] = look.allowed
    tree.holder.fill(-1)
    tree.holder[0] = 0
    tree.best.fill(-np.inf)
    tree.state[0] = _PLANTED
    return tree


def _rules(bins: Bins, outputs: int, growth: Growth, tree: Tree) -> Rules | None:
    """What the tree keeps to; None for plain ones."""
    together, draws = growth.together, growth.node_features < 1.0
    free = growth.signs is None and together is None and not draws and not growth.node_thresholds
    if free and outputs == 1 and growth.criterion == LEAST_SQUARES:
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
        growth.node_thresholds,
        np.empty((most, 2, outputs)),
        np.empty_like(tree.allowed) if draws else tree.allowed,
        np.ones((most if together else 1, len(members)), dtype=np.bool_),
        np.zeros(most, dtype=np.uint64),
        np.zeros(n_columns, dtype=np.uint64),
    )
    rules.bounds[0, 1] = 1.0 if growth.criterion == EXTREME else np.inf
    rules.bounds[0, 0] = -rules.bounds[0, 1]
    rules.keys[0] = growth.key
    if draws:
        draw_columns(growth.node_features, rules.keys[0], tree.allowed[0], rules.words, rules.looked[0])
    return rules


def _run(
    rows: Rows,
    search: Search,
    tree: Tree,
    ground: Ground,
    inside: Inside,
    categorical: np.ndarray | None,
    rules: Rules | None,
    curved: bool,
) -> None:
    """Grow from the root, whose histogram is there or is to be counted."""
    channels = tree.totals.shape[1]
    work = max(len(inside.list) * inside.n_columns, BINS * GROUP * len(search.groups)) * channels
    workers = min(rows.n_threads, len(search.groups)) - 1 if work > _SMALL else 0

    kept = rows.once(("scratch", channels), lambda: Scratch.of(channels))

    def take_part(sync: np.ndarray, leads: bool) -> bool:
        bends = np.empty(BINS, dtype=np.int64) if curved else None
        scratch = kept if leads else Scratch.of(channels)
        return advance(sync, leads, search, tree, inside, scratch, categorical, rules, bends)

    waits, ahead = True, Ahead(rows, search, tree, ground)
    while waits:
        sync = shared_work.zeros()
        threads.invite(partial(take_part, sync, False), workers)
        try:
            waits = take_part(sync, True)
        finally:
            shared_work.dismiss(sync)
        if waits:
            ahead.ask()


def _shared(groups: np.ndarray, n_columns: int, n_threads: int) -> list[np.ndarray]:
    """The groups in as many parts as there are threads, of about as many columns each: the last group may have few."""
    columns = np.cumsum(np.minimum(GROUP, n_columns - GROUP * groups))
    goals = columns[-1] * np.arange(1, n_threads) / n_threads
    middles = columns - np.diff(columns, prepend=0) / 2  # a group goes where most of its columns would
    parts = np.split(groups, np.searchsorted(middles, goals))
    return [part for part in parts if len(part)]


def _shape(tree: Tree) -> TreeShape:
    n_leaves, n_nodes = int(tree.state[0]["n_leaves"]), int(tree.state[0]["n_nodes"])
    nodes, leaves = tree.nodes[:n_nodes], tree.leaves[:n_leaves]
    left = nodes["left"].astype(np.int32)
    return TreeShape(
        nodes["column"].astype(np.int32),
        nodes["cut"].astype(np.int32),
        tree.goes_left[:n_nodes].copy(),
        left,
        left + (left > 0),
        nodes["order"].copy(),
        nodes["gain"].copy(),
        tree.totals[:n_nodes, -1].copy(),
        leaves.astype(np.int32),
        nodes["start"][leaves],
        nodes["stop"][leaves],
    )
