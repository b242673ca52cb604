"""Text tables read some megabytes at a time, by pyarrow where they are plain: a tenth of the time, the same columns.

A piece ends where a row does. It is plain if quotes stand around whole cells, lines end in \\n or \\r\\n, and pyarrow
takes every cell for what its column holds. What is not plain goes cell by cell (`text`), which also has the sentences
about what is wrong.
"""

from __future__ import annotations

import codecs
import io
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from anyboost.cli.rows import text
from anyboost.cli.rows.cells import Batch, CellReader, copied, nothing, words_of

PIECE = 1 << 22
_FIRST = 1 << 16  # tells what the columns hold
_QUOTE, _RETURN, _NEWLINE = b'"\r\n'


class Lines(NamedTuple):
    """Whole rows at the beginning of some text."""

    ends: np.ndarray  # where each row ends
    numbers: np.ndarray  # on which line that is, from 1
    end: int  # where all of them end
    n_lines: int


def read(path: str, delimiter: str, columns: CellReader, most: int) -> Iterator[Batch]:
    """The batches of a table; by rows, at most so many at once."""
    with text.opened_bytes(path) as file:
        take = cast(Any, file).read1 if path == "-" else file.read  # a slow pipe is heard from at once
        names: list[str] | None = None
        given, before, ended = b"", 0, False
        while not ended:
            more = take(PIECE if given or names else _FIRST)
            given, ended = given + more, not more
            if names is None:
                given = given.removeprefix(codecs.BOM_UTF8)
            lines = whole_rows(given, delimiter, ended)
            if lines is None or (not len(lines.ends) and len(given) > 4 * PIECE):
                yield from _by_row(path, given, file, delimiter, columns, most, names, before)
                return
            if names is None and (len(lines.ends) or ended):
                first = int(lines.ends[0]) if len(lines.ends) else 0
                names = text.heading(path, text.reader_of(text.Lines(io.BytesIO(given[:first])), delimiter))
                given, before = given[first:], int(lines.numbers[0])
                lines = whole_rows(given, delimiter, ended)
                assert lines is not None
            if names is None:
                continue
            if len(lines.ends):
                piece = given[: lines.end]
                batch = None
                if np.diff(lines.ends, prepend=0).max() <= text.MOST_CELL:  # no cell can be too long
                    batch = _plain(piece, before + lines.numbers, names, columns, delimiter)
                if batch is None:
                    texts = text.Lines(io.BytesIO(piece), before)
                    rows = text.rows(text.reader_of(texts, delimiter), before)
                    yield from text.by_row(rows, texts, names, columns, 0, most)
                else:
                    yield batch
            given, before = given[lines.end :], before + lines.n_lines


def _by_row(
    path: str,
    given: bytes,
    file: Any,
    delimiter: str,
    columns: CellReader,
    most: int,
    names: list[str] | None,
    before: int,
) -> Iterator[Batch]:
    """All that is left, cell by cell."""
    left: Any = io.BufferedReader(_Joined(given, file))
    lines = text.Lines(left, before)
    reader = text.reader_of(lines, delimiter)
    found = text.heading(path, reader) if names is None else names
    yield from text.by_row(text.rows(reader, before), lines, found, columns, 0, most)


class _Joined(io.RawIOBase):
    """What was read of a file already, and the rest of it."""

    def __init__(self, given: bytes, file: Any) -> None:
        self._given, self._file = memoryview(given), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        some = self._given[: len(buffer)]
        self._given = self._given[len(some) :]
        if not len(some):
            some = self._file.read(len(buffer))
        buffer[: len(some)] = some
        return len(some)


def whole_rows(given: bytes, delimiter: str, ended: bool) -> Lines | None:
    """The rows that end in a text; None where its lines or quotes are not plain.

    The last line needs no end where the text has `ended`.
    """
    returns = given.count(b"\r") - (given.endswith(b"\r") and not ended)
    if returns != given.count(b"\r\n"):
        return None
    letters = np.frombuffer(given, dtype=np.uint8)
    ends = np.flatnonzero(letters == _NEWLINE) + 1
    if ended and given and not given.endswith(b"\n"):
        ends = np.append(ends, len(given))
    outside = np.ones(len(ends), dtype=bool)
    if b'"' in given:
        quotes = np.flatnonzero(letters == _QUOTE)
        outside = np.searchsorted(quotes, ends) % 2 == 0
        end = int(ends[outside][-1]) if outside.any() else 0
        if not _around_cells(letters, quotes[quotes < end], end, ord(delimiter)) or (
            ended and end < len(given)
        ):
            return None
    numbers = np.flatnonzero(outside) + 1
    ends = ends[outside]
    if not len(ends):
        return Lines(ends, numbers, 0, 0)
    begins = np.append(0, ends[:-1])
    length = ends - begins
    blank = (letters[begins] == _NEWLINE) | ((length == 2) & (letters[begins] == _RETURN))
    return Lines(ends[~blank], numbers[~blank], int(ends[-1]), int(numbers[-1]))


def _around_cells(letters: np.ndarray, quotes: np.ndarray, end: int, delimiter: int) -> bool:
    """Whether each pair of quotes stands around a cell, or two in it for one."""
    opening, closing = quotes[::2], quotes[1::2]
    twice = closing[:-1] + 1 == opening[1:]
    before = letters[opening - 1]
    good = (before == delimiter) | (before == _NEWLINE) | (opening == 0)
    good[1:] |= twice
    after = letters[np.minimum(closing + 1, end - 1)]
    fine = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN) | (closing == end - 1)
    fine[:-1] |= twice
    return bool(good.all() and fine.all())


def _plain(
    piece: bytes, lines: np.ndarray, names: list[str], columns: CellReader, delimiter: str
) -> Batch | None:
    """The rows of a piece; None where they have to be looked at cell by cell."""
    import pyarrow
    from pyarrow import csv

    words, numbers = pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), pyarrow.float64()
    wanted = [name for name in names if columns.wanted(name) or name in columns.copied]
    held = [columns.kind(name) if columns.wanted(name) else "text" for name in wanted]
    worded = columns.worded.union(columns.copied)
    if not any(held):
        return None
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(piece),
            # a pool of threads that is still starting when a refusal ends the process would abort it
            csv.ReadOptions(use_threads=False, column_names=names, block_size=len(piece) + 1),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                column_types={
                    name: numbers if kind == "number" and name not in worded else words
                    for name, kind in zip(wanted, held, strict=True)
                },
                include_columns=wanted,
                null_values=["", *(word for word, number in columns.words.items() if math.isnan(number))],
                strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    if len(table) != len(lines):
        return None
    found, copies = {name: nothing(len(lines)) for name in names}, dict[str, Any]()
    for name, kind, column in zip(wanted, held, table.columns, strict=True):
        if name in columns.copied:
            copies[name] = copied(_words(column, blanks=True).tolist())
        if not columns.wanted(name):
            continue
        if kind == "number" and name in worded:
            told = _told(column, columns)
            if told is None:
                return None
            found[name] = told
            continue
        values = found[name] = _numbers(column) if kind == "number" else _words(column)
        if kind == "number":
            strange = np.count_nonzero(~np.isfinite(values)) != column.null_count
        else:
            strange = kind is None and any(value is not None for value in values.tolist())
        if strange:
            return None
        if kind is None:
            found[name] = nothing(len(values))
    return Batch(found, lines, copies=copies)


def _numbers(column: Any) -> np.ndarray:
    return np.concatenate([np.empty(0), *(chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks)])


def _told(column: Any, columns: CellReader) -> np.ndarray | None:
    """The numbers that words stand for, each looked at once; None where one stands for none."""
    found = [np.empty(0)]
    for chunk in column.chunks:
        numbers = [columns.number(word) for word in chunk.dictionary.to_pylist()]
        if any(number is None or math.isinf(number) for number in numbers):
            return None
        missing = len(numbers)
        found.append(np.array([*numbers, math.nan])[chunk.indices.fill_null(missing).to_numpy()])
    return np.concatenate(found)


def _words(column: Any, blanks: bool = False) -> np.ndarray:
    empty: Any = np.empty(0, dtype=object)
    return np.concatenate([empty, *(words_of(chunk, blanks) for chunk in column.chunks)])
