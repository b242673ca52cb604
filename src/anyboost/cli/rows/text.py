"""Text tables, CSV and TSV, from files, compressed or not, and standard input."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any, TypeVar, cast

from anyboost.cli.rows.cells import NOT_UTF8, Batch, CellReader, TableError, arrow, check_names, is_text

T = TypeVar("T")
_PACKED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}  # how what they packed begins
_NO_TEXT = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_NO_TABLE = {
    "HTML": re.compile(rb"\s*<(!doctype|html|head|\?xml)", re.IGNORECASE),
    "JSON": re.compile(rb"\s*(\{\s*\"|\[\s*[\[{])"),
}
_ADVICE = {
    "HTML": "is a page of HTML and no table: download the table itself",
    "JSON": "holds JSON and no table: write it as CSV or Parquet",
}
_HEAD = 64  # bytes that tell all of these
MOST_CELL = 1 << 20  # characters
MOST_LINE = 1 << 24  # bytes: a small packed file may unpack to one endless line
_CHUNK = 1 << 20


@contextlib.contextmanager
def opened_bytes(path: str) -> Iterator[IO[bytes]]:
    """A text file as bytes, unpacked where it is compressed with gzip or zstd; standard input where the path is "-"."""
    try:
        with contextlib.nullcontext(_standard()) if path == "-" else open(path, "rb") as file:
            head = file.peek(_HEAD)
            form = next((form for magic, form in _NO_TEXT.items() if head.startswith(magic)), None)
            if form is not None:
                raise TableError(f"{path} is no text: add --format {form}")
            other = next(
                (name for name, begins in _NO_TABLE.items() if begins.match(head.removeprefix(BOM_UTF8))),
                None,
            )
            if other is not None:
                raise TableError(f"{path} {_ADVICE[other]}")
            packing = packing_of(path, head)
            if packing == ".gz":
                yield cast(Any, gzip.GzipFile(fileobj=file))
            elif packing == ".zst":
                yield arrow().CompressedInputStream(file, "zstd")
            else:
                yield file
    except (OSError, EOFError) as error:
        raise TableError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def standard_input() -> Any:
    """The bytes of standard input; a sentence where a shell has closed it (`<&-`)."""
    if sys.stdin is None:
        raise TableError("standard input (-) is closed: name a file, or pass a table to it")
    return sys.stdin.buffer


def _standard() -> io.BufferedReader:
    """Standard input, of which one can see the first bytes before they are read: what a test puts there is no file."""
    given = standard_input()
    return given if hasattr(given, "peek") else io.BufferedReader(given)


def packing_of(path: str, head: bytes) -> str | None:
    """The ending that files have which are packed like this one, by its name or its first bytes."""
    begins = next((ending for magic, ending in _PACKED.items() if head.startswith(magic)), None)
    return next((ending for ending in _PACKED.values() if path.lower().endswith(ending)), begins)


class Lines:
    """The lines of bytes of text, of which so many lines come `before`; each is there as soon as its end is.

    One that is too long is refused before it is in memory. Bytes that are not UTF-8 are refused with their line by
    whoever parses it, not here.
    """

    def __init__(self, file: Any, before: int = 0) -> None:
        self._read, self._before = getattr(file, "read1", file.read), before
        self.bytes = 0  # of the lines so far
        self.last = False  # whether the next line has to be waited for

    def __iter__(self) -> Iterator[str]:
        number, begun = self._before, b""  # begun: a line without its end
        while more := self._read(_CHUNK):
            begun += more
            if number == 0:
                begun = begun.removeprefix(BOM_UTF8)
            lines = begun.splitlines(keepends=True)
            begun = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
            for place, line in enumerate(lines, 1):
                number += 1
                yield self._taken(line, number, place == len(lines))
            if len(begun) > MOST_LINE:
                raise _too_long(number + 1)
        if begun:
            yield self._taken(begun, number + 1, True)

    def _taken(self, line: bytes, number: int, last: bool) -> str:
        if len(line) > MOST_LINE:
            raise _too_long(number)
        self.bytes, self.last = self.bytes + len(line), last
        return line.decode("utf-8", "surrogateescape")


def _too_long(number: int) -> TableError:
    return TableError(f"line {number} has more than {MOST_LINE:,} bytes: end each row in a line break")


def batches(rows: Iterator[T], lines: Lines, most: int) -> Iterator[list[T]]:
    """Lists of 1, 1, 2, 4, ... rows of some lines; those before a bad one come first, then its error.

    They end at the counts at which a progress table has a line, where the next row has to be waited for, and where
    they hold as much as the longest line may.
    """
    total, size = 0, 1
    while True:
        batch: list[T] = []
        error: TableError | None = None
        end = lines.bytes + MOST_LINE
        try:
            for row in islice(rows, size):
                batch.append(row)
                if lines.last or lines.bytes > end:
                    break
        except TableError as bad:
            error = bad
        if batch:
            yield batch
        if error is not None:
            raise error
        if not batch:
            return
        total += len(batch)
        size = min(most, total)


def read(path: str, delimiter: str, columns: CellReader, skip: int, most: int) -> Iterator[Batch]:
    """The batches of a table, cell by cell."""
    with opened_bytes(path) as file:
        lines = Lines(file)
        reader = reader_of(lines, delimiter)
        yield from by_row(rows(reader), lines, heading(path, reader), columns, skip, most)


def by_row(
    numbered: Iterator[tuple[int, list[str]]],
    lines: Lines,
    names: list[str],
    columns: CellReader,
    skip: int,
    most: int,
) -> Iterator[Batch]:
    """Batches of rows that come with the numbers of their lines."""
    for some in batches(islice(numbered, skip, None), lines, most):
        numbers, cells = zip(*some, strict=True)
        batch, bad = columns.turn(names, list(cells), list(numbers))
        if len(batch):
            yield batch
        if bad is not None:
            raise bad


def reader_of(lines: Lines, delimiter: str) -> Any:
    """The cells of the rows of a text."""
    csv.field_size_limit(MOST_CELL)  # of the whole process; Python's own is an eighth of it
    return csv.reader(lines, delimiter=delimiter, strict=True)


def rows(reader: Any, before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines that they end on, of which so many come `before`; an empty line is none."""
    try:
        for row in reader:
            if row:
                yield before + reader.line_num, row
    except TableError:  # it names its line
        raise
    except (csv.Error, ValueError) as broken:
        raise TableError(f"line {before + reader.line_num}: {_explained(broken)}") from None


def _explained(broken: Exception) -> str:
    """What the csv module means: it does not say what the end of a file ended in."""
    text = str(broken)
    if text.startswith("field larger than field limit"):
        return f'a cell has more than {MOST_CELL:,} characters: shorten it, or close a quote (") before it'
    return 'the file ends inside a quote ("): close it' if text == "unexpected end of data" else text


def heading(path: str, reader: Any) -> list[str]:
    """The names of the columns, from the first line."""
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as broken:
        raise TableError(f"line 1: {_explained(broken)}") from None
    if not names:
        raise TableError(f"{path} is empty: its first line must name the columns")
    for name in names:
        if not is_text(name):
            code = "utf-16" if "\0" in name else "latin1"
            raise TableError(f"the heading of {path} {NOT_UTF8.replace('latin1', code)}")
    if "" in names:
        place = names.index("") + 1
        raise TableError(
            f"the heading of {path} has no name for column {place}{_nameless(place, len(names))}"
        )
    check_names(names, f"the heading of {path}")
    return names


def _nameless(place: int, columns: int) -> str:
    """What is mostly meant by a column without a name, and what to do."""
    if place == 1:
        return ": name it, or, where it is the index of a pandas frame, write the frame with index=False"
    if place == columns:
        return ": name it, or end no line in a delimiter"
    return ": every column needs a name of its own"
