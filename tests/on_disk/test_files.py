"""Files that cannot be read as one table are refused in a sentence; a folder is complete or not believed."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import anyboost as ab
from anyboost.backends import mapped

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def rows(tmp_path):
    generator = np.random.default_rng(0)
    x = generator.normal(size=(50, 2))
    return write(tmp_path / "rows.parquet", a=x[:, 0], b=x[:, 1], y=x.sum(axis=1), w=np.ones(50))


def refused(sentence, *paths, **asked):
    with pytest.raises((ValueError, FileNotFoundError), match=sentence) as error:
        ab.Binned.from_parquet(paths, **asked)
    assert "\n" not in str(error.value)


def test_files_that_are_not_one_table(tmp_path, rows):
    other = write(tmp_path / "other.parquet", a=[1.0], y=[2.0], w=[1.0])
    refused("other.parquet has no column 'b'", rows, other, target="y")
    other = write(tmp_path / "other.parquet", a=["no"], b=[1.0], y=[2.0], w=[1.0])
    refused("column 'a' is double in .*rows.parquet and string in .*other.parquet", rows, other, target="y")
    other = write(tmp_path / "other.parquet", a=[1.0], b=[1.0], y=[2.0], w=[1.0], z=[1.0])
    refused("has the column 'z', which .*rows.parquet has not: name the columns", rows, other, target="y")
    assert len(ab.Binned.from_parquet([rows, other], columns=["a", "b"], target="y")) == 51


def test_what_is_asked_for_is_there(tmp_path, rows):
    refused("has no column 'nobody'", rows, target="nobody")
    refused("columns names 'y', which is the target", rows, columns=["a", "y"], target="y")
    refused("columns is empty", rows, columns=[], target="y")
    refused("max_bins must be between 2 and 255", rows, target="y", max_bins=1)
    refused("categorical names the column 'z'", rows, target="y", categorical=["z"])
    refused("no Parquet or CSV file", tmp_path / "nowhere*.parquet")
    refused("paths is empty")
    (tmp_path / "rows.csv").write_text("a,b,y,w\n1,2,3,1\n")
    refused("has Parquet and CSV files: name those to read", tmp_path, target="y")
    (tmp_path / "note.txt").write_text("a")
    refused("tells no format", tmp_path / "note.txt")
    (tmp_path / "torn.parquet").write_bytes(rows.read_bytes()[:100])
    refused("torn.parquet cannot be read", tmp_path / "torn.parquet")
    when = write(tmp_path / "when.parquet", a=pa.array([0], pa.timestamp("s")), y=[1.0])
    refused("column 'a' of .*when.parquet holds .*: turn it into numbers or a category", when, target="y")
    empty = write(tmp_path / "empty.parquet", a=pa.array([], pa.float64()), y=pa.array([], pa.float64()))
    refused("empty.parquet has no rows", empty, target="y")
    blank = write(tmp_path / "blank.parquet", a=[1.0, 2.0], y=pa.array([1, None]))
    refused("column 'y' of .*blank.parquet has missing values", blank, target="y")
    light = write(tmp_path / "light.parquet", a=[1.0, 2.0], y=[1.0, 2.0], w=[1.0, -1.0])
    refused("weight 'w' must not be negative", light, target="y", weight="w")


def test_text_is_read_as_what_its_first_rows_hold(tmp_path):
    (tmp_path / "1.csv").write_text("a,b,c,y\n1,,no,1\n2,,,2\n")
    (tmp_path / "2.csv").write_text("y,c,b,a\n3,yes,7,2.5\n")
    table = ab.Binned.from_parquet([tmp_path / "1.csv", tmp_path / "2.csv"], target="y")
    np.testing.assert_array_equal(table.X, [[1, np.nan, 0], [2, np.nan, np.nan], [2.5, 7, 1]])
    assert table.columns.levels[2].values == ("no", "yes")
    (tmp_path / "2.csv").write_text("y,c,b,a\n3,yes,7,many\n")
    refused("2.csv cannot be read: .*many", tmp_path / "1.csv", tmp_path / "2.csv", target="y")


def test_lines_of_text_that_are_no_rows(tmp_path):
    """Rows are counted by lines first: breaks within quotes, blank lines and other ends of lines must not matter."""
    (tmp_path / "1.csv").write_bytes(b'a,c,y,w\n1,"no",1,1\n\n2,yes,2,0\n3,"no",3,2')
    (tmp_path / "2.csv").write_bytes(b"a,c,y,w\r4,no,4,1\r5,yes,5,1\r")
    table = ab.Binned.from_parquet([tmp_path / "1.csv", tmp_path / "2.csv"], target="y", weight="w")
    np.testing.assert_array_equal(table.X, [[1, 0], [3, 0], [4, 0], [5, 1]])
    np.testing.assert_array_equal(table.sample_weight, [1, 2, 1, 1])
    kept = ab.Binned.from_parquet(tmp_path / "2.csv", target="y", folder=tmp_path / "kept")
    assert len(kept) == 2


def test_names_of_rows_that_pandas_writes_are_no_column(tmp_path):
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}, index=["one", "two"]).to_parquet(
        tmp_path / "rows.parquet"
    )
    assert ab.Binned.from_parquet(tmp_path / "rows.parquet", target="y").names == ["a"]


def test_fits_need_targets_and_a_table(rows):
    table = ab.Binned.from_parquet(rows, columns=["a", "b"])
    with pytest.raises(ValueError, match="y must be given"):
        ab.boost(table)
    with pytest.raises(ValueError, match="y must be given"):
        ab.BoostingRegressor().fit(table)
    own = np.arange(50.0)
    assert ab.boost(table, own, rounds=1).steps[0].loss < np.var(own) / 2
    with pytest.raises(ValueError, match="a scorer as scoring, is shown a table in memory"):
        ab.BoostingRegressor(scoring="r2").fit(table, own)
    with pytest.raises(ValueError, match="categorical_features are chosen where files are read"):
        ab.BoostingRegressor(categorical_features=["a"]).fit(table, own)
    with pytest.raises(ValueError, match="like must be the Binned"):
        ab.predict_portions(ab.boost(table, own, rounds=1), rows)


def test_a_file_that_changes_while_it_is_read(rows, monkeypatch):
    from anyboost.on_disk import table

    read = table._read

    def and_write(*given):
        found = read(*given)
        os.utime(rows, ns=(1, 1))
        return found

    monkeypatch.setattr(table, "_read", and_write)
    refused("rows.parquet changed while it was read", rows, target="y")


def test_a_folder_is_found_again(rows, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    first = ab.Binned.from_parquet(rows, target="y", weight="w", folder=folder)
    monkeypatch.setattr("anyboost.on_disk.table._read", None)  # nobody reads the rows again
    again = ab.Binned.from_parquet(rows, target="y", weight="w", folder=folder)
    for name in ("X", "y", "sample_weight"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
        assert mapped.folder_of(getattr(again, name)) == folder
    assert all(np.array_equal(a, b) for a, b in zip(first.bins[:4], again.bins[:4], strict=True))
    again.X[0, 0] = 7.0  # in this process alone
    assert ab.Binned.from_parquet(rows, target="y", weight="w", folder=folder).X[0, 0] == first.X[0, 0] != 7.0


def test_a_folder_that_another_process_finishes_first_is_taken(rows, tmp_path, monkeypatch):
    """Several that begin at once with the same table each go on with it."""
    folder = tmp_path / "kept"
    first = ab.Binned.from_parquet(rows, target="y", folder=folder)
    monkeypatch.setattr("anyboost.on_disk.table.taken", lambda folder: False)
    found = ab.Binned.from_parquet(rows, target="y", folder=folder)
    assert np.array_equal(found.X, first.X, equal_nan=True)
    assert [path.name for path in tmp_path.iterdir() if "building" in path.name] == []
    refused("cannot be written", rows, target="y", folder=folder, max_bins=16)


def test_whole_numbers_that_are_large(tmp_path):
    """Keys of 60 bits, say: they are rounded as in memory."""
    large = 2**53 + np.arange(50) * 7
    pq.write_table(pa.table({"a": large, "y": np.arange(50.0)}), tmp_path / "rows.parquet")
    table = ab.Binned.from_parquet(tmp_path / "rows.parquet", target="y")
    np.testing.assert_array_equal(table.X[:, 0], large.astype(np.float64))


def test_a_folder_of_something_else_is_refused(rows, tmp_path):
    folder = tmp_path / "kept"
    ab.Binned.from_parquet(rows, target="y", folder=folder)
    refused("whose max_bins is 255, and now it is 16", rows, target="y", folder=folder, max_bins=16)
    refused("whose columns is", rows, columns=["a"], target="y", folder=folder)
    other = write(tmp_path / "other.parquet", a=[1.0], b=[1.0], y=[2.0], w=[1.0])
    refused("holds the rows of other files", other, target="y", folder=folder)
    os.utime(rows, ns=(5, 5))
    refused("rows.parquet changed since folder", rows, target="y", folder=folder)


@pytest.mark.parametrize("name", ["X.npy", "words.npy", "thresholds.npy", "manifest.json"])
def test_a_damaged_folder_is_refused(name, rows, tmp_path):
    folder = tmp_path / "kept"
    ab.Binned.from_parquet(rows, target="y", folder=folder)
    damaged = bytearray((folder / name).read_bytes())
    damaged[-9] ^= 1
    (folder / name).write_bytes(damaged)
    refused(f"damaged, {name} is not what was written", rows, target="y", folder=folder)
    (folder / name).unlink()
    refused("damaged|no finished table", rows, target="y", folder=folder)


def test_nothing_is_left_of_a_call_that_fails(rows, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    monkeypatch.setattr("anyboost.trees.binning.bin_table", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ab.Binned.from_parquet(rows, target="y", folder=folder)
    assert sorted(part.name for part in tmp_path.iterdir()) == ["rows.parquet"]
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    refused("is not empty, and has no finished table", rows, target="y", folder=folder)
    assert (folder / "mine.txt").read_text() == "mine"


def test_nothing_half_written_is_believed(rows, tmp_path):
    """A process that dies before the end leaves no folder of that name, and the next call begins anew."""
    folder = tmp_path / "kept"
    code = (
        "import os, anyboost as ab\n"
        "from anyboost.on_disk import folder\n"
        "folder._digests = lambda *given: os._exit(9)\n"
        f"ab.Binned.from_parquet({str(rows)!r}, target='y', folder={str(folder)!r})\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 9
    assert not folder.exists()
    assert len(list(tmp_path.glob("kept.building-*"))) == 1
    assert len(ab.Binned.from_parquet(rows, target="y", folder=folder)) == 50


def test_the_manifest_says_what_the_folder_is_made_of(rows, tmp_path):
    ab.Binned.from_parquet(rows, target="y", weight="w", folder=tmp_path / "kept")
    facts = json.loads((tmp_path / "kept" / "manifest.json").read_text())
    assert facts["asked"]["columns"] == ["a", "b"]
    assert facts["asked"]["weight"] == "w"
    assert facts["files"][0][:2] == [str(rows), rows.stat().st_size]


def test_temporary_files_go_with_the_table_and_the_process(rows, tmp_path):
    """Else a crash, or a day's fits, would fill the disk."""
    room = tmp_path / "room"
    room.mkdir()
    code = (
        "import anyboost as ab, os, gc\n"
        f"table = ab.Binned.from_parquet({str(rows)!r}, target='y')\n"
        "run = ab.boost(table, rounds=1, row_fraction=0.5)\n"
        "print(len(os.listdir(os.environ['TMPDIR'])))\n"
        "held = [os.readlink(f'/proc/self/map_files/{name}') for name in os.listdir('/proc/self/map_files')]\n"
        "print(sum(name.startswith(os.environ['TMPDIR']) for name in held) > 0)\n"
        "del table, run; gc.collect()\n"
        "held = [os.readlink(f'/proc/self/map_files/{name}') for name in os.listdir('/proc/self/map_files')]\n"
        "print(sum(name.startswith(os.environ['TMPDIR']) for name in held))\n"
    )
    if not os.access("/proc/self/map_files", os.R_OK):
        pytest.skip("this system does not list mapped files")
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(room)}, capture_output=True, text=True
    )
    assert run.stdout.split() == ["0", "True", "0"], run.stderr


def test_importing_anyboost_does_not_import_pyarrow():
    code = "import sys, anyboost as ab; ab.boost; ab.Binned([[1.0]]); print('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("first", ["full", "empty"])
def test_a_file_whose_column_is_empty_goes_with_one_that_has_words(tmp_path, first):
    """As writers of partitions leave them: the type of a column without a value is that of nothing."""
    y = [1.0, 2.0, 3.0, 4.0]
    full = write(tmp_path / "full.parquet", a=y, k=["u", "v", "u", "v"], y=y)
    empty = write(tmp_path / "empty.parquet", a=y, k=[None] * 4, y=y)
    paths = [full, empty] if first == "full" else [empty, full]
    binned = ab.Binned.from_parquet(paths, target="y")
    assert binned.columns.levels[1].values == ("u", "v")
    model = ab.BoostingRegressor(max_iter=3).fit(binned)
    rows = [pq.read_table(path).drop_columns("y") for path in paths]
    expected = model.predict(pa.concat_tables(rows, promote_options="default"))
    found = np.concatenate(list(ab.predict_portions(model, paths)))
    np.testing.assert_array_equal(found, expected)
    alone = np.concatenate(list(ab.predict_portions(model, empty)))
    np.testing.assert_array_equal(alone, expected[4:] if first == "full" else expected[:4])


def test_a_row_that_is_longer_than_a_block_is_called_so(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,k,y\n" + "1,u,2\n" * 10 + "1," + "w" * 3_000_000 + ",2\n")
    refused("a row has more than 1 MiB, which none may have in CSV", path, target="y")
