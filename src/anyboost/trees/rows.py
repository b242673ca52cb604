"""The seam: what trees, losses, draws and the loop ask of rows, wherever these are.

Sums over rows are sums of whole numbers; the rest is largest values. So rows may lie in several parts, each of which
answers for its own: parts that `add` up their whole numbers and take the `most` of their extremes agree, in every bit,
with rows that lie in one place. All parts run the same loop, each on arrays of its own rows: whatever decides how it
goes on must come from such an answer. What no sum tells, as which rows are the worst or copies of each other, a part
sees where it has all of them `gather`ed.

`Rows` are those of one process. Rows of several processes are `Rows` with another `add`, `most`, `gather` and `own`
(see `parts`); rows on another device would answer all that `Rows` and `Ground` are asked.
"""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from anyboost.backends import mapped, threads
from anyboost.backends.arrays import ArrayPool
from anyboost.trees.grown import Plan, TreeShape
from anyboost.trees.journal import Journal
from anyboost.trees.questions import Agreement
from anyboost.trees.table import GROUP, Bins

if TYPE_CHECKING:
    from anyboost.backends.fixed_point import Fixed

T = TypeVar("T")

_SMALL = 40_000  # updates of counters under which a second thread costs more than it saves


class Inside(NamedTuple):
    """Rows that compiled code reaches itself; without `words` it has to ask for them."""

    words: np.ndarray
    n_columns: int
    list: np.ndarray
    spare: np.ndarray
    columns: np.ndarray  # (channels, n), each channel by itself, or
    vectors: np.ndarray  # (n, channels), a row's together, or
    pairs: np.ndarray  # (n, 2), a row's two
    taken: np.ndarray  # (channels, rows): the columns' entries of the rows to count
    taken_pairs: np.ndarray  # (rows, 2): the same of pairs
    shift: int
    chunk: int


_NOTHING = np.empty((0, 0), dtype=np.int64)
_NO_ROWS = np.empty(0, dtype=np.uint32)
ELSEWHERE = Inside(np.empty((0, 0), dtype=np.uint64), 0, _NO_ROWS, _NO_ROWS, *(_NOTHING,) * 5, 0, 1)


class Rows(Agreement):
    """Rows of a sample, all of them in this process."""

    own = slice(None)  # where those of this part lie among the gathered ones

    def __init__(
        self, n: int, n_threads: int = 1, folder: Path | None = None, journal: Journal | None = None
    ) -> None:
        self.n = n  # in all parts
        self.journal = journal  # of the trees that are grown on them, where it is kept
        self.n_threads = n_threads
        self.arrays = ArrayPool(folder)
        self._kept: dict[Hashable, Any] = {}

    def tell(self, found: np.ndarray) -> np.ndarray:
        """The few lines of numbers that parts have found, one part's after another's: sums with their extremes."""
        return found

    def dot(
        self,
        a: np.ndarray,
        b: np.ndarray | None,
        mass: np.ndarray | None,
        guess: int = 0,
        less: np.ndarray | None = None,
    ) -> tuple[float, int]:
        """sum_n mass_n <a_n, b_n - less_n>, and its exponent (see `sums.dot`)."""
        from anyboost.backends import sums

        return sums.dot(a, b, mass, self, guess, less)

    def fixed(
        self,
        a: np.ndarray,
        kappa: np.ndarray | None,
        mass: np.ndarray | None,
        whole: bool,
        masses: np.ndarray,
        total: float,
        tops: tuple[float | None, float | None],
    ) -> "Fixed":
        """mass_n a_n, mass_n kappa_n and mass_n in fixed point (see `fixed_point.fixed`)."""
        from anyboost.backends import fixed_point

        return fixed_point.fixed(a, kappa, mass, whole, masses, total, tops, self, self.arrays)

    def leaf_sums(
        self, leaf: np.ndarray, values: np.ndarray, n_leaves: int, n_terms: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The sums of `values` and of their sizes in each leaf; there are `n_terms` (see `sums.leaf_sums`)."""
        from anyboost.backends import sums

        return sums.leaf_sums(leaf.astype(np.int32, copy=False), values, n_leaves, self, n_terms)

    def quantiles(
        self,
        values: np.ndarray,
        weights: np.ndarray,
        leaf: np.ndarray,
        n_leaves: int,
        level: float | np.ndarray,
    ) -> np.ndarray:
        """Weighted quantiles in each leaf (see `select.quantiles`)."""
        from anyboost.backends.select import quantiles

        return quantiles(values, weights, leaf.astype(np.int32, copy=False), n_leaves, level, self)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` gave the first time: memory to use again from tree to tree."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def apart(self) -> "list[Rows]":
        """The same rows, for each thread that may ask of them while others do; themselves where only one may."""
        if self.journal is not None:  # its trees have an order
            return [self]
        return self.once(
            "apart", lambda: [Rows(self.n, 1, self.arrays.folder) for _ in range(self.n_threads)]
        )

    def bins(
        self, X: np.ndarray, masses: np.ndarray | None, max_bins: int, categorical: tuple[int, ...]
    ) -> Bins:
        """The bins of the table X, whose rows these are (see `binning.bin_table`)."""
        from anyboost.trees.binning import bin_table

        return bin_table(X, masses, max_bins, self.n_threads, categorical)

    def ground(self, bins: Bins, fixed: "Fixed", plan: Plan) -> "Ground":
        """Rows to grow a tree on."""
        return Ground(self, bins, fixed, plan)


Here = Rows  # the name that is pickled with runs of earlier versions


class Ground:
    """Rows under one tree: a list of them, in which those of a node lie from `start` to `stop`."""

    apart = False  # whether each histogram is a sum over parts, so that several at once are cheaper

    def __init__(self, rows: Rows, bins: Bins, fixed: "Fixed", plan: Plan) -> None:
        self._rows, self._bins, self._fixed, self._plan = rows, bins, fixed, plan
        n = bins.words.shape[1]
        listed = len(plan.drawn) if plan.drawn is not None else n if plan.parts else 0
        self.list, self.spare = (rows.arrays.empty(listed, np.uint32) for _ in range(2))
        if plan.drawn is not None:
            self.list[:] = plan.drawn  # a copy, which will be reordered
        elif listed:  # a stump of all rows never looks at the list
            self.list[:] = rows.once("in order", lambda: _count_up(rows.arrays.empty(n, np.uint32)))

    @property
    def listed(self) -> int:
        """How many rows the list has; 0 where it is not needed, and all rows are under the root."""
        return len(self.list)

    @property
    def inside(self) -> Inside:
        """What compiled code needs to count and part the rows itself; `ELSEWHERE` where it has to ask."""
        from anyboost.trees.histogram import many

        fixed, channels = self._fixed, self._fixed.channels
        apart = not many(fixed) and not fixed.paired
        empty = self._rows.arrays.empty
        return Inside(
            self._bins.words,
            self._bins.n_columns,
            self.list,
            self.spare,
            channels.T if apart else _NOTHING,
            channels if many(fixed) else _NOTHING,
            channels if fixed.paired else _NOTHING,
            empty((channels.shape[1] if apart else 0, self.listed), np.int64),
            empty((self.listed if fixed.paired else 0, 2), np.int64),
            fixed.shift,
            fixed.chunk,
        )

    def histogram(self, start: int, stop: int, sums: np.ndarray) -> None:
        """Fill `sums` with the histogram of some rows, over all parts."""
        from anyboost.trees.histogram import count, many, take

        bins, shares, workers = self._bins, self._plan.shares, self._rows.n_threads
        last, change = self._plan.last, None
        everything = self._plan.drawn is None and (start, stop) == (0, self.listed)
        taken, some = self._fixed, None
        if everything and last is not None:
            change = last.change(self._fixed, workers)
        if change is not None:
            taken, some = change.fixed, change.rows
        elif not everything:
            some = self.list[start:stop]
            taken = taken if many(taken) else take(taken, some, workers)

        def one(index: int) -> None:
            count(bins.words, shares[index], bins.n_cuts, bins.n_columns, taken, some, sums)
            if last is not None and change is not None:
                last.complete(sums, shares[index])

        work = (bins.words.shape[1] if some is None else len(some)) * sum(map(len, shares))
        threads.each(one, len(shares), workers if work > _SMALL else 1)
        if everything and last is not None:
            last.keep(self._fixed, sums)

    def histograms(self, ranges: Sequence[tuple[int, int]], sums: Sequence[np.ndarray]) -> None:
        """The histograms of several such ranges: parts add them up at once."""
        for (start, stop), own in zip(ranges, sums, strict=True):
            self.histogram(start, stop, own)

    def partition(self, column: int, goes_left: np.ndarray, start: int, stop: int) -> int:
        """Put those of some rows that a cut sends left before the others; where these begin."""
        from anyboost.trees.partition import partition

        group, place = divmod(column, GROUP)
        words, shift, some = self._bins.words[group], 8 * place, self.list[start:stop]
        return start + partition(words, shift, goes_left, some, self.spare, self._rows.n_threads)

    def leaves(self, shape: TreeShape) -> np.ndarray:
        """The leaf of every row, in the list or not, of the tree of this shape."""
        from anyboost.trees.partition import descend, leaves_of_cut, leaves_of_ranges, paths

        words, workers = self._bins.words, self._rows.n_threads
        leaf = self._rows.arrays.empty(words.shape[1], np.int32)
        if len(shape.leaf_nodes) == 1:
            leaf[:] = 0
        elif not self._plan.parts:
            group, place = divmod(int(shape.feature[0]), GROUP)
            leaves_of_cut(words[group], 8 * place, shape.goes_left[0], leaf, workers)
        else:
            some = self._plan.drawn is not None
            if some:
                leaf.fill(-1)
            leaves_of_ranges(self.list, shape.starts, shape.stops, leaf, workers)
            if some:  # the others have to be sent down
                descend(words, *paths(shape), leaf, workers)
        return leaf


def _count_up(numbers: np.ndarray) -> np.ndarray:
    for part in mapped.blocks(len(numbers)):
        numbers[part] = np.arange(part.start, part.stop, dtype=np.uint32)
    return numbers
