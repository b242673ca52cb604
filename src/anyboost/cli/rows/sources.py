"""Where the rows of a command come from: one file or several, read in their order as one table.

A column holds numbers, unless some cell of it is none; then it holds text. Whoever calls may say so before. Words such
as NA stand for no number in a column of numbers; in one of text, an empty cell is missing and nothing else.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from anyboost import saving
from anyboost.cli.rows import tables
from anyboost.cli.rows.cells import WORDS, Batch, Choice, NoNumber, TableError, every
from anyboost.cli.rows.text import standard_input

T = TypeVar("T")
ROWS = 65_536  # of a batch
STANDARD = "-"
NAMELESS = "the name of a table is empty: name a file (is a variable of the shell not set?)"


class Source(NamedTuple):
    """Tables that are read as one."""

    paths: tuple[str, ...]
    formats: tuple[str, ...]
    opened: tuple[str, ...]  # what is read for each: a copy, of standard input and of pipes
    wanted: Choice  # which columns are looked into; the others come empty
    told: str | None  # whose word it is that a column holds numbers, where it is not that of --type
    copied: tuple[str, ...] = ()  # which columns are also there as they stand
    separator: str | None = None  # what parts the cells of CSV; None for a comma

    @property
    def title(self) -> str:
        """What messages call it."""
        more = len(self.paths) - 1
        return self.paths[0] + (f" and {more} more" if more else "")

    def batches(self, kinds: dict[str, str], others: str | None = None) -> Iterator[tuple[int, Batch]]:
        """All rows, each batch with the number of its file; what the columns hold is added to `kinds`.

        others : what columns of text files hold of which `kinds` says nothing; else found out.
        """
        given: Any = {"rows": ROWS, "words": WORDS, "others": others, "wanted": self.wanted}
        given |= {"copied": self.copied, "separator": self.separator}
        names: list[str] = []
        numbers = {name for name, kind in kinds.items() if kind == "number"}
        for number, (path, form, file) in enumerate(zip(self.paths, self.formats, self.opened, strict=True)):
            with self._telling(number, numbers):
                for batch in tables.read(file, form, kinds, by_pieces=True, **given):
                    names = names or list(batch.columns)
                    yield number, self._alike(batch, names, path)

    def read_all(
        self, given: Mapping[str, str], take: Callable[[Iterator[tuple[int, Batch]]], T]
    ) -> tuple[T, dict[str, str], dict[str, str]]:
        """What is made of all batches, what their columns hold, and the cells for which some hold no numbers.

        From the beginning again where a column of numbers, or of what may stand for none, turns out to hold text.
        """
        found, cells = dict(given), dict[str, str]()
        while True:
            kinds, empty = dict(found), set[str]()
            try:
                made = take(self._watched(kinds, empty))
                late = [name for name in empty if kinds.get(name) == "text"]
                if not late:
                    return made, kinds, cells
                found |= dict.fromkeys(late, "text")
            except NoNumber as changed:
                found[changed.column], cells[changed.column] = "text", changed.cell

    def _watched(self, kinds: dict[str, str], empty: set[str]) -> Iterator[tuple[int, Batch]]:
        """The batches; columns that began without a word or a number are added to `empty`."""
        for number, batch in self.batches(kinds):
            empty.update(batch.columns.keys() - kinds.keys())
            yield number, batch

    def where(self, file: int, batch: Batch, row: int) -> str:
        """How to name a row in a sentence: "line 12", of several files "part.csv: line 12"."""
        return self._of(file) + batch.where(row)

    def _of(self, file: int) -> str:
        return f"{self.paths[file]}: " if len(self.paths) > 1 else ""

    @contextlib.contextmanager
    def _telling(self, file: int, numbers: set[str]) -> Iterator[None]:
        """Have errors name the file as the user does, and say who says that these columns hold numbers."""
        path, opened = self.paths[file], self.opened[file]
        try:
            yield
        except TableError as error:
            sentence = error.cell if isinstance(error, NoNumber) else str(error)
            if opened != path:
                sentence = sentence.replace(opened, path)
            if path == STANDARD:  # as a word: others have hyphens
                sentence = re.sub(r"(?<!\S)-(?!\S)", "standard input", sentence)
            if path not in sentence:
                sentence = self._of(file) + sentence
            if not isinstance(error, NoNumber):
                raise TableError(sentence) from None
            column = error.column
            if column not in numbers:
                raise NoNumber(sentence, column) from None
            if self.told is None:
                told = f"--type {column}=number was said: --type {column}=text would take it as a word"
            else:
                told = f"{self.told} numbers there: leave the cell empty where it is missing"
            raise TableError(f"{sentence}, and {told}") from None

    def _alike(self, batch: Batch, names: list[str], path: str) -> Batch:
        """The batch with the columns of the first file, in their order."""
        if list(batch.columns) == names:
            return batch
        for name in names:
            if name not in batch.columns:
                raise TableError(f"{path} has no column {name!r}, which {self.paths[0]} has")
        other = next((name for name in batch.columns if name not in names), None)
        if other is not None:
            raise TableError(f"{path} has the column {other!r}, which {self.paths[0]} has not")
        columns = {name: batch.columns[name] for name in names}
        return Batch(columns, batch.lines, batch.unit, batch.copies)


def found(given: str | Sequence[str], format: str | None = None) -> list[str]:
    """The files that are named: by themselves, by a pattern, or by their folder; a TableError where there is none."""
    words = [given] if isinstance(given, str) else list(given)
    if len(words) > 1 and STANDARD in words:
        raise TableError("standard input (-) cannot be one of several files: name files, or - alone")
    paths: list[str] = []
    for word in words:
        if not word:
            raise TableError(NAMELESS)
        if Path(word).is_dir():
            inside = [str(path) for path in sorted(Path(word).iterdir()) if path.is_file()]
            paths += _of_one_format(word, inside, format)
        elif word == STANDARD or Path(word).exists():  # a file, a pipe, a device
            paths.append(word)
        else:
            matching = sorted(path for path in glob.glob(word) if Path(path).is_file())
            if not matching:
                raise TableError(f"{word} cannot be read: there is no such file")
            paths += matching
    return paths


def named(
    given: str | Sequence[str], format: str | None = None, separator: str | None = None
) -> tuple[list[str], list[str]]:
    """The files that are named, and their formats; a TableError where they cannot be read."""
    paths = found(given, format)
    formats = [tables.format_of(path, format, tables.TABLES) for path in paths]
    tables.check_separator(separator, formats)
    return paths, formats


def _of_one_format(folder: str, paths: list[str], format: str | None) -> list[str]:
    """The tables of a folder; a TableError where their formats are several, which mostly are the same rows twice."""
    formats = {path: form for path in paths if (form := tables.known(path)) in tables.TABLES}
    if format is not None:
        formats = {path: format for path in paths if not Path(path).name.startswith((".", "_"))}
    if not formats:
        raise TableError(f"{folder} cannot be read: it is a folder without {', '.join(tables.TABLES)} files")
    if len(set(formats.values())) > 1:
        raise TableError(
            f"{folder} has {' and '.join(sorted(set(formats.values())))} files: name those to read, as "
            f"'{os.path.join(folder, '*.csv')}'"
        )
    return list(formats)


@contextlib.contextmanager
def opened(
    given: str | Sequence[str],
    format: str | None = None,
    once: bool = False,
    wanted: Choice = every,
    told: str | None = None,
    copied: tuple[str, ...] = (),
    separator: str | None = None,
) -> Iterator[Source]:
    """What is named as a source; one that is read `once` comes from pipes as it is written there.

    wanted : which columns are looked into; the others come empty, whatever they hold.
    told : whose word it is that a column holds numbers, such as "the model takes"; else it is that of --type.
    copied : columns that are also there as they stand.
    separator : what parts the cells of CSV; None for a comma.
    """
    paths, formats = named(given, format, separator)
    with contextlib.ExitStack() as stack:
        read = [
            path if once and form in ("csv", "tsv") else stack.enter_context(seekable(path))
            for path, form in zip(paths, formats, strict=True)
        ]
        yield Source(tuple(paths), tuple(formats), tuple(read), wanted, told, copied, separator)


@contextlib.contextmanager
def seekable(path: str) -> Iterator[str]:
    """A file that can be read twice and from its end: standard input and pipes are copied to one, later gone."""
    if path != STANDARD and not saving.is_special(path):
        yield path
        return
    handle, name = tempfile.mkstemp(prefix="anyboost-")
    try:
        with os.fdopen(handle, "wb") as file:
            if path == STANDARD:
                shutil.copyfileobj(standard_input(), file)
            else:
                with open(path, "rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        yield name
    finally:
        Path(name).unlink(missing_ok=True)
