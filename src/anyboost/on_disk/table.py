"""A table of numbers in mapped files, made of files of rows: the table that `tables.read` makes of them in memory.

    X         (n, d), column by column: float32 where all columns are and none holds categories, else float64
    y         targets as they are; words as codes of their sorted levels
    weight    of each row; rows of weight zero are left out everywhere
    group     labels, as targets
    words     the bins of X (see `trees.table`), which the caller adds

A pass over the weights says how many rows there are, and one over everything writes them down: categories by the order
in which their levels come up, and, when all levels are known, by the order of these.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks, tables
from anyboost.backends import mapped
from anyboost.on_disk.files import ColumnFiles
from anyboost.on_disk.folder import Builder, arrays_of, facts_of, taken
from anyboost.tables import FROM_DTYPE, Column, Columns, Levels
from anyboost.tables.levels import in_order
from anyboost.trees.table import MOST_BINS, Bins, Categories

SMALL = ("thresholds", "n_thresholds", "n_cuts")


class ColumnsAsked(NamedTuple):
    """Which columns of the files are what."""

    columns: Any = None
    target: Any = None
    weight: str | None = None
    group: str | None = None
    categorical: Any = FROM_DTYPE
    max_bins: int = MOST_BINS


class Roles(NamedTuple):
    """The same, by the names in the files."""

    columns: list[str]
    categorical: list[int]
    automatic: bool  # whether the types said which columns hold categories
    target: list[str]
    one_target: bool
    weight: str | None
    group: str | None
    max_bins: int

    @property
    def names(self) -> list[str]:
        others = [name for name in (self.weight, self.group) if name is not None]
        return [*self.columns, *self.target, *others]


class Stored(NamedTuple):
    """A table in mapped files."""

    X: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    groups: np.ndarray | None
    columns: Columns
    names: list[str]
    bins: Bins


def stored(
    files: ColumnFiles,
    asked: ColumnsAsked,
    folder: Any,
    binned: Callable[[np.ndarray, Any, tuple[int, ...], Builder], Bins],
) -> Stored:
    """The table of some files: read, or found in the folder that an earlier call made of the same files.

    `binned` makes the bins of X under the weights, and has the builder keep their words.
    """
    roles = _roles(files, asked)
    said = {
        "files": [[str(path), *stamp] for path, stamp in zip(files.paths, files.stamps, strict=True)],
        "asked": roles._asdict(),
    }
    place = None if folder is None else Path(folder).absolute()
    if place is not None and taken(place):
        facts = facts_of(place)
        _same(place, facts, said)
        return _loaded(arrays_of(place, facts["arrays"]), facts, roles)
    with Builder(place) as builder:
        facts = said | _read(files, roles, builder)
        levels = tuple(int(number) for number in facts["levels"])
        bins = binned(builder.arrays["X"], builder.arrays.get("weight"), levels, builder)
        for name in SMALL:
            builder.keep(name, getattr(bins, name))
        if bins.categories is not None:
            for name, values in bins.categories._asdict().items():
                builder.keep(f"category_{name}", values)
        files.unchanged()
        builder.complete(facts)
    # Those of a folder are opened again, so that nothing reaches its files any more
    return _loaded(builder.arrays if place is None else arrays_of(place, builder.arrays), facts, roles)


def _roles(files: ColumnFiles, asked: ColumnsAsked) -> Roles:
    given = asked.target
    targets = [] if given is None else [given] if isinstance(given, str) else list(given)
    for name, value in (("weight", asked.weight), ("group", asked.group)):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be the name of a column, got {value!r}")
    others = [*targets, *(name for name in (asked.weight, asked.group) if name is not None)]
    columns = [name for name in files.names if name not in others]
    if asked.columns is not None:
        columns = [asked.columns] if isinstance(asked.columns, str) else list(asked.columns)
    for argument, names in (("columns", columns), ("target", targets)):
        if any(not isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise ValueError(f"{argument} must name columns of the files, each once, got {names!r}")
    both = [name for name in columns if name in others]
    if both:
        raise ValueError(
            f"columns names {both[0]!r}, which is the target, the weight or the group: leave it out"
        )
    if not columns:
        raise ValueError("columns is empty: name at least one")
    files.check([*columns, *others], asked.columns is None)
    automatic = isinstance(asked.categorical, str)
    if automatic:
        checks.choice(asked.categorical, "categorical", (FROM_DTYPE,))
        categorical = [number for number, name in enumerate(columns) if files.holds_words(name)]
    else:
        chosen = () if asked.categorical is None else asked.categorical
        categorical = tables.column_numbers(chosen, columns, len(columns), "categorical")
    one = given is None or isinstance(given, str)
    weight, group = asked.weight, asked.group
    return Roles(columns, categorical, automatic, targets, one, weight, group, asked.max_bins)


def _same(folder: Path, facts: dict[str, Any], said: dict[str, Any]) -> None:
    """Refuse a folder that was made otherwise."""
    for name, value in said["asked"].items():
        if facts["asked"].get(name) != value:
            raise ValueError(
                f"folder {folder} holds a table whose {name} is {facts['asked'].get(name)!r}, and now it is {value!r}: "
                "name another folder, or delete it"
            )
    if [entry[0] for entry in facts["files"]] != [entry[0] for entry in said["files"]]:
        raise ValueError(f"folder {folder} holds the rows of other files: name another folder, or delete it")
    for old, new in zip(facts["files"], said["files"], strict=True):
        if old != new:
            raise ValueError(
                f"{new[0]} changed since folder {folder} was made of it: name another folder, or delete it"
            )


def _loaded(arrays: dict[str, np.ndarray], facts: dict[str, Any], roles: Roles) -> Stored:
    levels = {int(number): Levels(tuple(found)) for number, found in facts["levels"].items()}
    categories = None
    if "category_first" in arrays:
        categories = Categories(*(np.array(arrays[f"category_{name}"]) for name in Categories._fields))
    thresholds, n_thresholds, n_cuts = (np.array(arrays[name]) for name in SMALL)
    n_columns = len(roles.columns)
    return Stored(
        arrays["X"],
        _labels(arrays.get("y"), facts["y_words"]),
        arrays.get("weight"),
        _labels(arrays.get("group"), facts["group_words"]),
        Columns(n_columns, levels),
        roles.columns,
        Bins(arrays["words"], thresholds, n_thresholds, n_cuts, n_columns, categories),
    )


def _labels(values: np.ndarray | None, words: list[str] | None) -> np.ndarray | None:
    if values is None or words is None:
        return values
    return np.array(words, dtype=object)[values]


# --- reading


class _Miscounted(Exception):
    """The files have other rows than they were counted to have."""


def _read(files: ColumnFiles, roles: Roles, builder: Builder) -> dict[str, Any]:
    """Write everything but the bins; the levels, and the words of targets and groups."""
    for parsed in (False, True):  # lines of text are rows, but for those within quotes and blank ones
        total = files.count(parsed)
        if parsed and not total:
            others = " and the others have" if len(files.paths) > 1 else " has"
            raise ValueError(f"{files.paths[0]}{others} no rows: give at least one")
        with suppress(_Miscounted):
            return _written(files, roles, builder, total)
    raise ValueError(
        f"{files.paths[0]} has other rows each time it is read: give files that nobody writes to"
    )


def _written(files: ColumnFiles, roles: Roles, builder: Builder, total: int) -> dict[str, Any]:
    if total <= 0:
        raise _Miscounted
    kept = _read_weights(files, roles, builder, total)
    n = total if kept is None else int(np.count_nonzero(kept))
    single = not roles.categorical and all(files.is_single(name) for name in roles.columns)
    X = builder.zeros("X", (n, len(roles.columns)), np.float32 if single else np.float64)
    coders = {number: _Coder(files.holds_words(roles.columns[number])) for number in roles.categorical}
    labels = {}
    if roles.target:
        labels["y"] = _LabelWriter(builder, "y", n, roles.target, roles.one_target)
    if roles.group is not None:
        labels["group"] = _LabelWriter(builder, "group", n, [roles.group], True)
    row = place = 0
    for path, part in files.portions(roles.names):
        if row + part.num_rows > total:
            raise _Miscounted
        some: Any = slice(None) if kept is None else np.flatnonzero(kept[row : row + part.num_rows])
        row += part.num_rows
        columns = tables.columns_of(part, str(path))
        count = part.num_rows if kept is None else len(some)
        own = slice(place, place + count)
        for number, name in enumerate(roles.columns):
            column, coder = columns[name], coders.get(number)
            X[own, number] = (column.numbers() if coder is None else coder.codes(column, some))[some]
        for writer in labels.values():
            writer.write(part, columns, some, own)
        place += count
    if row != total:
        raise _Miscounted
    levels = {}
    for number, coder in coders.items():
        found = coder.finish(X[:, number])
        if found or not (roles.automatic and coder.words):  # a column of words without any holds nothing
            levels[number] = found
    words = {f"{name}_words": labels[name].finish() if name in labels else None for name in ("y", "group")}
    return {"levels": levels} | words


def _read_weights(files: ColumnFiles, roles: Roles, builder: Builder, total: int) -> np.ndarray | None:
    """Keep the weights that are not zero; which rows those are, None for all."""
    if roles.weight is None:
        return None
    weights, row = builder.spare((total,), np.float64), 0
    for path, part in files.portions([roles.weight]):
        if row + part.num_rows > total:
            raise _Miscounted
        weights[row : row + part.num_rows] = tables.columns_of(part, str(path))[roles.weight].numbers()
        row += part.num_rows
    if row != total:
        raise _Miscounted
    checks.sample_weight(weights, total, f"weight {roles.weight!r}")
    kept = weights > 0
    builder.zeros("weight", (int(np.count_nonzero(kept)),), np.float64)[:] = weights[kept]
    return None if kept.all() else kept


class _Coder:
    """Levels of a column of categories, as they come up."""

    def __init__(self, words: bool) -> None:
        self.words = words
        self._code: dict[Any, int] = {}
        self._found = np.empty(0)

    def codes(self, column: Column, some: Any) -> np.ndarray:
        """What to write down until all levels are known: the place of a word, the number itself."""
        if not self.words:
            numbers = column.numbers()
            held = numbers[some]
            self._found = np.union1d(self._found, held[~np.isnan(held)])
            return numbers
        found, places = column.coded
        held = np.unique(places[some])
        own = np.full(len(found) + 1, np.nan)  # the last for those that are missing
        for place in held[held >= 0].tolist():
            own[place] = self._code.setdefault(found[place], len(self._code))
        return own[places]

    def finish(self, column: np.ndarray) -> list[Any]:
        """Turn what was written into codes of the sorted levels; these."""
        if self.words:
            words, turned = in_order(list(self._code))
            for part in mapped.blocks(len(column)):
                given = ~np.isnan(column[part])
                column[part][given] = turned[column[part][given].astype(np.intp)]
            return words
        levels = Levels(tuple(self._found.tolist()))
        for part in mapped.blocks(len(column)):
            column[part] = levels.encode(Column(np.array(column[part]), ""))
        return self._found.tolist()


class _LabelWriter:
    """Targets or groups: numbers as they are, words as codes."""

    def __init__(self, builder: Builder, name: str, n: int, columns: Sequence[str], one: bool) -> None:
        self._builder, self._name, self._columns, self._one = builder, name, columns, one
        self._n, self._out = n, np.empty(0)
        self._coder: _Coder | None = None

    def write(self, part: Any, columns: dict[str, Column], some: Any, own: slice) -> None:
        for number, name in enumerate(self._columns):
            column = columns[name]
            if part.column(name).null_count:
                raise ValueError(f"{column.title} has missing values: leave these rows out of the files")
            if not self._out.size:
                self._begin(column, part.column(name).type.to_pandas_dtype())
            if self._coder is not None:
                values = self._coder.codes(column, some)
            else:
                column.numbers()  # refuses what is none
                values = part.column(name).to_numpy()
            self._out[own, number] = values[some]

    def _begin(self, column: Column, kind: Any) -> None:
        if column.holds_words:
            if len(self._columns) > 1:
                raise ValueError(f"{column.title} holds words: several targets must be numbers")
            self._coder, kind = _Coder(True), np.int32
        shape = (self._n, len(self._columns))
        out = self._builder.zeros(self._name, shape[:1] if self._one else shape, kind)
        self._out = out[:, None] if self._one else out

    def finish(self) -> list[str] | None:
        return None if self._coder is None else self._coder.finish(self._out[:, 0])
