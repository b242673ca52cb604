"""Data sets that the folder does not have come from OpenML in the same layout, or a sentence says what to do."""

import os
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from anyboost import datasets, openml


@pytest.fixture
def folder(tmp_path, monkeypatch):
    np.savez(
        tmp_path / "letter.npz",
        X=np.eye(2),
        y=np.zeros(2),
        feature_names=["a", "b"],
        categorical=[False, False],
    )
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def answer(monkeypatch):
    """What OpenML answers, a frame and a target or an error; the sets it was asked for come back."""
    asked = []

    def prepare(table, target=None, **shape):
        def fetch_openml(data_id, as_frame, parser, **_):
            asked.append((data_id, as_frame, parser))
            if isinstance(table, Exception):
                raise table
            return SimpleNamespace(data=table, target=target)

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
        for name, rows in shape.items():
            monkeypatch.setitem(openml.SOURCES, name, openml.SOURCES[name]._replace(rows=rows))
        return asked

    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    return prepare


def test_names_are_those_stored_and_those_of_openml(folder, monkeypatch):
    (folder / "own.npz").write_bytes(b"")
    assert datasets.names() == sorted([*openml.SOURCES, "own"])
    monkeypatch.delenv("ANYBOOST_DATA")
    assert datasets.names() == sorted(openml.SOURCES)


def test_the_folder_comes_first(folder, answer, monkeypatch):
    asked = answer(URLError("no network"))
    monkeypatch.setenv("ANYBOOST_DATA", str(folder))
    assert datasets.load("letter").X.shape == (2, 2)
    assert asked == []


def test_words_become_codes_and_missing_ones_a_level(answer):
    table = pd.DataFrame(np.ones((3, 14)), columns=[f"c{i}" for i in range(14)])
    for place, feature in enumerate(openml.SOURCES["adult"].features):
        if feature in openml.SOURCES["adult"].categorical:
            table.isetitem(place, pd.Categorical(["Private", None, "Never-worked"]))
    asked = answer(table, pd.Series([">50K", "<=50K", "<=50K"], dtype="category"), adult=3)
    data = datasets.load("adult")
    assert asked == [(1590, True, "auto")]
    assert data.column("workclass").tolist() == [2, 0, 1]
    assert data.category_levels["workclass"] == ["?", "Never-worked", "Private"]
    assert data.categorical.sum() == 8
    assert data.column("education_num").tolist() == [1, 1, 1]
    assert (data.y.tolist(), data.classes) == ([1, 0, 0], ["<=50K", ">50K"])
    assert data.split is None
    assert data.X.dtype == data.y.dtype == np.float64


def test_columns_in_another_order_are_found_by_name(answer):
    ours = openml.SOURCES["cal_housing"].features
    table = pd.DataFrame({name: [float(place), 9.0] for place, name in enumerate(ours)})
    answer(table[list(reversed(ours))], pd.Series([452600.0, 1.0]), cal_housing=2)
    data = datasets.load("cal_housing")
    assert data.X[0].tolist() == list(range(8))
    assert data.feature_names == list(ours)
    assert data.y.tolist() == [452600.0, 1.0]
    assert data.classes is data.category_levels is None


def test_a_target_of_numbers_may_come_as_words(answer):
    table = pd.DataFrame(
        {"Sex": pd.Categorical(["M", "I", "F"])} | {f"v{i}": [0.5, 1.5, 2.5] for i in range(7)}
    )
    answer(table, pd.Series(["15", "7", "9"], dtype="category"), abalone=3)
    data = datasets.load("abalone")
    assert data.y.tolist() == [15, 7, 9]
    assert data.column("sex").tolist() == [2, 1, 0]
    assert data.category_levels == {"sex": ["F", "I", "M"]}


def test_numbers_that_come_as_categories_stay_numbers(answer):
    table = pd.DataFrame(
        {"date": [0.0, 0.1], "day": pd.Categorical(["2", "7"])} | {f"v{i}": [0.0, 1.0] for i in range(6)}
    )
    answer(table, pd.Series(["UP", "DOWN"], dtype="category"), elec2=2)
    data = datasets.load("elec2")
    assert data.column("day").tolist() == [2, 7]
    assert not data.categorical.any()
    assert data.y.tolist() == [1, 0]


def test_class_numbers_follow_the_size_of_labels(answer):
    table = pd.DataFrame(np.zeros((6, 36)))
    answer(table, pd.Series(["7.", "1.", "3.", "2.", "5.", "4."], dtype="category"), satimage=6)
    assert datasets.load("satimage").y.tolist() == [5, 0, 2, 1, 4, 3]
    table = pd.DataFrame({f"c{i}": pd.Categorical(["0", "2", "1"]) for i in range(42)})
    answer(table, pd.Series(["2", "0", "1"], dtype="category"), connect4=3)
    data = datasets.load("connect4")
    assert data.column("g6").tolist() == [0, 2, 1]
    assert data.category_levels == {"all": ["b", "o", "x"]}
    assert data.y.tolist() == [2, 0, 1]


def test_levels_with_an_order_keep_it(answer):
    values = {"cut": ["Ideal", "Fair"], "color": ["J", "D"], "clarity": ["IF", "I1"]}
    columns = {
        name: pd.Categorical(values[name]) if name in values else [1.0, 2.0]
        for name in openml.SOURCES["diamonds"].features
    }
    answer(pd.DataFrame(columns), pd.Series([326, 327]), diamonds=2)
    data = datasets.load("diamonds")
    assert data.X[:, 1:4].tolist() == [[4, 0, 7], [0, 6, 0]]
    answer(pd.DataFrame(columns | {"cut": ["Worst", "Fair"]}), pd.Series([326, 327]))
    with pytest.raises(FileNotFoundError, match="'cut' has other levels"):
        datasets.load("diamonds")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            URLError("no network"),
            r"OpenML did not give it \(<urlopen error no network>\); try again, or point",
        ),
        (ImportError("pandas"), "need pandas; install it, or point"),
        (ValueError("gone\nfrom OpenML"), r"did not give it \(gone from OpenML\)"),
        (pd.DataFrame(np.zeros((5, 16))), r"its number 6 is a table of \(5, 16\), not of \(20000, 16\)"),
    ],
)
def test_where_neither_helps_one_sentence_says_so(answer, problem, words):
    answer(problem)
    with pytest.raises(FileNotFoundError, match=words) as caught:
        datasets.load("letter")
    said = str(caught.value)
    assert said.startswith("data set 'letter' not found: ANYBOOST_DATA is not set, and ")
    assert said.endswith("point ANYBOOST_DATA to a folder with letter.npz")
    assert "\n" not in said


def test_several_that_are_missing_are_one_sentence(answer):
    answer(URLError("no network"))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.require(["letter", "casp", "a9a", "letter"])
    assert str(caught.value) == (
        "data sets 'letter', 'casp', 'a9a' not found: ANYBOOST_DATA is not set, and for letter: OpenML did not give it "
        "(<urlopen error no network>); for casp, a9a: it is not one that is fetched from OpenML; try again, or point "
        "ANYBOOST_DATA to a folder with letter.npz, casp.npz, a9a.npz"
    )


def test_another_number_of_classes_is_no_answer(answer):
    answer(pd.DataFrame(np.zeros((2, 16))), pd.Series(["A", "B"]), letter=2)
    with pytest.raises(FileNotFoundError, match="it has 2 classes, not 26"):
        datasets.load("letter")


@pytest.mark.usefixtures("folder")
def test_openml_is_not_asked_for_what_it_does_not_have():
    with pytest.raises(
        FileNotFoundError, match=r"ANYBOOST_DATA has no mq2008.npz, and it is not one that is fetched"
    ):
        datasets.load("mq2008")


@pytest.mark.skipif(not os.environ.get("ANYBOOST_DATA"), reason="needs the data sets")
@pytest.mark.parametrize("name", openml.SOURCES)
def test_both_sources_have_the_same_columns_classes_and_levels(name):
    stored, source = datasets.load(name), openml.SOURCES[name]
    assert stored.feature_names == list(source.features)
    assert np.array_equal(stored.categorical, np.isin(source.features, source.categorical))
    assert stored.classes == (None if source.classes is None else list(source.classes))
    assert name == "satimage" or len(stored.y) == source.rows
    for feature, levels in (stored.category_levels or {}).items():
        assert levels == list(source.levels.get(feature, sorted(levels)))
