"""Estimators are scikit-learn's in every respect: its own checks, pipelines, searches, routing, clones, pickles."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor

MODELS = [BoostingRegressor(), BoostingClassifier()]


DRAWS = {
    "nothing said": {},
    "all rows": {"max_iter": 30, "subsample": 1.0, "max_features": 1.0, "random_thresholds": False},
    "drawn rows": {"subsample": 0.8, "max_features": 0.7, "max_iter": 20},
    "held-out rows": {"early_stopping": True, "max_iter": 100},
    "drawn and held-out rows": {"subsample": 0.8, "early_stopping": True, "max_iter": 30},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "draws",
    [
        pytest.param(name, marks=() if name == "drawn and held-out rows" else pytest.mark.full)
        for name in DRAWS
    ],
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_check_of_scikit_learn_passes(model, draws):
    model = clone(model).set_params(**DRAWS[draws])
    found = check_estimator(model, on_fail=None, on_skip=None)
    assert len(found) > 50
    failed = {check["check_name"]: check["exception"] for check in found if check["status"] == "failed"}
    assert not failed, failed
    assert not [check for check in found if check["status"] == "xfail"]
    assert any("weight_equivalence" in check["check_name"] for check in found)


@pytest.mark.filterwarnings("ignore")
def test_columns_are_known_by_name():
    from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

    for model in MODELS:
        check_dataframe_column_names_consistency(type(model).__name__, model)


def test_pipelines_and_searches():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    steps = make_column_transformer((StandardScaler(), ["bmi", "bp"]), remainder="passthrough")
    pipeline = make_pipeline(steps, BoostingRegressor(max_iter=20, max_leaf_nodes=4))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.3
    search = GridSearchCV(
        BoostingRegressor(max_iter=20),
        {"learning_rate": [1e-4, 0.1], "loss": ["squared", "absolute"], "max_leaf_nodes": [4]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["learning_rate"] == 0.1
    assert search.best_estimator_.feature_names_in_.tolist() == X.columns.tolist()


def test_weights_and_queries_are_routed():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    grades = np.digitize(X[:, 0] + 0.2 * random.normal(size=120), [-0.5, 0.5])
    qid = np.arange(120) // 12
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = BoostingRanker(max_iter=10).set_fit_request(qid=True).set_score_request(qid=True)
        found = cross_validate(
            ranker, X, grades, cv=GroupKFold(3), params={"qid": qid, "groups": qid}, error_score="raise"
        )
        assert found["test_score"].min() > 0.8
        weights = random.integers(0, 3, 120)
        model = BoostingRegressor(max_iter=5).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        routed = pipeline.fit(X, X[:, 0], sample_weight=weights).predict(X)
    kept = weights > 0
    scaled = StandardScaler().fit(X).transform(X)
    direct = BoostingRegressor(max_iter=5).fit(scaled[kept], X[kept, 0], weights[kept]).predict(scaled)
    np.testing.assert_array_equal(routed, direct)


def test_a_pipeline_transforms_the_validation_set_too():
    X, y = load_diabetes(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = BoostingRegressor(max_iter=30, early_stopping=False).set_fit_request(X_val=True, y_val=True)
        pipeline = make_pipeline(StandardScaler(), model, transform_input=["X_val"])
        pipeline.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    fitted = pipeline[-1]
    predictions = pipeline.predict(X[300:])
    last = fitted.validation_scores_["valid"]["loss"][-1]
    assert last == pytest.approx(0.5 * np.mean((predictions - y[300:]) ** 2))


@pytest.mark.parametrize("model", [*MODELS, BoostingRanker()], ids=lambda model: type(model).__name__)
def test_clones_and_pickles(model):
    X, y = load_iris(return_X_y=True)
    given = {"qid": np.arange(150) // 30} if isinstance(model, BoostingRanker) else {}
    fitted = clone(model).set_params(max_iter=4).fit(X, np.roll(y, 15), **given)
    assert not hasattr(clone(fitted), "ensemble_")
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.steps_ == fitted.steps_
    # A fitted model carries no training data: 150 rows of 4 columns would show.
    assert len(pickle.dumps(fitted.set_params(n_jobs=1))) < 100_000


def test_labels_of_any_kind():
    X, y = load_iris(return_X_y=True)
    numbers = BoostingClassifier(max_iter=5).fit(X, y)
    for labels in (
        np.array(["one", "two", "three"]),
        np.array(["one", "two", "three"], dtype=object),
        np.array([-5, 0, 99]),
        np.array([0.0, 1.0, 2.0]),
        pd.Categorical(["u", "v", "w"]),
    ):
        named = np.asarray(labels)[y]
        model = BoostingClassifier(max_iter=5).fit(X, named)
        assert model.classes_.tolist() == sorted(set(named.tolist()))
        order = [model.classes_.tolist().index(label) for label in np.asarray(labels).tolist()]
        np.testing.assert_allclose(model.predict_proba(X)[:, order], numbers.predict_proba(X), atol=1e-9)
    flags = BoostingClassifier(max_iter=5).fit(X, y == 1)
    assert flags.predict(X).dtype == bool


def test_log_loss_is_that_of_the_classes_there_are():
    X, y = load_iris(return_X_y=True)
    for name in ("log_loss", "cross_entropy"):
        assert str(BoostingClassifier(name, max_iter=1).fit(X, y).loss_) == "softmax"
        assert str(BoostingClassifier(name, max_iter=1).fit(X, y == 1).loss_) == "logistic"
    assert str(BoostingClassifier("binary", max_iter=1).fit(X, y == 1).loss_) == "logistic"
    assert str(BoostingClassifier("multiclass", max_iter=1).fit(X, y).loss_) == "softmax"


def test_the_level_of_a_quantile_is_a_parameter():
    """As in HistGradientBoosting, so that a search can go over it."""
    X, y = load_diabetes(return_X_y=True)
    for loss in ("quantile", "pinball"):
        model = BoostingRegressor(loss, quantile=0.9, max_iter=20)
        assert clone(model).get_params()["quantile"] == 0.9
        expected = BoostingRegressor("quantile:0.9", max_iter=20).fit(X, y).predict(X)
        np.testing.assert_array_equal(model.fit(X, y).predict(X), expected)


def test_two_dimensional_targets():
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -2 * y, np.sin(y)])
    for loss in ("squared", "absolute", "quantile:0.8"):
        model = BoostingRegressor(loss, max_iter=20, max_leaf_nodes=8).fit(X, both)
        assert model.predict(X).shape == both.shape
        constant = BoostingRegressor(loss, max_iter=0).fit(X, both)
        assert model.train_score_[-1] > 0.8 * constant.train_score_[-1]
    alone = MultiOutputRegressor(BoostingRegressor(max_iter=20, max_leaf_nodes=8)).fit(X, both)
    joint = BoostingRegressor(max_iter=20, max_leaf_nodes=8).fit(X, both)
    assert joint.score(X, both) > 0.5 * alone.score(X, both)
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match="column-vector"):
        column = BoostingRegressor(max_iter=5).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), BoostingRegressor(max_iter=5).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "loss",
    ["squared", "absolute", "quantile:0.7", "huber:20", "expectile:0.3", "poisson", "gamma", "tweedie"],
)
def test_weight_two_is_the_row_twice(loss):
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = BoostingRegressor(loss, max_iter=10).fit(X, y, sample_weight=weights)
    repeated = BoostingRegressor(loss, max_iter=10).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


@pytest.mark.parametrize("balance", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("loss", ["auto", "hinge", "softmax", "multiclass_hinge"])
def test_weight_two_is_the_row_twice_for_classes(loss, balance):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    model = BoostingClassifier(loss, max_iter=5, max_leaf_nodes=4, leaf="mean", class_weight=balance)
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-8)


@pytest.mark.full
def test_scores_of_many_losses():
    X, y = load_diabetes(return_X_y=True)
    train, test = slice(None, 300), slice(300, None)
    for loss in (
        "auto",
        "squared_error",
        "absolute_error",
        "absolute",
        "huber:30",
        "expectile",
        "poisson",
        "gamma",
    ):
        model = BoostingRegressor(loss, max_leaf_nodes=4).fit(X[train], y[train])
        assert model.score(X[test], y[test]) > 0.3, loss
    X, y = load_breast_cancer(return_X_y=True)
    for loss in (
        "auto",
        "log_loss",
        "logistic",
        "hinge",
        "squared_hinge",
        "exponential",
        "softmax",
        "multiclass_hinge",
    ):
        model = BoostingClassifier(loss).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.9, loss
        assert model.decision_function(X).shape == (len(X),)
