"""Growing a tree in one compiled call, where the steps of `grow` would cost more than their work.

Only trees without rules: no monotone columns, no categories, no sets of columns that must keep together.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from anyboost.backends import branch, team, threads
from anyboost.backends.bins import GROUP
from anyboost.backends.histogram import BINS, many

if TYPE_CHECKING:
    from anyboost.backends.sums import Fixed
    from anyboost.space import Space
    from anyboost.weak.grown import Growth
    from anyboost.weak.rules import Limits

_MOST_MEMORY = 2**27  # bytes of histograms, one a leaf
_SMALL = 300_000  # updates of the root's counters under which other threads are left alone
_NOTHING = np.empty((0, 0), dtype=np.int64)


def fits(space: "Space", fixed: "Fixed", growth: "Growth") -> bool:
    """Whether a tree without rules can be grown in one call."""
    memory = growth.max_leaves * len(space.bins.n_cuts) * BINS * (fixed.outputs + 1) * 8
    return growth.max_leaves > 2 and memory <= _MOST_MEMORY


class Branched:
    """What `branch` made: as lists of `grow` would have it, for nodes and for leaves in order of age."""

    def __init__(
        self,
        space: "Space",
        fixed: "Fixed",
        growth: "Growth",
        limits: "Limits",
        groups: np.ndarray,
        allowed: np.ndarray,
        rows: np.ndarray,
        count_root: Callable[[np.ndarray], None],
    ) -> None:
        channels, size = fixed.outputs + 1, (len(allowed) * BINS, fixed.outputs + 1)
        slab = space.once(
            ("slab", size, growth.max_leaves),
            lambda _: np.zeros((growth.max_leaves, *size), dtype=np.int64),
            of_table=True,
        )
        count_root(slab[0])
        most = 2 * growth.max_leaves - 1
        places = np.zeros((branch.PLACES, most), dtype=np.int64)
        totals = np.zeros((most, channels), dtype=np.int64)
        first = GROUP * groups[0]
        totals[0] = slab[0, BINS * first : BINS * (first + 1)].sum(axis=0)
        tables = np.zeros((most, BINS), dtype=np.bool_)
        leaves = np.zeros(growth.max_leaves, dtype=np.int64)
        left, right = np.zeros((2, most), dtype=np.int32)
        n_rows, n_columns, together = len(rows), space.X.shape[1], many(fixed)
        columns = _NOTHING if together else fixed.channels.T
        sync, job = team.zeros(), np.zeros(6, dtype=np.int64)
        shared = (
            sync, job, space.bins.words, groups, space.bins.n_cuts, n_columns, allowed,
            np.empty((len(columns), 0 if together else n_rows), dtype=np.int64),
            fixed.channels if together else _NOTHING, fixed.shift, fixed.chunk, tuple(limits), rows, slab, totals,
            np.full((2, len(allowed)), -np.inf),
        )  # fmt: skip
        if n_rows * n_columns * fixed.channels.shape[1] > _SMALL:
            threads.invite(lambda: branch.assist(*shared), min(space.n_threads, len(groups)) - 1)
        try:
            n_leaves = branch.branch(
                *shared, columns, growth.max_leaves, growth.max_depth or most, growth.by_level,
                np.empty_like(rows), places, np.empty_like(totals), tables, np.full(most, -1.0), leaves, left, right,
            )  # fmt: skip
        finally:
            team.dismiss(sync)
        nodes = 2 * n_leaves - 1
        split = left[:nodes] > 0
        self.feature = np.where(split, places[branch.COLUMN, :nodes], -1).astype(np.int32)
        self.bin = np.where(split, places[branch.BIN, :nodes], 0).astype(np.int32)
        self.goes_left = tables[:nodes] & split[:, None]
        self.left, self.right = left[:nodes], right[:nodes]
        self.leaf_nodes = leaves[:n_leaves].astype(np.int32)
        self.totals = totals[self.leaf_nodes]
        self.edges = places[: branch.STOP + 1, self.leaf_nodes]
