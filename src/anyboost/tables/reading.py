"""A table to one array of numbers, by the levels that its columns have or, in training, show."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost import checks, notices
from anyboost.backends import mapped
from anyboost.tables.choosing import column_numbers
from anyboost.tables.column import ArrayColumn, Column, is_missing
from anyboost.tables.frames import as_one_block, columns_of, frame_of, names_of
from anyboost.tables.levels import Columns, levels_of
from anyboost.trees.parts import alone, circle

FROM_DTYPE = "from_dtype"


def read(
    X: Any,
    columns: Columns | None = None,
    categorical: Any = FROM_DTYPE,
    sample_weight: np.ndarray | None = None,
    name: str = "X",
    sparse: bool = False,
) -> tuple[Any, Columns]:
    """The table as float32 or float64, not copied where it is that already, and what its columns are.

    Parameters
    ----------
    X : data frame, array_like or sparse matrix
        Rows and columns.
    columns : Columns or None, default None
        What the training table's columns were, for a later table; None for a training table.
    categorical : str, columns or None, default "from_dtype"
        Which columns of a training table hold categories: "from_dtype" for those of a data frame's categorical and
        text types, None for none, else column numbers, names, or a mask.
    sample_weight : ndarray or None, default None
        Of a training table's rows; a level that no row of positive weight has is not one.
    name : str, default "X"
        What messages call the table.
    sparse : bool, default False
        Whether a sparse matrix is wanted as one, in CSR form; else it is refused.

    Returns
    -------
    tuple of (table, Columns)
        The numbers, and what each column is.
    """
    frame = frame_of(X)
    if frame is None:
        return _read_array(X, columns, categorical, sample_weight, name, sparse)
    names = names_of(X)
    later = columns is not None
    _fits_together(len(frame), len(frame.columns), sample_weight, name)
    parts = list(columns_of(frame, name).values())
    columns = columns or _learnt(parts, categorical, names, sample_weight)
    if not columns.levels:
        whole = as_one_block(frame)
        if whole is not None:
            return whole, columns
    return filled(parts, columns, later), columns


def _read_array(
    X: Any,
    columns: Columns | None,
    categorical: Any,
    sample_weight: np.ndarray | None,
    name: str,
    sparse: bool,
) -> tuple[Any, Columns]:
    from sklearn.utils import check_array

    named = categorical is not None and not isinstance(categorical, str)
    if columns is not None:
        named = bool(columns.levels)
    raw = None if hasattr(X, "tocsr") else np.asarray(X)
    if raw is not None and raw.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers, pass {name}.real")
    if raw is None and sparse and named and np.size(categorical):
        raise ValueError(
            f"{name} is a sparse matrix, which has no categories: leave categorical_features out"
        )
    if not named or raw is None or raw.ndim != 2:
        if raw is not None:
            advice = "turn it into numbers, name its column in categorical_features, or pass a data frame"
            checks.no_words(raw, name, advice)
        table = check_array(
            X if raw is None or raw.dtype != object else _with_nan(raw),
            accept_sparse="csr" if sparse else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=int(alone()),
            input_name=name,
            estimator=None,
        )
        return table, columns or Columns(table.shape[1])
    _fits_together(raw.shape[0], raw.shape[1], sample_weight, name)
    later = columns is not None
    kind = Column if raw.dtype.kind in "biuf" else ArrayColumn
    parts = [kind(raw[:, number], f"column {number} of {name}") for number in range(raw.shape[1])]
    columns = columns or _learnt(parts, categorical, None, sample_weight)
    return filled(parts, columns, later), columns


def _with_nan(values: np.ndarray) -> np.ndarray:
    """An array of objects with NaN for all that is missing: NumPy knows None alone."""
    missing = np.frompyfunc(is_missing, 1, 1)(values).astype(np.bool_)
    return np.where(missing, math.nan, values)


def _fits_together(n_rows: int, n_columns: int, sample_weight: np.ndarray | None, name: str) -> None:
    if n_rows == 0 and alone():
        raise ValueError(f"{name} has 0 sample(s) (shape=({n_rows}, {n_columns})): give at least one row")
    if n_columns == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required: give it columns"
        )
    if sample_weight is not None and len(sample_weight) != n_rows:
        raise ValueError(
            f"sample_weight must have one weight a row, got {len(sample_weight)} weights for {n_rows} rows"
        )


def _learnt(
    parts: Sequence[Column], categorical: Any, names: Sequence[str] | None, sample_weight: np.ndarray | None
) -> Columns:
    """What the columns of a training table are."""
    chosen = _chosen(categorical, parts, names)
    return Columns(len(parts), {number: levels_of(parts[number], sample_weight) for number in chosen})


def _chosen(categorical: Any, parts: Sequence[Column], names: Sequence[str] | None) -> list[int]:
    if categorical is None:
        return []
    if isinstance(categorical, str):
        checks.choice(categorical, "categorical_features", (FROM_DTYPE,))
        words = np.array([part.holds_words for part in parts], dtype=np.bool_)
        return np.flatnonzero(circle().most(words)).tolist()
    return column_numbers(categorical, names, len(parts), "categorical_features")


def filled(parts: Sequence[Column], columns: Columns, later: bool) -> np.ndarray:
    """The columns as one table of numbers; of a later table, a warning where one has no level that is known."""
    # Column by column: that is how a fit reads it.
    table = np.empty((len(parts[0]), len(parts)), order="F")
    strange = []
    for number, part in enumerate(parts):
        levels = columns.levels.get(number)
        if part.holds_words != (levels is not None and levels.words) and part.is_empty:
            table[:, number] = np.nan
            continue
        if later and levels is None and part.holds_words:
            raise part.refusal(
                "words", "it held numbers in the training table, or nothing at all, turn it back into them"
            )
        table[:, number] = codes = part.numbers() if levels is None else levels.encode(part)
        if later and levels is not None and not levels.known(codes).any() and not part.missing().all():
            strange.append(part.title)
    if strange:  # one level or other that is new is life; none that is known is mostly another spelling
        notices.warn(
            f"{', '.join(strange)}: the fit saw none of these levels, so every row counts as missing or unseen there",
            stacklevel=2,
        )
    return table


def contiguous(table: Any) -> Any:
    """A table row by row, as kernels read it; a sparse one as it is."""
    return table if hasattr(table, "tocsr") else mapped.row_major(table)
