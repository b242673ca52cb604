"""Files of rows, Parquet or CSV, read a portion at a time by pyarrow.

A column is found by its name in every file, wherever it stands there, and has one type in all of them.
"""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

ROWS = 1 << 17  # of a portion, at most
_PARQUET, _CSV = (".parquet", ".pq"), (".csv", ".csv.gz")
_INDEX = re.compile(r"__index_level_\d+__")


class ColumnFiles(Protocol):
    """What a table is made of: files with named columns, each of which holds numbers or words."""

    @property
    def paths(self) -> list[Path]: ...

    @property
    def stamps(self) -> list[list[int]]: ...

    @property
    def names(self) -> list[str]: ...

    def check(self, names: Sequence[str], all_of_them: bool) -> None: ...
    def holds_words(self, name: str) -> bool: ...
    def is_single(self, name: str) -> bool: ...
    def count(self, parsed: bool) -> int: ...
    def portions(self, names: Iterable[str]) -> Iterator[tuple[Path, Any]]: ...
    def unchanged(self) -> None: ...


class Files:
    """Files with the columns that the first one has.

    `stamps` are sizes and times of change, as they were when the files were first looked at: `unchanged` says so where
    they are others.
    """

    def __init__(self, paths: Any) -> None:
        _pyarrow()
        self.paths = _found(paths)
        self.stamps = [stamp(path) for path in self.paths]
        with _reading(self.paths[0]):
            self.schema = _schema(self.paths[0])
        self._schemas = {self.paths[0]: self.schema}

    @property
    def names(self) -> list[str]:
        """The columns of the first file, but for what pandas writes of the names of rows."""
        return [name for name in self.schema.names if not _INDEX.fullmatch(name)]

    def check(self, names: Sequence[str], all_of_them: bool) -> None:
        """Refuse files that have not these columns, each of one type; or others too, where all were asked for."""
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise ValueError(f"{self.paths[0]} has two columns named {twice[0]!r}: rename one of them")
        for path in self.paths:
            if path not in self._schemas:
                with _reading(path):
                    self._schemas[path] = _schema(path)
            schema = self._schemas[path]
            for name in names:
                if name not in schema.names:
                    raise ValueError(
                        f"{path} has no column {name!r}: give files that have it, or other columns"
                    )
                own, first = schema.field(name).type, self.schema.field(name).type
                if first == "null" and own != first:  # a column without a value has the type of the next file
                    self._take_type(name, own)
                    first = own
                if _is_parquet(path) and not _alike(own, first):  # text is read as what the first file holds
                    raise ValueError(
                        f"column {name!r} is {first} in {self.paths[0]} and {own} in {path}: write it as one type"
                    )
            others = [name for name in schema.names if name not in self.names and not _INDEX.fullmatch(name)]
            if all_of_them and others:
                raise ValueError(
                    f"{path} has the column {others[0]!r}, which {self.paths[0]} has not: name the columns to read"
                )

    def _take_type(self, name: str, kind: Any) -> None:
        number = self.schema.get_field_index(name)
        self.schema = self.schema.set(number, self.schema.field(number).with_type(kind))

    def holds_words(self, name: str) -> bool:
        """Whether a column has a type of words or categories."""
        return _holds_words(self.schema.field(name).type)

    def is_single(self, name: str) -> bool:
        """Whether a column has numbers of 32 bits."""
        import pyarrow as pa

        return bool(pa.types.is_float32(self.schema.field(name).type))

    def count(self, parsed: bool) -> int:
        """The rows of all files; where text is not `parsed`, as many as its lines say."""
        import pyarrow.parquet as pq

        total = 0
        for path in self.paths:
            with _reading(path):
                if _is_parquet(path):
                    total += pq.read_metadata(path).num_rows
                elif parsed:
                    total += sum(part.num_rows for part in _portions(path, self.names[:1], self.schema))
                else:
                    total += _lines(path) - 1
        self.unchanged()
        return total

    def portions(self, names: Iterable[str]) -> Iterator[tuple[Path, Any]]:
        """The rows of all files, in order, as tables of these columns, each with its file."""
        wanted = list(dict.fromkeys(names))
        for path in self.paths:
            with _reading(path):
                for part in _portions(path, wanted, self.schema):
                    yield path, part
        self.unchanged()

    def unchanged(self) -> None:
        """Refuse to go on where a file is not what it was."""
        unchanged(self.paths, self.stamps)


def _pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError('reading rows from files needs pyarrow: pip install "anyboost[parquet]"') from None


def _found(paths: Any) -> list[Path]:
    """The files, from a path, a pattern, a folder, or several."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for one in given:
        path = Path(one)
        if path.is_dir():
            inside = [part for part in sorted(path.iterdir()) if _kind(part) is not None]
            if len({_kind(part) for part in inside}) > 1:  # mostly the same rows twice
                raise ValueError(
                    f"{path} has Parquet and CSV files: name those to read, as '{path}/*.parquet'"
                )
        elif path.exists():
            inside = [path]
        else:
            inside = [Path(part) for part in sorted(glob.glob(os.fspath(one)))]
        if not inside:
            raise FileNotFoundError(f"paths names {os.fspath(one)}, where there is no Parquet or CSV file")
        found += inside
    if not found:
        raise ValueError("paths is empty: name at least one Parquet or CSV file")
    for path in found:
        if _kind(path) is None:
            raise ValueError(f"{path} has a name that tells no format: use .parquet, .pq, .csv or .csv.gz")
    return [path.absolute() for path in found]


def _kind(path: Path) -> str | None:
    name = path.name.lower()
    return "parquet" if name.endswith(_PARQUET) else "csv" if name.endswith(_CSV) else None


def _is_parquet(path: Path) -> bool:
    return _kind(path) == "parquet"


def unchanged(paths: Sequence[Path], stamps: Sequence[list[int]]) -> None:
    """Refuse to go on where a file is not what it was when it had this stamp."""
    for path, before in zip(paths, stamps, strict=True):
        if stamp(path) != before:
            raise ValueError(f"{path} changed while it was read: give files that nobody writes to")


def stamp(path: Path) -> list[int]:
    """The size and the time of change of a file."""
    try:
        found = path.stat()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    return [found.st_size, found.st_mtime_ns]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What pyarrow says of a bad file, in a sentence that names it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if reason.startswith("straddling object"):
            reason = "a row has more than 1 MiB, which none may have in CSV"
        raise ValueError(f"{path} cannot be read: {reason}") from None


def _schema(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if _is_parquet(path):
        return pq.read_schema(path).remove_metadata()
    with pyarrow.csv.open_csv(path) as reader:
        # The first rows tell the types; after whole numbers, or nothing, others may come
        unsure = (pa.types.is_integer, pa.types.is_null)
        kinds = [pa.float64() if any(test(f.type) for test in unsure) else f.type for f in reader.schema]
        return pa.schema(list(zip(reader.schema.names, kinds, strict=True)))


def _lines(path: Path) -> int:
    import pyarrow as pa

    count, last = 0, b"\n"
    with pa.input_stream(path) as file:
        while piece := file.read(1 << 24):
            count, last = count + piece.count(b"\n"), piece[-1:]
    return count + (last != b"\n")


def _portions(path: Path, names: list[str], schema: Any) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if _is_parquet(path):
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(ROWS, row_groups=[group], columns=names):
                    yield pa.Table.from_batches([batch]).select(names)
        return
    kinds = {name: schema.field(name).type for name in schema.names}
    options = pyarrow.csv.ConvertOptions(column_types=kinds, include_columns=names, strings_can_be_null=True)
    with pyarrow.csv.open_csv(path, convert_options=options) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _holds_words(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)
    return any(test(kind) for test in tests)


def _alike(first: Any, second: Any) -> bool:
    nothing = first == "null" or second == "null"
    return bool(nothing or first == second or (_holds_words(first) and _holds_words(second)))
