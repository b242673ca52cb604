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
    """Rows one after another: `width` values each, or where sparse those from begins[row] on, of `features`."""

    n: int
    width: int
    data: Floats
    features: np.ndarray
    begins: np.ndarray

    def part(self, rows: slice) -> Table:
        """Some of the rows, in the same memory."""
        if len(self.begins):
            begins = self.begins[rows.start : rows.stop + 1]
            return self._replace(n=len(begins) - 1, begins=begins)
        data = self.data[rows.start * self.width : rows.stop * self.width]
        return self._replace(n=rows.stop - rows.start, data=data)


def portions(table: Table, y: np.ndarray, given: Floats | None) -> Iterator[tuple[Table, np.ndarray, Floats]]:
    """Checked rows with their targets and weights, in their order, some thousands at a time.

    Weights of 1 are the same few for each: fresh memory for all rows would take a tenth of the time to learn them.
    """
    ones = np.ones(min(table.n, PORTION))
    for first in range(0, table.n, PORTION):
        rows = slice(first, min(first + PORTION, table.n))
        yield table.part(rows), y[rows], ones[: rows.stop - first] if given is None else given[rows]


def read(X: Any, n_features: int, fixed: bool = False) -> Table:
    """A table of finite numbers; with as many columns as those before it, or more where it is sparse.

    `fixed`: sparse tables with more columns are cut to the known ones.
    """
    if hasattr(X, "tocsr"):
        return _read_sparse(X, n_features, fixed)
    array = checks.table(X, "X")
    if n_features and array.shape[1] != n_features:
        raise ValueError(
            f"X must have the {n_features} columns of the rows before it, got {array.shape[1]}: "
            "features may appear later in a sparse matrix only"
        )
    array = np.ascontiguousarray(array, dtype=np.float64)
    _finite(array, lambda place: place // array.shape[1])
    return Table(array.shape[0], array.shape[1], array.reshape(-1), NONE, NONE)


def _read_sparse(X: Any, n_features: int, fixed: bool) -> Table:
    matrix = X.tocsr()
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows: give at least one")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if fixed and matrix.shape[1] > n_features:
        matrix = matrix[:, :n_features]
    data = checks.numbers(matrix.data, "X")
    begins = matrix.indptr.astype(np.int64)
    _finite(data, lambda place: int(np.searchsorted(begins, place, side="right")) - 1)
    index = matrix.indices.astype(np.int64)
    if not len(index):  # so that kernels see a sparse table
        index = np.zeros(1, dtype=np.int64)
    return Table(matrix.shape[0], max(matrix.shape[1], n_features), data, index, begins)


def _finite(data: np.ndarray, row_of: Any) -> None:
    # A sum is the quickest test; where it is not finite, look closer.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(data.sum()):
            return
    good = np.isfinite(data.reshape(-1))
    if not good.all():
        place = int(np.argmin(good))
        raise ValueError(
            f"X must be finite, got {data.reshape(-1)[place]} at row {row_of(place)}: "
            "drop that row or fill the value in"
        )


def weights(sample_weight: Any, n: int) -> Floats:
    """Finite weights, none negative; unlike a sample's they may all be 0."""
    if sample_weight is None:
        return np.ones(n)
    array = checks.column(sample_weight, "sample_weight")
    if len(array) == n and not array.any():
        return array
    return checks.sample_weight(array, n)
