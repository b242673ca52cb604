"""Text read in large pieces is, column by column and error by error, what reading it cell by cell makes of it."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.cli.rows import cells, pieces, sources, tables, text

CELLS = st.sampled_from(
    [
        *("1", "-2.5", "1e400", " 3 ", "+4", "1_0", "0x1", "nan", "NA", "?", "inf", "", " ", "007", "1e-320"),
        *(
            "word",
            "two words",
            '"quoted, with comma"',
            '"two\nlines"',
            '"a ""quote"""',
            'five" wide',
            '"open',
        ),
        *("é", '""', '"5"', '" NA "', "0.1", "123456789012345678", "\ta", "True", "false"),
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
NUMBERS = st.sampled_from(["1", "2.5", "-3", "", "1e5", "NA", "True", " FALSE "])


def everything(path, kinds, others):
    """All columns and lines and what was found of the columns, or the lines before an error and its sentence."""
    lines, kinds = [], dict(kinds)

    def taken(batches):
        lines.clear()
        found = {}
        for _, batch in batches:
            lines.extend(batch.lines.tolist())
            for name, values in batch.columns.items():
                found.setdefault(name, []).extend(values.tolist())
        return repr(found)  # which tells -0.0 from 0.0

    try:
        with sources.opened(str(path)) as source:
            if others is not None:
                return taken(source.batches(kinds, others)), lines, kinds
            return source.read_all(kinds, taken), lines
    except cells.TableError as error:
        return lines, str(error)


def same(path, kinds=(), others=None):
    found = everything(path, kinds, others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "read", lambda path, by, columns, most: text.read(path, by, columns, 0, most))
        assert found == everything(path, kinds, others)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Pieces so small that tests have several."""
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(pieces, "_FIRST", 16)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(CELLS, NUMBERS, st.one_of(CELLS, NUMBERS), ENDS), max_size=12),
    st.sampled_from(["a,b,c\n", "\ufeffa,b,c\r\n", '"a","b x",c\n', "a,b\n", "", "\n", '"a,b,c']),
    st.booleans(),
    st.sampled_from([{}, {"a": "text"}, {"a": "text", "b": "number", "c": "text"}, {"a": "number"}]),
    st.sampled_from([None, "text"]),
)
def test_every_text_gives_the_same_table(tmp_path_factory, rows, heading, ended, kinds, others):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    body = "".join(f"{a},{b},{c}{end}" for a, b, c, end in rows)
    path.write_bytes((heading + (body if ended else body.rstrip("\r\n"))).encode())
    same(path, kinds, others)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=5), NUMBERS), max_size=20), st.sampled_from(["a", "b"]))
def test_quoted_text_comes_back(tmp_path_factory, rows, first):
    import csv

    path = tmp_path_factory.getbasetemp() / "quoted.csv"
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["a", "b"])
        writer.writerows(rows if first == "a" else [row[::-1] for row in rows])
    same(path)


@pytest.mark.parametrize("bad", [b"\xff", b"1,2", b"x", b"inf", b"1e999", b"nAn", b'"', b'"1"2', b"\x00"])
@pytest.mark.parametrize("place", [0, 40, 199])
def test_what_is_wrong_is_said_of_the_same_line(tmp_path, bad, place):
    path = tmp_path / "wrong.csv"
    lines = [b"%d,word" % number for number in range(200)]
    lines[place] = bad + b",word"
    path.write_bytes(b"n,w\n" + b"\n".join(lines))
    same(path)


def test_a_cell_as_long_as_the_file_is_not_waited_for(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text('a,b\n1,"' + "x\n" * 1000)
    same(path)


def test_most_rows_are_not_read_cell_by_cell(tmp_path, monkeypatch):
    """Or large tables take ten times as long."""
    seen = []
    turn = cells.CellReader.turn
    monkeypatch.setattr(
        cells.CellReader, "turn", lambda self, n, rows, li: seen.extend(rows) or turn(self, n, rows, li)
    )
    body = "".join(f'{i / 7},"word, {i % 5}",,{i},{i % 3 == 0}\n' for i in range(1000))
    for name, packed in (("t.csv", bytes), ("t.csv.gz", gzip.compress)):
        (tmp_path / name).write_bytes(packed(b"a,b,c,d,e\n" + body.encode()))
        same(tmp_path / name)
        seen.clear()
        batches = list(tables.read(str(tmp_path / name), words=cells.WORDS, by_pieces=True))
        assert sum(map(len, batches)) == 1000
        assert len(seen) < 20
        np.testing.assert_array_equal(
            np.concatenate([b.columns["e"] for b in batches]), np.arange(1000) % 3 == 0
        )
        np.testing.assert_array_equal(np.concatenate([b.columns["d"] for b in batches]), np.arange(1000))


def test_a_slow_pipe_is_heard_from_at_once(monkeypatch):
    """Standard input is asked for what is there, not for a whole piece."""

    given = io.BytesIO(b"a,b\n1,x\n2,y\n")

    class Slow(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            return given.readinto(memoryview(buffer)[:8])

    monkeypatch.setattr(text.sys, "stdin", io.TextIOWrapper(io.BufferedReader(Slow())))
    for batch in tables.read("-", kinds={"a": "number", "b": "text"}, by_pieces=True):
        assert given.tell() == min(8 * batch.columns["a"][0], 12)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads as Linux shows them")
def test_reading_starts_no_pool_of_threads_that_a_refusal_could_abort(tmp_path):
    # pyarrow's, still starting when a process ended, made an exit code of 134 of a sentence's 1
    path = tmp_path / "few.csv"
    path.write_text("a,b\n1,2\n3,word\n")
    code = f"""
import os, pyarrow
from pyarrow import csv
from anyboost.cli.rows import frames
csv.read_csv(pyarrow.BufferReader(b"1\\n"), csv.ReadOptions(use_threads=False))  # has one that reads
before = len(os.listdir("/proc/self/task"))
frames.read({str(path)!r})
print(len(os.listdir("/proc/self/task")) - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
