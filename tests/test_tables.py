"""A table means the same as pandas, polars, pyarrow or NumPy, and its categories the same at the fit and later."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anyboost import BoostingClassifier, BoostingRegressor, tables
from anyboost.tables import MOST_LEVELS, Columns, Levels
from parts import in_circle

N = 300
RANDOM = np.random.default_rng(3)
COLORS = np.array(["red", "green", "blue", "grey"])[RANDOM.integers(0, 4, N)]
NUMBERS = {
    "real": RANDOM.normal(size=N),
    "single": RANDOM.normal(size=N).astype(np.float32),
    "whole": RANDOM.integers(-3, 9, N),
    "byte": RANDOM.integers(0, 200, N).astype(np.uint8),
    "flag": RANDOM.random(N) < 0.5,
}
Y = NUMBERS["real"] + 2.0 * (COLORS == "red") + NUMBERS["flag"]


def pandas_frame():
    return pd.DataFrame(
        NUMBERS | {"color": pd.Categorical(COLORS, categories=["red", "grey", "blue", "green"])}
    )


def polars_frame():
    return pl.DataFrame(NUMBERS | {"color": COLORS}).with_columns(pl.col("color").cast(pl.Categorical))


def arrow_table():
    return pa.table(
        {name: pa.array(values) for name, values in NUMBERS.items()}
        | {"color": pa.array(COLORS).dictionary_encode()}
    )


def numpy_objects():
    return np.column_stack([*(values.astype(object) for values in NUMBERS.values()), COLORS.astype(object)])


def numpy_codes():
    return np.column_stack([*NUMBERS.values(), np.unique(COLORS, return_inverse=True)[1]])


FRAMES = {
    "pandas": pandas_frame,
    "polars": polars_frame,
    "pyarrow": arrow_table,
    "pandas text": lambda: pd.DataFrame(NUMBERS | {"color": COLORS}),
    "polars text": lambda: pl.DataFrame(NUMBERS | {"color": COLORS}),
    "polars enum": lambda: pl.DataFrame(NUMBERS | {"color": COLORS}).with_columns(
        pl.col("color").cast(pl.Enum(["grey", "red", "green", "blue"]))
    ),
    "pandas objects": lambda: pd.DataFrame(NUMBERS | {"color": COLORS.astype(object)}).astype(object),
    "pandas nullable": lambda: pandas_frame().convert_dtypes(),
}
ARRAYS = {"objects": numpy_objects, "codes": numpy_codes}


@pytest.mark.parametrize("kind", [*FRAMES, *ARRAYS])
def test_a_fit_is_the_same_for_every_kind_of_table(kind):
    expected = BoostingRegressor(max_iter=15).fit(pandas_frame(), Y)
    given = {} if kind in FRAMES else {"categorical_features": [5]}
    table = (FRAMES | ARRAYS)[kind]()
    model = BoostingRegressor(max_iter=15, **given).fit(table, Y)
    assert model.is_categorical_.tolist() == [False] * 5 + [True]
    assert len(model.ensemble_) == len(expected.ensemble_)
    np.testing.assert_array_equal(model.predict(table), expected.predict(pandas_frame()))
    if kind in FRAMES:
        assert model.feature_names_in_.tolist() == [*NUMBERS, "color"]
        for other in FRAMES.values():
            np.testing.assert_array_equal(model.predict(other()), expected.predict(pandas_frame()))


def test_targets_and_weights_come_in_every_kind_too():
    X, weights = np.column_stack(list(NUMBERS.values())), RANDOM.integers(0, 3, N)
    expected = BoostingRegressor(max_iter=5).fit(X, Y, weights).predict(X)
    for kind in (list, tuple, pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])):
        model = BoostingRegressor(max_iter=5).fit(X, kind(Y), sample_weight=kind(weights))
        np.testing.assert_array_equal(model.predict(X), expected)


def test_floats_are_not_copied():
    for dtype in (np.float32, np.float64):
        X = RANDOM.normal(size=(50, 3)).astype(dtype)
        assert tables.read(X)[0] is X
        frame = pd.DataFrame(X)
        assert np.shares_memory(tables.read(frame)[0], frame.to_numpy())
    assert tables.read(pl.DataFrame(RANDOM.normal(size=(5, 3)).astype(np.float32)))[0].dtype == np.float32
    assert tables.read(RANDOM.integers(0, 9, (5, 3)))[0].dtype == np.float64


MISSING = {
    "pandas": pd.DataFrame(
        {"a": [1.0, None, 3.0], "b": [1, 2, None], "c": ["x", None, "y"], "d": [True, None, False]}
    ),
    "pandas nullable": pd.DataFrame(
        {"a": [1.0, None, 3.0], "b": [1, 2, None], "c": ["x", None, "y"], "d": [True, None, False]}
    ).convert_dtypes(),
    "polars": pl.DataFrame(
        {"a": [1.0, None, 3.0], "b": [1, 2, None], "c": ["x", None, "y"], "d": [True, None, False]}
    ),
    "pyarrow": pa.table(
        {"a": [1.0, None, 3.0], "b": [1, 2, None], "c": ["x", None, "y"], "d": [True, None, False]}
    ),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing_is_nan(kind):
    table, columns = tables.read(MISSING[kind])
    expected = np.array([[1.0, 1.0, 0.0, 1.0], [np.nan, 2.0, np.nan, np.nan], [3.0, np.nan, 1.0, 0.0]])
    np.testing.assert_array_equal(table, expected)
    assert columns.levels == {2: Levels(("x", "y"))}


def test_categories_are_read_by_the_levels_of_the_fit():
    columns = Columns(2, {1: Levels(("blue", "red"))})
    later = pd.DataFrame({"n": [1.0, 2.0, 3.0], "c": pd.Categorical(["red", "pink", None])})
    np.testing.assert_array_equal(tables.read(later, columns)[0][:, 1], [1.0, np.nan, np.nan])
    numbers = Columns(2, {1: Levels((10.0, 20.0))})
    np.testing.assert_array_equal(
        tables.read(np.array([[0, 20], [0, 15], [0, 10.0]]), numbers)[0][:, 1], [1, np.nan, 0]
    )


def test_more_levels_than_bins_share_the_last_code():
    words = np.repeat([f"w{number:04d}" for number in range(1000)], np.r_[np.full(500, 3), np.full(500, 1)])
    frame = pl.DataFrame({"words": words})
    table, columns = tables.read(frame)
    assert len(columns.levels[0].values) == table.max() + 1 == 1000
    with pytest.warns(UserWarning, match="column 'words' of X has 1000 levels, of which all but the 254"):
        table, columns = tables.lumped(table, columns, names=["words"])
    assert len(columns.levels[0].values) == MOST_LEVELS
    assert columns.levels[0].rest
    assert np.nanmax(table) == MOST_LEVELS
    assert (table[words == "w0999"] == MOST_LEVELS).all()
    later = pl.DataFrame({"words": ["w0000", "never seen", None]})
    np.testing.assert_array_equal(tables.read(later, columns)[0][:, 0], [0.0, MOST_LEVELS, np.nan])
    # The measure decides which are kept, not the number of rows.
    weights = np.where(np.char.startswith(words, "w09"), 100.0, 1.0)
    with pytest.warns(UserWarning, match="column 0 of X"):
        _, columns = tables.lumped(*tables.read(frame, sample_weight=weights), weights)
    assert "w0999" in columns.levels[0].values


def test_a_level_without_weight_is_none():
    frame = pd.DataFrame({"c": ["x", "y", "z"]})
    _, columns = tables.read(frame, sample_weight=np.array([1.0, 0.0, 2.0]))
    assert columns.levels[0].values == ("x", "z")
    more = pd.DataFrame({"c": pd.Categorical(["x", "z"], categories=[*"xyz"])})
    assert tables.read(more)[1].levels[0].values == ("x", "z")


def test_a_column_with_a_million_distinct_values():
    n = 1_000_000
    X = np.column_stack([np.arange(n), np.arange(n) % 7]).astype(np.float64)
    y = (X[:, 0] > 600_000) + 0.1 * X[:, 1]
    model = BoostingRegressor(max_iter=3, learning_rate=1.0).fit(X, y)
    assert model.score(X, y) > 0.9
    words = pl.DataFrame({"id": X[:100_000, 0].astype(int).astype(str), "x": X[:100_000, 1]})
    with pytest.warns(UserWarning, match="column 'id' of X has another category in every row"):
        model = BoostingRegressor(max_iter=2).fit(words, y[:100_000])
    assert model.is_categorical_.tolist() == [True, False]


def test_a_frame_for_a_model_of_arrays_and_the_other_way_round():
    X = np.column_stack(list(NUMBERS.values()))
    frame = pd.DataFrame(X, columns=list(NUMBERS))
    named = BoostingRegressor(max_iter=3).fit(frame, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        named.predict(X)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame[frame.columns[::-1]])
    unnamed = BoostingRegressor(max_iter=3).fit(X, Y)
    with pytest.warns(UserWarning, match="X has feature names, but BoostingRegressor was fitted without"):
        unnamed.predict(frame)


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile:0.8"])
def test_categories_split_on_subsets(loss):
    # Levels that matter alternate in any order of their codes: one cut by subset parts what many by order must.
    random = np.random.default_rng(0)
    levels = np.array([f"level {number:02d}" for number in range(40)])
    color = levels[random.integers(0, 40, 2000)]
    y = np.array([float(int(level[-1]) % 2) for level in color])
    frame = pd.DataFrame({"color": pd.Categorical(color), "noise": random.normal(size=2000)})
    model = BoostingRegressor(loss, max_iter=60, max_leaf_nodes=2, learning_rate=0.3).fit(frame, y)
    assert np.abs(model.predict(frame) - y).max() < 0.05
    as_numbers = BoostingRegressor(
        loss, max_iter=60, max_leaf_nodes=2, learning_rate=0.3, categorical_features=None
    ).fit(frame.assign(color=frame["color"].cat.codes), y)
    assert np.abs(as_numbers.predict(frame.assign(color=frame["color"].cat.codes)) - y).max() > 0.2


def test_an_unseen_category_is_a_missing_one():
    frame = pandas_frame()
    model = BoostingClassifier(max_iter=10).fit(frame, Y > 1)
    later = frame.head(3).assign(
        color=pd.Categorical(["never", None, "red"]), real=0.0, single=0.0, whole=1, byte=1, flag=True
    )
    scores = model.decision_function(later)
    assert np.isfinite(scores).all()
    assert scores[0] == scores[1]


def test_a_missing_value_goes_where_it_was_learned_to_go():
    # Missing rows behave like the low ones for one half of the tables, like the high ones for the other.
    random = np.random.default_rng(0)
    for side in (0.0, 1.0):
        X = random.random((1000, 1))
        y = (X[:, 0] > 0.5).astype(float)
        hidden = random.random(1000) < 0.3
        X[hidden], y[hidden] = np.nan, side
        model = BoostingRegressor(max_iter=1, max_leaf_nodes=2, learning_rate=1.0).fit(X, y)
        np.testing.assert_allclose(model.predict([[np.nan], [0.1], [0.9]]), [side, 0.0, 1.0], atol=0.01)


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_column_of_nothing_is_missing_everywhere(kind):
    table = kind({"a": [1.0, 2.0], "n": [None, None]})
    np.testing.assert_array_equal(tables.read(table)[0], [[1.0, np.nan], [2.0, np.nan]])


def pandas_of(dtype, *values):
    return pd.DataFrame({"a": [1.0, 2.0], "k": pd.Series(values * 2, dtype=dtype)})


def arrow_of(kind):
    return pa.table({"a": [1.0, 2.0], "k": pa.array([None, None], type=kind)})


def polars_of(dtype):
    return pl.DataFrame({"a": [1.0, 2.0], "k": pl.Series([None, None], dtype=dtype)})


# What reindex, an empty column of a file, or a table of one row leave behind: a type that says nothing.
EMPTY = {
    "pandas NaN": pandas_of(np.float64, np.nan),
    "pandas None": pandas_of(object, None),
    "pandas NA": pandas_of(object, pd.NA),
    "pandas NaT": pandas_of("datetime64[ns]", pd.NaT),
    "pandas NaT objects": pandas_of(object, pd.NaT),
    "pandas text": pandas_of("string", pd.NA),
    "pandas whole": pandas_of("Int64", pd.NA),
    "pandas flag": pandas_of("boolean", pd.NA),
    "pandas category": pandas_of("category", None),
    "polars Null": polars_of(pl.Null),
    "polars NaN": pl.DataFrame({"a": [1.0, 2.0], "k": [np.nan, np.nan]}),
    "polars whole": polars_of(pl.Int32),
    "polars text": polars_of(pl.String),
    "polars category": polars_of(pl.Categorical),
    "polars date": polars_of(pl.Date),
    "arrow null": arrow_of(pa.null()),
    "arrow double": arrow_of(pa.float64()),
    "arrow text": arrow_of(pa.string()),
    "arrow date": arrow_of(pa.timestamp("ns")),
    "arrow dictionary": arrow_of(pa.dictionary(pa.int8(), pa.string())),
    "arrow dictionary of null": pa.table(
        {
            "a": [1.0, 2.0],
            "k": pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array([None], pa.string())),
        }
    ),
    "numbers": np.array([[1.0, np.nan], [2.0, np.nan]]),
    "objects": np.array([[1.0, None], [2.0, None]], dtype=object),
    "objects NA": np.array([[1.0, pd.NA], [2.0, pd.NA]], dtype=object),
    "objects NaT": np.array([[1.0, pd.NaT], [2.0, pd.NaT]], dtype=object),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", EMPTY)
def test_a_column_of_nothing_may_stand_for_any_other(kind):
    expected = [[1.0, np.nan], [2.0, np.nan]]
    for levels in ({}, {1: Levels(("blue", "red"))}, {1: Levels((1.0, 2.0))}):
        np.testing.assert_array_equal(tables.read(EMPTY[kind], Columns(2, levels))[0], expected)
    np.testing.assert_array_equal(tables.read(EMPTY[kind])[0], expected)
    np.testing.assert_array_equal(tables.read(EMPTY[kind], categorical=[1])[0], expected)


@pytest.mark.parametrize("kind", EMPTY)
def test_a_part_of_nothing_goes_with_one_that_has_words(kind):
    """On a cluster one partition may have no word in a column, and then another type for it."""
    words = pd.DataFrame({"a": [1.0, 2.0], "k": ["red", "blue"]})
    given = {} if not isinstance(EMPTY[kind], np.ndarray) else {"categorical": [1]}
    both = in_circle(lambda place: tables.read([EMPTY[kind], words][place], **given), 2)
    np.testing.assert_array_equal(both[0][0], [[1.0, np.nan], [2.0, np.nan]])
    np.testing.assert_array_equal(both[1][0], [[1.0, 1.0], [2.0, 0.0]])
    assert both[0][1] == both[1][1]


def test_a_missing_word_is_predicted_as_one_among_others_is():
    frame = pd.DataFrame(NUMBERS | {"color": np.where(NUMBERS["flag"], COLORS, None)})
    model = BoostingRegressor(max_iter=5).fit(frame, Y, valid=(frame.assign(color=np.nan), Y))
    expected = model.predict(frame.assign(color=["red", *[None] * (N - 1)]))[1:4]
    several = frame[1:4].drop(columns="color")
    file = io.StringIO(several.assign(color="").to_csv(index=False))
    for later in (several.assign(color=None), several.reindex(columns=frame.columns), pd.read_csv(file)):
        np.testing.assert_array_equal(model.predict(later), expected)
    one = several[:1].reindex(columns=frame.columns)
    np.testing.assert_array_equal(model.predict(one), expected[:1])
    with pytest.raises(ValueError, match="column 'color' of X holds numbers: it held words"):
        model.predict(several.assign(color=[np.nan, 1.0, np.nan]))


def test_columns_numbered_by_pandas():
    frame = pd.DataFrame({0: [1.5, 2.5, 3.5], 1: [1, 2, 3], 2: pd.Categorical(["x", "y", "x"])})
    table, columns = tables.read(frame)
    np.testing.assert_array_equal(table, [[1.5, 1.0, 0.0], [2.5, 2.0, 1.0], [3.5, 3.0, 0.0]])
    assert columns.categorical.tolist() == [False, False, True]
    assert tables.names_of(frame) is None


def objects(columns):
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_a_column_of_which_no_level_is_known_is_a_warning(kind):
    """Codes instead of words, or words in capitals: without a word every row would count as missing."""
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "numpy": objects}[kind]
    given = {"categorical_features": [0]} if kind == "numpy" else {}
    numbers = NUMBERS["real"].tolist()
    model = BoostingRegressor(max_iter=2, **given).fit(make({"color": COLORS.tolist(), "real": numbers}), Y)
    known = make({"color": ["red", "pink", "black", None], "real": numbers[:4]})
    missing = make({"color": [None] * 4, "real": numbers[:4]})
    model.predict(known)
    model.predict(missing)
    with pytest.warns(
        UserWarning, match="column .* of X: the fit saw none of these levels, so every"
    ) as caught:
        model.predict(make({"color": ["RED", "GREEN", None, "RED"], "real": numbers[:4]}))
    assert len(caught) == 1
    assert ("'color'" if kind != "numpy" else "column 0") in str(caught[0].message)


def test_a_column_of_labels_is_named():
    """Names of rows look like categories, cost levels, and teach nothing: people mean to leave them out."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.normal(size=80), "name": [f"row {row}" for row in range(80)]})
    words = "column 'name' of X has another category in every row, from which nothing is learnt: leave it out"
    with pytest.warns(UserWarning, match=words):
        BoostingRegressor(max_iter=2).fit(table, table["x"])
    codes = np.column_stack([table["x"], np.arange(80)])
    with pytest.warns(UserWarning, match="column 1 of X has another category in every row"):
        BoostingRegressor(max_iter=2, categorical_features=[1]).fit(codes, table["x"])
    weights = np.ones(80)
    weights[:20] = 0  # rows that are none
    table.loc[:19, "name"] = "row 20"
    with pytest.warns(UserWarning, match="column 'name'"):
        BoostingRegressor(max_iter=2).fit(table, table["x"], weights)
    table.loc[25, "name"] = "row 26"
    BoostingRegressor(max_iter=2).fit(table, table["x"], weights)  # without a warning: those are errors here


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_columns_of_one_name_are_named(library):
    names, columns = ["a", "b", "a", "c", "b"], np.zeros((5, 3))
    frame = pd.DataFrame(columns.T, columns=names)
    table = frame if library == "pandas" else pa.table(list(columns), names)
    with pytest.raises(
        ValueError, match="X has two columns or more of the name 'a', 'b': rename or drop them"
    ):
        BoostingRegressor().fit(table, np.arange(3.0))
