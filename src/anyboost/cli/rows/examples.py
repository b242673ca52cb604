"""Examples of a stream, whatever the format: encoded features, a label as written, a weight, a line.

Examples.take(rows) cuts a batch; labels are numbers or text, None where the example is only to be predicted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.cli.rows import tables, vw
from anyboost.cli.rows.cells import Batch, TableError, check_column, good_weights

FINGERPRINT = 4096  # bytes at the beginning of a file by which it is known again


@dataclass
class ExampleSource:
    """Where the examples come from and which columns they are."""

    path: str
    format: str
    target: str | None
    weight: str | None = None
    ignore: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)
    spared: set[str | None] = field(default_factory=set)  # columns that may be missing: a test does without
    separator: str | None = None  # what parts the cells of CSV; None for a comma

    @property
    def named(self) -> set[str | None]:
        """The columns that it names so far."""
        return {self.target, self.weight, *self.ignore, *self.text}

    def reads(self, name: str) -> bool:
        """Whether a column is looked into."""
        return name not in self.ignore or name in (self.target, self.weight)


@dataclass(frozen=True)
class Examples:
    """A batch of consecutive examples."""

    features: Any  # dict of columns, or list of dicts
    labels: np.ndarray  # float64 (nan: none), or object array of text (None: none)
    weights: np.ndarray
    lines: np.ndarray
    unit: str

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Any) -> Examples:
        """Some of the examples."""
        if isinstance(self.features, list):
            features: Any = [self.features[i] for i in np.arange(len(self))[rows]]
        else:
            features = {name: values[rows] for name, values in self.features.items()}
        return Examples(features, self.labels[rows], self.weights[rows], self.lines[rows], self.unit)

    @property
    def labelled(self) -> np.ndarray:
        """Which examples have a label."""
        if self.labels.dtype == np.float64:
            return ~np.isnan(self.labels)
        return np.array([label is not None for label in self.labels.tolist()], dtype=bool)


def read(source: ExampleSource, skip: int = 0) -> Iterator[Examples]:
    """The examples of a source, in batches, after passing over the first `skip`."""
    if source.format == "vw":
        for examples in vw.read(source.path, skip):
            yield _from_vw(examples)
        return
    given: Any = {"wanted": source.reads, "separator": source.separator}
    batches = tables.read(source.path, source.format, source.kinds, source.text, skip, **given)
    for number, batch in enumerate(batches):
        if number == 0:
            _check_columns(source, list(batch.columns))
        yield from _from_batch(batch, source)


def _check_columns(source: ExampleSource, names: list[str]) -> None:
    wanted = [("--target", source.target), ("--weight", source.weight)]
    wanted += [("--ignore", name) for name in source.ignore] + [("--text", name) for name in source.text]
    for option, name in wanted:
        if name is not None and name not in source.spared:
            check_column(name, option, names, source.path)


def _from_batch(batch: Batch, source: ExampleSource) -> Iterator[Examples]:
    """The batch up to a bad weight, then a sentence about that one."""
    n_rows = len(batch)
    weights, good, error = np.ones(n_rows), n_rows, None
    if source.weight in batch.columns:
        weights = batch.columns[source.weight]
        good, error = good_weights(weights, source.weight, batch.where)
    apart = {source.target, source.weight, *source.ignore}
    labels = batch.columns[source.target] if source.target in batch.columns else np.full(n_rows, np.nan)
    features = {name: values for name, values in batch.columns.items() if name not in apart}
    examples = Examples(features, labels, weights, batch.lines, batch.unit)
    if good:
        yield examples if good == n_rows else examples.take(slice(good))
    if error is not None:
        raise error


def _from_vw(examples: list[vw.Example]) -> Examples:
    labels = np.empty(len(examples), dtype=object)
    labels[:] = [example.label for example in examples]
    return Examples(
        [example.features for example in examples],
        labels,
        np.array([example.weight for example in examples]),
        np.array([example.line for example in examples]),
        "line",
    )


def as_numbers(examples: Examples, target: str) -> tuple[Examples, TableError | None]:
    """Labels as numbers; the examples before one that is none, and a sentence about that one."""
    if examples.labels.dtype == np.float64:
        return examples, None
    numbers = np.full(len(examples), np.nan)
    for row, label in enumerate(examples.labels.tolist()):
        if label is None:
            continue
        try:
            numbers[row] = float(label)
        except ValueError:
            numbers[row] = np.inf
        if not np.isfinite(numbers[row]):
            error = TableError(
                f"{examples.unit} {examples.lines[row]}: {target} must be a finite number, got {label!a}"
            )
            return replace(examples.take(slice(row)), labels=numbers[:row]), error
    return replace(examples, labels=numbers), None


def as_classes(examples: Examples) -> Examples:
    """Labels as classes: text, or whole numbers without their point."""
    classes = np.empty(len(examples), dtype=object)
    classes[:] = [
        None if label is None or label != label else _class(label) for label in examples.labels.tolist()
    ]
    return replace(examples, labels=classes)


def _class(label: Any) -> Any:
    try:
        number = float(label)
    except ValueError:
        return label
    return int(number) if number.is_integer() else number


def fingerprint(path: str, length: int = FINGERPRINT) -> dict[str, Any]:
    """How a file is known again when it has grown or moved: its first bytes, as a digest. Nothing for a pipe."""
    if path == "-" or not Path(path).is_file():
        return {"bytes": 0, "sha256": ""}
    with Path(path).open("rb") as file:
        head = file.read(length)
    return {"bytes": len(head), "sha256": hashlib.sha256(head).hexdigest()}
