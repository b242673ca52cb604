"""Data frames of pandas, polars and pyarrow, by way of narwhals; arrays and sparse matrices are none."""

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from anyboost.tables.column import Column, FrameColumn

_SHOWN = 5  # names in a message


def frame_of(X: Any) -> Any:
    """X as a narwhals frame; None where it is no data frame."""
    if isinstance(X, np.ndarray | list | tuple) or hasattr(X, "tocsr"):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.schema  # noqa: B018 - looks at the names
    except nw.exceptions.DuplicateError:
        names = Counter(getattr(X, "column_names", None) or list(X.columns))
        twice = [repr(name) for name, count in names.items() if count > 1]
        more = f" and {len(twice) - _SHOWN} more" if len(twice) > _SHOWN else ""
        raise ValueError(
            f"X has two columns or more of the name {', '.join(twice[:_SHOWN])}{more}: rename or drop them"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame: collect it first, X.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def check_kind(X: Any) -> None:
    """Refuse what is neither a data frame nor an array of rows and columns."""
    sparse = hasattr(X, "tocsr")
    rows = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)
    if rows or (isinstance(X, Mapping) and not sparse):  # a sparse matrix may be one
        what = "a list of mappings" if rows else "a mapping"
        raise TypeError(f"X is {what}: make a data frame of it, pandas.DataFrame(X) or polars.DataFrame(X)")
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X is the name of a file, {os.fspath(X)!r}: read it first, e.g. by pandas.read_csv")
    if frame_of(X) is None and _is_series(X):
        raise TypeError(
            "X is a Series: take its row or column as a table, X.iloc[[0]] or X[['name']] of the frame"
        )
    if frame_of(X) is None and isinstance(X, np.ndarray | list | tuple) and np.ndim(X) != 2:
        from sklearn.utils import check_array

        check_array(X, dtype=None, ensure_all_finite=False, input_name="X")


def _is_series(X: Any) -> bool:
    """Whether X is one row or column of a data frame."""
    if isinstance(X, np.ndarray | list | tuple) or hasattr(X, "tocsr"):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(X, pass_through=True, allow_series=True), nw.Series)


def names_of(X: Any) -> list[str] | None:
    """The names of a data frame's columns; None where it has none, or not all are text."""
    frame = frame_of(X)
    if frame is None:
        return None
    names = list(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


def columns_of(frame: Any, name: str) -> dict[str, Column]:
    """The columns of a data frame, by name."""
    import narwhals as nw

    frame = nw.from_native(frame, eager_only=True, pass_through=False)
    return {
        label: FrameColumn(frame.get_column(label), f"column {label!r} of {name}") for label in frame.columns
    }


def as_one_block(frame: Any) -> np.ndarray | None:
    """A frame of one float type as the library has it, without a pass over its columns."""
    import narwhals as nw

    kinds = set(frame.schema.values())
    if kinds not in ({nw.Float32}, {nw.Float64}):
        return None
    whole = frame.to_numpy()
    return whole if whole.dtype in (np.float32, np.float64) else None


def take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table, of the kind that it is: a data frame of the same library, an array, a sparse matrix."""
    frame = frame_of(X)
    if frame is not None:
        return frame[rows].to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return np.asarray(X)[rows]


def to_frame(columns: dict[str, np.ndarray], like: Any, what: str) -> Any:
    """Columns as a data frame of the kind that `like` is, else as one of pandas."""
    import narwhals as nw

    known = frame_of(like)
    if known is not None:
        return nw.from_dict(columns, backend=known.implementation).to_native()
    try:
        return nw.from_dict(columns, backend="pandas").to_native()
    except ImportError:
        raise ImportError(
            f"{what} gives a data frame: pip install pandas, or give X as a data frame"
        ) from None
