"""Later tables that need no looking into: what `tables.read` reads, the short way, for one row at a time.

    arrays of floats         as they are
    pandas frames            of the training table's names, column by column by their types

The result is that of `tables.read`, or None where it has to look: at other kinds of tables, names and types.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost.tables.column import Column, words_in
from anyboost.tables.levels import Columns
from anyboost.tables.reading import filled

FEW = 100  # rows; more are better read in blocks


def read(X: Any, columns: Columns, names: Sequence[str] | None) -> np.ndarray | None:
    """A later table as numbers row by row; None where `tables.read` has to look."""
    if type(X) is np.ndarray:
        plain = X.ndim == 2 and X.shape[1] == columns.n and len(X) > 0 and X.dtype in (np.float64, np.float32)
        return np.ascontiguousarray(X) if plain and names is None and not columns.levels else None
    pandas = sys.modules.get("pandas")
    if pandas is None or names is None or type(X) is not pandas.DataFrame or not 0 < len(X) <= FEW:
        return None
    if X.columns.tolist() != list(names):
        return None
    dtypes = X.dtypes.tolist()
    if not columns.levels and all(dtype == np.float64 for dtype in dtypes):
        return np.ascontiguousarray(X.to_numpy())
    words = [_holds_words(dtype, pandas) for dtype in dtypes]
    levels = [columns.levels.get(number) for number in range(columns.n)]
    if words != [level is not None and level.words for level in levels]:
        return None
    parts = [
        _PandasColumn(X[name], part, f"column {name!r} of X") for name, part in zip(names, words, strict=True)
    ]
    return np.ascontiguousarray(filled(parts, columns, later=True))


def _holds_words(dtype: Any, pandas: Any) -> bool | None:
    """Whether a column holds words or numbers, by its type alone; None where its values have to be looked at."""
    if isinstance(dtype, np.dtype):
        return False if dtype.kind in "biuf" else None
    if isinstance(dtype, pandas.CategoricalDtype):
        return True if dtype.categories.inferred_type == "string" else None
    return True if isinstance(dtype, pandas.StringDtype) else None


class _PandasColumn(Column):
    """A column whose type says what it holds: it is asked for nothing else."""

    def __init__(self, series: Any, holds_words: bool | None, title: str) -> None:
        super().__init__(series, title)
        self.holds_words = bool(holds_words)

    def numbers(self) -> np.ndarray:
        return np.asarray(self.values.to_numpy(), dtype=np.float64)

    def words(self) -> list[str | None]:
        return words_in(self.values.tolist())
