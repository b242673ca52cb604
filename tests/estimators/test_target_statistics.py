"""Categories of many levels become statistics of the targets, which no row has a share in that it is told to."""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor, losses, plot, tables
from anyboost.draws import Units, mix
from anyboost.estimators import encoding
from anyboost.estimators.rows import Labelled, Targets
from anyboost.files import container, peek

RANDOM = np.random.default_rng(0)
N, CITIES = 1500, 400
CODE = RANDOM.integers(0, CITIES, N)
EFFECT = RANDOM.normal(size=CITIES)
REAL = RANDOM.normal(size=N)
CITY = np.array([f"city {code:03d}" for code in CODE], dtype=object)
CITY[RANDOM.random(N) < 0.02] = None
Y = 2 * EFFECT[CODE] + REAL + 0.3 * RANDOM.normal(size=N)
SIZE = np.array(["small", "large"])[(REAL > 0.3).astype(int)]
QID = np.arange(N) // 15
WHOLE = RANDOM.integers(1, 4, N).astype(float)
REALS = RANDOM.uniform(0.3, 3.0, N)
FRAME = pd.DataFrame({"city": CITY, "real": REAL, "size": pd.Categorical(SIZE)})
FEW = {"max_iter": 6, "max_leaf_nodes": 8}
KINDS = {
    "squared": (BoostingRegressor("squared", **FEW), Y, {}),
    "absolute": (BoostingRegressor("absolute", **FEW), Y, {}),
    "quantile": (BoostingRegressor("quantile:0.8", **FEW), Y, {}),
    "quantiles": (BoostingRegressor("multi_quantile:0.1,0.5,0.9", **FEW), Y, {}),
    "targets": (BoostingRegressor(**FEW), np.column_stack([Y, REAL - Y]), {}),
    "poisson": (BoostingRegressor("poisson", **FEW), np.round(np.exp(Y / 3)), {}),
    "two classes": (BoostingClassifier(**FEW), np.where(Y > 0, "up", "down"), {}),
    "classes": (BoostingClassifier(**FEW), np.digitize(Y, [-1.0, 1.5]), {}),
    "ranking": (BoostingRanker(**FEW), np.digitize(Y, [-1.0, 1.5]), {"qid": QID}),
}


def bits(model, X=FRAME):
    scores = model.predict_proba(X) if isinstance(model, BoostingClassifier) else model.predict(X)
    return scores.tobytes()


def fitted(kind, rows=slice(None), weights=None, **parameters):
    model, y, given = KINDS[kind]
    given = {name: value[rows] for name, value in given.items()}
    part = FRAME.iloc[rows] if isinstance(rows, np.ndarray) else FRAME[rows]
    return clone(model).set_params(**parameters).fit(part, y[rows], sample_weight=weights, **given)


# --- the statistics


def slow_statistic(y, weights, level):
    """A weighted mean, or a quantile: where the weight from below passes the level, or midway where it meets it."""
    if level is None:
        return (weights * y).sum() / weights.sum()
    order = np.argsort(y)
    passed = np.cumsum(weights[order]) - level * weights.sum()
    at = int(np.argmax(passed >= -1e-9))
    return (y[order][at] + y[order][at + 1]) / 2 if abs(passed[at]) < 1e-9 else y[order][at]


def slow_encoding(code, y, weights, level, of, by):
    """The smoothed statistic, told to the rows `of` by the rows `by`."""
    prior, unit = slow_statistic(y, weights, level), encoding.SMOOTHING
    told = np.full(len(code), np.nan)
    for row in np.flatnonzero(of & ~np.isnan(code)):
        same = by & (code == code[row])
        mass = weights[same].sum()
        own = slow_statistic(y[same], weights[same], level) if mass > 0 else 0.0
        told[row] = (mass * own + unit * prior) / (mass + unit)
    return told[of]


@pytest.mark.parametrize("weights", [None, WHOLE], ids=["rows", "whole"])
@pytest.mark.parametrize(
    ("loss", "level"), [("squared", None), ("absolute", 0.5), ("quantile:0.8", 0.8), ("gamma", None)]
)
def test_a_row_is_told_by_the_other_folds(loss, level, weights):
    y = np.exp(Y)
    table, columns = tables.read(FRAME)
    columns, chosen = encoding.choose("auto", columns, losses.get(loss))
    assert chosen == (0,)
    rows, targets = Labelled(table, y, weights), Targets(losses.get(loss), y, np.asarray)
    found, told, about = encoding.cross_fit(rows, targets, chosen, columns, seed=3)
    masses = np.ones(N) if weights is None else weights
    everyone = np.ones(N, dtype=bool)
    later = slow_encoding(table[:, 0], y, masses, level, everyone, everyone)
    np.testing.assert_allclose(found.encode(table)[:, 0], later, rtol=1e-9)
    np.testing.assert_array_equal(found.encode(table)[:, 1:], table[:, 1:])
    # The same folds, rows of several units written out as so many rows
    units = Units(mix(3, encoding.SALT), table, y, weights)
    copies, fold = np.repeat(np.arange(N), units.counts), np.empty(units.counts.sum(), dtype=int)
    fold[np.argsort(units.keys)] = np.arange(len(fold)) % encoding.FOLDS
    expected = {}
    for number in range(encoding.FOLDS):
        of = fold == number
        given = (table[copies, 0], y[copies], np.ones(len(copies)), level, of, ~of)
        for row, value in zip(copies[of], slow_encoding(*given), strict=True):
            expected[row, number] = expected.get((row, number), (0.0, value))[0] + 1.0, value
    mass, value = np.array([expected[key] for key in sorted(expected)]).T
    np.testing.assert_allclose(told.X[:, 0], value, rtol=1e-9)
    np.testing.assert_array_equal(mass if weights is None else told.sample_weight, mass)
    np.testing.assert_array_equal(about.y, y[[row for row, _ in sorted(expected)]])


@pytest.mark.parametrize(
    ("kind", "words"),
    {
        "squared": ["mean of y"],
        "absolute": ["median of y"],
        "quantile": ["0.8 quantile of y"],
        "quantiles": ["0.1 quantile of y", "median of y", "0.9 quantile of y"],
        "targets": ["mean of y 0", "mean of y 1"],
        "two classes": ["share of up"],
        "classes": ["share of 0", "share of 1", "share of 2"],
        "ranking": ["mean of y"],
    }.items(),
)
def test_each_loss_has_its_own_statistic(kind, words):
    model = fitted(kind, max_iter=1)
    names = [f"city ({word})" for word in words]
    assert model._encoding.names(FRAME.columns) == [*names, "real", "size"]
    assert model.ensemble_.n_features == len(names) + 2
    assert model.n_features_in_ == 3
    assert model.is_categorical_.tolist() == [True, False, True]
    assert np.isfinite(np.concatenate(list(model._encoding.values.values()))).all()


def test_of_many_classes_the_heaviest_have_a_column():
    y = np.minimum(RANDOM.geometric(0.2, N), 18)
    model = BoostingClassifier(max_iter=1).fit(FRAME, y)
    weight = np.bincount(y)
    heaviest = np.sort(np.argsort(-weight, kind="stable")[: encoding.MOST_CLASSES])
    names = model._encoding.names(FRAME.columns)
    assert names == [f"city (share of {label})" for label in heaviest] + ["real", "size"]


@pytest.mark.parametrize("loss", [losses.CVaR("absolute", 0.7), 0.5 * losses.Absolute() + losses.Squared()])
def test_what_is_made_of_other_losses_has_their_statistic(loss):
    model = BoostingRegressor(loss, max_iter=2).fit(FRAME, Y)
    assert model._encoding.names(FRAME.columns)[0] == "city (median of y)"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_enough(n):
    """Where no other row tells anything, all are told the overall statistic."""
    frame = pd.DataFrame({"word": ["a", "a", "b"][:n]})
    model = BoostingRegressor("absolute", categorical_encoding="target", max_iter=2).fit(frame, Y[:n])
    assert np.isfinite(model.predict(frame)).all()
    if n == 1:
        return  # nothing to rank
    ranker = BoostingRanker(categorical_encoding="target", max_iter=2)
    assert np.isfinite(ranker.fit(frame, np.arange(n), qid=np.zeros(n)).predict(frame)).all()


# --- which columns


def test_auto_leaves_columns_of_few_levels_alone():
    few = FRAME.assign(city=[None if city is None else city[-1] for city in CITY])
    models = [
        BoostingRegressor(categorical_encoding=how, **FEW).fit(few, Y) for how in ("auto", "subset", "target")
    ]
    assert bits(models[0], few) == bits(models[1], few) != bits(models[2], few)
    assert models[0]._encoding.values == {}
    assert list(models[2]._encoding.values) == [0, 2]


def test_levels_that_are_lumped_are_spoken_of():
    with pytest.warns(UserWarning, match="column 'city' of X has 3.. levels.*categorical_encoding=.target."):
        lumped = BoostingRegressor(categorical_encoding="subset", **FEW).fit(FRAME, Y)
    assert lumped._columns.levels[0].rest
    told = BoostingRegressor(**FEW).fit(FRAME, Y)
    assert told.train_score_[-1] > lumped.train_score_[-1]


def test_what_has_no_statistic_is_refused_or_lumped():
    times = np.where(REAL > 0, 1.0, -1.0) * np.exp(Y)
    with pytest.raises(ValueError, match=r"categorical_encoding='target'.*loss cox.*'subset'"):
        BoostingRegressor("cox", categorical_encoding="target", **FEW).fit(FRAME, times)
    with pytest.warns(UserWarning, match="column 'city' of X has .* count as one: merge levels yourself"):
        model = BoostingRegressor("cox", **FEW).fit(FRAME, times)
    assert model._encoding.values == {}
    with pytest.raises(ValueError, match=r"categorical_encoding must be .auto. or"):
        BoostingRegressor(categorical_encoding="mean").fit(FRAME, Y)


def test_columns_of_numbers_that_are_named_categories():
    table = np.column_stack([CODE * 7.0, REAL])
    model = BoostingRegressor(categorical_features=[0], **FEW).fit(table, Y)
    words = BoostingRegressor(**FEW).fit(
        FRAME.assign(city=[f"{code:03d}" for code in CODE])[["city", "real"]], Y
    )
    assert model.train_score_.tolist() == words.train_score_.tolist()
    assert model._encoding.names(None)[0] == "column 0 (mean of y)"


def test_all_kinds_of_frames_are_one():
    model = BoostingRegressor(**FEW).fit(FRAME, Y)
    plain = {name: FRAME[name].astype(object).where(FRAME[name].notna(), None).tolist() for name in FRAME}
    for table in (
        FRAME.astype({"city": "category"}),
        pl.DataFrame(plain),
        pl.DataFrame(plain).cast({"city": pl.Categorical}),
        pa.table(plain),
        pa.table(plain | {"city": pa.array(plain["city"]).dictionary_encode()}),
        FRAME.astype({"city": "string"}),
    ):
        assert bits(clone(model).fit(table, Y)) == bits(model) == bits(model, table)


def test_learners_of_numbers_take_categories():
    table = FRAME[FRAME.city.notna()]
    y = Y[FRAME.city.notna()]
    model = BoostingRegressor(learner="linear", categorical_encoding="target", max_iter=30).fit(table, y)
    assert model.score(table, y) > 0.5


# --- the measure


@pytest.mark.parametrize("kind", KINDS)
def test_the_measure_is_all_that_counts(kind):
    """Weight 2 is the row twice, weight 0 no row, whatever the order: to the bit."""
    weights = np.minimum(WHOLE, 2.0)
    twice = np.repeat(np.arange(N), weights.astype(int))
    shuffled = np.random.default_rng(1).permutation(len(twice))
    once = fitted(kind, weights=weights)
    assert bits(once) == bits(fitted(kind, twice)) == bits(fitted(kind, twice[shuffled]))
    zeros = np.where(CODE % 5 == 0, 0.0, weights)
    kept = np.flatnonzero(zeros)
    assert bits(fitted(kind, weights=zeros)) == bits(fitted(kind, kept, zeros[kept]))


@pytest.mark.parametrize("loss", ["squared", "quantile:0.3"])
def test_three_times_a_row_tells_what_three_rows_do(loss):
    def told(rows, weights):
        table, columns = tables.read(FRAME.iloc[rows])
        targets = Targets(losses.get(loss), Y[rows], np.asarray)
        columns, chosen = encoding.choose("target", columns, targets.loss)
        found, given, about = encoding.cross_fit(
            Labelled(table, Y[rows], weights), targets, chosen, columns, seed=0
        )
        masses = np.ones(len(about.y)) if weights is None else given.sample_weight
        order = np.lexsort((*given.X.T, about.y))
        return [values.tobytes() for values in found.values.values()], given.X[order], masses[order]

    later, X, masses = told(np.arange(N), WHOLE)
    same, written_out, _ = told(np.repeat(np.arange(N), WHOLE.astype(int))[::-1], None)
    assert later == same
    np.testing.assert_array_equal(np.repeat(X, masses.astype(int), axis=0), written_out)


def test_weights_of_classes_are_part_of_the_measure():
    y = np.digitize(Y, [-1.0, 1.5])
    heavy = BoostingClassifier(max_iter=1, class_weight="balanced")
    twice = np.repeat(np.arange(N), WHOLE.astype(int))
    found = [
        clone(heavy).fit(FRAME.iloc[rows], y[rows], sample_weight=weights)._encoding.values[0]
        for rows, weights in ((np.arange(N), WHOLE), (twice, None))
    ]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0][-1], 1 / 3)


@pytest.mark.parametrize("kind", ["squared", "absolute", "classes"])
def test_weights_that_are_not_whole_in_any_order(kind):
    order = np.random.default_rng(2).permutation(N)
    assert bits(fitted(kind, weights=REALS)) == bits(fitted(kind, order, REALS[order], n_jobs=2))


def test_searched_rounds_depend_on_the_measure_too():
    model = BoostingRegressor(max_leaf_nodes=6, learning_rate=0.3)
    few = np.arange(800)
    weights = np.minimum(WHOLE[few], 2.0)
    twice = np.repeat(few, weights.astype(int))
    found = [
        clone(model).fit(FRAME.iloc[rows], Y[rows], sample_weight=weights)
        for rows, weights in ((few, weights), (twice[::-1], None))
    ]
    assert found[0].n_iter_ == found[1].n_iter_
    assert bits(found[0]) == bits(found[1])


# --- no leak


def noise(seed, n=2000, test=4000):
    random = np.random.default_rng(seed)
    number = random.normal(size=n + test)
    y = random.normal(size=n + test)
    words = np.array([f"w{code}" for code in random.integers(0, n // 2, n + test)], dtype=object)
    return number, words, random.normal(size=n + test), y, np.arange(n + test) < n


def test_levels_of_noise_teach_nothing():
    """As many levels as half of the rows: no more to learn from than from a random number."""
    gains, costs = [], []
    for seed in range(3):
        number, words, other, y, train = noise(seed)
        model = BoostingRegressor(max_iter=30, max_leaf_nodes=8, min_leaf_weight=20.0)
        tables_ = [pd.DataFrame({"a": number, "b": b}) for b in (words, other)]
        models = [clone(model).fit(table[train], y[train]) for table in tables_]
        drop = [model.train_score_[-1] - model.train_score_[0] for model in models]
        gains.append(drop[0] / drop[1])
        loss = [
            np.mean((m.predict(t[~train]) - y[~train]) ** 2) for m, t in zip(models, tables_, strict=True)
        ]
        costs.append(loss[0] / loss[1])
    assert np.mean(gains) < 1.05
    assert np.mean(costs) < 1.01


def test_equal_rows_do_not_betray_their_targets():
    """A table of one column and two classes: were copies of a row in one fold, its level would lack their class."""
    random = np.random.default_rng(0)
    words = np.array([f"w{code}" for code in random.integers(0, 300, 6000)], dtype=object)
    y, train = random.random(6000) < 0.5, np.arange(6000) < 4000
    frame = pd.DataFrame({"word": words})
    model = BoostingClassifier(max_iter=40, min_leaf_weight=20.0).fit(frame[train], y[train])
    assert -model.train_score_[-1] > 0.65
    proba = model.predict_proba(frame[~train])[np.arange(2000), y[~train].astype(int)]
    assert -np.log(proba).mean() < 0.71


def test_queries_do_not_betray_their_grades():
    """Rows of a query share a level: told by the others of it, each would know that it is better where they are not."""
    random = np.random.default_rng(0)
    qid = np.arange(3000) // 10
    frame = pd.DataFrame({"user": [f"u{q}" for q in qid], "x": random.normal(size=3000)})
    grades = random.integers(0, 2, 3000)
    model = BoostingRanker(max_iter=20, min_leaf_weight=20.0).fit(frame, grades, qid=qid)
    plain = BoostingRanker(max_iter=20, min_leaf_weight=20.0).fit(frame[["x"]], grades, qid=qid)
    assert model.train_score_[-1] == pytest.approx(plain.train_score_[-1], rel=0.01)


def test_rows_held_out_have_no_say():
    """Rows that say when to stop are told by the rows that are fitted, so that they say the truth."""
    number, words, _, y, train = noise(5)
    frame = pd.DataFrame({"a": number, "b": words})
    signal = y + number
    valid = {"X_val": frame[~train], "y_val": signal[~train]}
    model = BoostingRegressor(max_iter=20).fit(frame[train], signal[train], **valid)
    losses_ = [
        0.5 * np.mean((staged - signal[~train]) ** 2) for staged in model.staged_predict(frame[~train])
    ]
    assert losses_[-1] == pytest.approx(model.steps_[model.best_iteration_ - 1].valid_loss)
    held = BoostingRegressor(max_iter=60, early_stopping=True).fit(frame[train], signal[train])
    test_loss = 0.5 * np.mean((held.predict(frame[~train]) - signal[~train]) ** 2)
    assert -held.validation_score_.max() == pytest.approx(test_loss, rel=0.2)
    # The levels are those of all rows; of the rows held out, nothing else is known.
    twin = [clone(held).set_params(random_state=seed).fit(frame[train], signal[train]) for seed in (0, 1)]
    assert not np.array_equal(*(model._encoding.values[1] for model in twin))
    searched = [
        clone(model).set_params(max_iter="auto", learning_rate=0.3, random_state=seed) for seed in (0, 1)
    ]
    found = [model.fit(frame[train], signal[train])._encoding.values[1] for model in searched]
    np.testing.assert_array_equal(*found)  # of all rows, once rounds are found


def test_the_training_rows_as_a_set_that_stops():
    model = BoostingRegressor(max_iter=5, early_stopping=True, validation_fraction=None).fit(FRAME, Y)
    np.testing.assert_allclose(model.validation_score_, model.train_score_)


# --- later tables


def test_unseen_levels_get_the_prior_and_missing_ones_go_where_missing_go():
    model = BoostingRegressor(**FEW).fit(FRAME, Y)
    later = pd.DataFrame({"city": ["city 001", "elsewhere", None], "real": 0.0, "size": "small"})
    told = model._table(later)[:, 0]
    assert told[1] == model._encoding.values[0][-1, 0] == pytest.approx(Y.mean())
    assert told[0] == model._encoding.values[0][model._columns.levels[0].values.index("city 001"), 0]
    assert np.isnan(told[2])
    with pytest.warns(UserWarning, match="column 'city' of X: the fit saw none of these levels"):
        model.predict(later.iloc[1:2])
    model.predict(later.iloc[2:])
    full = FRAME.assign(city=[city or "none" for city in CITY])
    without = BoostingRegressor(**FEW).fit(full, Y)
    assert np.isfinite(without.predict(later)).all()


def test_one_row_at_a_time():
    model = BoostingRegressor(**FEW).fit(FRAME, Y)
    for table in (FRAME, FRAME.astype({"city": "category"}), FRAME.astype({"city": "string"})):
        one = np.concatenate([model.predict(table[i : i + 1]) for i in range(20)])
        np.testing.assert_array_equal(one, model.predict(FRAME)[:20])
    assert model.apply(FRAME).shape == (N, 6)
    *_, last = model.staged_predict(FRAME)
    np.testing.assert_array_equal(last, model.predict(FRAME))


# --- constraints, figures


def test_constraints_name_the_columns_of_the_table():
    with pytest.raises(ValueError, match="monotonic_cst is 1 for the column 'city', which holds categories"):
        BoostingRegressor(monotonic_cst={"city": 1}, **FEW).fit(FRAME, Y)
    BoostingRegressor(monotonic_cst={"real": 1}, **FEW).fit(FRAME, Y)
    y = np.digitize(Y, [-1.0, 1.5])
    model = BoostingClassifier(interaction_cst=[["city"], ["real", "size"]], max_iter=15).fit(FRAME, y)
    used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in model.ensemble_.hypotheses]
    for features in used:
        assert features <= {0, 1, 2, 3, 4}
    assert any(len(features & {0, 1, 2}) > 1 for features in used)
    order = clone(model).set_params(monotonic_cst=[0, 1, 0], interaction_cst="no_interactions")
    assert order.fit(FRAME, y).ensemble_.n_features == 5


def test_figures_say_what_a_column_is():
    model = BoostingRegressor(max_iter=1, max_leaf_nodes=20).fit(FRAME, Y)
    text = plot.text(model)
    assert "city (mean of y) <= " in text
    assert "city (mean of y) <= " in plot.text(model, feature_names=["city", "real", "size"])
    assert "size in {" in plot.text(
        BoostingRegressor(max_iter=1, max_depth=1).fit(FRAME, 3.0 * (SIZE == "small"))
    )


def test_leaves_and_figures_are_those_of_the_encoded_table():
    model = BoostingRegressor(max_iter=3, max_leaf_nodes=6).fit(FRAME, Y)
    leaves = model.apply(FRAME)
    scores = np.full(len(FRAME), model.ensemble_.start[0])
    for t, (c, tree) in enumerate(zip(model.ensemble_.coefficients, model.ensemble_.hypotheses, strict=True)):
        scores += c * tree.value[leaves[:, t], 0]
    np.testing.assert_allclose(scores, model.predict(FRAME), atol=1e-9)
    drawn = [text.get_text() for text in plot.tree(model).texts]
    assert any("city (mean of y)" in words for words in drawn)
    with pytest.raises(
        TypeError, match=r"ab.Binned, which ab.boost takes: give an estimator the table itself"
    ):
        BoostingRegressor().fit(ab.Binned(np.zeros((4, 1))), [0.0, 1.0, 0.0, 1.0])


# --- kept models


@pytest.mark.parametrize("kind", ["squared", "classes", "ranking"])
def test_files_and_pickles_keep_it(kind, tmp_path):
    model = fitted(kind)
    ab.save(model, tmp_path / "model")
    again = ab.load(tmp_path / "model")
    for same in (again, pickle.loads(pickle.dumps(model))):
        assert bits(same) == bits(model)
        assert same.n_features_in_ == 3
        assert same.get_params()["categorical_encoding"] == "auto"
        assert same._encoding.names(FRAME.columns) == model._encoding.names(FRAME.columns)
    ab.save(again, tmp_path / "second")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "second").read_bytes()
    assert "encoding" in peek(tmp_path / "model").header["model"]
    ab.save(BoostingRegressor(**FEW).fit(FRAME[["real"]], Y), tmp_path / "plain")
    assert "encoding" not in peek(tmp_path / "plain").header["model"]


def test_a_file_holds_any_words(tmp_path):
    words = np.array([["", "a", "ä", "日本", "x\n"][code % 5] + str(code) for code in CODE], dtype=object)
    model = BoostingRegressor(**FEW).fit(pd.DataFrame({"word": words}), Y)
    ab.save(model, tmp_path / "model")
    later = pd.DataFrame({"word": words})
    assert bits(ab.load(tmp_path / "model"), later) == bits(model, later)
    named = BoostingRegressor(categorical_features=[0], **FEW).fit(np.column_stack([CODE / 4, REAL]), Y)
    ab.save(named, tmp_path / "numbers")
    table = np.column_stack([CODE / 4, REAL])
    assert bits(ab.load(tmp_path / "numbers"), table) == bits(named, table)


def test_columns_of_no_level_and_of_one_empty_word(tmp_path):
    table = np.column_stack([np.full(N, np.nan), REAL])
    model = BoostingRegressor(categorical_features=[0], categorical_encoding="target", **FEW).fit(table, Y)
    word = pd.DataFrame({"word": np.full(N, "", dtype=object), "real": REAL})
    alone = BoostingRegressor(categorical_encoding="target", **FEW).fit(word, Y)
    for number, (one, given) in enumerate(((model, table), (alone, word))):
        ab.save(one, tmp_path / str(number))
        assert bits(ab.load(tmp_path / str(number)), given) == bits(one, given)


LIES = {
    "another number of columns": ("features", 2),
    "no statistics": ("statistics", []),
    "two statistics": ("statistics", ["a", "b"]),
    "no columns": ("columns", []),
    "another column": ("columns", [{"column": 1, "words": True}]),
    "a column that is not": ("columns", [{"column": 9, "words": True}]),
    "a column twice": ("columns", [{"column": 0, "words": True}] * 2),
    "words for numbers": ("columns", [{"column": 0, "words": False}]),
    "one more entry": ("more", 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused(lie, tmp_path):
    ab.save(BoostingRegressor(max_iter=2).fit(FRAME, Y), tmp_path / "model")
    contents = container.read(tmp_path / "model")
    header = json.loads(json.dumps(contents.header))
    name, value = LIES[lie]
    header["model"]["encoding"][name] = value
    kinds = container.DTYPES
    tensors = {
        name: np.frombuffer(contents.data, kinds[t.dtype], int(np.prod(t.shape)), t.begin).reshape(t.shape)
        for name, t in contents.tensors.items()
    }
    (tmp_path / "model").write_bytes(container.encode(header, tensors))
    with pytest.raises(ab.ModelFileError, match="cannot be loaded: "):
        ab.load(tmp_path / "model")


def test_models_of_older_files_mean_subsets():
    kept = Path(__file__).parents[1] / "files" / "kinds_1" / "regressor.safetensors"
    assert ab.load(kept).categorical_encoding == "subset"


def test_a_fit_goes_on(tmp_path):
    whole = BoostingRegressor(max_iter=8, learning_rate=0.1).fit(FRAME, Y)
    model = BoostingRegressor(max_iter=5, learning_rate=0.1, warm_start=True).fit(FRAME, Y)
    assert bits(model.set_params(max_iter=8).fit(FRAME, Y)) == bits(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="warm_start goes on from a fit"):
            model.set_params(max_iter=9, categorical_encoding="subset").fit(FRAME, Y)
    half = BoostingRegressor(
        max_iter=5, learning_rate=0.1, callbacks=[ab.Checkpoint(tmp_path / "run", every_rounds=5)]
    ).fit(FRAME, Y)
    resumed = clone(half).set_params(max_iter=8, callbacks=None)
    assert bits(resumed.fit(FRAME, Y, resume=ab.load(tmp_path / "run"))) == bits(whole)
