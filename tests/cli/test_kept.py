"""Columns that `predict` and `explain` are to keep come out as they went in: keys find their rows again."""

import datetime
import decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from anyboost.cli.rows import pieces

BIG = 2**53 + 1  # the first whole number that no float is


def run(*words, code=0):
    done = CliRunner().invoke(build(), [str(word) for word in words])
    assert done.exit_code == code, done.stderr
    return done


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with a model of the columns zip and a, both of which hold numbers."""
    monkeypatch.chdir(tmp_path)
    frame = pa.table({"zip": np.arange(8.0), "a": np.arange(8.0) ** 2})
    ab.save(ab.BoostingRegressor(max_iter=1).fit(frame, np.arange(8.0)), "m")
    return tmp_path


COMMANDS = {"predict": ["predict", "m"], "explain": ["explain", "m"]}


def kept(command, data, *names, out="out.csv"):
    """The columns that are kept of a table, which come first, as lines of cells."""
    run(*COMMANDS[command], data, *(word for name in names for word in ("--keep", name)), "-o", out)
    return [line.split(",")[: len(names)] for line in Path(out).read_text().splitlines()]


@pytest.mark.parametrize("size", [None, 16], ids=["large pieces", "small pieces"])
@pytest.mark.parametrize("command", COMMANDS)
def test_cells_of_text_stay_as_they_are_though_the_model_takes_them_for_numbers(command, size, monkeypatch):
    if size:
        monkeypatch.setattr(pieces, "PIECE", 64)
        monkeypatch.setattr(pieces, "_FIRST", size)
    lines = ["id,zip,a", f"{BIG},07000,1", "0,007,NA", "x,1e3,+3", "0.10,,1", " ,True,2", "1, 5,1"]
    Path("data.csv").write_text("".join(f"{line}\n" for line in lines))
    assert kept(command, "data.csv", "id", "zip", "a") == [line.split(",") for line in lines]


COLUMNS = {
    "whole": pa.array([BIG, None, -BIG], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 0, 1], pa.uint64()),
    "truth": pa.array([True, None, False]),
    "money": pa.array([decimal.Decimal("1234567890123456.78"), None, decimal.Decimal("0.10")]),
    "word": pa.array(["007", None, " x "]),
    "coded": pa.array(["a", "b", "a"]).dictionary_encode(),
    "float": pa.array([0.1, None, 1e300]),
    "day": pa.array([datetime.date(2026, 1, 31), None, datetime.date(2026, 2, 1)]),
    "moment": pa.array([datetime.datetime(2026, 1, 31), None, datetime.datetime(2026, 2, 1)]),
}
WORDS = {
    "whole": [str(BIG), "", str(-BIG)],
    "unsigned": [str(2**64 - 1), "0", "1"],
    "truth": ["True", "", "False"],
    "money": ["1234567890123456.78", "", "0.10"],
    "word": ["007", "", " x "],
    "coded": ["a", "b", "a"],
    "float": ["0.1", "", "1e+300"],
    "day": ["2026-01-31", "", "2026-02-01"],
    "moment": ["2026-01-31", "", "2026-02-01"],
}


@pytest.fixture
def typed():
    numbers = {"zip": pa.array([7000, 1, BIG], pa.int64()), "a": pa.array([True, False, None])}
    table = pa.table({**COLUMNS, **numbers})
    parquet.write_table(table, "data.parquet")
    feather.write_feather(table, "data.arrow", compression="uncompressed")
    return table


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("data", ["data.parquet", "data.arrow"])
def test_values_of_parquet_and_arrow_are_copied(typed, command, data):
    names = [*COLUMNS, "zip", "a"]
    found = kept(command, data, *names)
    wanted = {**WORDS, "zip": ["7000", "1", str(BIG)], "a": ["True", "False", ""]}
    assert found == [names, *map(list, zip(*wanted.values(), strict=True))]
    keeping = [word for name in names for word in ("--keep", name)]
    run(*COMMANDS[command], data, *keeping, "-o", "out.parquet")
    out = parquet.read_table("out.parquet").select(names)
    for name in names:
        assert out.column(name).to_pylist() == typed.column(name).to_pylist(), name
        assert name == "coded" or out.schema.field(name).type == typed.schema.field(name).type


@pytest.mark.usefixtures("typed")
def test_several_files_are_one_column_or_refused_in_a_sentence():
    parquet.write_table(
        pa.table({"whole": pa.array([5], pa.int32()), "zip": [1.0], "a": [2.0]}), "small.parquet"
    )
    parquet.write_table(pa.table({"whole": ["x"], "zip": [1.0], "a": [2.0]}), "words.parquet")
    few = parquet.read_table("data.parquet").select(["whole", "zip", "a"])
    parquet.write_table(few, "few.parquet")
    words = ("--keep", "whole", "-o", "out.parquet")
    run("predict", "m", "few.parquet", "small.parquet", *words)
    assert parquet.read_table("out.parquet").column("whole").to_pylist() == [BIG, None, -BIG, 5]
    before = Path("out.parquet").read_bytes()
    said = run("predict", "m", "few.parquet", "words.parquet", *words, code=1).stderr
    assert said == (
        "column 'whole' holds int64 in the first rows and string later, which one column cannot: write CSV instead, "
        "or a table of each file\n"
    )
    assert Path("out.parquet").read_bytes() == before
    run("predict", "m", "few.parquet", "words.parquet", "--keep", "whole", "-o", "out.csv")
    assert Path("out.csv").read_text().splitlines()[-1].startswith("x,")


@pytest.mark.usefixtures("typed")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_only_kept_is_not_looked_into(command):
    """Infinity in a column that is copied is nothing to refuse; a list cannot be copied, and a byte that is no text."""
    table = parquet.read_table("data.parquet").select(["zip", "a"])
    table = table.append_column("odd", pa.array([np.inf, -np.inf, 1.0])).append_column(
        "list", pa.array([[1]] * 3)
    )
    parquet.write_table(table, "odd.parquet")
    assert kept(command, "odd.parquet", "odd") == [["odd"], ["inf"], ["-inf"], ["1.0"]]
    said = run(*COMMANDS[command], "odd.parquet", "--keep", "list", "-o", "out.csv", code=1).stderr
    assert said.endswith("numbers, text, dates and times can be read: --keep cannot copy it\n")
    Path("latin.csv").write_bytes("zip,a,name\n1,2,groß\n".encode("latin1"))
    said = run(*COMMANDS[command], "latin.csv", "--keep", "name", "-o", "out.csv", code=1).stderr
    assert said.startswith("line 2: column 'name' is not UTF-8: convert the file")
