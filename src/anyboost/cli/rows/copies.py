"""Columns that are copied from one table to another as they stand there: cells of text, values of Parquet and Arrow.

What is computed with is numbers, which whole numbers beyond 2^53 and codes such as 007 do not come back from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.cli.rows import times


@dataclass(frozen=True)
class Moments:
    """Dates or times: as Parquet and Arrow take them, and as words for text."""

    values: Any
    words: Any

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice) -> Moments:
        return Moments(self.values[rows], self.words[rows])


def of_arrow(column: Any, length: int) -> Any:
    """Values of a column of pyarrow; of moments, so many letters in text."""
    bare = column.dictionary_decode() if hasattr(column, "dictionary") else column
    return Moments(bare, times.as_words(column, length)) if times.holds_times(bare.type) else bare


def for_arrow(values: Any) -> Any:
    """A copied column, or one of numbers or words, as pyarrow has it."""
    import pyarrow

    if isinstance(values, Moments):
        return values.values
    if isinstance(values, np.ndarray):
        return pyarrow.array(values, type=pyarrow.string() if values.dtype == object else None)
    return values


def for_text(values: Any) -> list[Any]:
    """The same as cells of text: a number such that it comes back, a missing one as nothing."""
    if isinstance(values, Moments):
        values = values.words
    cells = values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()
    if any(isinstance(value, float) for value in cells):
        return ["" if value is None or value != value else repr(value) for value in cells]
    return ["" if value is None else value for value in cells]
