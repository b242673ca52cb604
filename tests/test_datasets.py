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
    monkeypatch.delenv("ANYBOOST_DATA")
    with pytest.raises(FileNotFoundError, match="ANYBOOST_DATA is not set"):
        datasets.load("letter")
