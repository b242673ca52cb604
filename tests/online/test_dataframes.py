"""Data frames of any library give the rows that dicts give, and answers come back in the same library."""

from datetime import date

import numpy as np
import pytest

from anyboost.online import dataframes
from anyboost.online.features import Features

COLUMNS = {
    "a": [1, None, 3],
    "b": ["x", None, "y"],
    "c": [True, False, True],
    "d": [0.5, None, 2.0],
}
DICTS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def frame(library, columns=None):
    module = pytest.importorskip(library)
    columns = COLUMNS if columns is None else columns
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_gives_the_rows_of_its_dicts(library):
    from_frame, from_dicts = Features(), Features()
    rows = dataframes.encode(from_frame, frame(library), grow=True)
    expected = dataframes.encode(from_dicts, DICTS, grow=True)
    assert from_frame.names == from_dicts.names
    for ours, theirs in zip(rows, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_answers_come_back_in_the_same_library(library):
    X = frame(library)
    series = dataframes.like_rows(X, np.arange(3.0), "answer")
    table = dataframes.like_frame(X, {"u": np.zeros(3), "v": np.ones(3)})
    assert type(series).__module__.startswith(library)
    assert type(table).__module__.startswith(library)
    assert np.asarray(series).tolist() == [0.0, 1.0, 2.0]


def test_a_pandas_index_is_kept():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    assert dataframes.like_rows(X, np.zeros(2), "answer").index.tolist() == ["p", "q"]
    assert dataframes.like_frame(X, {True: np.zeros(2)}).columns.tolist() == [True]


def test_pandas_columns_without_text_names_and_of_every_type():
    pandas = pytest.importorskip("pandas")
    features = Features()
    rows = dataframes.encode(features, pandas.DataFrame([[1, 2], [3, 4]]), grow=True)
    assert features.names == [0, 1]
    np.testing.assert_array_equal(rows.values, [1, 2, 3, 4])
    table = pandas.DataFrame(
        {"a": pandas.Categorical(["u", None]), "b": pandas.array([None, 1], dtype="Int64")}
    )
    features = Features()
    dataframes.encode(features, table, grow=True)
    assert features.names == ["a=u", "b"]


def test_missing_values_and_types_of_frames_are_those_of_their_records():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {
            "a": [1.0, np.nan, 3.0],
            "b": ["x", None, "y"],
            "c": [True, None, False],
            "d": pandas.array([1, None, 2], dtype="Int64"),
            "e": pandas.array([True, None, False], dtype="boolean"),
        }
    )
    from_frame, from_records = Features(), Features()
    rows = dataframes.encode(from_frame, X, grow=True)
    expected = dataframes.encode(from_records, X.to_dict("records"), grow=True)
    assert from_frame.names == from_records.names
    for ours, theirs in zip(rows, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    kinds = Features()  # categories of numbers are categories, as to the estimators
    dataframes.encode(kinds, pandas.DataFrame({"k": pandas.Categorical([7, 8, 7])}), grow=True)
    assert kinds.names == ["k=7", "k=8"]
    polars = pytest.importorskip("polars")
    missing = dataframes.encode(Features(), polars.DataFrame({"a": [1.0, float("nan")]}), grow=True)
    assert np.diff(missing.starts).tolist() == [1, 0]


def test_an_empty_frame_and_an_empty_list():
    pandas = pytest.importorskip("pandas")
    for nothing in (pandas.DataFrame({"a": np.zeros(0)}), []):
        features = Features()
        assert dataframes.encode(features, nothing, grow=True).n == 0
        assert features.names == []


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"a": [1.0, float("inf")]}, "column 'a' must be finite, got inf at row 1"),
        ({"a": [[1.0], [2.0]]}, r"column 'a' of X holds List\(.*\): turn it into numbers or a category"),
        ({"a": [date(2024, 5, 1)]}, "column 'a' of X holds Date: turn it into numbers .*, such as the year"),
    ],
)
def test_bad_cells_are_named(columns, reason):
    features = Features()
    with pytest.raises(ValueError, match=reason):
        dataframes.encode(features, frame("polars", columns), grow=True)
    assert features.names == []


def test_arrays_are_sent_elsewhere():
    with pytest.raises(ValueError, match="X must be a data frame or a list of dicts, got ndarray"):
        dataframes.encode(Features(), np.zeros((2, 2)), grow=True)
