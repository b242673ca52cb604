"""Tables that commands write: CSV, TSV, Parquet or Arrow, piece by piece, put in place when they are whole."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anyboost import saving
from anyboost.cli.rows import tables
from anyboost.cli.rows.cells import arrow
from anyboost.cli.rows.copies import for_text
from anyboost.cli.rows.frames import to_arrow
from anyboost.cli.rows.sources import STANDARD
from anyboost.cli.shared import paths
from anyboost.cli.shared.console import say, standard_output


def check(path: str, format: str | None, *read: str | Path, option: str | None = None) -> None:
    """A ValueError where no table can be written for `--output`, or it is one of the files that are read.

    option : the one that gives the format, where there is one.
    """
    if path != STANDARD:
        paths.check("--output", Path(path))
    tables.format_of(path, format, tables.TABLES, option)
    if path != STANDARD:
        paths.check_apart({"--output": Path(path)}, *read)


class TableWriter:
    """Pieces of a table, to a file beside its place until `finish`; "-" is standard output."""

    def __init__(self, path: str, format: str | None = None) -> None:
        self.path, self.form, self.rows = path, tables.format_of(path, format), 0
        self._direct = path == STANDARD or saving.is_special(path)
        self._part = path  # what is written to
        self._before: Any = None  # what a signal to end did
        self._raw: Any = None
        self._sink: Any = None
        self._writer: Any = None
        self._schema: Any = None

    def __enter__(self) -> TableWriter:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, _end)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        whole = False
        try:
            if kind is None:
                with saving.naming(self.path):
                    self._finish()
                whole = True
        finally:
            if not whole:
                self._give_up()
            if self._before is not None:
                signal.signal(signal.SIGTERM, self._before)

    def write(self, columns: Mapping[str, Any]) -> None:
        """Add rows; the first ones say which columns there are."""
        with saving.naming(self.path):
            self._write(columns)

    def _write(self, columns: Mapping[str, Any]) -> None:
        self.rows += len(next(iter(columns.values())))
        if self._writer is None:
            self._begin(columns)
        if self.form in ("csv", "tsv"):
            cells = [for_text(values) for values in columns.values()]
            self._writer.writerows(zip(*cells, strict=True))
        else:
            self._writer.write_table(_alike(to_arrow(columns), self._schema))

    def tell(self) -> None:
        """Say how many rows there were, unless they are on standard output."""
        if self.path != STANDARD:
            say(f"{self.path}: {self.rows:,} rows")

    def _begin(self, columns: Mapping[str, Any]) -> None:
        if self.path == STANDARD:
            self._raw = standard_output()
        elif self._direct:
            self._raw = Path(self.path).open("wb")  # noqa: SIM115 - closed when the table ends
        else:
            self._part, self._raw = saving.begin_beside(self.path)
        if self.form in ("csv", "tsv"):
            self._sink = io.TextIOWrapper(self._compressed(), encoding="utf-8", newline="")
            self._writer = csv.writer(
                self._sink, delimiter="\t" if self.form == "tsv" else ",", lineterminator="\n"
            )
            self._writer.writerow(columns)
            return
        pyarrow, self._schema = arrow(), to_arrow(columns).schema
        if self.form == "parquet":
            from pyarrow import parquet

            self._writer = parquet.ParquetWriter(pyarrow.PythonFile(self._raw, "w"), self._schema)
        else:
            # pandas and polars read files, which end in an index; a pipe is read before there is one
            streamed = self._direct or self.path.lower().endswith(".arrows")
            begin = pyarrow.ipc.new_stream if streamed else pyarrow.ipc.new_file
            self._writer = begin(pyarrow.PythonFile(self._raw, "w"), self._schema)

    def _compressed(self) -> Any:
        ending = Path(self.path).suffix.lower()
        if ending == ".gz":
            return gzip.GzipFile(fileobj=self._raw, mode="wb", mtime=0)
        if ending == ".zst":
            return arrow().CompressedOutputStream(self._raw, "zstd")
        return self._raw

    def _finish(self) -> None:
        if self._writer is None:
            return
        if self._sink is not None:
            self._sink.flush()
            buffer = self._sink.detach()  # standard output stays open
            if buffer is not self._raw:
                buffer.close()
        else:
            self._writer.close()
        if not self._raw.closed:  # pyarrow closes what it wrote to
            self._raw.flush()
        if self._direct:
            return
        self._raw.close()
        saving.put_in_place(self._part, self.path)

    def _give_up(self) -> None:
        if self._sink is not None:
            with contextlib.suppress(OSError, ValueError):
                self._sink.detach()
        if self._raw is None or self.path == STANDARD:
            return
        if self._sink is None and not self._direct:
            with contextlib.suppress(OSError, ValueError):
                self._writer.close()
        with contextlib.suppress(OSError):
            self._raw.close()
        if not self._direct:
            Path(self._part).unlink(missing_ok=True)


def _end(*_: Any) -> None:
    """End in a way that takes away what is half written."""
    raise SystemExit(128 + signal.SIGTERM)


def _alike(table: Any, schema: Any) -> Any:
    """The table with the types of the first rows: files that are read as one may have others."""
    if table.schema == schema:
        return table
    for first, now in zip(schema, table.schema, strict=True):
        try:
            table.column(first.name).cast(first.type)
        except arrow().ArrowException:
            raise ValueError(
                f"column {first.name!r} holds {first.type} in the first rows and {now.type} later, which one column "
                "cannot: write CSV instead, or a table of each file"
            ) from None
    return table.cast(schema)
