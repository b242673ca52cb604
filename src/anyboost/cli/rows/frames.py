"""Whole tables, for commands that need all rows at once: columns, what they hold, and a data frame."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from anyboost.cli.rows import sources
from anyboost.cli.rows.cells import Batch, Choice, TableError, arrow, check_column, every
from anyboost.cli.rows.copies import for_arrow

KINDS = ("number", "text")
_SAMPLE = 100


@dataclass(frozen=True)
class Whole:
    """A table that was read: numbers are float64 arrays (nan: missing), text object arrays (None: missing)."""

    path: str
    columns: dict[str, np.ndarray]
    source: sources.Source
    batches: list[tuple[int, Batch]]  # without columns: which rows came from where
    begins: list[int]  # of the batches
    cells: dict[str, str]  # for which columns that began with numbers hold text: "line 12: column 'a' is 'x'"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds: "number" or "text"."""
        return {name: KINDS[values.dtype == object] for name, values in self.columns.items()}

    @property
    def levels(self) -> dict[str, int]:
        """How many words each column of text holds."""
        return {
            name: len(set(values.tolist()) - {None})
            for name, values in self.columns.items()
            if values.dtype == object
        }

    @property
    def samples(self) -> dict[str, list[str]]:
        """The first words of each column of text."""
        return {name: first_words(values) for name, values in self.columns.items() if values.dtype == object}

    def column(self, name: str, option: str) -> np.ndarray:
        """One column, or a sentence that names the option which asked for it."""
        check_column(name, option, self.columns, self.path)
        return self.columns[name]

    def where(self, row: int) -> str:
        """How to name one row in a sentence: "line 12"."""
        number = bisect_right(self.begins, row) - 1
        return self.source.where(*self.batches[number], row - self.begins[number])


def first_words(values: np.ndarray) -> list[str]:
    """Some words, of a column of text."""
    return list(islice((word for word in values.tolist() if word is not None), _SAMPLE))


def to_arrow(columns: Mapping[str, Any]) -> Any:
    """Columns as a pyarrow table."""
    return arrow().table({name: for_arrow(values) for name, values in columns.items()})


def read(
    paths: str | Sequence[str],
    format: str | None = None,
    types: Mapping[str, str] | None = None,
    wanted: Choice = every,
    told: str | None = None,
    separator: str | None = None,
) -> Whole:
    """All rows of CSV, TSV, Parquet or Arrow files, or of standard input ("-").

    types : "number" or "text" for columns that are not to be guessed.
    wanted, told, separator : as of `sources.opened`.
    """
    with sources.opened(paths, format, wanted=wanted, told=told, separator=separator) as source:
        return of_source(source, types or {})


def of_source(source: sources.Source, types: Mapping[str, str]) -> Whole:
    """All rows of a source."""
    batches, _, cells = source.read_all(types, list)
    if not batches:
        raise no_rows(source)
    columns: dict[str, np.ndarray] = {}
    for name in list(batches[0][1].columns):
        parts = [
            batch.columns.pop(name) for _, batch in batches
        ]  # so that columns are there once, but for this
        columns[name] = np.concatenate(parts)
    begins = np.cumsum([0, *(len(batch) for _, batch in batches[:-1])]).tolist()
    return Whole(source.title, columns, source, batches, begins, cells)


def no_rows(source: sources.Source) -> TableError:
    """What is said of a table without rows."""
    return TableError(f"{source.title} has no rows under its heading")
