"""Growing one tree on a binned sample, best leaf first or level by level.

The next leaf to split is the one whose best cut gains most; gains within 1e-9 of the largest are equal,
and then the oldest leaf goes first. A tree stops where no cut gains.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.bins import GROUP
from anyboost.backends.histogram import BINS, count, subtract, take
from anyboost.backends.partition import descend_bins, mark, partition, sides
from anyboost.backends.split import NOISE, TIE, choose_cut, score_columns
from anyboost.backends.sums import Fixed
from anyboost.space import Space
from anyboost.weak.base import LeafProjection
from anyboost.weak.functions import TreeFunction

_SMALL = 40_000  # updates of counters under which a second thread costs more than it saves
MOST_MEMORY = 2**27  # bytes of histograms that open leaves keep; what is dropped is counted again when needed


class Growth(NamedTuple):
    """What a tree may become."""

    max_leaves: int
    max_depth: int | None
    criterion: int
    by_level: bool = False


class Cut(NamedTuple):
    feature: int
    bin: int
    gain: float
    left: np.ndarray  # (k + 1,): the sums of the targets, and the mass, of the rows that go left


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


class Grown(NamedTuple):
    """A tree's shape and the integer sums in its leaves."""

    feature: np.ndarray
    bin: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaf_nodes: np.ndarray
    sums: np.ndarray  # (leaves, k)
    masses: np.ndarray  # (leaves,)
    leaf: np.ndarray  # (n,) which leaf each row of the sample is in


class _Pool:
    """Histograms to use again: a tree takes and gives back some sixty."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.most = max(2, MOST_MEMORY // (8 * size[0] * size[1]))
        self.free: list[np.ndarray] = []

    def take(self) -> np.ndarray:
        return self.free.pop() if self.free else np.empty(self.size, dtype=np.int64)

    def give(self, sums: np.ndarray | None) -> None:
        if sums is not None:
            self.free.append(sums)


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
        self.noise = NOISE * space.fixed_mass[1]
        self.sampled = rows is not None
        self.n_rows = space.n if rows is None else len(rows)
        if rows is not None:
            self.rows = rows.astype(np.uint32)
        self.allowed = space.bins.n_cuts > 0
        if features is not None:
            chosen = np.zeros_like(self.allowed)
            chosen[features] = True
            self.allowed = self.allowed & chosen
        # Groups without an allowed column are neither counted nor looked at; the others are shared out to threads.
        groups = np.flatnonzero(self.allowed.reshape(-1, GROUP).any(axis=1))
        groups = groups if len(groups) else np.zeros(1, dtype=np.int64)
        self.shares = _shared(groups, space.X.shape[1], space.n_threads)
        size = (len(self.allowed) * BINS, fixed.outputs + 1)
        self.keeping: list[_Leaf] = []
        self.pool = space.once(("histograms", size), lambda _: _Pool(size))
        self.feature = [-1]
        self.bin = [0]
        self.left = [0]
        self.right = [0]

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows, leaf by leaf; a stump of all rows never lists them."""
        return np.arange(self.n_rows, dtype=np.uint32)

    @cached_property
    def spare(self) -> np.ndarray:
        return np.empty_like(self.rows)

    def run(self) -> Grown:
        root = _Leaf(0, 0, 0, self.n_rows)
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
            middle += partition(words, shift, cut.bin, rows, self.spare, self.space.n_threads)
        node, depth = len(self.feature), leaf.depth + 1
        self.feature[leaf.node], self.bin[leaf.node] = cut.feature, cut.bin
        self.left[leaf.node], self.right[leaf.node] = node, node + 1
        self.feature += [-1, -1]
        self.bin += [0, 0]
        self.left += [0, 0]
        self.right += [0, 0]
        children = [
            _Leaf(node, depth, leaf.start, middle, cut.left),
            _Leaf(node + 1, depth, middle, leaf.stop, leaf.total - cut.left),
        ]
        sums, leaf.sums = leaf.sums, None
        if last or depth == self.growth.max_depth:
            self.pool.give(sums)
        else:
            small, large = sorted(children, key=lambda child: child.stop - child.start)
            self._survey([small] if sums is not None else children, large, sums)
        return children

    def _survey(self, counted: list[_Leaf], rest: _Leaf | None, parent: np.ndarray | None) -> None:
        """Histograms and best cuts of new leaves.

        `counted` are counted; the `rest` is what they leave of the parent, exactly, in its place.
        """
        space, criterion = self.space, self.growth.criterion
        sums = [self.pool.take() for _ in counted]
        for leaf, own in zip(counted, sums, strict=True):
            leaf.sums = own
        if rest is not None and parent is not None:
            rest.sums = parent
        listed = len(self.feature) > 1 or self.sampled
        rows = [self.rows[leaf.start : leaf.stop] if listed else None for leaf in counted]
        taken = [self.fixed if some is None else take(self.fixed, some, space.n_threads) for some in rows]
        leaves = counted if parent is None or rest is None else [*counted, rest]
        scores = [np.full(len(self.allowed), -1.0) for _ in leaves]

        def one(index: int) -> None:
            groups = self.shares[index]
            for own, some, values in zip(sums, rows, taken, strict=True):
                count(space.bins.words, groups, space.X.shape[1], values, some, own)
                if parent is not None:
                    subtract(parent, own, groups)
            for leaf, best in zip(leaves, scores, strict=True):
                total = self._total(leaf, GROUP * groups[0])
                score_columns(
                    leaf.sums, groups, total, self.noise, space.bins.n_cuts, self.allowed, criterion, best
                )

        n_rows = sum(leaf.stop - leaf.start for leaf in counted)
        work = (n_rows + BINS * len(leaves)) * self.fixed.channels.shape[1] * sum(map(len, self.shares))
        threads.each(one, len(self.shares), space.n_threads if work > _SMALL else 1)
        for leaf, best in zip(leaves, scores, strict=True):
            self._choose(leaf, best)
        self._keep(leaves)

    def _total(self, leaf: _Leaf, column: int) -> np.ndarray:
        """The sums over a leaf, from any one column of its histogram where they are not known yet."""
        if leaf.total is not None:
            return leaf.total
        assert leaf.sums is not None
        return leaf.sums[BINS * column : BINS * (column + 1)].sum(axis=0)

    def _choose(self, leaf: _Leaf, best: np.ndarray) -> None:
        assert leaf.sums is not None
        leaf.total = self._total(leaf, GROUP * self.shares[0][0])
        feature, cut, score, whole = choose_cut(
            leaf.sums, leaf.total, self.noise, self.space.bins.n_cuts, self.growth.criterion, best
        )
        if feature >= 0:
            first = BINS * feature
            left = leaf.sums[first : first + cut + 1].sum(axis=0)
            leaf.cut = Cut(feature, cut, score - whole, left)

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

    def _finish(self, leaves: list[_Leaf]) -> Grown:
        feature = np.array(self.feature, dtype=np.int32)
        bins = np.array(self.bin, dtype=np.int32)
        left = np.array(self.left, dtype=np.int32)
        right = np.array(self.right, dtype=np.int32)
        leaf_nodes = np.array([leaf.node for leaf in leaves], dtype=np.int32)
        totals = np.array([leaf.total for leaf in leaves])
        sums, masses = totals[:, :-1], totals[:, -1]
        # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
        sums = np.where(np.abs(sums) > self.noise * masses[:, None], sums, 0)
        leaf = self.space.arena.empty(self.space.n, np.int32)
        if self.sampled:
            descend_bins(self.space.bins.words, feature, bins, left, right, leaf)
            number = np.zeros(len(feature), dtype=np.int32)
            number[leaf_nodes] = np.arange(len(leaves), dtype=np.int32)
            leaf = number[leaf]
        elif len(leaves) == 2:
            words = self.space.bins.words[feature[0] >> 3]
            sides(words, 8 * (feature[0] & 7), bins[0], leaf, self.space.n_threads)
        else:
            threads.each(
                lambda index: mark(self.rows[leaves[index].start : leaves[index].stop], index, leaf),
                len(leaves),
                self.space.n_threads if self.space.n > _SMALL else 1,
            )
        return Grown(feature, bins, left, right, leaf_nodes, sums, masses, leaf)


def _shared(groups: np.ndarray, n_columns: int, n_threads: int) -> list[np.ndarray]:
    """The groups in as many parts as there are threads, of about as many columns each: the last group may have few."""
    columns = np.cumsum(np.minimum(GROUP, n_columns - GROUP * groups))
    goals = columns[-1] * np.arange(1, n_threads) / n_threads
    parts = np.split(groups, np.searchsorted(columns, goals + 1))
    return [part for part in parts if len(part)]


def fill(
    space: Space,
    grown: Grown,
    leaf_values: np.ndarray,
    shape: tuple[int, ...],
    known_ray: tuple[float, float] | None = None,
) -> LeafProjection:
    """The grown tree with these values (leaves, k) in its leaves, on the sample."""
    return LeafProjection(_as_function(space, grown, leaf_values), grown.leaf, leaf_values, shape, known_ray)


def _as_function(space: Space, grown: Grown, leaf_values: np.ndarray) -> TreeFunction:
    """The grown tree as a function of raw features."""
    n_nodes = len(grown.feature)
    threshold = space.bins.thresholds[np.maximum(grown.feature, 0), grown.bin]
    value = np.zeros((n_nodes, leaf_values.shape[1]))
    value[grown.leaf_nodes] = leaf_values
    return TreeFunction(
        feature=grown.feature,
        threshold=np.where(grown.feature >= 0, threshold, 0.0),
        left=grown.left,
        right=grown.right,
        missing_left=np.zeros(n_nodes, dtype=np.bool_),
        category_set=np.full(n_nodes, -1, dtype=np.int32),
        category_sets=np.empty((0, 8), dtype=np.uint32),
        value=value,
    )
