"""One row by itself: the short way through a team says and learns what the way of tables does, to the last bit."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.online import rows as encoded
from anyboost.streams.batch_row import BatchRow
from anyboost.streams.rows_kept import RowsKept

REGRESSOR, CLASSIFIER = ab.OnlineBoostingRegressor, ab.OnlineBoostingClassifier


def stream(n, seed=0, levels=3):
    """Named rows with text of so many levels, missing cells, and a score."""
    random = np.random.default_rng(seed)
    X, words = random.normal(size=(n, 3)), random.integers(0, levels, size=n)
    rows = [
        {"a": a, "b": b if i % 7 else None, "c": c, "kind": f"k{word}", "late": 1.0 if i > n // 2 else None}
        for i, ((a, b, c), word) in enumerate(zip(X.tolist(), words.tolist(), strict=True))
    ]
    return rows, X[:, 0] * X[:, 1] + X[:, 2] + words % 3


def unusual():
    """Rows of new texts, new names, nothing and much."""
    return [{}, {"kind": "never seen"}, {"new": 1.0}, {"kind": None, "a": 0.0}, {"a": 1e300, "kind": "k1"}]


MODELS = {
    "numbers": (REGRESSOR, lambda score: score),
    "two classes": (CLASSIFIER, lambda score: score > 1),
    "many classes": (CLASSIFIER, lambda score: np.digitize(score, np.linspace(-1, 3, 9))),
    "hashed": (lambda: CLASSIFIER(hash_bits=5), lambda score: score > 1),
    "absolute": (lambda: REGRESSOR(loss="absolute"), lambda score: score),
}


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_row_is_answered_as_a_table_of_one_is(kind):
    make, labels = MODELS[kind]
    rows, score = stream(600)
    model = make()
    model.learn_many(rows, labels(score))
    later = stream(40, seed=1)[0] + unusual()
    if hasattr(model, "predict_proba_one"):
        assert [model.predict_proba_one(x) for x in later] == [
            model.predict_proba_many([x])[0] for x in later
        ]
    else:
        assert [model.predict_one(x) for x in later] == [model.predict_many([x])[0] for x in later]
    assert (
        model._team()._one_row is not None
    )  # else every row takes the long way, which is five times as long


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
@pytest.mark.parametrize("levels", [3, 400])
def test_a_fitted_booster_answers_encoded_rows_as_it_answers_tables(make, levels):
    rows, score = stream(700, levels=levels)
    model = make()
    model.learn_many(rows, score if make is REGRESSOR else np.digitize(score, [0.5, 1.5]))
    expert = next(each for each in model._team().refitted if each.name == "all rows")
    assert bool(expert.model._encoding.values) == (levels > 254)  # more than trees have bins for
    own, features = BatchRow(expert.layout, expert.model), model._named()
    for x in stream(60, seed=1, levels=levels)[0] + unusual():
        columns, values = features.row(x, False)
        table = expert.layout.table(encoded.one_row(columns, values, features.width))
        np.testing.assert_array_equal(own.scores_of(columns, values), expert.model._raw(table)[..., :])


def test_rows_kept_one_by_one_are_those_kept_together():
    random = np.random.default_rng(0)
    together, apart = RowsKept(100, 30, seed=3), RowsKept(100, 30, seed=3)
    for y in range(500):
        columns = np.flatnonzero(random.random(6) < 0.5)
        values = random.normal(size=len(columns))
        together.add(encoded.one_row(columns, values, 6), np.array([y]), np.ones(1))
        apart.add_row(columns, values, 6, y, 1.0)
    for one, other in zip(together.last(), apart.last(), strict=True):
        for a, b in zip(
            one if isinstance(one, tuple) else [one],
            other if isinstance(other, tuple) else [other],
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
def test_asking_about_other_rows_changes_nothing_of_what_is_learnt(make):
    rows, score = stream(300)
    y = (score if make is REGRESSOR else score > 1).tolist()
    asked, silent = make(), make()
    for i, (x, label) in enumerate(zip(rows, y, strict=True)):
        asked.predict_one(rows[i - 1])
        asked.predict_one(x)
        asked.learn_one(x, label)
        silent.learn_one(x, label)
    assert asked.regret() == silent.regret()
    assert [asked.predict_one(x) for x in rows] == [silent.predict_one(x) for x in rows]


def test_numbers_that_are_none_are_refused_on_the_short_way_too():
    model = REGRESSOR()
    model.learn_many([{"a": float(i)} for i in range(30)], np.arange(30.0))
    before = model.regret()
    for y, w in (
        (np.nan, 1.0),
        (np.inf, 1.0),
        ("word", 1.0),
        (1.0, np.nan),
        (1.0, -1.0),
        (1.0, 1e200),
    ):
        with pytest.raises(ValueError, match="must"):
            model.learn_one({"a": 1.0}, y, w)
    assert model.regret() == before
