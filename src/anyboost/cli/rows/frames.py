"""Whole tables, for commands that need all rows at once: the columns of a file, what they hold, and a data frame.

A column holds numbers, unless some cell of it is none; then it holds text. Whoever calls may say so before. Words such
as NA stand for no number in a column of numbers; in one of text, an empty cell is missing and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.cli.rows import tables
from anyboost.cli.rows.tables import NoNumber, TableError

KINDS = ("number", "text")
ROWS = 65_536


@dataclass(frozen=True)
class Whole:
    """A table that was read: numbers are float64 arrays (nan: missing), text object arrays (None: missing)."""

    path: str
    columns: dict[str, np.ndarray]
    lines: np.ndarray
    unit: str

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def kinds(self) -> dict[str, str]:
        """What each column holds: "number" or "text"."""
        return {name: KINDS[values.dtype == object] for name, values in self.columns.items()}

    @property
    def frame(self) -> Any:
        """The table as pyarrow has it."""
        return to_arrow(self.columns)

    def column(self, name: str, option: str) -> np.ndarray:
        """One column, or a sentence that names the option which asked for it."""
        if name not in self.columns:
            shown = ", ".join(list(self.columns)[:20]) + (", ..." if len(self.columns) > 20 else "")
            raise TableError(f"{option} names a column {name!r} that {self.path} does not have: {shown}")
        return self.columns[name]

    def where(self, row: int) -> str:
        """How to name one row in a sentence: "line 12"."""
        return f"{self.unit} {self.lines[row]}"

    def parted(self, target: str | None, *apart: str) -> tuple[Any, np.ndarray | None]:
        """The other columns as a data frame, and the target; neither has the columns to keep `apart`."""
        y = None if target is None else self.column(target, "--target")
        kept = {name: values for name, values in self.columns.items() if name not in (target, *apart)}
        if not kept:
            raise TableError(f"{self.path} has no columns left to predict from")
        return to_arrow(kept), y


def to_arrow(columns: Mapping[str, np.ndarray]) -> Any:
    """Columns as a pyarrow table."""
    pyarrow = tables.arrow()
    return pyarrow.table(
        {
            name: pyarrow.array(values, type=pyarrow.string() if values.dtype == object else None)
            for name, values in columns.items()
        }
    )


def read(path: str, format: str | None = None, types: Mapping[str, str] | None = None) -> Whole:
    """All rows of a CSV, TSV, Parquet or Arrow file, or of standard input ("-").

    types : "number" or "text" for columns that are not to be guessed.
    """
    form = tables.format_of(path, format)
    if form not in tables.TABLES:
        raise TableError(f"this command reads tables with named columns: use {', '.join(tables.TABLES)}")
    given = dict(types or {})
    with seekable(path) as file:
        try:
            return _read(path, file, form, given)
        except TableError as error:
            if file == path:
                raise
            raise TableError(str(error).replace(file, "standard input")) from None


def _read(path: str, file: str, form: str, given: dict[str, str]) -> Whole:
    """The table; from the beginning again where a column of numbers turns out to hold text."""
    found = dict(given)
    while True:
        kinds, batches = dict(found), []
        try:
            batches = list(tables.read(file, form, kinds, rows=ROWS, missing=tables.MISSING))
        except NoNumber as changed:
            if changed.column in given:
                raise TableError(f"{changed}; --type {changed.column}=text would take it as a word") from None
            found[changed.column] = "text"
            continue
        return _joined(path, batches, kinds)


def _joined(path: str, batches: list[tables.Batch], kinds: dict[str, str]) -> Whole:
    if not batches:
        raise TableError(f"{path} has no rows under its heading")
    columns: dict[str, np.ndarray] = {}
    for name in batches[0].columns:
        parts = [batch.columns[name] for batch in batches]
        if kinds.get(name) == "text":  # one that began with empty cells was taken for numbers there
            parts = [
                part if part.dtype == object else np.full(len(part), None, dtype=object) for part in parts
            ]
        columns[name] = np.concatenate(parts)
    lines = np.concatenate([batch.lines for batch in batches])
    return Whole(path, columns, lines, batches[0].unit)


@contextlib.contextmanager
def seekable(path: str) -> Iterator[str]:
    """A file that can be read twice and from its end: standard input is copied to one, which is then gone."""
    if path != "-":
        yield path
        return
    handle, name = tempfile.mkstemp(prefix="anyboost-")
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
