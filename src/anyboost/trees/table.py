"""A table in bins: a column's values as small integers, eight columns to a 64-bit word.

Bin b of a column of numbers holds t[b-1] < x <= t[b] for its thresholds t, bin b of a column of categories some codes;
bin 255 holds missing values. Words are stored by group of eight columns, so a histogram reads one word a row for eight
columns.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends import mapped

BINS = 256
MISSING = BINS - 1
MOST_BINS = MISSING  # 0 .. 254: one code is left for missing values
GROUP = 8


class Categories(NamedTuple):
    """The bins of category codes: that of code c of column f is bins[first[f] + c], for c < size[f].

    Codes that training had none of, and those beyond, are in the bin of missing values. `size` is 0, and
    `first` -1, for columns of numbers.
    """

    first: np.ndarray
    size: np.ndarray
    bins: np.ndarray

    def same(self, other: "Categories") -> bool:
        return self is other or all(np.array_equal(a, b) for a, b in zip(self, other, strict=True))


class Bins(NamedTuple):
    """The table's columns; those that fill up the last group have no cuts.

    The cut after the last threshold, present only with missing values, parts those from the rest.
    """

    words: np.ndarray  # (groups, n) of uint64
    thresholds: np.ndarray  # (groups * 8, 255), padded with +inf
    n_thresholds: np.ndarray  # (groups * 8,)
    n_cuts: np.ndarray  # (groups * 8,)
    n_columns: int
    categories: Categories | None = None

    def take(self, rows: np.ndarray) -> "Bins":
        """Some of the rows."""
        if mapped.folder_of(self.words) is None:
            return self._replace(words=np.ascontiguousarray(self.words[:, rows]))
        return self._replace(words=mapped.take(self.words.T, rows).T)
