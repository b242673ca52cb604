"""Data frames in and out of the front ends: any that narwhals knows, or a list of dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anyboost.online.features import Features
from anyboost.online.rows import Table


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
    import narwhals.stable.v1 as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise ValueError(
            f"X must be a data frame or a list of dicts, got {type(X).__name__}: pass arrays to partial_fit"
        ) from None
    return {name: _cells(name, frame.get_column(name)) for name in frame.columns}, len(frame)


def _cells(name: Any, series: Any) -> np.ndarray:
    import narwhals.stable.v1 as nw

    dtype = series.dtype
    missing = series.is_null().to_numpy()
    if dtype.is_numeric() or dtype == nw.Boolean:
        wide = series.cast(nw.Float64)
        numbers = np.array((wide.fill_null(0.0) if missing.any() else wide).to_numpy(), dtype=np.float64)
        wrong = np.isnan(numbers) & ~missing
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"column {name!r} must be finite, got nan at row {row}: use null for a missing one"
            )
        numbers[missing] = np.nan
        return numbers
    cells = np.empty(len(series), dtype=object)
    cells[:] = series.to_list()
    cells[missing] = None
    for row, cell in enumerate(cells.tolist()):
        if cell is not None and not isinstance(cell, str):
            raise ValueError(
                f"column {name!r} must hold numbers or text, got {type(cell).__name__} at row {row}: convert it first"
            )
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
    if isinstance(X, Sequence):
        rows = np.column_stack([np.empty((len(X), 0)), *columns.values()])
        return [dict(zip(columns, row, strict=True)) for row in rows.tolist()]
    frame = nw.from_native(X, eager_only=True)
    named = {str(name): values for name, values in columns.items()}
    return nw.from_dict(named, backend=nw.get_native_namespace(frame)).to_native()
