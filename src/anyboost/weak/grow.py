"""Growing one tree on a binned sample, best leaf first or level by level.

The next leaf to split is the one whose best cut gains most; gains within 1e-9 of the largest are equal,
and then the oldest leaf goes first. A tree stops where no cut gains.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anyboost.backends import threads
from anyboost.backends.bins import GROUP
from anyboost.backends.histogram import BINS, count, gather, many, subtract, take
from anyboost.backends.partition import descend_bins, mark, partition, sides
from anyboost.backends.sides import LEAST_SQUARES, NOISE, TIE
from anyboost.backends.split import choose_cut, score_columns
from anyboost.backends.sums import Fixed
from anyboost.space import Space
from anyboost.weak import whole
from anyboost.weak.grown import Cut, Grown, Growth
from anyboost.weak.monotone import child_bounds, free_bounds, side_value
from anyboost.weak.root import Root
from anyboost.weak.rules import Limits, Rules

_SMALL = 40_000  # updates of counters under which a second thread costs more than it saves
MOST_MEMORY = 2**27  # bytes of histograms that open leaves keep; what is dropped is counted again when needed
_NOBODY = np.zeros(BINS, dtype=np.bool_)  # goes left from a leaf
_FREE = np.empty((2, 0))


@dataclass(eq=False)
class _Leaf:
    """A range of the row list, its sums, and the best cut found for it."""

    node: int
    depth: int
    start: int
    stop: int
    total: np.ndarray | None = None  # (k + 1,): the sums of the targets, and the mass
    sums: np.ndarray | None = None  # the same by column and bin
    cut: Cut | None = None
    bounds: np.ndarray = field(default_factory=lambda: _FREE)  # (2, k): of the values under it
    sets: tuple[tuple[int, ...], ...] = ()  # of those in `Growth.together`, the ones that hold its branch
    allowed: np.ndarray | None = None  # the columns it may be cut along; None for all that the tree may use


class _Pool:
    """Histograms to use again: a tree takes and gives back some sixty."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.most = max(2, MOST_MEMORY // (8 * size[0] * size[1]))
        self.free: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        return self.free.pop() if self.free else np.zeros(self.size, dtype=np.int64)

    def give(self, sums: np.ndarray | None) -> None:
        if sums is not None:
            self.free.append(sums)


def least_mass(least: float) -> int:
    """The smallest whole mass that is `least`, but for rounding, and never 0; no more than any sample has."""
    return max(1, math.ceil(min(least * (1.0 - TIE), 2.0**62)))


def grow(
    space: Space,
    fixed: Fixed,
    growth: Growth,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
) -> Grown:
    """Grow a tree on targets in fixed point; on a subset of rows and features where given."""
    return _Grower(space, fixed, growth, rows, features).run()


class _Grower:
    def __init__(
        self,
        space: Space,
        fixed: Fixed,
        growth: Growth,
        rows: np.ndarray | None,
        features: np.ndarray | None,
    ) -> None:
        self.space = space
        self.fixed = fixed
        self.growth = growth
        self.limits = Limits(
            NOISE * space.fixed_mass[1],
            growth.l2 / space.weight_unit,
            least_mass(growth.min_leaf_weight / space.weight_unit),
            growth.criterion,
        )
        self.sampled = rows is not None
        self.n_rows = space.n if rows is None else len(rows)
        if rows is not None:
            self.rows = rows.astype(np.uint32)
        self.allowed = space.bins.n_cuts > 0
        if features is not None:
            chosen = np.zeros_like(self.allowed)
            chosen[features] = True
            self.allowed = self.allowed & chosen
        self.rules = space.once(
            ("rules", growth.signs), lambda space: Rules.of(space, growth.signs), of_table=True
        )
        # Groups without an allowed column are neither counted nor looked at; the others are shared out to threads.
        groups = np.flatnonzero(self.allowed.reshape(-1, GROUP).any(axis=1))
        groups = groups if len(groups) else np.zeros(1, dtype=np.int64)
        self.shares = _shared(groups, space.X.shape[1], space.n_threads)
        size = (len(self.allowed) * BINS, fixed.outputs + 1)
        self.keeping: list[_Leaf] = []
        self.pool = space.once(("histograms", size), lambda _: _Pool(size), of_table=True)
        # Samples differ from round to round, and certificates look at sums of gradients, which change everywhere.
        all_of_it = rows is None and features is None and growth.criterion == LEAST_SQUARES
        self.root = space.once(("root", size), lambda _: Root(), of_table=True) if all_of_it else None
        self.feature = [-1]
        self.bin = [0]
        self.goes_left = [_NOBODY]
        self.left = [0]
        self.right = [0]
        self.order = [0]

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows, leaf by leaf; a stump of all rows never lists them."""
        return np.arange(self.n_rows, dtype=np.uint32)

    @cached_property
    def spare(self) -> np.ndarray:
        return np.empty_like(self.rows)

    def run(self) -> Grown:
        root = _Leaf(0, 0, 0, self.n_rows, sets=self.growth.together or ())
        if self.rules is not None:
            root.bounds = free_bounds(self.fixed.outputs, self.growth.criterion)
        elif self.growth.together is None and whole.fits(self.space, self.fixed, self.growth):
            return self._at_once(root)
        self._survey([root], None, None)
        leaves = [root]
        while len(leaves) < self.growth.max_leaves:
            leaf = self._next(leaves)
            if leaf is None:
                break
            # Children are younger than every other leaf: the list stays in order of age.
            leaves.remove(leaf)
            leaves += self._split(leaf, last=len(leaves) + 2 == self.growth.max_leaves)
        for leaf in leaves:
            self.pool.give(leaf.sums)
        return self._finish(leaves)

    def _next(self, leaves: list[_Leaf]) -> _Leaf | None:
        """The leaf to split."""
        cuts = [(leaf, leaf.cut) for leaf in leaves if leaf.cut is not None]
        if self.growth.by_level and cuts:
            level = min(leaf.depth for leaf, _ in cuts)
            cuts = [(leaf, cut) for leaf, cut in cuts if leaf.depth == level]
        enough = max((cut.gain for _, cut in cuts), default=0.0) * (1.0 - TIE)
        return next((leaf for leaf, cut in cuts if cut.gain >= enough), None)

    def _split(self, leaf: _Leaf, last: bool) -> list[_Leaf]:
        cut = leaf.cut
        assert cut is not None
        assert leaf.total is not None
        middle = leaf.start
        if self.growth.max_leaves > 2 or self.sampled:
            words = self.space.bins.words[cut.feature >> 3]
            rows = self.rows[leaf.start : leaf.stop]
            shift = 8 * (cut.feature & 7)
            middle += partition(words, shift, cut.goes_left, rows, self.spare, self.space.n_threads)
        node, depth = len(self.feature), leaf.depth + 1
        self.feature[leaf.node], self.bin[leaf.node] = cut.feature, cut.bin
        self.goes_left[leaf.node] = cut.goes_left
        self.left[leaf.node], self.right[leaf.node] = node, node + 1
        self.feature += [-1, -1]
        self.bin += [0, 0]
        self.goes_left += [_NOBODY, _NOBODY]
        self.left += [0, 0]
        self.right += [0, 0]
        self.order += [0, 0]
        children = [
            _Leaf(node, depth, leaf.start, middle, cut.left),
            _Leaf(node + 1, depth, middle, leaf.stop, leaf.total - cut.left),
        ]
        self._bequeath(leaf, cut, *children)
        sums, leaf.sums = leaf.sums, None
        if last or depth == self.growth.max_depth:
            self.pool.give(sums)
        else:
            small, large = sorted(children, key=lambda child: child.stop - child.start)
            self._survey([small] if sums is not None else children, large, sums)
        return children

    def _bequeath(self, leaf: _Leaf, cut: Cut, left: _Leaf, right: _Leaf) -> None:
        """The bounds and the columns that a cut leaves to its sides."""
        if self.rules is not None:
            left.bounds = right.bounds = leaf.bounds
        if self.rules is not None and self.growth.signs is not None:
            if 0 <= cut.bin < self.rules.n_thresholds[cut.feature]:
                self.order[leaf.node] = self.growth.signs[cut.feature]
            values = [side_value(child.total, self.limits, leaf.bounds) for child in (left, right)]
            left.bounds, right.bounds = child_bounds(self.order[leaf.node], leaf.bounds, *values)
        if self.growth.together is not None:
            left.sets = right.sets = tuple(columns for columns in leaf.sets if cut.feature in columns)
            company = np.zeros_like(self.allowed)
            company[[column for columns in left.sets for column in columns]] = True
            left.allowed = right.allowed = self.allowed & company

    def _survey(self, counted: list[_Leaf], rest: _Leaf | None, parent: np.ndarray | None) -> None:
        """Histograms and best cuts of new leaves.

        `counted` are counted; the `rest` is what they leave of the parent, exactly, in its place.
        """
        space = self.space
        sums = [self.pool.take() for _ in counted]
        for leaf, own in zip(counted, sums, strict=True):
            leaf.sums = own
        if rest is not None and parent is not None:
            rest.sums = parent
        leaves = counted if parent is None or rest is None else [*counted, rest]
        scores = [np.full(len(self.allowed), -np.inf) for _ in leaves]
        tally, n_rows = self._tally(counted)

        def one(index: int) -> None:
            groups = self.shares[index]
            tally(groups)
            for own in sums:
                if parent is not None:
                    subtract(parent, own, groups, space.bins.n_cuts)
            for leaf, best in zip(leaves, scores, strict=True):
                self._score(leaf, groups, best)

        work = (n_rows + BINS * len(leaves)) * self.fixed.channels.shape[1] * sum(map(len, self.shares))
        threads.each(one, len(self.shares), space.n_threads if work > _SMALL else 1)
        self._remember(counted[0])
        for leaf, best in zip(leaves, scores, strict=True):
            self._choose(leaf, best)
        self._keep(leaves)

    def _tally(self, leaves: list[_Leaf]) -> tuple[Callable[[np.ndarray], None], int]:
        """What fills these leaves' histograms, for some groups of columns, and how many rows it looks at."""
        space, n_columns = self.space, self.space.X.shape[1]
        change = self.root.change(self.fixed, space.n_threads) if self.root and not leaves[0].node else None
        rows: list[np.ndarray | None]
        if change is not None:
            rows, taken = [change.rows], [change.fixed]
        elif not leaves[0].node and not self.sampled:
            rows, taken = [None], [self.fixed]
        else:
            own = [self.rows[leaf.start : leaf.stop] for leaf in leaves]
            rows = [*own]
            taken = [
                self.fixed if many(self.fixed) else take(self.fixed, some, space.n_threads) for some in own
            ]

        def tally(groups: np.ndarray) -> None:
            for leaf, some, values in zip(leaves, rows, taken, strict=True):
                assert leaf.sums is not None
                count(space.bins.words, groups, space.bins.n_cuts, n_columns, values, some, leaf.sums)
                if self.root is not None and change is not None:
                    self.root.complete(leaf.sums, groups)

        return tally, sum(space.n if some is None else len(some) for some in rows)

    def _remember(self, leaf: _Leaf) -> None:
        """Keep the root's histogram for the next round."""
        if self.root is not None and leaf.node == 0:
            assert leaf.sums is not None
            self.root.keep(self.fixed, leaf.sums)

    def _total(self, leaf: _Leaf, column: int) -> np.ndarray:
        """The sums over a leaf, from any one column of its histogram where they are not known yet."""
        if leaf.total is not None:
            return leaf.total
        assert leaf.sums is not None
        return leaf.sums[BINS * column : BINS * (column + 1)].sum(axis=0)

    def _score(self, leaf: _Leaf, groups: np.ndarray, best: np.ndarray) -> None:
        """best[column] for some groups of columns."""
        assert leaf.sums is not None
        total = self._total(leaf, GROUP * groups[0])
        allowed = self.allowed if leaf.allowed is None else leaf.allowed
        if self.rules is None:
            noise, l2, least, criterion = self.limits
            n_cuts = self.space.bins.n_cuts
            score_columns(leaf.sums, groups, total, noise, l2, least, n_cuts, allowed, criterion, best)
        else:
            self.rules.score(groups, leaf.sums, total, self.limits, allowed, leaf.bounds, best)

    def _choose(self, leaf: _Leaf, best: np.ndarray) -> None:
        assert leaf.sums is not None
        leaf.total = self._total(leaf, GROUP * self.shares[0][0])
        goes_left = np.empty(BINS, dtype=np.bool_)
        if self.rules is None:
            noise, l2, least, criterion = self.limits
            feature, cut, score, whole = choose_cut(
                leaf.sums, leaf.total, noise, l2, least, self.space.bins.n_cuts, criterion, best, goes_left
            )
        else:
            feature, cut, score, whole = self.rules.choose(
                leaf.sums, leaf.total, self.limits, leaf.bounds, best, goes_left
            )
        if feature >= 0:
            left = np.empty_like(leaf.total)
            gather(leaf.sums, feature, goes_left, left)
            leaf.cut = Cut(feature, cut, goes_left, score - whole, left)

    def _keep(self, leaves: list[_Leaf]) -> None:
        """Keep the histograms of leaves that may be split, those that gain most where there is no room for all."""
        by_gain = sorted(
            (leaf for leaf in [*self.keeping, *leaves] if leaf.sums is not None),
            key=lambda leaf: -1.0 if leaf.cut is None else leaf.cut.gain,
            reverse=True,
        )
        kept = [leaf for leaf in by_gain[: self.pool.most] if leaf.cut is not None]
        for leaf in by_gain[len(kept) :]:
            self.pool.give(leaf.sums)
            leaf.sums = None
        self.keeping = kept

    def _at_once(self, root: _Leaf) -> Grown:
        """The same tree, in one compiled call."""

        def count_root(sums: np.ndarray) -> None:
            root.sums = sums
            tally, n_rows = self._tally([root])
            workers = self.space.n_threads if n_rows * len(groups) > _SMALL else 1
            threads.each(lambda index: tally(self.shares[index]), len(self.shares), workers)
            self._remember(root)

        groups = np.concatenate(self.shares)
        made = whole.Branched(
            self.space, self.fixed, self.growth, self.limits, groups, self.allowed, self.rows, count_root
        )
        order = np.zeros(len(made.feature), dtype=np.int8)
        shape = (made.feature, made.bin, made.goes_left, made.left, made.right, order, made.leaf_nodes)
        return self._grown(
            *shape, made.totals, np.empty((len(made.totals), *_FREE.shape)), made.edges.T.tolist()
        )

    def _finish(self, leaves: list[_Leaf]) -> Grown:
        return self._grown(
            np.array(self.feature, dtype=np.int32),
            np.array(self.bin, dtype=np.int32),
            np.array(self.goes_left),
            np.array(self.left, dtype=np.int32),
            np.array(self.right, dtype=np.int32),
            np.array(self.order, dtype=np.int8),
            np.array([leaf.node for leaf in leaves], dtype=np.int32),
            np.array([leaf.total for leaf in leaves]),
            np.array([leaf.bounds for leaf in leaves]),
            [(leaf.start, leaf.stop) for leaf in leaves],
        )

    def _grown(
        self,
        feature: np.ndarray,
        bins: np.ndarray,
        goes_left: np.ndarray,
        left: np.ndarray,
        right: np.ndarray,
        order: np.ndarray,
        leaf_nodes: np.ndarray,
        totals: np.ndarray,
        bounds: np.ndarray,
        edges: list[tuple[int, int]],
    ) -> Grown:
        """The tree with the leaf of every row; `edges` are where leaves begin and end in the row list."""
        sums, masses = totals[:, :-1], totals[:, -1]
        # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
        sums = np.where(np.abs(sums) > self.limits.noise * masses[:, None], sums, 0)
        leaf = self.space.arena.empty(self.space.n, np.int32)
        if self.sampled:
            descend_bins(self.space.bins.words, feature, goes_left, left, right, leaf)
            number = np.zeros(len(feature), dtype=np.int32)
            number[leaf_nodes] = np.arange(len(edges), dtype=np.int32)
            leaf = number[leaf]
        elif len(edges) == 2:
            words = self.space.bins.words[feature[0] >> 3]
            sides(words, 8 * (feature[0] & 7), goes_left[0], leaf, self.space.n_threads)
        else:
            threads.each(
                lambda index: mark(self.rows[slice(*edges[index])], index, leaf),
                len(edges),
                self.space.n_threads if self.space.n > _SMALL else 1,
            )
        return Grown(feature, bins, goes_left, left, right, order, leaf_nodes, sums, masses, bounds, leaf)


def _shared(groups: np.ndarray, n_columns: int, n_threads: int) -> list[np.ndarray]:
    """The groups in as many parts as there are threads, of about as many columns each: the last group may have few."""
    columns = np.cumsum(np.minimum(GROUP, n_columns - GROUP * groups))
    goals = columns[-1] * np.arange(1, n_threads) / n_threads
    parts = np.split(groups, np.searchsorted(columns, goals + 1))
    return [part for part in parts if len(part)]
