"""`fit --on-disk`: byte for byte the model of the same table in memory, whatever holds the rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import anyboost as ab
from anyboost.backends import arrays
from anyboost.cli import build
from anyboost.cli.passes import large
from anyboost.cli.rows import sources

ROWS = 300


def run(*words, code=0, given=None):
    done = CliRunner().invoke(build(), [str(word) for word in words], input=given)
    assert done.exit_code == code, done.stderr
    return done


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    found = pd.DataFrame(random.normal(size=(ROWS, 3)).round(2), columns=["a", "b", "c"])
    found.loc[::9, "a"] = np.nan
    found["city"] = pd.Series(random.choice(["Oslo", "Rome", "Lima"], ROWS)).where(random.random(ROWS) > 0.1)
    found["code"] = random.integers(1, 12, ROWS)
    found["w"] = random.integers(0, 3, ROWS)
    found["team"] = random.integers(0, 9, ROWS)
    score = found["b"] + (found["city"] == "Rome") + (found["code"] == 2)
    found["y"] = (score + random.normal(size=ROWS)).round(3)
    found["word"] = np.where(found["y"] > 0.5, "high", "low")
    found["flag"] = (found["y"] > 0).astype(int)
    found["grade"] = np.digitize(score, [0.0, 1.0])
    found.to_csv("data.csv", index=False)
    return found


def bytes_of(path):
    """The file of a model, but for the time that rounds took."""
    model = ab.load(path)
    model.steps_ = [step._replace(seconds=0.0) for step in model.steps_]
    ab.save(model, path)
    return path.read_bytes()


def same(tmp_path, *words, data=("data.csv",)):
    """Fit in memory and on disk; the second's sentences."""
    run("fit", *data, *words, "-o", "memory", "--in-memory")
    done = run("fit", *data, *words, "-o", "disk", "--on-disk")
    assert bytes_of(tmp_path / "memory") == bytes_of(tmp_path / "disk")
    return done.stderr


def only(target, *apart):
    others = {"y", "word", "flag", "grade", "w", "team"} - {target, *apart}
    return ["--target", target, *(word for name in sorted(others) for word in ("--ignore", name))]


FITS = {
    "numbers": only("y"),
    "weights": [*only("y", "w"), "--weight", "w", "--categorical", "code", "--loss", "absolute"],
    "pairs": only("flag"),
    "words": only("word"),
    "few bins": [*only("y"), "--set", "max_bins=7"],
    "ranking": [*only("grade", "team"), "--qid", "team", "--task", "ranking"],
}


@pytest.mark.parametrize("name", FITS)
def test_the_model_is_the_one_of_memory(tmp_path, name):
    said = same(tmp_path, *FITS[name], "--set", "max_iter=4")
    assert "300 rows; " in said
    assert "city (3 levels)" in said


@pytest.mark.full
def test_rounds_are_found_as_in_memory(tmp_path):
    same(tmp_path, *only("y"))


def test_what_a_table_holds_is_found_in_all_of_it(tmp_path, table):
    """The last row makes words of a column, and three classes of two."""
    late = table.assign(code=table["code"].astype(str), flag=table["flag"].astype(float))
    late.loc[0:3, "code"] = ["NA", "", "NA", ""]
    late.loc[ROWS - 1, ["code", "flag"]] = ["7b", 2]
    late.to_csv("late.csv", index=False)
    words = (*only("flag"), "--task", "classification", "--set", "max_iter=3")
    said = run("fit", "late.csv", *only("flag"), "--set", "max_iter=3", "--on-disk", "-o", "m").stderr
    assert "task: regression, told by the target" in said
    assert "2 of words: city (3 levels), code (13 levels)" in same(tmp_path, *words, data=["late.csv"])


def test_several_files_are_one_table(tmp_path, table):
    table[:100].to_csv("1.csv", index=False)
    table[100:130][table.columns[::-1]].to_csv("2.csv.gz", index=False)
    parquet.write_table(pa.Table.from_pandas(table[130:], preserve_index=False), "3.parquet")
    run("fit", "data.csv", *FITS["weights"], "--set", "max_iter=4", "-o", "whole")
    same(tmp_path, *FITS["weights"], "--set", "max_iter=4", data=["1.csv", "2.csv.gz", "3.parquet"])
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "disk")
    run("predict", "whole", "1.csv", "2.csv.gz", "3.parquet", "--keep", "code", "-o", "parts.csv")
    run("predict", "whole", "data.csv", "--keep", "code", "-o", "whole.csv")
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_folder_and_a_pattern_name_their_files(tmp_path, table):
    (tmp_path / "rows").mkdir()
    table[:140].to_csv("rows/1.csv", index=False)
    table[140:].to_csv("rows/2.csv", index=False)
    (tmp_path / "rows" / "readme.md").write_text("how they were made")
    words = (*only("y"), "--set", "max_iter=3")
    run("fit", "data.csv", *words, "-o", "whole")
    for data in ("rows", "rows/*.csv"):
        same(tmp_path, *words, data=[data])
        assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "disk")


def test_a_bad_row_of_several_files_is_named(tmp_path, table):
    table.to_csv("1.csv", index=False)
    (tmp_path / "2.csv").write_text(
        ",".join(table.columns) + "\n" + ",".join("1" * len(table.columns)) + ",9\n"
    )
    for place in ("--on-disk", "--in-memory"):
        done = run("fit", "1.csv", "2.csv", *only("y"), "-o", "m", place, code=1)
        assert done.stderr.splitlines()[-1] == "2.csv: line 2 has 12 cells where the heading has 11"
    table.assign(y=table["y"].where(table.index != 250)).to_csv("2.csv", index=False)
    for place in ("--on-disk", "--in-memory"):
        done = run("fit", "1.csv", "2.csv", *only("y"), "-o", "m", place, code=1)
        assert "2.csv: line 252: the target is missing" in done.stderr
    assert not (tmp_path / "m").exists()


def test_standard_input_may_be_kept_on_disk(tmp_path):
    text = (tmp_path / "data.csv").read_bytes()
    words = (*only("y"), "--set", "max_iter=3")
    run("fit", "data.csv", *words, "-o", "memory")
    run("fit", "-", *words, "--on-disk", "-o", "disk", given=text)
    assert bytes_of(tmp_path / "memory") == bytes_of(tmp_path / "disk")


def test_a_validation_table_stops_it(tmp_path, table):
    table[200:].to_csv("valid.csv", index=False)
    same(tmp_path, *only("y"), "--set", "max_iter=15", "--set", "learner=stump", "--valid", "valid.csv")


def test_a_table_that_memory_has_no_room_for_goes_to_disk(tmp_path, monkeypatch):
    """Chosen by itself, and said; and what the choice rests on is about right."""
    run("fit", "data.csv", *only("y"), "--set", "max_iter=2", "-o", "memory")
    monkeypatch.setattr(arrays, "memory", lambda: 50_000)
    words = (*only("y"), "--set", "max_iter=2", "-o", "disk")
    said = run("fit", "data.csv", *words).stderr.splitlines()
    assert said[0].startswith(
        "data.csv would take about 7.95e-05 GB of the 5e-05 GB of memory: its numbers go to "
    )
    assert bytes_of(tmp_path / "memory") == bytes_of(tmp_path / "disk")
    assert "would take" not in run("fit", "data.csv", *words, "--in-memory").stderr


def test_cells_are_counted_before_they_are_read(table):
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), "t.parquet")
    table.to_csv("t.csv.gz", index=False)
    for name, off in (("data.csv", 0.02), ("t.parquet", 0), ("t.csv.gz", 0.7)):
        with sources.opened(name) as source:
            found = large._cells(source.opened[0], source.formats[0])
        assert found == pytest.approx(table.size, rel=off)


def test_a_full_disk_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr(large.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    done = run("fit", "data.csv", *only("y"), "--on-disk", "-o", "m", code=1)
    assert "has room for 1e-06: set TMPDIR to a folder with more" in done.stderr
