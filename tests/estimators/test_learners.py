"""Linear functions, nets and estimators as learners of the estimators: all checks, sparse tables, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.weak import Estimator, Linear, Net


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Tables this small are fitted many times faster without waiting for other BLAS threads."""
    with threadpool_limits(1):
        yield


CHECKED = [
    BoostingRegressor(learner="linear", max_iter=20),
    BoostingClassifier(learner=Linear(0.01), max_iter=20),
    BoostingRegressor(learner=Net(max_iter=5), max_iter=10),
    BoostingRegressor(learner=Ridge(), max_iter=10),
    pytest.param(BoostingClassifier(learner=Net(max_iter=20), max_iter=10), marks=pytest.mark.full),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", CHECKED, ids=str)
def test_every_check_of_scikit_learn_passes(model):
    found = check_estimator(model, on_fail=None, on_skip=None)
    failed = {check["check_name"]: check["exception"] for check in found if check["status"] == "failed"}
    assert not failed, failed
    names = {check["check_name"] for check in found}
    assert {"check_sample_weight_equivalence_on_sparse_data", "check_estimators_nan_inf"} <= names


def test_least_squares_is_scikit_learn_s():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    weights = np.arange(len(y)) % 3
    model = BoostingRegressor(learner="linear", learning_rate=1.0, max_iter=3).fit(X, y, weights)
    theirs = LinearRegression().fit(X, y, weights)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), atol=1e-8)
    two = BoostingRegressor(learner="linear", learning_rate=1.0, max_iter=3).fit(X, np.c_[y, -y])
    np.testing.assert_allclose(two.predict(X)[:, 1], -LinearRegression().fit(X, y).predict(X), atol=1e-8)


@pytest.mark.parametrize("learner", ["linear", "net:3", Ridge(0.1)], ids=str)
@pytest.mark.parametrize(
    ("loss", "share"), [("absolute", 0.75), ("quantile:0.9", 0.85), ("huber", 0.7), ("poisson", None)]
)
def test_every_learner_with_every_kind_of_loss(learner, loss, share):
    X, y = load_diabetes(return_X_y=True)
    y = y / y.std() if loss != "poisson" else np.round(y / 30)
    model = BoostingRegressor(loss, learner=learner, max_iter=30, random_state=0).fit(X, y)
    losses = -model.train_score_
    assert losses[-1] < losses[0] if share is None else losses[-1] < share * losses[0]
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, model.predict(X))


def test_nets_beat_linear_functions_where_the_signal_is_not_linear():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (400, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    net = BoostingClassifier(learner="net", max_iter=15, random_state=0).fit(X[:300], y[:300])
    linear = BoostingClassifier(learner="linear", max_iter=15).fit(X[:300], y[:300])
    assert net.score(X[300:], y[300:]) > 0.9
    assert linear.score(X[300:], y[300:]) < 0.7
    again = clone(net).fit(X[:300], y[:300])
    np.testing.assert_array_equal(again.predict_proba(X), net.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(net)).predict_proba(X), net.predict_proba(X))


WORDS = ["a cheap cab", "a fast cab", "a slow boat", "a cheap boat", "the fast train", "the slow train"] * 8


def test_text_stays_sparse_from_the_words_to_the_classes(monkeypatch):
    labels = ["land" if "boat" not in words else "sea" for words in WORDS]
    model = make_pipeline(TfidfVectorizer(), BoostingClassifier("hinge", learner="linear", max_iter=30))
    monkeypatch.setattr(sparse.csr_matrix, "toarray", None)
    monkeypatch.setattr(sparse.csr_matrix, "todense", None)
    model.fit(WORDS, labels)
    assert model.score(WORDS, labels) == 1.0
    assert model.predict(["a boat that is fast"]).tolist() == ["sea"]


@pytest.mark.parametrize("learner", ["linear", Net(3, max_iter=5), Ridge(tol=1e-12)], ids=str)
def test_sparse_is_dense_with_everything_that_goes_with_a_fit(learner):
    X, y = load_breast_cancer(return_X_y=True)
    X = (np.median(X, axis=0) < X).astype(float)
    random = np.random.default_rng(0)
    given = {"learner": learner, "max_iter": 6, "random_state": 0, "subsample": 0.8, "max_features": 0.7}
    given |= {"early_stopping": True, "scoring": ["loss", "accuracy"]}
    arguments = {"sample_weight": random.integers(0, 3, len(y)), "offset": random.normal(size=len(y))}
    arguments |= {"valid": {"late": {"X": X[::5], "y": y[::5], "offset": np.zeros(len(y[::5]))}}}
    dense = BoostingClassifier(**given).fit(X, y, **arguments)
    arguments["valid"]["late"]["X"] = sparse.csc_array(X[::5])
    thin = BoostingClassifier(**given).fit(sparse.coo_array(X), y, **arguments)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-4
    )
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(thin.validation_score_, dense.validation_score_, atol=1e-4)
    held = BoostingRegressor(learner=learner, max_iter=4, early_stopping=True, random_state=0)
    assert held.fit(sparse.csr_array(X), y).validation_score_.size >= 2
    started = BoostingRegressor(learner=learner, max_iter=2, init=Ridge(), random_state=0).fit(
        sparse.csr_array(X), y
    )
    assert started.predict(sparse.csr_array(X)).shape == y.shape


def test_rankings_by_linear_functions():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    grades = np.digitize(X @ [1.0, -1.0, 0.5], [-1, 1])
    ranker = BoostingRanker("rank_hinge", learner="linear", max_iter=20).fit(X, grades, np.arange(200) // 10)
    assert ranker.score(X, grades, np.arange(200) // 10) > 0.97


def test_searches_reach_into_an_estimator():
    X, y = load_diabetes(return_X_y=True)
    model = BoostingRegressor("absolute", learner=Ridge(), max_iter=10)
    search = GridSearchCV(model, {"learner__alpha": [0.01, 1e6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"learner__alpha": 0.01}
    named = {"learner": ["linear", Linear(100.0)], "learning_rate": [0.3]}
    search = GridSearchCV(BoostingRegressor("absolute", max_iter=5), named, cv=3).fit(X, y)
    assert search.best_params_["learner"] == "linear"


def test_categories_are_refused_until_they_are_numbers():
    frame = pd.DataFrame({"kind": pd.Categorical(list("abc") * 20), "size": np.arange(60.0)})
    y = frame["kind"].map({"a": 1.0, "b": 5.0, "c": 2.0}).astype(float) + frame["size"] / 60
    for learner in ("linear", "net", Ridge()):
        with pytest.raises(ValueError, match="cannot take the categorical columns 0: encode them first"):
            BoostingRegressor(learner=learner).fit(frame, y)
    encoder = make_column_transformer(
        (OneHotEncoder(), ["kind"]), (StandardScaler(), ["size"]), sparse_threshold=1.0
    )
    model = make_pipeline(encoder, BoostingRegressor(learner="linear", learning_rate=1.0, max_iter=2))
    assert cross_val_score(model, frame, y, cv=3).min() > 0.99


def test_missing_values_are_refused_at_fit_and_at_prediction():
    X, y = load_diabetes(return_X_y=True)
    hole = X.copy()
    hole[3, 2] = np.nan
    model = BoostingRegressor(learner="linear", max_iter=3)
    with pytest.raises(
        ValueError, match=r"X has a missing value \(NaN\) at row 3, column 2.*SimpleImputer.*or use a tree"
    ):
        model.fit(hole, y)
    assert not hasattr(model, "ensemble_")
    with pytest.raises(
        ValueError, match=r"X of the validation set 'valid' has a missing value \(NaN\) at row 3"
    ):
        model.fit(X, y, X_val=hole, y_val=y)
    with pytest.raises(ValueError, match=r"X has a missing value \(NaN\) at row 3, column 2"):
        model.fit(X, y).predict(hole)


X12, Y12 = np.arange(24.0).reshape(12, 2), np.arange(12.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"monotonic_cst": [1, 0]}, "monotonic_cst is for trees, and the learner is Net: leave it out"),
        (
            {"interaction_cst": "pairwise"},
            "interaction_cst is for trees, and the learner is Net: leave it out",
        ),
        ({"max_leaf_nodes": 7}, "max_leaf_nodes is for trees, and the learner is Net: leave it out"),
        ({"l2_regularization": 1.0}, "l2_regularization is for trees, and the learner is Net"),
        ({"leaf": "exact"}, "leaf is for trees, and the learner is Net: leave it out"),
        ({"categorical_features": [0]}, "learner Net cannot take the categorical columns 0"),
        ({"descent": "hull"}, "descent Hull steps along extreme atoms, which learner Net has no way to find"),
        ({"learner": "nets"}, "learner 'nets' is not known: use 'net', or one of .*linear"),
        ({"learner": StandardScaler()}, "estimator must be a scikit-learn regressor or classifier"),
    ],
)
def test_impossible_pairs_are_refused_before_any_work(given, words):
    rounds = []
    model = BoostingRegressor(callbacks=[lambda *_: rounds.append(1)], **{"learner": "net", **given})
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(X12, Y12)
    assert not rounds
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_sparse_table_has_no_categories():
    with pytest.raises(ValueError, match="X is a sparse matrix, which has no categories"):
        BoostingRegressor(learner="linear", categorical_features=[0]).fit(sparse.csr_array(X12), Y12)
    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        BoostingRegressor().fit(sparse.csr_array(X12), Y12)


def test_cross_validation_of_sparse_tables_and_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    dense = ab.cv(X, y, "softmax", "linear", ab.descent.Naive(2.0), rounds=10)
    thin = ab.cv(sparse.csr_array(X.to_numpy()), y, "softmax", "linear", ab.descent.Naive(2.0), rounds=10)
    np.testing.assert_allclose(dense.mean, thin.mean, rtol=1e-6)
    assert dense.best_loss < 0.6
    with pytest.raises(ValueError, match="cannot take the categorical columns 4"):
        ab.cv(X.assign(kind=pd.Categorical(y)), y, "softmax", Estimator(Ridge()), rounds=2)
