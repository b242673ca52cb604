"""The histogram of all rows, from that of the round before.

A kinked loss has a subgradient of few values, which changes only where a score crosses its kink. So from one round
to the next most rows keep their target, and the others' difference is all there is to count. Sums are integers:
the histogram is the same, to the bit, as one that counts every row.
"""

from dataclasses import dataclass

import numpy as np

from anyboost.backends import threads
from anyboost.backends.bins import GROUP
from anyboost.backends.histogram import BINS, differing, take
from anyboost.backends.sums import Fixed

_SAMPLE = 1024  # rows that tell whether it is worth a try
_MOST = 0.25  # of the rows: counting those apart costs more than counting all in order
_LEAST_ROWS = 5_000


@dataclass
class Change:
    """The rows whose targets are not those of the round before, and by how much they differ."""

    rows: np.ndarray
    fixed: Fixed


class Root:
    """The targets of the last round and their histogram."""

    def __init__(self) -> None:
        self.fixed: Fixed | None = None
        self.sums: np.ndarray | None = None

    def change(self, fixed: Fixed, n_threads: int) -> Change | None:
        """What is to be counted; None where that is every row."""
        old, new = self.fixed, fixed
        n = len(new.channels)
        if (
            self.sums is None
            or old is None
            or n < _LEAST_ROWS
            or (old.unit, old.shift) != (new.unit, new.shift)
        ):
            return None
        some = slice(None, None, n // _SAMPLE)
        if (old.channels[some] != new.channels[some]).any(axis=1).mean() > _MOST:
            return None
        found = threads.over_blocks(
            lambda start, stop: differing(old.channels, new.channels, start, stop), n, n_threads
        )
        rows = np.concatenate(found)
        difference = take(new, rows, n_threads).channels - take(old, rows, n_threads).channels
        # Differences are up to twice as large as targets.
        return Change(rows, new._replace(channels=difference, chunk=max(1, new.chunk // 2)))

    def complete(self, sums: np.ndarray, groups: np.ndarray) -> None:
        """Add the round before to the change, in these groups of columns."""
        assert self.sums is not None
        for group in groups:
            own = slice(GROUP * BINS * group, GROUP * BINS * (group + 1))
            sums[own] += self.sums[own]

    def keep(self, fixed: Fixed, sums: np.ndarray) -> None:
        """Remember this round."""
        self.fixed = fixed
        if self.sums is None:
            self.sums = sums.copy()
        else:
            np.copyto(self.sums, sums)
