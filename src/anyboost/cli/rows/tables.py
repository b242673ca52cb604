"""Tables read in batches of named columns, in one pass and bounded memory: CSV, TSV, Parquet, Arrow, standard input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anyboost import saving
from anyboost.cli.rows import pieces, times
from anyboost.cli.rows import text as texts
from anyboost.cli.rows.cells import (
    Bad,
    Batch,
    CellReader,
    Choice,
    TableError,
    arrow,
    check_names,
    every,
    nothing,
    words_of,
)
from anyboost.cli.rows.copies import of_arrow

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
_OTHERS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a workbook: take CSV instead"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "JSON: take CSV or Parquet instead"),
    **dict.fromkeys(
        (".bz2", ".xz", ".zip"), "packed in a way that is not read: unpack it, or take gzip or zstd"
    ),
}


def format_of(
    path: str,
    given: str | None = None,
    forms: Sequence[str] = FORMATS,
    option: str | None = "--format",
) -> str:
    """The format of a file, from its name unless it is given; "-" is standard input or output, CSV unless given.

    forms : those that can be read, or written.
    option : the one that gives it, where there is one.
    """
    if given is not None:
        if given not in forms:
            raise TableError(f"{option} must be one of {', '.join(forms)}, got {given!r}")
        return _packed_once(path, given)
    if path == "-":
        return "csv"
    found = known(path)
    if found is None or found not in forms:
        what = next((what for ending, what in _OTHERS.items() if path.lower().endswith(ending)), None)
        if what is not None:
            raise TableError(f"{path} is {what}")
        told = [f".{form}" if option is None else form for form in forms]
        advice = "end it in" if option is None else f"add {option}"
        raise TableError(f"{path} has a name that tells no format: {advice} {' or '.join(told)}")
    return _packed_once(path, found)


def check_separator(given: str | None, formats: Iterable[str]) -> None:
    """A sentence where the cells of no table among these can be parted by such a sign."""
    if given is None:
        return
    if len(given) != 1 or not given.isascii() or given.isalnum() or given in '"\r\n.+-_':
        raise TableError(f"--separator must be one sign, such as ';', got {given!r}")
    if "csv" not in formats:
        raise TableError(
            f"--separator is for CSV, and the table is {' and '.join(sorted(set(formats)))}: leave it out"
        )


def _packed_once(path: str, form: str) -> str:
    """The format, where it is none that is packed inside under a name of what was packed once more."""
    ending = Path(path).suffix
    if form in ("parquet", "arrow") and ending.lower() in COMPRESSED:
        raise TableError(
            f"{path} names {form} packed once more, which nothing reads: take it without {ending}"
        )
    return form


def known(path: str) -> str | None:
    """The format that the name of a file tells."""
    name = Path(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def read(
    path: str,
    format: str | None = None,
    kinds: dict[str, str] | None = None,
    text: Collection[str] = (),
    skip: int = 0,
    rows: int = ROWS,
    words: Mapping[str, float] | None = None,
    others: str | None = None,
    wanted: Choice = every,
    by_pieces: bool = False,
    copied: Collection[str] = (),
    separator: str | None = None,
) -> Iterator[Batch]:
    """The batches of a CSV, TSV, Parquet or Arrow file, or of standard input ("-").

    kinds : "number" or "text" for columns that are known already; found kinds are added to it.
    text : columns that are text whatever they look like, such as codes.
    skip : how many rows to pass over, as when going on where an earlier reader stopped.
    words : those that stand for a number, or with nan for none, in columns of numbers.
    others : what columns of text files hold of which `kinds` says nothing; else found out.
    wanted : which columns are looked into; the others come empty, whatever they hold.
    by_pieces : whether text may come in large batches, which is quicker.
    copied : columns that are also there as they stand.
    separator : what parts the cells of CSV; None for a comma.
    """
    columns = CellReader({} if kinds is None else kinds, text, words or {}, others, wanted, copied)
    form = format_of(path, format)
    if form in ("parquet", "arrow"):
        yield from _read_arrow(path, form, columns, skip, rows)
        return
    delimiter = "\t" if form == "tsv" else separator or ","
    if by_pieces:
        yield from pieces.read(path, delimiter, columns, rows)
    else:
        yield from texts.read(path, delimiter, columns, skip, rows)


def _read_arrow(path: str, form: str, columns: CellReader, skip: int, most: int) -> Iterator[Batch]:
    pyarrow = arrow()
    if path == "-" or saving.is_special(path):
        raise TableError(
            f"a {form} file cannot be read row by row from standard input or a pipe: name a file"
        )
    try:
        taken, lengths = 0, None
        for part in _record_batches(path, form, most):
            passed = min(skip, len(part))
            skip -= passed
            part = part.slice(passed)
            lines = np.arange(taken + passed, taken + passed + len(part)) + 1
            taken += passed + len(part)
            if lengths is None:
                check_names(part.schema.names, path)
                names = times.moments(
                    part.schema, lambda name: columns.wanted(name) or name in columns.copied
                )
                lengths = times.lengths(_record_batches(path, form, most, names), names) if names else {}
            batch, bad = _arrow_batch(path, part, lines, columns, lengths)
            if len(batch):
                yield batch
            if bad is not None:
                raise bad
    except (OSError, pyarrow.ArrowException) as error:
        raise TableError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def _record_batches(path: str, form: str, most: int, names: list[str] | None = None) -> Iterator[Any]:
    """Those of a Parquet file, of these columns at least, or of an Arrow file or stream."""
    import pyarrow

    if form == "parquet":
        from pyarrow import parquet

        yield from parquet.ParquetFile(path).iter_batches(batch_size=most, columns=names)
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


def _arrow_batch(
    path: str, part: Any, lines: np.ndarray, columns: CellReader, lengths: dict[str, int]
) -> tuple[Batch, TableError | None]:
    """The rows up to the first infinite number, and a sentence about that one."""
    found: dict[str, np.ndarray] = {}
    copies: dict[str, Any] = {}
    batch, good, error = Batch(found, lines, "row", copies), len(lines), None
    for name, column in zip(part.schema.names, part.columns, strict=True):
        wanted, copied = columns.wanted(name), name in columns.copied
        if not wanted:
            found[name] = nothing(len(lines))
        if not wanted and not copied:
            continue
        if "string_view" in str(column.type):  # as Polars writes text; pyarrow 16 has no test for it
            column = _without_views(column)
        length = lengths.get(name, times.ALL)
        if copied:
            _check_type(path, name, column, "--keep cannot copy it")
            copies[name] = of_arrow(column, length)
        if not wanted:
            continue
        if times.holds_times(column.type):
            column = times.as_words(column, length)
        found[name], bad = _arrow_column(path, name, column, columns)
        values = found[name]
        if bad is not None and bad.row < good:
            good, error = bad.row, bad.error(name, batch.where(bad.row))
        infinite = np.isinf(values[:good]) if values.dtype == np.float64 else np.zeros(0, dtype=bool)
        if infinite.any():
            good = int(np.argmax(infinite))
            error = TableError(f"{batch.where(good)}: column {name!r} is {values[good]}: leave it null")
    return batch.head(good), error


def _arrow_column(path: str, name: str, column: Any, columns: CellReader) -> tuple[np.ndarray, Bad | None]:
    import pyarrow
    from pyarrow import types

    leave = "write it as one of these" if name in columns.kinds else f"--ignore {name} leaves it out"
    numeric, coded = _check_type(path, name, column, leave), types.is_dictionary(column.type)
    if coded and numeric:
        column = column.dictionary_decode()
    if columns.kinds.setdefault(name, "number" if numeric else "text") == "text":
        if not numeric:
            return words_of(column), None
        values = np.empty(len(column), dtype=object)
        values[:] = [None if value is None or value != value else str(value) for value in column.to_pylist()]
        return values, None
    if not numeric:
        return columns.column(name, ["" if word is None else word for word in column.to_pylist()])
    wide = column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return wide.astype(np.float64, copy=False), None


def _check_type(path: str, name: str, column: Any, advice: str) -> bool:
    """Whether a column holds numbers; a sentence where it holds what no command reads."""
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    numeric = any(
        test(kind)
        for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    )
    if not (numeric or types.is_string(kind) or types.is_large_string(kind) or times.holds_times(kind)):
        raise TableError(
            f"column {name!r} of {path} has type {kind}, and numbers, text, dates and times can be read: {advice}"
        )
    return numeric


def _without_views(column: Any) -> Any:
    """Text as other writers have it, coded or not."""
    import pyarrow

    if not hasattr(column, "dictionary"):
        return column.cast(pyarrow.string())
    return pyarrow.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pyarrow.string()))
