"""One row takes the short way, and comes out as it does the long way."""

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost import tables
from anyboost.tables import quick

LETTERS = pd.Categorical(["b", "a", None, "c"], categories=["c", "b", "a"])
COLUMNS = {
    "floats": [0.5, np.nan, -1.0, np.inf],
    "single": np.array([1, 2, 3, 4], dtype=np.float32),
    "integers": [3, 1, 2, 2**53],
    "small": np.array([1, 0, 255, 7], dtype=np.uint8),
    "flags": [True, False, True, True],
    "letters": LETTERS,
    "text": pd.array(["x", "y", pd.NA, "x"], dtype="str"),
}
LONG_WAY = {
    "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
    "objects": np.array([1, 2.5, None, True], dtype=object),
    "mixed words": pd.Series(["u", None, "v", "u"], dtype=object),
    "numbered": pd.Categorical([1, 2, 1, 3]),
}


def frame(*names):
    return pd.DataFrame({name: (COLUMNS | LONG_WAY)[name] for name in names})


def both(train, later, **options):
    _, columns = tables.read(train, **options)
    names = tables.names_of(train)
    return quick.read(later, columns, names), lambda: tables.read(later, columns)[0]


@pytest.mark.parametrize(
    "names", [("floats",), ("floats", "single"), tuple(COLUMNS), ("letters",), ("text", "flags")]
)
@pytest.mark.parametrize("rows", [slice(0, 1), slice(2, 3), slice(0, 4)])
@pytest.mark.filterwarnings("ignore:.*the fit saw none of these levels")
def test_a_short_frame_reads_as_a_long_one_does(names, rows):
    train = frame(*names)
    short, long = both(train, train.iloc[rows])
    assert short is not None
    np.testing.assert_array_equal(short, long())
    assert short.flags.c_contiguous


@pytest.mark.parametrize("name", LONG_WAY)
def test_values_that_have_to_be_looked_at_go_the_long_way(name):
    train = frame("floats", name)
    assert both(train, train.iloc[:1])[0] is None


def test_other_names_types_and_sizes_go_the_long_way():
    train = frame("floats", "letters")
    _, columns = tables.read(train)
    names = tables.names_of(train)
    long = pd.concat([train] * 30)
    for later in (
        train[["letters", "floats"]],
        train.astype({"letters": "str"}).astype({"floats": "str"}),
        long,
        train[:0],
    ):
        assert quick.read(later, columns, names) is None
    assert quick.read(train, columns, None) is None


def test_new_levels_are_missing_and_a_column_of_them_warns():
    train = frame("floats", "letters")
    later = pd.DataFrame({"floats": [1.0], "letters": pd.Categorical(["z"])})
    _, columns = tables.read(train)
    with pytest.warns(UserWarning, match="saw none of these levels"):
        short = quick.read(later, columns, ["floats", "letters"])
    np.testing.assert_array_equal(short, [[1.0, np.nan]])


def test_an_array_of_floats_is_taken_as_it_is_and_others_are_checked():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = ab.BoostingRegressor(max_iter=3).fit(X, X[:, 0])
    for one in (X[:1], X[:1].astype(np.float32), X[::2], np.asfortranarray(X)):
        table = quick.read(one, model._columns, None)
        assert table is not None
        np.testing.assert_array_equal(model.predict(one), model.ensemble_.predict(np.ascontiguousarray(one)))
    for odd in (X[:1, :2], X[0], X[:0], X[:1].astype(complex), X[:1].astype(object), X[:1].tolist()):
        assert quick.read(odd, model._columns, None) is None
    for odd, words in ((X[:1, :2], "2 features"), (X[0], "2D array"), (X[:1].astype(complex), "Complex")):
        with pytest.raises(ValueError, match=words):
            model.predict(odd)
    named = ab.BoostingRegressor(max_iter=3).fit(pd.DataFrame(X, columns=list("abc")), X[:, 0])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X[:1])
