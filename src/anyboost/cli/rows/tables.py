"""Tables read in batches of named columns, in one pass and bounded memory: CSV, TSV, Parquet, Arrow, standard input.

A column holds numbers or text, whichever its first filled cell is; an empty cell is missing (nan, or None in text).
A row that breaks this is refused with its line, after the rows before it have been handed over: what a reader has
seen when the error comes does not depend on the size of the batches.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import math
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")
ROWS = 4096  # the largest batch; the first ones are 1, 2, 4, ... so that a slow pipe is heard from at once
FORMATS = ("csv", "tsv", "parquet", "arrow", "vw")
TABLES = FORMATS[:-1]  # those with named columns
COMPRESSED = (".gz", ".zst")
_SUFFIXES = {
    suffix: form
    for form, suffixes in {
        "csv": (".csv",),
        "tsv": (".tsv", ".tab"),
        "parquet": (".parquet", ".pq"),
        "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
        "vw": (".vw", ".txt"),
    }.items()
    for suffix in suffixes
}
MISSING = frozenset(
    {"NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}
)  # in columns of numbers, where asked


class TableError(ValueError):
    """A row or a file that cannot be read; the sentence names the line."""


class NoNumber(TableError):
    """A cell that is no number in a column of numbers."""

    def __init__(self, sentence: str, column: str) -> None:
        super().__init__(sentence)
        self.column = column


class Batch(NamedTuple):
    """Some consecutive rows. Numbers are float64 arrays (nan: missing), text is an object array (None: missing)."""

    columns: dict[str, np.ndarray]
    lines: np.ndarray  # where each row ends in its file, from 1; for Parquet the row's number, from 1
    unit: str = "line"

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int) -> str:
        """How to name one row in a sentence: "line 12"."""
        return f"{self.unit} {self.lines[row]}"

    def head(self, n_rows: int) -> Batch:
        """The first rows only."""
        return Batch(
            {name: values[:n_rows] for name, values in self.columns.items()},
            self.lines[:n_rows],
            self.unit,
        )


def format_of(path: str, given: str | None = None) -> str:
    """The format of a file, from its name unless it is given; "-" is standard input, CSV unless given."""
    if given is not None:
        if given not in FORMATS:
            raise TableError(f"--format must be one of {', '.join(FORMATS)}, got {given!r}")
        return given
    if path == "-":
        return "csv"
    name = Path(path)
    if name.suffix in COMPRESSED:
        name = name.with_suffix("")
    found = _SUFFIXES.get(name.suffix.lower())
    if found is None:
        raise TableError(f"{path} has a name that tells no format: add --format {' or '.join(FORMATS)}")
    return found


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """A text file, one compressed with gzip or zstd, or standard input where the path is "-"."""
    try:
        if path == "-":
            # Bytes that are not UTF-8 are refused with their line by whoever parses them, not here.
            yield io.TextIOWrapper(
                sys.stdin.buffer, encoding="utf-8-sig", errors="surrogateescape", newline=""
            )
            return
        how: Any = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
        if path.endswith(".zst"):
            with (
                arrow().input_stream(path, compression="zstd") as stream,
                io.TextIOWrapper(stream, **how) as file,
            ):
                yield file
            return
        opener: Any = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", **how) as file:
            yield file
    except (OSError, EOFError) as error:
        raise TableError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def arrow() -> Any:
    """pyarrow, or a sentence where it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise TableError(
            'Parquet, Arrow and zstd files need pyarrow: pip install "anyboost[parquet]"'
        ) from None
    return pyarrow


_NO_NUMBER = "and it held numbers so far"


class CellReader:
    """Turns cells into columns, and remembers which columns hold numbers and which text.

    `missing` are words that stand for no number.
    """

    def __init__(
        self,
        kinds: dict[str, str] | None = None,
        text: Collection[str] = (),
        missing: Collection[str] = (),
    ) -> None:
        self.kinds = {**(kinds or {}), **dict.fromkeys(text, "text")}
        self.missing = missing

    def turn(
        self, names: Sequence[str], rows: list[list[str]], lines: list[int]
    ) -> tuple[Batch, TableError | None]:
        """The rows up to the first bad one, and what is wrong with that one."""
        lengths = list(map(len, rows))
        good, error = len(rows), None
        if any(length != len(names) for length in lengths):
            good = next(i for i, length in enumerate(lengths) if length != len(names))
            error = TableError(
                f"line {lines[good]} has {lengths[good]} cells where the heading has {len(names)}"
            )
        cells = list(zip(*rows[:good], strict=True)) if good else [()] * len(names)
        columns = {}
        for name, column in zip(names, cells, strict=True):
            values, bad, reason = self._column(name, column[:good])
            if reason is not None:
                sentence = f"line {lines[bad]}: column {name!r} {reason}"
                good = bad
                error = NoNumber(sentence, name) if reason.endswith(_NO_NUMBER) else TableError(sentence)
            columns[name] = values
        whole = Batch(columns, np.array(lines, dtype=np.int64))
        return whole.head(good), error

    def _column(self, name: str, cells: Sequence[str]) -> tuple[np.ndarray, int, str | None]:
        """The values up to the first bad cell, its place, and what is wrong with it."""
        if name not in self.kinds:
            first = next((cell for cell in cells if not self._empty(cell)), None)
            if first is None:
                return np.full(len(cells), np.nan), len(cells), None
            self.kinds[name] = "text" if _number(first) is None else "number"
        if self.kinds[name] == "text":
            values = np.empty(len(cells), dtype=object)
            values[:] = [cell if cell.strip() else None for cell in cells]
            for row, cell in enumerate(cells):
                if not is_text(cell):
                    return values[:row], row, "is not UTF-8: convert the file"
            return values, len(cells), None
        try:
            numbers = np.array(list(map(float, cells)))
            if np.isfinite(numbers).all():
                return numbers, len(cells), None
        except ValueError:
            pass
        numbers = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if self._empty(cell):
                continue
            number = _number(cell)
            if number is None:
                shown = ascii(cell if len(cell) <= 40 else cell[:37] + "...")
                return numbers[:row], row, f"is {shown}, {_NO_NUMBER}"
            if not math.isfinite(number):
                return numbers[:row], row, f"is {cell.strip()}: leave the cell empty where a value is missing"
            numbers[row] = number
        return numbers, len(cells), None

    def _empty(self, cell: str) -> bool:
        bare = cell.strip()
        return not bare or bare in self.missing


def is_text(cell: str) -> bool:
    """Whether it was read from bytes that are UTF-8."""
    return cell.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in cell)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def read(
    path: str,
    format: str | None = None,
    kinds: dict[str, str] | None = None,
    text: Collection[str] = (),
    skip: int = 0,
    rows: int = ROWS,
    missing: Collection[str] = (),
) -> Iterator[Batch]:
    """The batches of a CSV, TSV, Parquet or Arrow file, or of standard input ("-").

    kinds : "number" or "text" for columns that are known already; found kinds are added to it.
    text : columns that are text whatever they look like, such as codes.
    skip : how many rows to pass over, as when going on where an earlier reader stopped.
    missing : words that stand for no number, in columns of numbers.
    """
    columns = CellReader(text=text, missing=missing)
    if kinds is not None:
        kinds.update(columns.kinds)
        columns.kinds = kinds  # shared, so that the caller sees what was found
    form = format_of(path, format)
    if form in ("parquet", "arrow"):
        yield from _read_arrow(path, form, columns, skip, rows)
    else:
        yield from _read_text(path, "\t" if form == "tsv" else ",", columns, skip, rows)


def batches(rows: Iterator[T], most: int) -> Iterator[list[T]]:
    """Lists of 1, 1, 2, 4, ... rows; those before a bad one come first, then its error.

    They end at the counts at which a progress table has a line.
    """
    total, size = 0, 1
    while True:
        batch: list[T] = []
        error: TableError | None = None
        try:
            for row in islice(rows, size):
                batch.append(row)
        except TableError as bad:
            error = bad
        if batch:
            yield batch
        if error is not None:
            raise error
        if len(batch) < size:
            return
        total += size
        size = min(most, total)


def _read_text(path: str, delimiter: str, columns: CellReader, skip: int, most: int) -> Iterator[Batch]:
    with opened(path) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        names = _heading(path, reader)
        for numbered in batches(islice(_rows(reader), skip, None), most):
            lines, rows = zip(*numbered, strict=True)
            batch, bad = columns.turn(names, list(rows), list(lines))
            if len(batch):
                yield batch
            if bad is not None:
                raise bad


def _rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines that they end on; an empty line is none."""
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except (csv.Error, ValueError) as broken:
        raise TableError(f"line {reader.line_num}: {broken}") from None


def _heading(path: str, reader: Any) -> list[str]:
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as broken:
        raise TableError(f"line 1: {broken}") from None
    if not names:
        raise TableError(f"{path} is empty: its first line must name the columns")
    for name in names:
        if not name or names.count(name) > 1:
            problem = f"names {name!r} twice" if name else "has a column without a name"
            raise TableError(f"the heading of {path} {problem}: every column needs a name of its own")
    return names


def _read_arrow(path: str, form: str, columns: CellReader, skip: int, most: int) -> Iterator[Batch]:
    pyarrow = arrow()
    if path == "-":
        raise TableError(f"a {form} file cannot be read row by row from standard input: name a file")
    try:
        taken = 0
        for part in _record_batches(path, form, most):
            passed = min(skip, len(part))
            skip -= passed
            part = part.slice(passed)
            lines = np.arange(taken + passed, taken + passed + len(part)) + 1
            taken += passed + len(part)
            batch, bad = _arrow_batch(part, lines, columns)
            if len(batch):
                yield batch
            if bad is not None:
                raise bad
    except (OSError, pyarrow.ArrowException) as error:
        raise TableError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def _record_batches(path: str, form: str, most: int) -> Iterator[Any]:
    """Those of a Parquet file, or of an Arrow file or stream."""
    import pyarrow

    if form == "parquet":
        from pyarrow import parquet

        yield from parquet.ParquetFile(path).iter_batches(batch_size=most)
        return
    with pyarrow.memory_map(path) as source:
        try:
            reader = pyarrow.ipc.open_file(source)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        except pyarrow.ArrowInvalid:
            source.seek(0)
            batches = iter(pyarrow.ipc.open_stream(source))
        for whole in batches:
            yield from (whole.slice(begin, most) for begin in range(0, len(whole), most))


def _arrow_batch(part: Any, lines: np.ndarray, columns: CellReader) -> tuple[Batch, TableError | None]:
    """The rows up to the first infinite number, and a sentence about that one."""
    found: dict[str, np.ndarray] = {}
    batch, good, error = Batch(found, lines, unit="row"), len(lines), None
    for name, column in zip(part.schema.names, part.columns, strict=True):
        found[name] = values = _arrow_column(name, column, columns)
        infinite = np.isinf(values[:good]) if values.dtype == np.float64 else np.zeros(0, dtype=bool)
        if infinite.any():
            good = int(np.argmax(infinite))
            error = TableError(f"{batch.where(good)}: column {name!r} is {values[good]}: leave it null")
    return batch.head(good), error


def _arrow_column(name: str, column: Any, columns: CellReader) -> np.ndarray:
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    numeric = any(
        test(kind)
        for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    )
    if not numeric and not (types.is_string(kind) or types.is_large_string(kind)):
        raise TableError(f"column {name!r} has type {kind}: numbers and text can be read")
    if columns.kinds.setdefault(name, "number" if numeric else "text") == "text":
        values = np.empty(len(column), dtype=object)
        values[:] = [None if value is None else str(value) for value in column.to_pylist()]
        return values
    if not numeric:
        raise TableError(f"column {name!r} has type {kind}, and it held numbers so far")
    wide = column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return wide.astype(np.float64, copy=False)
