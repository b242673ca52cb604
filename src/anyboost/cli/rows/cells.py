"""Cells of tables as columns of numbers and text, in batches of consecutive rows.

A column holds numbers or text, whichever its first filled cell is; an empty cell is missing (nan, or None in text).
A row that breaks this is refused with its line, after the rows before it have been handed over: what a reader has
seen when the error comes does not depend on the size of the batches.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

WORDS = {  # and the numbers that they stand for in columns of numbers, where asked
    **dict.fromkeys(("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"), math.nan),
    **dict.fromkeys(("True", "true", "TRUE"), 1.0),
    **dict.fromkeys(("False", "false", "FALSE"), 0.0),
}

NOT_UTF8 = "is not UTF-8: convert the file, as by iconv -f latin1 -t utf-8"
Where = Callable[[int], str]  # how to name a row in a sentence
Choice = Callable[[str], bool]  # which columns are looked into


def every(_: str) -> bool:
    """The choice of all columns."""
    return True


class TableError(ValueError):
    """A row or a file that cannot be read; the sentence names the line."""


class NoNumber(TableError):
    """A cell that is no number in a column of numbers."""

    def __init__(self, cell: str, column: str) -> None:
        super().__init__(f"{cell}, and it held numbers so far")
        self.cell, self.column = cell, column


class Batch(NamedTuple):
    """Some consecutive rows. Numbers are float64 arrays (nan: missing), text is an object array (None: missing)."""

    columns: dict[str, np.ndarray]
    lines: np.ndarray  # where each row ends in its file, from 1; for Parquet the row's number, from 1
    unit: str = "line"
    copies: Mapping[str, Any] = MappingProxyType({})  # the columns that are to be copied, as they stand

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, row: int) -> str:
        """How to name one row in a sentence: "line 12"."""
        return f"{self.unit} {self.lines[row]}"

    def column(self, name: str, option: str, path: str) -> np.ndarray:
        """One column, or a sentence that names the option which asked for it."""
        check_column(name, option, self.columns, path)
        return self.columns[name]

    def head(self, n_rows: int) -> Batch:
        """The first rows only."""
        return Batch(
            {name: values[:n_rows] for name, values in self.columns.items()},
            self.lines[:n_rows],
            self.unit,
            {name: values[:n_rows] for name, values in self.copies.items()},
        )


def check_column(name: str, option: str, names: Collection[str], path: str) -> None:
    """A sentence where an option names a column that is not there."""
    if name not in names:
        shown = ", ".join(list(names)[:20]) + (", ..." if len(names) > 20 else "")
        raise TableError(
            f"{option} names a column {name!r} that {path} does not have: {shown}{_parted_otherwise(names)}"
        )


def check_names(names: Sequence[str], place: str) -> None:
    """A sentence where two columns have one name."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise TableError(f"{place} names {twice!r} twice: every column needs a name of its own")


def _parted_otherwise(names: Collection[str]) -> str:
    """A question where a heading of one name looks like several."""
    only = next(iter(names)) if len(names) == 1 else ""
    for sign, word, advice in (
        (";", "semicolons", "say --separator ';'"),
        ("|", "bars", "say --separator '|'"),
        ("\t", "tabs", "say --format tsv"),
    ):
        if sign in only:
            return f" (are its cells parted by {word}? {advice})"
    return ""


def good_weights(weights: np.ndarray, name: str, where: Where) -> tuple[int, TableError | None]:
    """How many weights come before the first that is none, and a sentence about that one."""
    if weights.dtype == object:
        raise TableError(f"--weight names the column {name!r}, which holds text")
    bad = ~(weights >= 0)
    if not bad.any():
        return len(weights), None
    row = int(np.argmax(bad))
    return row, TableError(
        f"{where(row)}: the weight must be a number that is not negative, got {weights[row]}"
    )


def check_complete(columns: Mapping[str, np.ndarray], who: str, where: Where) -> None:
    """A sentence about the first row in which a number is missing."""
    numbers = {name: np.isnan(values) for name, values in columns.items() if values.dtype != object}
    holes = {name: int(np.argmax(bad)) for name, bad in numbers.items() if bad.any()}
    if holes:
        name = min(holes, key=lambda name: holes[name])
        raise TableError(
            f"{where(holes[name])}: column {name!r} is missing, which {who} cannot take: fill it in, or drop the row"
        )


def arrow() -> Any:
    """pyarrow, or a sentence where it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise TableError(
            'Parquet, Arrow and zstd files need pyarrow: pip install "anyboost[parquet]"'
        ) from None
    return pyarrow


class Bad(NamedTuple):
    """The first bad cell of a column: its row, what is wrong with it, whether that is being no number."""

    row: int
    reason: str
    no_number: bool = False

    def error(self, name: str, where: str) -> TableError:
        """The sentence about it."""
        cell = f"{where}: column {name!r} {self.reason}"
        return NoNumber(cell, name) if self.no_number else TableError(cell)


class CellReader:
    """Turns cells into columns, and remembers in `kinds` which columns hold numbers and which text.

    `text` are columns of the latter; `words` are those that stand for numbers, nan for none; `others` is what columns
    hold of which `kinds` says nothing. Columns that are not `wanted` are there, and empty, whatever they hold. Those
    of `copied` are also there as they stand.
    """

    def __init__(
        self,
        kinds: dict[str, str],
        text: Collection[str],
        words: Mapping[str, float],
        others: str | None,
        wanted: Choice,
        copied: Collection[str] = (),
    ) -> None:
        self.kinds, self.words, self.others, self.wanted, self.copied = kinds, words, others, wanted, copied
        self.worded: set[str] = set()  # columns of numbers in which such words were met
        kinds.update(dict.fromkeys(text, "text"))

    def kind(self, name: str) -> str | None:
        """What a column holds, where that is known."""
        if self.others is not None:
            self.kinds.setdefault(name, self.others)
        return self.kinds.get(name)

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
                f"{_parted_otherwise(names)}"
            )
        cells = list(zip(*rows[:good], strict=True)) if good else [()] * len(names)
        columns, copies = {}, {}
        for name, column in zip(names, cells, strict=True):
            columns[name], bad = self.column(name, column[:good])
            if bad is None and name in self.copied:
                bad = strange(column[:good])
            if bad is not None:
                good, error = bad.row, bad.error(name, f"line {lines[bad.row]}")
            if name in self.copied:
                copies[name] = copied(column)
        whole = Batch(columns, np.array(lines, dtype=np.int64), copies=copies)
        return whole.head(good), error

    def column(self, name: str, cells: Sequence[str]) -> tuple[np.ndarray, Bad | None]:
        """The values up to the first bad cell, and what is wrong with that one."""
        if not self.wanted(name):
            return nothing(len(cells)), None
        if self.kind(name) is None:
            first = next((cell for cell in cells if not self._empty(cell)), None)
            if first is None:
                return nothing(len(cells)), None
            self.kinds[name] = "text" if self.number(first) is None else "number"
        if self.kinds[name] == "text":
            values = np.empty(len(cells), dtype=object)
            values[:] = [cell if cell.strip() else None for cell in cells]
            bad = strange(cells)
            return (values, None) if bad is None else (values[: bad.row], bad)
        try:
            numbers = np.array(list(map(float, cells)))
            if np.isfinite(numbers).all():
                return numbers, None
        except ValueError:
            pass
        numbers = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if self._empty(cell):
                continue
            number = self.number(cell)
            if number is None:
                shown = ascii(cell if len(cell) <= 40 else cell[:37] + "...")
                return numbers[:row], Bad(row, f"is {shown}", no_number=True)
            if not math.isfinite(number):
                reason = f"is {cell.strip()}: leave the cell empty where a value is missing"
                return numbers[:row], Bad(row, reason)
            if cell.strip() in self.words:
                self.worded.add(name)
            numbers[row] = number
        return numbers, None

    def number(self, cell: str) -> float | None:
        """What a cell is as a number; nan where it is missing, None where it is a word."""
        if self._empty(cell):
            return math.nan
        try:
            return float(cell)
        except ValueError:
            return self.words.get(cell.strip())

    def _empty(self, cell: str) -> bool:
        bare = cell.strip()
        return not bare or math.isnan(self.words.get(bare, 0.0))


def nothing(rows: int) -> np.ndarray:
    """A column in which every cell is empty."""
    return np.full(rows, np.nan)


def strange(cells: Sequence[str]) -> Bad | None:
    """The first cell that is no text."""
    return next((Bad(row, NOT_UTF8) for row, cell in enumerate(cells) if not is_text(cell)), None)


def copied(cells: Sequence[str | None]) -> np.ndarray:
    """Cells of text as they stand; None where there is nothing in one."""
    values = np.empty(len(cells), dtype=object)
    values[:] = [cell or None for cell in cells]
    return values


def is_text(cell: str) -> bool:
    """Whether it was read from bytes that are UTF-8."""
    return cell.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in cell)


def words_of(column: Any, blanks: bool = True) -> np.ndarray:
    """A column of text of pyarrow, None where missing, or, unless `blanks` are text, where blank; each word once."""
    coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    words = [word if blanks or word.strip() else None for word in coded.dictionary.to_pylist()]
    held = np.empty(len(words) + 1, dtype=object)  # the last for those that are missing
    held[:-1] = words
    return held[coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)]
