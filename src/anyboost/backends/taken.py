"""Some rows of a table in memory, without a copy: who reads a few columns, or a portion of the rows, is given those."""

from typing import Any

import numpy as np

PORTION = 1 << 14  # rows that are copied at once


class Taken:
    """Rows of a table, by number. `np.asarray` makes a table of them; an index gives the numbers that it names."""

    ndim = 2

    def __init__(self, table: np.ndarray, rows: np.ndarray) -> None:
        self.table, self.rows = table, rows
        self.shape, self.dtype = (len(rows), table.shape[1]), table.dtype

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        return self.table[:, columns][self.rows[rows]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the rows are copied where an array is made of them")
        return self.table[self.rows].astype(self.dtype if dtype is None else dtype, copy=False)

    def take(self, rows: np.ndarray) -> "Taken":
        return Taken(self.table, self.rows[rows])


def portions(start: int, stop: int) -> list[slice]:
    """Rows from start to stop, a portion at a time."""
    return [slice(first, min(first + PORTION, stop)) for first in range(start, stop, PORTION)]


def written_out(X: Any) -> Any:
    """A table as an array, where it is rows taken of one."""
    return np.asarray(X) if isinstance(X, Taken) else X
