"""A small file may unpack to one endless line, cell or heading: it is refused while little of it is in memory."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from anyboost.cli import build
from anyboost.cli.rows import tables, text
from anyboost.cli.rows.cells import TableError

MEBIBYTE = 1 << 20
# What a file begins with, what follows many times over, and what is said of it.
ENDLESS = {
    "heading.csv": (b"", b"0" * MEBIBYTE, "line 1 has more than 16,777,216 bytes: end each row"),
    "nothing.csv": (b"", b"\0" * MEBIBYTE, "line 1 has more than 16,777,216 bytes"),
    "cell.csv": (b"a,y\n1,2\n", b"0" * MEBIBYTE, "line 3 has more than 16,777,216 bytes"),
    "cells.csv": (b"a,y\n", b"0," * (MEBIBYTE // 2), "line 2 has more than 16,777,216 bytes"),
    "names.csv": (b"", b"a," * (MEBIBYTE // 2), "line 1 has more than 16,777,216 bytes"),
    "quoted.csv": (
        b'a,y\n1,"',
        (b"0" * 1023 + b"\n") * 1024,
        "a cell has more than 1,048,576 characters: shorten it, or close a quote",
    ),
    "words.vw": (b"1 |", b" abc" * (MEBIBYTE // 4), "line 1 has more than 16,777,216 bytes"),
}
READ = """
import gc, json, resource, sys
import pyarrow.csv
from anyboost.cli.rows import tables, vw
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before, told = peak(), {}
for path in sys.argv[1:]:
    readers = [vw.read(path)] if path.endswith("vw.gz") else [tables.read(path, by_pieces=way) for way in (0, 1)]
    for reader in readers:
        try:
            for batch in reader:
                pass
        except Exception as error:
            told.setdefault(path, []).append(f"{type(error).__name__}: {error}")
        gc.collect()
print(json.dumps([peak() - before, told]))
"""


def packed(path, head, unit, times):
    """A gzip of members, so that each is packed once."""
    path.write_bytes(gzip.compress(head) + gzip.compress(unit, 1) * times)
    return path


def measured(*paths):
    """How many MiB the peak of memory rose while the files were read, and what was said of them."""
    given = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(MEBIBYTE)}  # what is freed goes back at once
    command = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given)
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux counts it")
def test_an_endless_line_takes_little_memory(tmp_path):
    """300 MiB each: what is not limited takes that several times over."""
    paths = {name: packed(tmp_path / f"{name}.gz", *what[:2], 300) for name, what in ENDLESS.items()}
    assert all(path.stat().st_size < 3 * MEBIBYTE for path in paths.values())
    rise, told = measured(*paths.values())
    for name, (_, _, sentence) in ENDLESS.items():
        for said in told[str(paths[name])]:
            assert said.startswith("TableError: ")
            assert sentence in said
    assert rise < 100


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted as Linux counts it")
def test_a_batch_of_long_rows_takes_little_memory(tmp_path):
    """Batches hold thousands of rows, and must not hold thousands of rows of a megabyte."""
    few = b"".join(b"%d,word\n" % number for number in range(5000))
    path = packed(tmp_path / "long.csv.gz", b"a,k\n" + few, b"1," + b"w" * 1_000_000 + b"\n", 200)
    rise, told = measured(path)
    assert told == {}
    assert rise < 150


@pytest.mark.parametrize("by_pieces", [False, True])
def test_the_longest_cell_is_read(tmp_path, by_pieces):
    path = tmp_path / "long.csv"
    path.write_text("a,k\n1," + "w" * text.MOST_CELL + "\n2,v\n")
    cells = [word for batch in tables.read(str(path), by_pieces=by_pieces) for word in batch.columns["k"]]
    assert [len(word) for word in cells] == [text.MOST_CELL, 1]
    path.write_text("a,k\n2,v\n1," + "w" * (text.MOST_CELL + 1) + "\n")
    with pytest.raises(TableError, match="line 3: a cell has more than 1,048,576 characters"):
        list(tables.read(str(path), by_pieces=by_pieces))


@pytest.mark.parametrize(
    "line", ["stream FILE --target y", "fit FILE --target y -o m", "combine FILE --target y"]
)
def test_commands_say_so(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    path = packed(tmp_path / "zeros.csv.gz", b"a,b,y\n", b"0" * MEBIBYTE, 20)
    done = CliRunner().invoke(build(), line.replace("FILE", path.name).split())
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].endswith(
        "line 2 has more than 16,777,216 bytes: end each row in a line break"
    )
