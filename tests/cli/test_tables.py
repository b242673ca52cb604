"""Tables in batches: whatever the batch size a reader sees the same rows, and bad ones are refused by line."""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest

from anyboost.cli.passes.predictions import Predictions
from anyboost.cli.rows import sources, tables, writing
from anyboost.cli.rows.cells import TableError


def everything(path, **options):
    """All rows of a file as one dictionary of lists, and the error that ended it."""
    found, lines, error = {}, [], None
    try:
        for batch in tables.read(str(path), **options):
            for name, values in batch.columns.items():
                found.setdefault(name, []).extend(values.tolist())
            lines.extend(batch.lines.tolist())
    except TableError as caught:
        error = str(caught)
    return found, lines, error


@pytest.fixture
def table(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_numbers_text_and_missing_cells(table):
    path = table('a,"b, with comma",c\n1,x,\n,"two\nlines",2.5\n-1e3,,7\n')
    found, lines, error = everything(path)
    assert error is None
    np.testing.assert_array_equal(found["a"], [1.0, np.nan, -1000.0])
    assert found["b, with comma"] == ["x", "two\nlines", None]
    np.testing.assert_array_equal(found["c"], [np.nan, 2.5, 7.0])
    assert lines == [2, 4, 5]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 4096])
def test_the_size_of_the_batches_changes_nothing(table, rows):
    body = "".join(f"{i},{'' if i % 3 else 'w' + str(i)}\n" for i in range(40))
    path = table("n,word\n" + body + "oops,last\n40,never\n")
    found, lines, error = everything(path, rows=rows)
    assert found["n"] == list(range(40))
    assert found["word"] == [None if i % 3 else f"w{i}" for i in range(40)]
    assert lines == list(range(2, 42))
    assert error == "line 42: column 'n' is 'oops', and it held numbers so far"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 cells where the heading has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells where the heading has 2"),
        ("a\n1\ninf\n", "line 3: column 'a' is inf: leave the cell empty"),
        ("a\n1\nnan\n", "line 3: column 'a' is nan: leave the cell empty"),
        ("a,a\n1,2\n", "names 'a' twice"),
        ("a,\n1,2\n", "has no name for column 2: name it, or end no line in a delimiter"),
        ("", "is empty: its first line must name the columns"),
        ('a\n"x\n', 'line 2: the file ends inside a quote ("): close it'),
        (b"a\nx\n\xff\n", "line 3: column 'a' is not UTF-8"),
        (b"a\n1\n\xff\n", "line 3: column 'a' is '\\udcff'"),
    ],
)
def test_a_bad_row_is_named(table, text, reason):
    found, _, error = everything(table(text))
    assert reason in error
    assert len(found.get("a", [])) <= 1


def test_columns_may_be_declared_text(table):
    path = table("zip\n01234\nK1A\n")
    assert everything(path)[2] is not None
    assert everything(path, text=["zip"])[0] == {"zip": ["01234", "K1A"]}


def test_kinds_are_told_and_can_be_given(table):
    kinds = {}
    everything(table("a,b\n1,x\n"), kinds=kinds)
    assert kinds == {"a": "number", "b": "text"}
    assert "held numbers so far" in everything(table("a,b\nx,x\n"), kinds=kinds)[2]


def test_rows_can_be_passed_over(table):
    path = table("a\n" + "\n".join(map(str, range(20))) + "\n")
    found, lines, _ = everything(path, skip=13)
    assert found["a"] == list(range(13, 20))
    assert lines == list(range(15, 22))


def test_tabs_gzip_and_standard_input(table, tmp_path, monkeypatch):
    text = "a\tb\n1\tx\n2\ty\n"
    expected = {"a": [1.0, 2.0], "b": ["x", "y"]}
    assert everything(table(text, "t.tsv"))[0] == expected
    packed = tmp_path / "t.tsv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert everything(packed)[0] == expected
    packed.write_bytes(packed.read_bytes()[:-9])
    assert "cannot be read" in everything(packed)[2]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert everything("-", format="tsv")[0] == expected


def test_closed_standard_input_and_output_are_called_so(monkeypatch):
    """As `anyboost predict model - <&-` and `>&-` have them."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    assert everything("-")[2] == "standard input (-) is closed: name a file, or pass a table to it"
    with pytest.raises(TableError, match=r"standard input .* is closed"), sources.opened("-"):
        pass
    with pytest.raises(ValueError, match=r"standard output .* is closed"), writing.TableWriter("-") as table:
        table.write({"a": np.ones(1)})
    with pytest.raises(ValueError, match=r"standard output .* is closed"):
        Predictions(Path("-")).open()


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    columns = {
        "a": pyarrow.array([1, None, 3]),
        "b": pyarrow.array(["x", None, "z"]).dictionary_encode(),
        "c": pyarrow.array([True, False, None]),
        "d": pyarrow.array([0.5, float("nan"), 2.0], pyarrow.float32()),
    }
    parquet.write_table(pyarrow.table(columns), path)
    for rows in (1, 2, 4096):
        found, lines, error = everything(path, rows=rows)
        assert error is None
        assert lines == [1, 2, 3]
        np.testing.assert_array_equal(found["a"], [1, np.nan, 3])
        assert found["b"] == ["x", None, "z"]
        np.testing.assert_array_equal(found["c"], [1, 0, np.nan])
        np.testing.assert_array_equal(found["d"], [0.5, np.nan, 2.0])
    assert everything(path, skip=2)[1] == [3]
    assert everything(path, text=["d"])[0]["d"] == ["0.5", None, "2.0"]
    parquet.write_table(pyarrow.table({"a": [1.0, float("inf")]}), path)
    found, lines, error = everything(path)
    assert (found, lines) == ({"a": [1.0]}, [1])
    assert error == "row 2: column 'a' is inf: leave it null"
    parquet.write_table(pyarrow.table({"a": [[1.0]]}), path)
    assert "numbers, text, dates and times can be read" in everything(path)[2]
    path.write_bytes(path.read_bytes()[:-3])
    assert "cannot be read" in everything(path)[2]


def test_names_that_tell_no_format():
    assert tables.format_of("x.csv.gz") == "csv"
    assert tables.format_of("-") == "csv"
    with pytest.raises(TableError, match="add --format csv or tsv or parquet or arrow or vw"):
        tables.format_of("x.dat")
    with pytest.raises(TableError, match="--format must be one of"):
        tables.format_of("x.csv", "xml")
    assert "cannot be read: No such file" in everything("nowhere.csv")[2]
