"""Tables larger than memory, for `fit`: looked through once, then read into files that are mapped into memory.

What comes of it is to the last bit the model of the same table in memory: cells are read by the same code, and fits to
`ab.Binned` of files are fits to the rows in them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.backends import arrays
from anyboost.cli.passes import fitting
from anyboost.cli.passes.fitting import TrainingRows
from anyboost.cli.rows import frames, text
from anyboost.cli.rows.cells import Batch, TableError
from anyboost.cli.rows.sources import Source
from anyboost.cli.shared.settings import FitRequest
from anyboost.on_disk import ColumnsAsked, stamp, unchanged
from anyboost.space import binned_files
from anyboost.trees.table import MOST_BINS

_CELL = 24  # bytes that a cell takes in memory, while a table is read and fitted
_CELL_ON_DISK = 9
_HEAD = 1 << 16
_PACKED = 5  # how many times its size a compressed text has, about


def advised(source: Source) -> str | None:
    """Why the rows had better be kept on disk; None where memory has room for them."""
    separator = source.separator or ","
    cells = [_cells(path, form, separator) for path, form in zip(source.opened, source.formats, strict=True)]
    needed, memory = _CELL * sum(cells), arrays.memory()
    if needed <= memory / 2:
        return None
    return (
        f"{source.title} would take about {needed / 1e9:.3g} GB of the {memory / 1e9:.3g} GB of memory: its numbers go "
        f"to files in {tempfile.gettempdir()} (--in-memory forbids it)"
    )


def _cells(path: str, form: str, separator: str = ",") -> int:
    """About how many cells a table has."""
    size = Path(path).stat().st_size
    if form == "parquet":
        from pyarrow import parquet

        try:
            facts = parquet.read_metadata(path)
        except Exception:  # whoever reads it says what is wrong
            return 0
        return int(facts.num_rows) * int(facts.num_columns)
    if form == "arrow":
        return size // 8
    try:
        with text.opened_bytes(path) as file:
            head = file.read(_HEAD)
        with open(path, "rb") as file:
            packed = text.packing_of(path, file.read(4)) is not None
    except (TableError, OSError):
        return 0
    held = head.count(b"\t" if form == "tsv" else separator.encode()) + head.count(b"\n")
    return int(size * held / max(len(head), 1) * (_PACKED if packed else 1))


@dataclass
class Labels:
    """What a pass over a column of targets or groups has found."""

    whole: bool = True  # numbers, without a fraction
    values: set[Any] = field(default_factory=set)  # three at most: are there two?
    words: dict[str, None] = field(default_factory=dict)  # so many that they may be too many for classes

    def add(self, values: np.ndarray) -> None:
        """Look at some more."""
        if values.dtype == object:
            self.whole = False
            self.words = fitting.first_words(values.tolist(), self.words)
            return
        self.whole = self.whole and fitting.is_whole(values)
        if len(self.values) < 3:
            self.values |= set(np.unique(values)[:3].tolist())


@dataclass
class Large:
    """A table that was looked through, with what `fitting` asks of one in memory."""

    source: Source
    kinds: dict[str, str]
    rows: list[int]  # of each file
    labels: dict[str, Labels]
    stamps: list[Any]
    cells: dict[str, str]  # as of a table in memory
    samples: dict[str, list[str]]
    levels: dict[str, int] = field(default_factory=dict)  # known when it is read

    def __len__(self) -> int:
        return sum(self.rows)

    @property
    def path(self) -> str:
        """What messages call it."""
        return self.source.title


def read(source: Source, asked: FitRequest) -> Large:
    """Look at every row: what the columns hold, and whether targets, weights and groups are what they should be."""
    stamps = [stamp(Path(file)) for file in source.opened]
    found, kinds, cells = source.read_all(asked.types, partial(_looked_at, source, asked))
    rows, labels, names, samples = found
    if not sum(rows):
        raise frames.no_rows(source)
    return Large(
        source, {name: kinds.get(name, "number") for name in names}, rows, labels, stamps, cells, samples
    )


def _looked_at(
    source: Source, asked: FitRequest, batches: Iterator[tuple[int, Batch]]
) -> tuple[list[int], dict[str, Labels], list[str], dict[str, list[str]]]:
    rows, names = [0] * len(source.paths), list[str]()
    wanted = {"the target": asked.target, f"--groups {asked.groups}": asked.groups or ""}
    labels = {name: Labels() for name in wanted.values() if name}
    samples: dict[str, list[str]] = {}
    task = fitting.task_of(asked)
    for number, batch in batches:
        if not names:
            names = list(batch.columns)
            samples = {
                name: frames.first_words(values)
                for name, values in batch.columns.items()
                if values.dtype == object
            }
            fitting.check_columns(asked, names, source.title)
        where = partial(source.where, number, batch)
        for what, name in wanted.items():
            if name:
                fitting.check_filled(batch.columns[name], what, where)
                labels[name].add(batch.columns[name])
        if asked.weight is not None:
            fitting.check_weights(batch.columns[asked.weight], asked.weight, where)
        y = batch.columns[asked.target]
        if task == "classification":
            fitting.check_classes(y, asked, where)
        elif task is not None:
            fitting.check_numbers(y, asked.target, fitting.NEEDS.format(task=task), where)
            fitting.check_domain(y, asked.target, fitting.loss_of(asked, task), where)
        rows[number] += len(batch)
    return rows, labels, names, samples


def guess(asked: FitRequest, large: Large) -> str:
    """As `fitting.guess`."""
    labels = large.labels[asked.target]
    if large.kinds[asked.target] == "text":
        fitting.check_words(asked, labels.words, len(large))
        return "classification"
    return "classification" if labels.whole and len(labels.values) == 2 else "regression"


def rows_of(large: Large, asked: FitRequest, task: str) -> TrainingRows:
    """The rows, read into mapped files."""
    max_bins = asked.parameters.get("max_bins", MOST_BINS)
    columns = [name for name in large.kinds if name not in asked.apart()]
    _check_room(len(large), len(columns))
    wholes = [asked.groups] if task != "classification" else [asked.groups, asked.target]
    files = Portions(large, {name for name in wholes if name is not None and large.labels[name].whole})
    wanted = ColumnsAsked(columns, asked.target, asked.weight, asked.groups, max_bins=max_bins)
    table = binned_files(files, wanted)
    assert table.columns is not None
    large.levels = {columns[number]: len(levels.values) for number, levels in table.columns.levels.items()}
    return TrainingRows(table, None, None, None)


def _check_room(rows: int, columns: int) -> None:
    folder = tempfile.gettempdir()
    needed, free = _CELL_ON_DISK * rows * (columns + 2), shutil.disk_usage(folder).free
    if needed > free:
        raise ValueError(
            f"the numbers take {needed / 1e9:.3g} GB, and {folder} has room for {free / 1e9:.3g}: set TMPDIR to a "
            "folder with more"
        )


class Portions:
    """The files as `on_disk` reads them: batches of columns that hold what was found."""

    def __init__(self, large: Large, whole: set[str]) -> None:
        self.large, self.whole = large, whole
        self.paths = [Path(file) for file in large.source.opened]
        self.stamps = large.stamps
        self.names = list(large.kinds)

    def check(self, names: Any, all_of_them: bool) -> None:
        """All columns were seen in all files."""

    def holds_words(self, name: str) -> bool:
        """Whether a column holds text."""
        return self.large.kinds[name] == "text"

    def is_single(self, name: str) -> bool:
        """Numbers are of 64 bits here, as in memory."""
        return False

    def count(self, parsed: bool) -> int:
        """The rows of all files."""
        return len(self.large)

    def portions(self, names: Any) -> Iterator[tuple[Path, Any]]:
        """The rows of all files, in order, as tables of these columns, each with its file."""
        for number, batch in self.large.source.batches(dict(self.large.kinds)):
            yield self.paths[number], frames.to_arrow(self._columns(batch, list(dict.fromkeys(names))))
        self.unchanged()

    def _columns(self, batch: Batch, names: list[str]) -> Mapping[str, np.ndarray]:
        found = {name: batch.columns[name] for name in names}
        for name, values in found.items():
            if name in self.whole:
                found[name] = values.astype(np.int64)
        return found

    def unchanged(self) -> None:
        """Refuse to go on where a file is not what it was."""
        unchanged(self.paths, self.stamps)
