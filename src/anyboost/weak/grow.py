"""Growing one tree on a binned sample, best leaf first.

The next leaf to split is the one whose best cut gains most; gains within 1e-9 of the largest are equal,
and then the oldest leaf goes first. A tree stops where no cut gains.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.histogram import BINS, histogram, histogram_of_all
from anyboost.backends.partition import descend_bins, mark, partition
from anyboost.backends.split import NOISE, TIE, best_cut
from anyboost.space import Space
from anyboost.weak.base import LeafProjection
from anyboost.weak.functions import TreeFunction

_LARGE = 10_000  # sums from which on two children are looked at by two threads


class Growth(NamedTuple):
    """What a tree may become."""

    max_leaves: int
    max_depth: int | None
    criterion: int


class Cut(NamedTuple):
    feature: int
    bin: int
    gain: float


@dataclass
class _Leaf:
    """An open leaf: a range of the row list, its sums, and the best cut found for it."""

    node: int
    depth: int
    start: int
    stop: int
    total: np.ndarray  # (k + 1,): the sums of the targets, and the mass
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


def grow(
    space: Space,
    fixed: np.ndarray,
    growth: Growth,
    rows: np.ndarray | None = None,
    features: np.ndarray | None = None,
) -> Grown:
    """Grow a tree on the integers `fixed` (n, k); on a subset of rows and features where given."""
    return _Grower(space, fixed, growth, rows, features).run()


class _Grower:
    def __init__(
        self,
        space: Space,
        fixed: np.ndarray,
        growth: Growth,
        rows: np.ndarray | None,
        features: np.ndarray | None,
    ) -> None:
        self.space = space
        self.fixed = fixed
        self.growth = growth
        self.sampled = rows is not None
        self.rows = np.arange(space.n, dtype=np.uint32) if rows is None else rows.astype(np.uint32)
        self.spare = np.empty_like(self.rows)
        self.allowed = np.ones(len(space.bins.n_cuts), dtype=np.bool_)
        if features is not None:
            self.allowed[:] = False
            self.allowed[features] = True
        self.feature = [-1]
        self.bin = [0]
        self.left = [0]
        self.right = [0]

    def run(self) -> Grown:
        root = self._root()
        leaves = [root]
        while len(leaves) < self.growth.max_leaves:
            open_leaves = [leaf for leaf in leaves if leaf.cut is not None]
            if not open_leaves:
                break
            most = max(leaf.cut.gain for leaf in open_leaves if leaf.cut)
            oldest = next(leaf for leaf in open_leaves if leaf.cut and leaf.cut.gain >= most * (1.0 - TIE))
            place = leaves.index(oldest)
            last = len(leaves) + 1 == self.growth.max_leaves
            # Children are younger than every other leaf: the list stays in order of age.
            leaves[place : place + 1] = []
            leaves += self._split(oldest, last)
        return self._finish(leaves)

    @cached_property
    def channels(self) -> np.ndarray:
        """What a histogram adds up for a row: its targets and its mass."""
        return np.hstack([self.fixed, self.space.fixed_mass[0]])

    def _root(self) -> _Leaf:
        bins, space = self.space.bins, self.space
        if self.growth.max_leaves == 2 and not self.sampled and self.fixed.shape[1] == 1:
            # All rows and no children: the mass by column and bin is always the same.
            targets = histogram_of_all(bins.words, self.fixed, space.n_threads)
            sums = np.hstack([targets, space.mass_histogram])
        else:
            sums = histogram(bins.words, self.channels, self.rows, space.n_threads)
        leaf = _Leaf(0, 0, 0, len(self.rows), sums[:BINS].sum(axis=0), sums)
        leaf.cut = self._best_cut(leaf)
        return leaf

    def _best_cut(self, leaf: _Leaf) -> Cut | None:
        deepest = self.growth.max_depth
        if leaf.sums is None or (deepest is not None and leaf.depth >= deepest):
            return None
        feature, cut, score, whole = best_cut(
            leaf.sums,
            leaf.total,
            NOISE * self.space.fixed_mass[1],
            self.space.bins.n_cuts,
            self.allowed,
            self.growth.criterion,
        )
        return None if feature < 0 else Cut(feature, cut, score - whole)

    def _split(self, leaf: _Leaf, last: bool) -> list[_Leaf]:
        cut, sums = leaf.cut, leaf.sums
        assert cut is not None
        assert sums is not None
        words = self.space.bins.words[cut.feature >> 3]
        rows = self.rows[leaf.start : leaf.stop]
        middle = leaf.start + partition(words, 8 * (cut.feature & 7), cut.bin, rows, self.spare)
        first = BINS * cut.feature
        total = sums[first : first + cut.bin + 1].sum(axis=0)
        node, depth = len(self.feature), leaf.depth + 1
        self.feature[leaf.node], self.bin[leaf.node] = cut.feature, cut.bin
        self.left[leaf.node], self.right[leaf.node] = node, node + 1
        self.feature += [-1, -1]
        self.bin += [0, 0]
        self.left += [0, 0]
        self.right += [0, 0]
        children = [
            _Leaf(node, depth, leaf.start, middle, total),
            _Leaf(node + 1, depth, middle, leaf.stop, leaf.total - total),
        ]
        leaf.sums = None
        if not last:
            self._share(children, sums)
        return children

    def _share(self, children: list[_Leaf], sums: np.ndarray) -> None:
        # The smaller child is counted; the larger one is what is left of the parent, exactly.
        small, large = sorted(children, key=lambda leaf: leaf.stop - leaf.start)
        rows = self.rows[small.start : small.stop]
        small.sums = histogram(self.space.bins.words, self.channels, rows, self.space.n_threads)
        sums -= small.sums
        large.sums = sums

        def look(index: int) -> None:
            children[index].cut = self._best_cut(children[index])

        threads.each(look, 2, self.space.n_threads if sums.size > _LARGE else 1)

    def _finish(self, leaves: list[_Leaf]) -> Grown:
        feature = np.array(self.feature, dtype=np.int32)
        bins = np.array(self.bin, dtype=np.int32)
        left = np.array(self.left, dtype=np.int32)
        right = np.array(self.right, dtype=np.int32)
        leaf_nodes = np.array([leaf.node for leaf in leaves], dtype=np.int32)
        leaf = np.zeros(self.space.n, dtype=np.int32)
        if self.sampled:
            descend_bins(self.space.bins.words, feature, bins, left, right, leaf)
            number = np.zeros(len(feature), dtype=np.int32)
            number[leaf_nodes] = np.arange(len(leaves), dtype=np.int32)
            leaf = number[leaf]
        else:
            for label, part in enumerate(leaves):
                mark(self.rows[part.start : part.stop], label, leaf)
        sums = np.array([part.total[:-1] for part in leaves])
        masses = np.array([part.total[-1] for part in leaves])
        # A sum within its own rounding is zero: at a kink (f = y) even a step of 1e-17 changes the gradient.
        noise = NOISE * self.space.fixed_mass[1] * masses
        sums = np.where(np.abs(sums) > noise[:, None], sums, 0)
        return Grown(feature, bins, left, right, leaf_nodes, sums, masses, leaf)


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
