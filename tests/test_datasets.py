"""Data sets by name: read from a folder, or a sentence that says where to put them."""

from urllib.error import URLError

import numpy as np
import pytest

from anyboost import datasets


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def fetch_openml(**_):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)


def test_a_stored_set_is_read(tmp_path, monkeypatch):
    np.savez(
        tmp_path / "small.npz",
        X=np.array([[1, 2], [3, 4]], dtype=np.uint8),
        y=np.array([0, 1], dtype=np.uint8),
        feature_names=np.array(["a", "b"]),
        categorical=np.array([False, True]),
        category_levels='{"b": ["x", "y"]}',
        classes=np.array(["no", "yes"]),
        split=np.array([0, 1]),
    )
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    data = datasets.load("small")
    assert data.X.dtype == np.float64
    assert data.column("b").tolist() == [2, 4]
    assert data.category_levels == {"b": ["x", "y"]}
    assert data.classes == ["no", "yes"]
    assert data.qid is None


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"data set 'letter' not found: ANYBOOST_DATA has no letter.npz"
    ):
        datasets.load("letter")
    monkeypatch.setenv("ANYBOOST_DATA", "")
    with pytest.raises(FileNotFoundError, match="ANYBOOST_DATA is not set"):
        datasets.load("letter")
    monkeypatch.delenv("ANYBOOST_DATA")
    with pytest.raises(FileNotFoundError, match="ANYBOOST_DATA is not set"):
        datasets.load("letter")


SAMPLE = """\
2 qid:10 1:0.5 2:-1e-3 4:7 #docid = GX001 inc = 1
0 qid:10 2:3

# a comment
1 qid:7 1:.25
"""


def test_letor_text_is_read_as_it_stands(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(SAMPLE)
    data = datasets.read_letor(path)
    assert data.X.tolist() == [[0.5, -0.001, 0, 7], [0, 3, 0, 0], [0.25, 0, 0, 0]]
    assert data.y.tolist() == [2, 0, 1]
    assert data.qid.tolist() == [10, 10, 7]
    assert data.feature_names == ["1", "2", "3", "4"]
    assert not data.categorical.any()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("1 1:0.5", True),  # without a query
        ("1 qid:3 1:NULL", True),
        ("1 qid:3 1:nan", True),
        ("1 qid:3 2:1 1:1", True),
        ("1 qid:3 1:1 1:2", True),
        ("1 qid:3 0:1", True),
        ("high qid:3 1:1", True),
        ("inf qid:3 1:1", True),
        ("1 qid:x 1:1", True),
        ("1 qid:3 1", True),
        ("1,3,0.5", True),
        ("1 qid:3 1:1", False),
        ("1 qid:3 # nothing but a query", False),
    ],
)
def test_a_line_that_is_no_letor_is_named(tmp_path, line, wrong):
    path = tmp_path / "test.txt"
    path.write_text(SAMPLE + line + "\n")
    if not wrong:
        assert len(datasets.read_letor(path).y) == 4
        return
    with pytest.raises(ValueError, match=r"line 6 of .*test.txt is .*; write `grade qid:7 1:0.3 2:0.1`"):
        datasets.read_letor(path)


@pytest.mark.parametrize("text", ["", "\n", "# words\n"])
def test_a_letor_file_without_rows_is_refused(tmp_path, text):
    path = tmp_path / "vali.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"vali.txt has no rows; it should hold lines like"):
        datasets.read_letor(path)


def test_a_letor_fold_is_its_three_files(tmp_path, monkeypatch):
    folder = tmp_path / "SET" / "Fold2"
    folder.mkdir(parents=True)
    (folder / "train.txt").write_text(SAMPLE)
    (folder / "vali.txt").write_text("1 qid:3 1:1 5:2\n")
    with pytest.raises(FileNotFoundError, match=r"no such file: .*test.txt"):
        datasets.read_letor_fold(folder)
    (folder / "test.txt").write_text("0 qid:4 2:6\n")
    data = datasets.read_letor_fold(folder)
    assert data.split.tolist() == [0, 0, 0, 1, 2]
    assert data.qid.tolist() == [10, 10, 7, 3, 4]
    assert data.X[:, 4].tolist() == [0, 0, 0, 2, 0]
    assert data.X[4].tolist() == [0, 6, 0, 0, 0]
    assert len(data.feature_names) == len(data.categorical) == 5
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    assert datasets.letor_folds("SET") == [folder]
    assert datasets.letor_folds("OTHER") == []
    monkeypatch.delenv("ANYBOOST_DATA")
    assert datasets.letor_folds("SET") == []
