"""Data frames in and out of the front ends: any that narwhals knows, or a list of dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anyboost.online.features import Features
from anyboost.online.rows import Table
from anyboost.tables import Column, columns_of


def encode(features: Features, X: Any, grow: bool) -> Table:
    """The rows of a data frame, of a dict of columns or of a list of dicts."""
    if isinstance(X, Sequence) and all(isinstance(x, Mapping) for x in X):
        return features.rows(X, grow)
    if isinstance(X, Mapping):  # columns as `Features.table` takes them
        return features.table(X, len(next(iter(X.values()), ())), grow)
    columns, n_rows = named_columns(X)
    return features.table(columns, n_rows, grow)


def named_columns(X: Any) -> tuple[dict[Any, np.ndarray], int]:
    """Columns by name, as `Features.table` takes them, and the number of rows."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise ValueError(
            f"X must be a data frame or a list of dicts, got {type(X).__name__}: pass arrays to partial_fit"
        ) from None
    return {name: cells_of(column) for name, column in columns_of(frame.to_native(), "X").items()}, len(frame)


def cells_of(column: Column) -> np.ndarray:
    """A column's numbers, NaN where missing, or its texts, None where missing; a sentence where it has neither."""
    if not column.holds_words:
        return np.asarray(column.numbers(), dtype=np.float64)
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.words()
    return cells


def like_rows(X: Any, values: np.ndarray, name: str) -> Any:
    """One value a row, as a series of the frame's own library (pandas: with its index); an array for dicts."""
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_pandas_dataframe(X):
        import pandas

        return pandas.Series(values, index=X.index, name=name)
    if isinstance(X, Sequence | Mapping):
        return values
    frame = nw.from_native(X, eager_only=True)
    return nw.new_series(name, values.tolist(), backend=nw.get_native_namespace(frame)).to_native()


def like_frame(X: Any, columns: dict[Any, np.ndarray]) -> Any:
    """Columns of one value a row, as a frame of the same library; a list of dicts for dicts."""
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_pandas_dataframe(X):
        import pandas

        return pandas.DataFrame(columns, index=X.index)
    if isinstance(X, Mapping):
        return columns
    if isinstance(X, Sequence):
        rows = np.column_stack([np.empty((len(X), 0)), *columns.values()])
        return [dict(zip(columns, row, strict=True)) for row in rows.tolist()]
    frame = nw.from_native(X, eager_only=True)
    named = {str(name): values for name, values in columns.items()}
    return nw.from_dict(named, backend=nw.get_native_namespace(frame)).to_native()
