"""What goes wrong on the first day: each slip is answered by one sentence that names the argument and what to do."""

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import anyboost as ab

DRAWS = np.random.default_rng(0)
N = 60
HOUSES = pd.DataFrame(
    {
        "area": DRAWS.normal(100, 20, N),
        "town": pd.Categorical(DRAWS.choice(["Bern", "Chur"], N)),
        "age": DRAWS.integers(0, 90, N),
    }
)
PRICE = 5 * HOUSES["area"] + 3 * (HOUSES["town"] == "Bern")
NUMBERS = HOUSES[["area", "age"]].to_numpy()


@pytest.fixture(scope="module")
def model():
    return ab.BoostingRegressor(max_iter=2).fit(HOUSES, PRICE)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ("houses.csv", "X is the name of a file, 'houses.csv': read it first"),
        (Path("houses.csv"), "X is the name of a file, 'houses.csv': read it first"),
        (HOUSES.iloc[0], "X is a Series: take its row or column as a table"),
        (HOUSES["area"], "X is a Series: take its row or column as a table"),
        (pl.Series([1.0, 2.0]), "X is a Series: take its row or column as a table"),
        ([{"area": 90.0, "town": "Bern", "age": 3}], "X is a list of mappings: make a data frame of it"),
        ({"area": 90.0}, "X is a mapping: make a data frame of it"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_what_is_no_table_is_refused_in_fits_and_predictions(model, X, words):
    for act in (lambda: ab.BoostingRegressor(max_iter=2).fit(X, PRICE), lambda: model.predict(X)):
        with pytest.raises(TypeError, match=words):
            act()


DAYS = np.array(["2024-01-01", "2024-01-02"], "M8[D]")[np.arange(N) % 2]


@pytest.mark.parametrize(
    "y",
    [DAYS, DAYS.astype("M8[ns]"), DAYS - DAYS[0], pd.Series(DAYS).dt.tz_localize("UTC"), DAYS.tolist()],
    ids=["days", "nanoseconds", "durations", "with a zone", "objects"],
)
def test_dates_are_neither_classes_nor_numbers(y):
    """Of some, classes became whole numbers in streams and in ONNX, and no file had them."""
    X = NUMBERS.astype(float)
    for make in (ab.BoostingClassifier, ab.OnlineBoostingClassifier, ab.MirrorAveragingClassifier):
        with pytest.raises(
            ValueError, match=r"y holds a date or a time, .* at row 0: turn it into a class, a word"
        ):
            make().fit(X, y)
    for make in (ab.BoostingRegressor, ab.OnlineBoostingRegressor):
        with pytest.raises(
            ValueError, match=r"y holds a date or a time, .* at row 0: turn it into a number, such"
        ):
            make().fit(X, y)
    for label in (y[0], np.asarray(y)[0]):
        with pytest.raises(ValueError, match="y holds a date or a time"):
            ab.OnlineBoostingClassifier(learner="linear").learn_one({"a": 1.0}, label)


def test_half_a_character_is_said_to_be_none():
    """Bytes of another encoding, as `open(path, errors="surrogateescape")` leaves them."""
    words = np.array([f"Z\udcfcrich {number % 3}" for number in range(N)], dtype=object)
    frame = HOUSES.assign(town=pd.Series(words, dtype=object))
    told = r"holds text that is not Unicode, 'Z\\udcfcrich 0': read it by the encoding it was written in"
    with pytest.raises(ValueError, match=f"column 'town' of X {told}"):
        ab.BoostingRegressor(max_iter=2).fit(frame, PRICE)
    table = np.column_stack([words, NUMBERS[:, 0].astype(object)])
    with pytest.raises(ValueError, match=f"column 0 of X {told}"):
        ab.BoostingRegressor(max_iter=2, categorical_features=[0]).fit(table, PRICE)
    with pytest.raises(ValueError, match=f"column 'town' of X {told}"):
        ab.OnlineBoostingRegressor(learner="linear").learn_many(frame, PRICE)
    with pytest.raises(ValueError, match="a feature holds text that is not Unicode"):
        ab.OnlineBoostingRegressor(learner="linear", hash_bits=8).learn_one({"town": words[0]}, 1.0)


@pytest.mark.parametrize("words", ["old", "3 years"])
def test_words_in_a_column_that_held_numbers(model, words):
    with pytest.raises(
        ValueError, match="column 'age' of X holds words: it held numbers in the training table"
    ):
        model.predict(HOUSES.assign(age=words))


SLIPS = {
    "a loss as a function": (
        lambda: ab.BoostingRegressor(lambda score, y: (score - y) ** 2).fit(HOUSES, PRICE),
        "loss must be a name or a loss, got <function .*: a function becomes one by ab.losses.pointwise",
    ),
    "targets where the loss goes": (
        lambda: ab.cv(HOUSES, PRICE, PRICE),
        "loss must be a name or a loss, got 0 ",
    ),
    "an estimator for cv": (
        lambda: ab.cv(ab.BoostingRegressor(), HOUSES, PRICE),
        "X is the estimator BoostingRegressor: cv runs boost; give estimators to .*cross_val_score",
    ),
    "dates": (
        lambda: ab.BoostingRegressor().fit(HOUSES.assign(day=pd.date_range("2024-01-01", periods=N)), PRICE),
        "column 'day' of X holds Datetime: turn it into numbers or a category, such as the year",
    ),
    "dates as categories": (
        lambda: ab.BoostingRegressor(categorical_features=["day"]).fit(
            pl.DataFrame({"day": [date(2024, 1, 1)] * N}), PRICE
        ),
        "column 'day' of X holds Date: turn it into numbers",
    ),
    "lengths of time": (
        lambda: ab.BoostingRegressor().fit(HOUSES.assign(age=pd.to_timedelta(HOUSES["age"], "D")), PRICE),
        "column 'age' of X holds Duration: turn it into numbers or a category, such as its seconds",
    ),
    "months": (
        lambda: ab.BoostingRegressor().fit(
            HOUSES.assign(month=pd.period_range("2020-01", periods=N, freq="M")), PRICE
        ),
        r"column 'month' of X holds period\[M\]: turn it into numbers or a category",
    ),
    "numbers and words in one column": (
        lambda: ab.BoostingRegressor().fit(HOUSES.assign(age=[1, "old"] * (N // 2)), PRICE),
        r"column 'age' of X holds words among other values, such as 'old': turn all of it into numbers "
        r"\(pandas.to_numeric\), or all of it into words \(astype\(str\)\)",
    ),
    "lists in cells": (
        lambda: ab.BoostingRegressor().fit(HOUSES.assign(age=[[1, 2]] * N), PRICE),
        r"column 'age' of X holds \[1, 2\]: turn all of it into numbers",
    ),
    "classes of which one is missing": (
        lambda: ab.BoostingClassifier().fit(HOUSES, pd.Series([None, "a", "b"] * (N // 3), dtype="string")),
        "y has no label at row 0: drop rows without one",
    ),
    "the same of objects": (
        lambda: ab.BoostingClassifier().fit(HOUSES, np.array([None, "a", "b"] * (N // 3), dtype=object)),
        "y has no label at row 0: drop rows without one",
    ),
    "numbers as classes": (
        lambda: ab.BoostingClassifier().fit(HOUSES, PRICE),
        "y holds [0-9.]+ at row 0, and classes are words or whole numbers; .* BoostingRegressor",
    ),
    "a seed in words": (
        lambda: ab.BoostingRegressor(max_iter=2, random_state="first").fit(HOUSES, PRICE),
        "random_state: 'first' cannot be used to seed .*; give a whole number, None or a RandomState",
    ),
    "levels left out": (
        lambda: ab.BoostingRegressor("multi_quantile").fit(HOUSES, PRICE),
        "loss 'multi_quantile' needs its levels: write e.g. 'multi_quantile:0.05,0.5,0.95'",
    ),
    "a learner's class": (
        lambda: ab.boost(NUMBERS, PRICE, learner=ab.weak.Stump),
        r"learner must be a weak learner, got the class Stump: write Stump\(\)",
    ),
    "the same in an estimator": (
        lambda: ab.BoostingRegressor(learner=ab.weak.Tree).fit(NUMBERS, PRICE),
        r"learner must be a weak learner, got the class Tree: write Tree\(\)",
    ),
    "a keyword of a stream misspelt": (
        lambda: ab.OnlineBoostingRegressor(n_learner=3),
        "OnlineBoostingRegressor has no argument 'n_learner': use n_learners",
    ),
    "the same of classes": (
        lambda: ab.OnlineBoostingClassifier(max_row_kept=3),
        "OnlineBoostingClassifier has no argument 'max_row_kept': use max_rows_kept",
    ),
    "a keyword of a pool misspelt": (
        lambda: ab.MirrorAveragingRegressor(model=[]),
        "MirrorAveragingRegressor has no argument 'model': use models",
    ),
    "y before x": (
        lambda: ab.OnlineBoostingRegressor().learn_one(1.0, {"area": 90.0}),
        "x must be a dict of features, got float",
    ),
    "a row that is no dict": (
        lambda: ab.OnlineBoostingRegressor().predict_one([1.0, 2.0]),
        "x must be a dict of features, got list",
    ),
    "a pool left out": (
        lambda: ab.MirrorAveragingRegressor().fit(HOUSES, PRICE),
        "X must hold numbers, got the word '(Bern|Chur)' at row 0, column 1: .* where models is None, so give models",
    ),
    "a radius in words": (
        lambda: ab.boost(NUMBERS, PRICE, rounds=2).floor(radius="large"),
        "radius must be a number >= 0, got 'large'",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence(slip):
    act, words = SLIPS[slip]
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        act()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("write", [ab.report.write, ab.export.to_onnx, ab.export.to_json, ab.save])
@pytest.mark.parametrize("path", [None, 3.5, ["a.html"]])
def test_what_is_no_name_of_a_file(model, write, path):
    with pytest.raises(TypeError, match=r"path must be the name of a file, got (NoneType|float|list)"):
        write(model, path)


def test_a_file_to_load_is_a_name(model):
    with pytest.raises(TypeError, match="path must be the name of a file, got BoostingRegressor"):
        ab.load(model)


def test_a_name_that_is_not_here_lets_python_say_what_was_meant():
    with pytest.raises(AttributeError, match="has no attribute 'BoostingRegresor'") as raised:
        ab.BoostingRegresor  # noqa: B018
    assert raised.value.obj is ab
    assert raised.value.name == "BoostingRegresor"
    assert "BoostingRegressor" in dir(ab)
