"""Rows as kernels read them: one run of values, with features beside them where the table is sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Floats

NONE = np.empty(0, dtype=np.int64)
PORTION = 1 << 16  # rows


class Table(NamedTuple):
    """Rows one after another: `width` values each, or where sparse those from starts[row] on, of `columns`."""

    n: int
    width: int
    values: Floats
    columns: np.ndarray  # ascending in each row
    starts: np.ndarray

    def row(self, number: int) -> tuple[np.ndarray, Floats]:
        """Columns and values of one row."""
        if len(self.starts):
            own = slice(self.starts[number], self.starts[number + 1])
            return self.columns[own], self.values[own]
        return np.arange(self.width), self.values[number * self.width : (number + 1) * self.width]

    def part(self, rows: slice) -> Table:
        """Some of the rows, in the same memory."""
        if len(self.starts):
            starts = self.starts[rows.start : rows.stop + 1]
            return self._replace(n=len(starts) - 1, starts=starts)
        values = self.values[rows.start * self.width : rows.stop * self.width]
        return self._replace(n=rows.stop - rows.start, values=values)

    def given(self) -> Table:
        """The same rows without the cells that are NaN: a sparse table has none where a value is missing."""
        if not np.isnan(self.values).any():
            return self
        if len(self.starts):
            own = slice(int(self.starts[0]), int(self.starts[-1]))
            values, columns, starts = self.values[own], self.columns[own], self.starts - own.start
        else:
            values, columns = self.values, np.tile(np.arange(self.width), self.n)
            starts = np.arange(self.n + 1) * self.width
        there = ~np.isnan(values)
        places = np.concatenate([[0], np.cumsum(there)])
        return sparse_table(self.width, values[there], columns[there], places[starts])

    def writable(self) -> Table:
        """The same rows, copied where their memory is read-only."""
        return self._replace(values=np.require(self.values, requirements="W"))

    def within(self, width: int) -> Table:
        """With so many columns; those of a sparse table that lie beyond are left out."""
        if self.width <= width:
            return self._replace(width=width)
        kept = self.columns[: len(self.values)] < width
        places = np.concatenate([[0], np.cumsum(kept)])
        return sparse_table(width, self.values[kept], self.columns[: len(kept)][kept], places[self.starts])


def sparse_table(width: int, values: Floats, columns: np.ndarray, starts: np.ndarray) -> Table:
    """Rows of checked values, in their columns."""
    if not len(columns):  # so that kernels see a sparse table
        columns = np.zeros(1, dtype=np.int64)
    return Table(len(starts) - 1, width, values, columns, starts)


def one_row(columns: np.ndarray, values: Floats, width: int) -> Table:
    """A table of one row."""
    return sparse_table(width, values, columns, np.array([0, len(columns)]))


def portions(table: Table, y: np.ndarray, given: Floats | None) -> Iterator[tuple[Table, np.ndarray, Floats]]:
    """Checked rows with their targets and weights, in their order, some thousands at a time.

    Weights of 1 are the same few for each: fresh memory for all rows would take a tenth of the time to learn them.
    """
    ones = np.ones(min(table.n, PORTION))
    for first in range(0, table.n, PORTION):
        rows = slice(first, min(first + PORTION, table.n))
        yield table.part(rows), y[rows], ones[: rows.stop - first] if given is None else given[rows]


def read(X: Any, n_features: int, missing: bool = False) -> Table:
    """A table of finite numbers; with as many columns as those before it, or more or fewer where it is sparse.

    missing : whether a number may be NaN.
    """
    if hasattr(X, "tocsr"):
        return _read_sparse(X, n_features, missing)
    array = checks.table(X, "X")
    if n_features and array.shape[1] != n_features:
        raise ValueError(
            f"X must have the {n_features} columns of the rows before it, got {array.shape[1]}: "
            "features may appear later in a sparse matrix only"
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    n, width = array.shape
    return check_finite(Table(n, width, array.reshape(-1), NONE, NONE), missing)


def _read_sparse(X: Any, n_features: int, missing: bool) -> Table:
    matrix = X.tocsr()
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows: give at least one")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    columns, starts = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    width = max(matrix.shape[1], n_features)
    return check_finite(sparse_table(width, checks.numbers(matrix.data, "X"), columns, starts), missing)


def check_finite(table: Table, missing: bool = False) -> Table:
    """The table; refused, with the row's number, where a value is not finite, nor NaN where one may be `missing`."""
    # A sum is the quickest test; where it is not finite, look closer.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(table.values.sum()):
            return table
    good = ~np.isinf(table.values) if missing else np.isfinite(table.values)
    if not good.all():
        place = int(np.argmin(good))
        sparse = len(table.starts) > 0
        row = int(np.searchsorted(table.starts, place, side="right")) - 1 if sparse else place // table.width
        raise ValueError(
            f"X must be finite, got {table.values[place]} at row {row}: drop that row or fill the value in"
        )
    return table


def weights(sample_weight: Any, n: int) -> Floats:
    """Finite weights, none negative; unlike a sample's they may all be 0."""
    if sample_weight is None:
        return np.ones(n)
    array = checks.column(sample_weight, "sample_weight")
    if len(array) == n and not array.any():
        return array
    return checks.sample_weight(array, n)
