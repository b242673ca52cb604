"""What a user steers a fit with: stopping, validation sets, scores, starts, warm starts, callbacks, checkpoints."""

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GridSearchCV

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.estimators import progress

X, Y = load_diabetes(return_X_y=True)
TRAIN, TEST = slice(None, 300), slice(300, None)
SPLIT = {"X": X[TRAIN], "y": Y[TRAIN], "X_val": X[TEST], "y_val": Y[TEST]}


def half_squared(model, X, y):
    return 0.5 * np.mean((model.predict(X) - y) ** 2)


def test_the_parameters_reach_the_trees():
    model = BoostingRegressor(max_iter=7, max_leaf_nodes=5, max_depth=2).fit(X, Y)
    assert len(model.ensemble_) == 7
    assert all(tree.n_leaves <= 4 for tree in model.ensemble_.hypotheses)
    free = BoostingRegressor(max_iter=1, max_leaf_nodes=None, min_leaf_weight=5.0).fit(X, Y)
    assert free.ensemble_.hypotheses[0].n_leaves > 31
    few = BoostingRegressor(max_iter=3, max_bins=2).fit(X, Y)
    assert len(np.unique(few.predict(X))) < len(np.unique(model.predict(X)))
    fast, slow = (BoostingRegressor(max_iter=3, learning_rate=rate).fit(X, Y) for rate in (0.5, 0.01))
    assert fast.train_score_[-1] > slow.train_score_[-1]
    for sampled in ({"subsample": 0.5}, {"max_features": 0.3}):
        one, same, other = (
            BoostingRegressor(max_iter=5, random_state=seed, **sampled).fit(X, Y).predict(X)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


def test_any_learner_and_any_descent():
    stumps = BoostingRegressor(learner="stump", descent=ab.descent.Residual(ab.steps.InverseSqrt(0.2))).fit(
        X, Y
    )
    run = ab.boost(X, Y, "squared", "stump", ab.descent.Residual(ab.steps.InverseSqrt(0.2)), 100)
    np.testing.assert_array_equal(stumps.predict(X), run.ensemble.predict(X))
    columns = BoostingRegressor(learner=ab.weak.Dictionary(), learning_rate=0.5, max_iter=300).fit(X, Y)
    line = LinearRegression(fit_intercept=False).fit(X, Y - Y.mean())
    assert columns.score(X, Y) == pytest.approx(line.score(X, Y - Y.mean()), abs=0.01)
    y = np.where(np.median(Y) < Y, 1, 0)
    weak = BoostingClassifier("exponential", learner=ab.weak.Classifier(), max_iter=20).fit(X, y)
    assert weak.score(X, y) > 0.7


def test_threads_do_not_change_the_model():
    one, two, all_but_one = (
        BoostingRegressor(max_iter=5, n_jobs=jobs).fit(X, Y).predict(X) for jobs in (1, 2, -2)
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, all_but_one)


def test_staged_predictions_end_at_the_prediction():
    model = BoostingRegressor("poisson", max_iter=6).fit(X, Y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 6
    np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    np.testing.assert_allclose(
        stages[2], BoostingRegressor("poisson", max_iter=3).fit(X, Y).predict(X), rtol=1e-12
    )
    iris, kinds = load_iris(return_X_y=True)
    classes = BoostingClassifier(max_iter=4).fit(iris, kinds)
    for staged, last in (
        (classes.staged_predict, classes.predict),
        (classes.staged_predict_proba, classes.predict_proba),
        (classes.staged_decision_function, classes.decision_function),
    ):
        np.testing.assert_allclose(list(staged(iris))[-1], last(iris), rtol=1e-12)


def test_apply_names_the_leaf_of_each_tree():
    model = BoostingRegressor(max_iter=6, max_leaf_nodes=4).fit(X, Y)
    leaves = model.apply(X)
    assert leaves.shape == (len(X), 6)
    for rows, tree, factor in zip(
        leaves.T, model.ensemble_.hypotheses, model.ensemble_.coefficients, strict=True
    ):
        assert (tree.feature[rows] == -1).all()
        np.testing.assert_array_equal(tree.value[rows, 0] * factor, factor * tree.predict(X))


def test_a_validation_set_is_followed_round_by_round():
    model = BoostingRegressor(max_iter=20).fit(**SPLIT)
    curve = model.validation_scores_["valid"]["loss"]
    assert len(curve) == 21
    assert curve[0] == pytest.approx(0.5 * np.mean((Y[TEST] - Y[TRAIN].mean()) ** 2))
    for t, predictions in enumerate(model.staged_predict(X[TEST]), start=1):
        assert curve[t] == pytest.approx(0.5 * np.mean((predictions - Y[TEST]) ** 2))
    np.testing.assert_array_equal(model.validation_score_, -curve)
    assert model.best_iteration_ == np.argmin(curve)
    assert model.n_iter_ == len(model.steps_) == model.ensemble_.n_rounds == 20
    assert model.train_score_[-1] == -model.steps_[-1].loss


def test_without_a_validation_set_its_scores_are_empty():
    model = BoostingRegressor(max_iter=2).fit(**SPLIT)
    assert len(model.validation_score_) == 3
    model.fit(X, Y)
    assert model.validation_score_.shape == (0,)
    assert model.validation_scores_ == {}
    assert [line.get_label() for line in ab.plot.rounds(model).get_lines()] == ["training loss"]


def test_without_categories_there_is_no_mask_of_them():
    for table in (X, pd.DataFrame(X).add_prefix("x")):
        for spec in ([], [False] * X.shape[1], None, "from_dtype"):
            assert (
                BoostingRegressor(max_iter=1, categorical_features=spec).fit(table, Y).is_categorical_ is None
            )
    model = BoostingRegressor(max_iter=1, categorical_features=[1]).fit(X, Y)
    assert model.is_categorical_.tolist() == [False, True] + [False] * 8


def test_early_stopping_keeps_the_best_round():
    model = BoostingRegressor(max_iter=500, early_stopping=True, n_iter_no_change=7).fit(**SPLIT)
    curve = model.validation_scores_["valid"]["loss"]
    assert model.n_iter_ == model.best_iteration_ + 7 < 500
    assert model.best_iteration_ == np.argmin(curve) == model.ensemble_.n_rounds
    assert half_squared(model, X[TEST], Y[TEST]) == pytest.approx(curve.min())
    patient = BoostingRegressor(max_iter=500, early_stopping=True, n_iter_no_change=7, tol=1000.0).fit(
        **SPLIT
    )
    assert patient.n_iter_ < model.n_iter_


def test_without_a_set_a_share_of_the_rows_is_held_out():
    model = BoostingRegressor(max_iter=200, early_stopping=True, validation_fraction=0.25, random_state=1)
    fitted = clone(model).fit(X, Y)
    assert fitted.n_iter_ < 200
    np.testing.assert_array_equal(fitted.predict(X), clone(model).fit(X, Y).predict(X))
    y = np.r_[np.zeros(95), np.ones(5)]
    rare = BoostingClassifier(max_iter=20, early_stopping=True, random_state=0).fit(X[:100], y)
    assert rare.classes_.tolist() == [0.0, 1.0]
    qid = np.arange(len(Y)) // 20
    ranker = BoostingRanker(max_iter=20, early_stopping=True, random_state=0).fit(X, Y, qid)
    assert ranker.n_iter_ <= 20


@pytest.mark.parametrize("kind", [BoostingRegressor, BoostingClassifier, BoostingRanker])
def test_without_rows_to_hold_out_the_training_score_stops(kind):
    """HistGradientBoosting's `validation_fraction=None`: a small sample keeps all its rows."""
    y = np.digitize(Y, [100, 200])
    given = {"learning_rate": 0.1, "subsample": 1.0}
    model = kind(
        max_iter=400, early_stopping=True, validation_fraction=None, n_iter_no_change=3, tol=0.01, **given
    )
    queries = {"qid": np.zeros(len(y))} if kind is BoostingRanker else {}
    model.fit(X, y, **queries)
    assert model.n_iter_ < 400
    np.testing.assert_allclose(model.validation_scores_["train"]["loss"], -model.train_score_)
    whole = kind(max_iter=model.best_iteration_, **given).fit(X, y, **queries)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


def test_several_named_sets_and_several_scores():
    X, y = load_breast_cancer(return_X_y=True)
    sets = {
        "late": (X[400:], y[400:]),
        "early": {"X": X[300:400], "y": y[300:400], "sample_weight": np.arange(1, 101)},
    }
    scoring = ["roc_auc", "loss", "neg_log_loss", "accuracy"]
    model = BoostingClassifier(max_iter=15, early_stopping=False, scoring=scoring)
    model.fit(X[:300], y[:300], valid=sets)
    assert list(model.validation_scores_) == ["late", "early"]
    assert list(model.validation_scores_["late"]) == scoring
    for name, rows, weights in (
        ("late", slice(400, None), None),
        ("early", slice(300, 400), np.arange(1, 101)),
    ):
        found = {key: values[-1] for key, values in model.validation_scores_[name].items()}
        probability = model.predict_proba(X[rows])[:, 1]
        assert found["roc_auc"] == pytest.approx(roc_auc_score(y[rows], probability, sample_weight=weights))
        assert found["loss"] == pytest.approx(log_loss(y[rows], probability, sample_weight=weights))
        assert found["neg_log_loss"] == pytest.approx(-found["loss"])
        assert found["accuracy"] == pytest.approx(model.score(X[rows], y[rows], sample_weight=weights))
    np.testing.assert_array_equal(model.validation_score_, model.validation_scores_["late"]["roc_auc"])
    assert model.best_iteration_ == np.argmax(model.validation_score_)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", half_squared, None, ["loss", "r2"]])
def test_scores_of_every_kind_may_decide(scoring):
    model = BoostingRegressor(max_iter=10, early_stopping=False, scoring=scoring).fit(**SPLIT)
    final = model.validation_score_[-1]
    expected = {
        "neg_mean_absolute_error": lambda: -mean_absolute_error(Y[TEST], model.predict(X[TEST])),
        "None": lambda: model.score(X[TEST], Y[TEST]),
        "['loss', 'r2']": lambda: -half_squared(model, X[TEST], Y[TEST]),
    }.get(str(scoring), lambda: half_squared(model, X[TEST], Y[TEST]))()
    assert final == pytest.approx(expected)


@pytest.mark.parametrize(
    "given",
    [{}, {"init": LinearRegression()}, {"subsample": 0.7, "random_state": 1}, {"learner": "linear"}],
    ids=["plain", "an estimator first", "sampled", "linear"],
)
def test_a_scorer_may_predict_for_any_rows(given):
    frame, first = pd.DataFrame(X).add_prefix("x"), []

    def worst(model, table, y):
        whole, n = model.predict(table), len(first)
        assert table is split["X_val"]
        np.testing.assert_allclose(model.predict(table.iloc[::-1])[::-1], whole, rtol=1e-12)
        np.testing.assert_allclose(model.predict(table.iloc[:7]), whole[:7], rtol=1e-12)
        if n:
            np.testing.assert_allclose(list(model.staged_predict(table))[-1], whole, rtol=1e-12)
        assert len(model.ensemble_.shrinks) == n
        first.append(whole[0])
        whole -= y  # what a scorer is given is its own
        return -np.abs(whole).max()

    split = {"X": frame[TRAIN], "y": Y[TRAIN], "X_val": frame[TEST], "y_val": Y[TEST]}
    model = BoostingRegressor(max_iter=5, early_stopping=False, scoring=worst, **given).fit(**split)
    stages = [predictions[0] for predictions in model.staged_predict(frame[TEST])]
    np.testing.assert_allclose(first[1:], stages, rtol=1e-12)
    assert model.validation_score_[-1] == -np.abs(model.predict(frame[TEST]) - Y[TEST]).max()


@pytest.mark.parametrize(("fraction", "weight"), [(None, 441), (0.1, 45)])
def test_a_scorer_sees_the_table_as_it_was_given(fraction, weight):
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.where(X[:, 1] > 0, "a", "b")})
    weights, shown = np.arange(len(Y)) % 3.0, []  # rows of weight 0 are no rows

    def seen(model, table, y, sample_weight=None):
        assert list(table) == ["size", "kind"]
        assert set(table["kind"]) == {"a", "b"}
        some = table[table["kind"] == "a"]
        np.testing.assert_allclose(model.predict(some), model.predict(table)[table["kind"] == "a"])
        assert sample_weight.min() == 1
        shown.append(sample_weight.sum())
        return model.score(table, y, sample_weight)

    model = BoostingRegressor(max_iter=3, early_stopping=True, scoring=seen, validation_fraction=fraction)
    model.fit(frame, Y, weights)
    assert shown == [weight] * 4


def test_a_scorer_sees_scores_with_the_offset_of_its_set():
    offset = X[:, 3] * 100

    def half(model, table, y):
        whole = model.predict(table)
        np.testing.assert_allclose(model.predict(table, offset=offset[TEST]), whole, rtol=1e-12)
        np.testing.assert_allclose(model.predict(table[:5]) + offset[TEST][:5], whole[:5], rtol=1e-12)
        return -0.5 * np.mean((whole - y) ** 2)

    valid = {"X": X[TEST], "y": Y[TEST], "offset": offset[TEST]}
    model = BoostingRegressor(max_iter=3, scoring=["loss", half])
    model.fit(X[TRAIN], Y[TRAIN], offset=offset[TRAIN], valid=valid)
    scores = model.validation_scores_["valid"]
    np.testing.assert_allclose(scores["half"], -scores["loss"], rtol=1e-12)


def test_class_weights():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :2], y
    plain = BoostingClassifier(max_iter=10, max_leaf_nodes=3).fit(X, y)
    heavy = BoostingClassifier(max_iter=10, max_leaf_nodes=3, class_weight={0: 20.0}).fit(X, y)
    assert heavy.predict(X).mean() < plain.predict(X).mean()
    np.testing.assert_array_equal(
        heavy.predict_proba(X),
        BoostingClassifier(max_iter=10, max_leaf_nodes=3)
        .fit(X, y, np.where(y == 0, 20.0, 1.0))
        .predict_proba(X),
    )
    # Class weights change the loss on a validation set, but no score of another name.
    watched = BoostingClassifier(max_iter=3, class_weight={0: 20.0}, scoring=["loss", "accuracy"])
    found = watched.fit(X, y, X_val=X, y_val=y).validation_scores_["valid"]
    np.testing.assert_allclose(found["loss"], -watched.train_score_)
    assert found["accuracy"][-1] == pytest.approx(watched.score(X, y))
    balanced = BoostingClassifier(max_iter=0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba(X[:1]), [[0.5, 0.5]])


def test_an_offset_at_fit_and_at_predict():
    random = np.random.default_rng(0)
    features, exposure = random.normal(size=(800, 2)), random.uniform(0.1, 10.0, 800)
    rate = np.exp(0.5 * features[:, 0])
    counts = random.poisson(rate * exposure).astype(float)
    model = BoostingRegressor("poisson", max_iter=60, max_leaf_nodes=4)
    model.fit(features, counts, offset=np.log(exposure))
    assert np.corrcoef(np.log(model.predict(features)), np.log(rate))[0, 1] > 0.95
    assert model.predict(features).mean() == pytest.approx(rate.mean(), rel=0.05)
    np.testing.assert_allclose(
        model.predict(features, offset=np.log(exposure)), model.predict(features) * exposure, rtol=1e-9
    )
    # The constant suits the offset: without a tree, the mean count is met already.
    constant = BoostingRegressor("poisson", max_iter=0).fit(features, counts, offset=np.log(exposure))
    assert constant.predict(features, offset=np.log(exposure)).sum() == pytest.approx(counts.sum())
    watched = BoostingRegressor("poisson", max_iter=5).fit(
        features,
        counts,
        offset=np.log(exposure),
        valid={"same": {"X": features, "y": counts, "offset": np.log(exposure)}},
    )
    np.testing.assert_allclose(watched.validation_scores_["same"]["loss"], -watched.train_score_, rtol=1e-9)


def test_a_start_of_its_own():
    zero = BoostingRegressor(init=0.0, max_iter=0).fit(X, Y)
    assert (zero.predict(X) == 0).all()
    both = BoostingRegressor(init=100.0, max_iter=0).fit(X, Y, offset=Y)
    np.testing.assert_allclose(both.predict(X, offset=Y), 100.0 + Y)
    line = LinearRegression()
    model = BoostingRegressor(init=line, max_iter=5, max_leaf_nodes=3).fit(**SPLIT)
    alone = LinearRegression().fit(X[TRAIN], Y[TRAIN])
    assert not hasattr(line, "coef_")
    assert model.score(X[TRAIN], Y[TRAIN]) > alone.score(X[TRAIN], Y[TRAIN])
    constant = BoostingRegressor(init=line, max_iter=0).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(constant.predict(X[TEST]), alone.predict(X[TEST]))
    assert model.validation_scores_["valid"]["loss"][0] == pytest.approx(
        half_squared(alone, X[TEST], Y[TEST])
    )
    iris, kinds = load_iris(return_X_y=True)
    classes = BoostingClassifier(init=LogisticRegression(max_iter=500), max_iter=0).fit(iris, kinds)
    logistic = LogisticRegression(max_iter=500).fit(iris, kinds)
    np.testing.assert_allclose(classes.predict_proba(iris), logistic.predict_proba(iris), atol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_warm_start_ends_where_a_whole_fit_does(loss):
    sampled = {"subsample": 0.7, "random_state": 3, "memory": 0.8}
    whole = BoostingRegressor(loss, max_iter=12, **sampled).fit(**SPLIT)
    warm = BoostingRegressor(loss, max_iter=5, warm_start=True, **sampled).fit(**SPLIT)
    warm.set_params(max_iter=12).fit(**SPLIT)
    assert warm.n_iter_ == 12
    np.testing.assert_array_equal(warm.predict(X), whole.predict(X))
    np.testing.assert_array_equal(warm.validation_score_, whole.validation_score_)
    with pytest.raises(
        ValueError, match="max_iter counts from the first round: the warm start has 12, got 5"
    ):
        warm.set_params(max_iter=5).fit(**SPLIT)
    with pytest.raises(
        ValueError, match=r"warm_start goes on from a fit to other data: pass .* or set warm_start=False"
    ):
        warm.set_params(max_iter=20).fit(X, Y)
    with pytest.raises(ValueError, match="other data"):
        warm.fit(X[TRAIN][:, :4], Y[TRAIN])
    cold = BoostingRegressor(loss, max_iter=5, **sampled).fit(X, Y)
    assert cold.set_params(max_iter=6).fit(**SPLIT).n_iter_ == 6


SETTLED = {
    "loss": "huber",
    "subsample": 0.5,
    "max_features": 0.7,
    "max_bins": 9,
    "leaf": "mean",
    "memory": 0.3,
    "outputs": "each",
    "monotonic_cst": {0: 1},
    "interaction_cst": "pairwise",
    "learner": "linear",
    "descent": "hull",
}


@pytest.mark.parametrize("name", SETTLED)
def test_a_warm_start_keeps_what_holds_for_the_whole_model(name):
    y = np.column_stack([Y, -Y]) if name == "outputs" else Y
    warm = BoostingRegressor("absolute", max_iter=2, outputs="joint", warm_start=True).fit(X, y)
    own = {"outputs": "auto", "leaf": "auto", "memory": "auto", "learning_rate": 0.1}
    given = own | {name: SETTLED[name]} if name == "learner" else {name: SETTLED[name]}
    words = rf"warm_start goes on from a fit whose {name} is .*, and now it is .*set warm_start=False"
    with pytest.raises(ValueError, match=words):
        warm.set_params(max_iter=4, **given).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_warm_start_may_take_other_trees_and_another_rate(loss):
    kind, y = (BoostingRegressor, Y) if loss == "squared" else (BoostingClassifier, np.median(Y) < Y)
    warm = kind(loss, max_iter=4, max_depth=1, warm_start=True).fit(X, y)
    first = warm.ensemble_
    warm.set_params(max_iter=9, max_depth=4, max_leaf_nodes=9, learning_rate=0.03, min_leaf_weight=20)
    warm.set_params(l2_regularization=0.1).fit(X, y)
    trees = warm.ensemble_.hypotheses
    assert [tree.n_leaves for tree in trees[:4]] == [2] * 4
    assert all(2 < tree.n_leaves <= 9 for tree in trees[4:])
    np.testing.assert_array_equal(warm.ensemble_.truncate(4).predict(X), first.predict(X))
    rates = [step.step_size for step in warm.steps_]
    np.testing.assert_allclose(np.divide(rates[:4], rates[4]), 1 / 0.3)
    assert np.all(np.diff(warm.train_score_) > 0)
    scores = warm._raw(X)
    assert warm.train_score_[-1] == pytest.approx(
        -warm.loss_.value(scores, warm._targets(y, None).y), rel=1e-9
    )


def test_a_floor_after_a_warm_start_is_one_of_the_trees_it_has_now():
    signs, runs = np.random.default_rng(0).choice([-1.0, 1.0], (400, 2)), []
    y = signs[:, 0] * signs[:, 1]  # nothing for stumps
    warm = BoostingRegressor(max_iter=8, max_leaf_nodes=2, warm_start=True)
    warm.set_params(callbacks=[lambda _, run: runs.append(run)]).fit(signs, y)
    stumps = runs[-1]
    warm.set_params(max_iter=11, max_leaf_nodes=31).fit(signs, y)
    trees = runs[-1]
    assert trees.learner.max_leaves == 31
    assert {witness.rounds for witness in trees.witnesses} == {11}
    other = ab.boost(signs, y, "squared", trees.learner, ab.descent.Naive(ab.steps.Constant(1.0)), 3)
    assert trees.floor(other.norm) <= other.state.loss < stumps.floor(other.norm)


def test_a_warm_start_with_a_descent_that_found_its_own_step():
    given = {"learner": "stump", "descent": "naive"}
    warm = BoostingRegressor(max_iter=3, warm_start=True, **given).fit(X, Y)
    warm.set_params(max_iter=6).fit(X, Y)
    np.testing.assert_array_equal(
        warm.predict(X), BoostingRegressor(max_iter=6, **given).fit(X, Y).predict(X)
    )


def test_a_warm_start_holds_out_the_same_rows():
    given = {"early_stopping": True, "n_iter_no_change": 100}
    warm = BoostingRegressor(max_iter=5, warm_start=True, **given).fit(X, Y)
    first = warm.validation_score_
    warm.set_params(max_iter=9).fit(X, Y)
    np.testing.assert_array_equal(warm.validation_score_[:6], first)


def test_callbacks_see_every_round_and_may_stop():
    seen = []

    def callback(step, run):
        seen.append((step.round, len(run.ensemble)))
        return step.round == 4

    model = BoostingRegressor(max_iter=10, callbacks=[callback]).fit(X, Y)
    assert seen == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert model.n_iter_ == 4


@pytest.mark.parametrize("scoring", ["loss", "r2", ["r2", "loss"]])
def test_callbacks_see_the_validation_loss(scoring, tmp_path):
    """A pruner or a dashboard has nothing else to go by, whatever score decides."""
    seen = []

    def callback(step, run):
        assert step is run.steps[-1]
        seen.append(step.valid_loss)

    sets = {"first": (X[TEST], Y[TEST]), "second": (X[TRAIN], Y[TRAIN])}
    model = BoostingRegressor(max_iter=6, callbacks=[callback], scoring=scoring)
    model.fit(X[TRAIN], Y[TRAIN], valid=sets)
    expected = [0.5 * np.mean((stage - Y[TEST]) ** 2) for stage in model.staged_predict(X[TEST])]
    np.testing.assert_allclose(seen, expected)
    assert [step.valid_loss for step in model.steps_] == seen
    ab.save(model, tmp_path / "model.safetensors")
    assert ab.load(tmp_path / "model.safetensors").steps_ == model.steps_
    assert all(step.valid_loss is None for step in BoostingRegressor(max_iter=2).fit(X, Y).steps_)


def test_a_warm_start_has_the_validation_losses_of_all_rounds():
    warm = BoostingRegressor(max_iter=3, warm_start=True, early_stopping=False).fit(X[TRAIN], Y[TRAIN])
    warm.set_params(max_iter=5).fit(**SPLIT)
    whole = BoostingRegressor(max_iter=5, early_stopping=False).fit(**SPLIT)
    assert [step.valid_loss for step in warm.steps_] == [step.valid_loss for step in whole.steps_]
    warm.set_params(max_iter=6).fit(X[TRAIN], Y[TRAIN])
    assert all(step.valid_loss is None for step in warm.steps_)


def test_a_killed_fit_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "run.safetensors"

    def kill(step, _run):
        if step.round == 25:
            raise KeyboardInterrupt

    sampled = {"max_iter": 40, "subsample": 0.8, "random_state": 5}
    killed = BoostingRegressor("absolute", callbacks=[ab.Checkpoint(path, every_rounds=10), kill], **sampled)
    with pytest.raises(KeyboardInterrupt):
        killed.fit(**SPLIT)
    assert not hasattr(killed, "ensemble_")
    resumed = BoostingRegressor("absolute", **sampled).fit(**SPLIT, resume=ab.load(path))
    whole = BoostingRegressor("absolute", **sampled).fit(**SPLIT)
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    np.testing.assert_array_equal(resumed.validation_score_, whole.validation_score_)


def test_verbose_prints_a_line_every_so_many_rounds(capsys):
    BoostingRegressor(max_iter=6, verbose=3, scoring=["loss", "r2"]).fit(**SPLIT)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["fitting: round 3", "fitting: round 6"]
    assert "learning_rate" in lines[0]
    assert "valid loss" in lines[1]
    assert "valid r2" in lines[1]


def every_line_due(monkeypatch):
    clock = itertools.count(step=1000.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))


def test_verbose_says_which_fit_it_is_and_how_long_it_takes(capsys, monkeypatch):
    """Rounds that begin again at one without a word look like a fault, and nobody knows whether to wait."""
    every_line_due(monkeypatch)
    model = BoostingRegressor(verbose=1, learning_rate=0.5).fit(X[:100], Y[:100])
    lines = [line for line in capsys.readouterr().out.splitlines() if ": round " in line]
    fits = list(dict.fromkeys(line.split(":")[0] for line in lines))
    assert fits == [*(f"trying on rows held out, part {part} of 5" for part in range(1, 6)), "fitting"]
    last = [line for line in lines if line.startswith("fitting")]
    assert last[-1].startswith(f"fitting: round {model.n_iter_}  loss {model.steps_[-1].loss:.6g}")
    if model.n_iter_ > 1:
        assert re.search(rf"about {model.n_iter_ - 1:d}000 s left", last[0])
    assert "held out" in lines[0]
    assert "left" not in lines[0]  # the search stops when it has found the best round


def test_verbose_lines_become_rarer(capsys, monkeypatch):
    """A fit of an hour prints a screen, not a line a round."""
    clock = itertools.count(step=1.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    BoostingRegressor(verbose=1, max_iter=600, max_leaf_nodes=2).fit(X[:100], Y[:100])
    lines = [line for line in capsys.readouterr().out.splitlines() if ": round " in line]
    assert 10 < len(lines) < 30
    assert lines[-1].startswith("fitting: round 600 ")


class Recorder:
    """A callback of scikit-learn's protocol."""

    def __init__(self, stop_at=None):
        self.stop_at, self.events, self.scores = stop_at, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, X=None, y=None):
        self.events.append(("end", context.task_name, context.task_id))
        self.scores.append(fitted_estimator.score(X, y))
        return context.task_name == "round" and context.task_id == self.stop_at

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_the_callback_protocol_of_scikit_learn():
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    model = BoostingRegressor(max_iter=3).set_callbacks(recorder).fit(X, Y)
    rounds = [(kind, "round", number) for number in range(3) for kind in ("begin", "end")]
    assert recorder.events == ["setup", ("begin", "fit", 0), *rounds, ("end", "fit", 0), "teardown"]
    expected = [BoostingRegressor(max_iter=t).fit(X, Y).score(X, Y) for t in (1, 2, 3)]
    np.testing.assert_allclose(recorder.scores, [*expected, model.score(X, Y)])
    stopped = BoostingRegressor(max_iter=9).set_callbacks(Recorder(stop_at=4)).fit(X, Y)
    assert stopped.n_iter_ == 5
    failing = Recorder()
    with pytest.raises(ValueError, match="learning_rate"):
        BoostingRegressor(learning_rate=-1).set_callbacks(failing).fit(X, Y)
    assert failing.events == []


@pytest.mark.parametrize("kind", [BoostingRegressor, BoostingClassifier, BoostingRanker])
def test_a_progress_bar_and_a_monitor(kind, capsys):
    callback = pytest.importorskip("sklearn.callback")
    given = {"qid": np.zeros(len(Y))} if kind is BoostingRanker else {}
    monitor = callback.ScoringMonitor(scoring={"own": lambda model, X, y: model.score(X, y, **given)})
    y = (Y > 100).astype(int)
    kind(max_iter=4).set_callbacks(callback.ProgressBar(), monitor).fit(X, y, **given)
    shown = capsys.readouterr().out
    assert "fit" in shown
    assert kind.__name__ in shown
    assert len(monitor.get_logs().data) >= 4


def test_a_progress_bar_reaches_into_a_search(capsys):
    callback = pytest.importorskip("sklearn.callback")
    search = GridSearchCV(BoostingRegressor(max_iter=2), {"learning_rate": [0.1, 0.2]}, cv=2)
    if not hasattr(search, "set_callbacks"):
        pytest.skip("this scikit-learn's searches pass no callbacks on")
    search.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "GridSearchCV" in capsys.readouterr().out


@pytest.mark.parametrize("leaf", ["mean", "exact"])
def test_a_leaf_has_at_least_its_weight(leaf):
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    for scale in (1.0, 0.25):
        model = BoostingRegressor(max_iter=5, max_leaf_nodes=None, min_leaf_weight=30.0 * scale, leaf=leaf)
        model.fit(X, Y, sample_weight=weights * scale)
        for rows in model.apply(X).T:
            masses = np.bincount(rows, weights * scale)
            assert masses[masses > 0].min() >= 30.0 * scale
    # A row count would see other leaves for weight 2 than for a row twice.
    twice = BoostingRegressor(max_iter=5, min_leaf_weight=30.0, leaf=leaf).fit(np.r_[X, X], np.r_[Y, Y])
    double = BoostingRegressor(max_iter=5, min_leaf_weight=30.0, leaf=leaf).fit(X, Y, np.full(len(Y), 2.0))
    np.testing.assert_allclose(double.predict(X), twice.predict(X), rtol=1e-9)


def test_weights_too_light_for_any_leaf_are_a_warning():
    shares = np.full(len(Y), 1.0 / len(Y))
    with pytest.warns(
        UserWarning, match="the weights add up to 1, too little for two leaves of min_leaf_weight=5"
    ):
        BoostingRegressor(max_iter=2, min_leaf_weight=5.0).fit(X, Y, sample_weight=shares)
    # "auto" counts in units of the weights.
    light = BoostingRegressor(max_iter=2).fit(X, Y, sample_weight=shares)
    np.testing.assert_allclose(light.predict(X), BoostingRegressor(max_iter=2).fit(X, Y).predict(X))


def test_a_penalty_draws_leaves_to_zero():
    free, drawn = (BoostingRegressor(max_iter=5, l2_regularization=l2).fit(X, Y) for l2 in (0.0, 50.0))
    assert np.abs(drawn.predict(X) - Y.mean()).max() < np.abs(free.predict(X) - Y.mean()).max()


def test_one_tree_an_output_or_one_for_all():
    iris, kinds = load_iris(return_X_y=True)
    joint = BoostingClassifier(max_iter=10, max_leaf_nodes=3, outputs="joint").fit(iris, kinds)
    each = BoostingClassifier(max_iter=10, max_leaf_nodes=3, outputs="each").fit(iris, kinds)
    assert each.train_score_[-1] > joint.train_score_[-1]
    assert len(joint.ensemble_) == 10
    automatic = BoostingClassifier(max_iter=10, max_leaf_nodes=3).fit(iris, kinds)
    chosen = {tuple(model.train_score_) for model in (joint, each)}
    assert tuple(automatic.train_score_) in chosen


def test_a_data_frame_for_validation_is_read_by_the_training_levels():
    color = np.array(["red", "blue"])[np.arange(len(Y)) % 2]
    frame = pd.DataFrame(X).rename(columns=str).assign(color=pd.Categorical(color))
    late = frame[300:].assign(color=pd.Categorical(color[300:], categories=["pink", "blue", "red"]))
    model = BoostingRegressor(max_iter=5).fit(frame[:300], Y[:300], X_val=late, y_val=Y[300:])
    assert model.validation_scores_["valid"]["loss"][-1] == pytest.approx(
        half_squared(model, frame[300:], Y[300:])
    )
