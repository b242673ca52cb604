"""Estimators of scikit-learn as weak learners: what they are given, what they may not be given, and the ray."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import anyboost as ab
from anyboost.space import Space
from anyboost.weak import Classifier, Estimator, Linear
from lending import lent


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Tables this small are fitted many times faster without waiting for other BLAS threads."""
    with threadpool_limits(1):
        yield


def sample(seed, n=60, outputs=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return (
        X,
        random.normal(size=(n,) if outputs == 1 else (n, outputs)),
        random.integers(1, 4, n).astype(float),
    )


class Spy(RegressorMixin, BaseEstimator):
    """A regressor that remembers what the last fit was given."""

    seen: ClassVar[dict] = {}

    def fit(self, X, y, sample_weight=None):
        assert y.ndim == 1
        Spy.seen = {"X": X, "y": y.copy(), "weight": sample_weight}
        self.mean_ = np.average(y, weights=sample_weight)
        y[:] = np.nan  # a clone may do with its targets as it likes
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.mean_)


def test_it_is_given_targets_and_weights_as_rows():
    X, D, weights = sample(0)
    before = D.copy()
    Estimator(Spy()).project(Space(X, weights / 7), D)
    np.testing.assert_array_equal(Spy.seen["y"], D)
    np.testing.assert_array_equal(Spy.seen["weight"], weights)  # weight 2 is the row twice, in any unit
    np.testing.assert_array_equal(D, before)
    Estimator(Spy()).project(Space(X, np.full(60, 1 / 60)), D)
    assert Spy.seen["weight"] is None
    rows, features = np.array([3, 5, 7]), np.array([1, 2])
    Estimator(Spy()).project(lent(Space(X, weights), rows, features), D)
    np.testing.assert_array_equal(Spy.seen["X"], X[rows][:, features])
    np.testing.assert_array_equal(Spy.seen["y"], D[rows])
    np.testing.assert_array_equal(Spy.seen["weight"], weights[rows])


def test_least_squares_is_least_squares():
    X, D, weights = sample(1, outputs=2)
    space = Space(X, weights)
    found = Estimator(LinearRegression()).project(space, D)
    np.testing.assert_allclose(found.values, Linear().project(space, D).values, atol=1e-10)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        SVR(),
        DecisionTreeRegressor(max_depth=2),
        MultiOutputRegressor(SVR()),
        make_pipeline(StandardScaler(), SVR()),
        MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", max_iter=500, tol=1e-2),
    ],
    ids=lambda estimator: str(estimator)[:30],
)
def test_coefficients_are_those_of_the_ray_for_any_number_of_outputs(estimator, outputs):
    random = np.random.default_rng(2)
    X, y, weights = sample(2)
    y = y if outputs == 1 else random.integers(0, outputs, 60)
    loss = "absolute" if outputs == 1 else "softmax"
    weights = None if isinstance(estimator, MLPRegressor) else weights
    run = ab.boost(
        X, y, loss, estimator, ab.descent.Naive(0.3), rounds=1, sample_weight=weights, random_state=0
    )
    space, h = run.space, run.ensemble.hypotheses[0].predict(X)
    g = run.functional.subgradient(run.state.start)
    assert h.shape == g.shape
    c = space.inner(h, g) / space.inner(h, h)
    assert run.steps[0].coefficient == pytest.approx(c)
    assert run.steps[0].edge == pytest.approx(abs(space.inner(h, g)) / space.norm(h) / space.norm(g))
    np.testing.assert_allclose(run.scores, run.state.start - 0.3 * c * h, atol=1e-12)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-12)
    left = space.norm(g - c * h)
    assert all(space.norm(g - other * h) >= left for other in (0.9 * c, 1.1 * c, c + 0.01))


def test_a_fit_that_is_too_small_is_brought_to_its_size():
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    run = ab.boost(X, y, "squared", Ridge(alpha=100.0), ab.descent.Naive(1.0), rounds=1)
    small = Ridge(alpha=100.0).fit(X, -y).predict(X)
    assert run.steps[0].coefficient == pytest.approx((small @ -y) / (small @ small))
    assert run.steps[0].coefficient > 10


def test_the_user_s_estimator_is_never_touched():
    estimator = DecisionTreeRegressor(max_depth=2)
    X, y, weights = sample(3)
    ab.boost(X, y, "absolute", Estimator(estimator), rounds=3, sample_weight=weights, random_state=0)
    model = ab.BoostingRegressor(learner=estimator, max_iter=3, random_state=0).fit(X, y)
    assert not hasattr(estimator, "tree_")
    assert estimator.random_state is None
    assert model.learner is estimator
    assert model.get_params()["learner__max_depth"] == 2


def test_a_random_estimator_follows_the_run_s_seed_unless_it_has_one():
    X, y, _ = sample(4)
    given = {"loss": "absolute", "rounds": 3, "learner": ExtraTreesRegressor(2, max_depth=3)}
    one, same, other = (ab.boost(X, y, random_state=seed, **given).scores for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3
    given["learner"] = ExtraTreesRegressor(2, max_depth=3, random_state=5)
    one, other = (ab.boost(X, y, random_state=seed, **given).scores for seed in (0, 1))
    np.testing.assert_array_equal(one, other)
    inside = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1, max_features=1))
    one, same, other = (
        ab.boost(X, np.sign(y), "hinge", inside, rounds=3, random_state=seed).scores for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_a_classifier_is_projection_3():
    X, y = load_iris(return_X_y=True)
    estimator = DecisionTreeClassifier(max_depth=1, random_state=0)
    given = {"loss": "multiclass_hinge", "descent": ab.descent.Naive(), "rounds": 5, "random_state": 0}
    one, other = (
        ab.boost(X, y, learner=Estimator(estimator), **given),
        ab.boost(X, y, learner=Classifier(estimator, both_signs=True), **given),
    )
    np.testing.assert_array_equal(one.scores, other.scores)
    assert one.floor(1.0) == other.floor(1.0)
    hull = ab.boost(X, y, "multiclass_hinge", Estimator(estimator), "hull", rounds=3)
    assert np.isfinite(hull.floor(1.0))


def test_a_classifier_that_cannot_name_the_class_to_lower_may_name_the_one_to_raise():
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression(max_iter=500)
    model = ab.BoostingClassifier(learner=learner, max_iter=20).fit(X, y)
    assert model.score(X, y) > 0.9
    one_sided = ab.BoostingClassifier(learner=Estimator(learner, both_signs=False), max_iter=20).fit(X, y)
    assert one_sided.score(X, y) < 0.7


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_weight_two_is_the_row_twice_for_a_regularized_estimator(kind):
    X, y, weights = sample(5)
    weights[::5] = 0.0
    again = np.repeat(np.arange(60), weights.astype(int))
    learner = Ridge(1.0) if kind == "regressor" else LogisticRegression(C=0.1, tol=1e-8)
    given = {"loss": "hinge", "learner": make_pipeline(StandardScaler(), learner), "rounds": 3}
    one = ab.boost(X, np.sign(y), sample_weight=weights, **given)
    other = ab.boost(X[again], np.sign(y)[again], **given)
    np.testing.assert_allclose(one.ensemble.predict(X), other.ensemble.predict(X), atol=1e-5)


@pytest.mark.parametrize(
    "learner", [Ridge(), DecisionTreeRegressor(max_depth=3), LogisticRegression()], ids=str
)
def test_sparse_tables_go_to_estimators_that_take_them(learner):
    X, y = load_breast_cancer(return_X_y=True)
    X = (np.median(X, axis=0) < X).astype(float)
    y = 2.0 * y - 1
    given = {"loss": "logistic", "learner": learner, "rounds": 4, "random_state": 0, "feature_fraction": 0.5}
    dense, thin = ab.boost(X, y, **given), ab.boost(sparse.csc_array(X), y, **given)
    assert dense.steps[-1].loss == pytest.approx(thin.steps[-1].loss, rel=1e-3)
    np.testing.assert_allclose(thin.ensemble.predict(sparse.csr_array(X)), thin.scores, atol=1e-9)


def test_missing_values_go_to_estimators_that_take_them():
    X, y, _ = sample(6)
    X[::7, 1] = np.nan
    for learner in (DecisionTreeRegressor(max_depth=2), make_pipeline(SimpleImputer(), Ridge())):
        run = ab.boost(X, y, "absolute", learner, rounds=3, random_state=0)
        np.testing.assert_allclose(run.ensemble.predict(X), run.scores)
    with pytest.raises(
        ValueError,
        match=r"X has a missing value \(NaN\) at row 0, column 1, which learner Estimator\(Ridge\)",
    ):
        ab.boost(X, y, "absolute", Ridge(), rounds=3)


def test_support_says_what_is_proof_and_what_is_found():
    X, G, weights = sample(7, outputs=2)
    support = Estimator(Ridge()).support(Space(X, weights), G)
    assert support.upper == pytest.approx(np.average(np.abs(G).sum(axis=1), weights=weights))
    assert 0 < support.lower < support.upper
    run = ab.boost(X, G[:, 0], "absolute", Ridge(), ab.descent.Naive(0.2), rounds=4)
    assert run.floor(0.5) <= run.floor_estimate(0.5) <= run.start_loss


class NotFinite(RegressorMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.full(X.shape[0], np.nan)


X6, Y6 = np.arange(12.0).reshape(6, 2), np.arange(6.0)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"learner": KMeans()},
            TypeError,
            "estimator must be a scikit-learn regressor or classifier, got KMeans",
        ),
        (
            {"learner": StandardScaler()},
            TypeError,
            "estimator must be a scikit-learn regressor or classifier",
        ),
        ({"learner": Ridge}, TypeError, "learner must be a weak learner, got the class Ridge: write"),
        (
            {"learner": KNeighborsRegressor(2), "sample_weight": [1, 1, 2, 1, 1, 1]},
            ValueError,
            r"sample_weight is unequal, and learner Estimator\(KNeighborsRegressor\) cannot be fitted with weights",
        ),
        (
            {"learner": make_pipeline(StandardScaler(), KNeighborsRegressor(2)), "sample_weight": Y6 + 1},
            ValueError,
            r"sample_weight is unequal, and learner Estimator\(Pipeline\) cannot be fitted with weights",
        ),
        (
            {"learner": Ridge(), "categorical": [0]},
            ValueError,
            r"learner Estimator\(Ridge\) cannot take the categ",
        ),
        ({"learner": Ridge(), "descent": "hull"}, ValueError, "descent Hull steps along extreme atoms"),
        (
            {"learner": TransformedTargetRegressor(SVR()), "X": sparse.csr_array(X6), "sample_weight": Y6},
            ValueError,
            "sample_weight is unequal",
        ),
        (
            {"learner": NotFinite()},
            FloatingPointError,
            "estimator NotFinite predicts values that are not finite",
        ),
    ],
)
def test_refusals(arguments, error, words):
    with pytest.raises(error, match=words):
        ab.boost(**{"X": X6, "y": Y6, "rounds": 2, **arguments})


def test_estimators_without_weights_are_taken_where_all_weights_are_equal():
    run = ab.boost(X6, Y6, "absolute", KNeighborsRegressor(2), rounds=3, sample_weight=np.full(6, 3.0))
    assert run.steps[-1].loss < run.start_loss


def test_a_class_in_the_place_of_an_estimator_is_refused():
    with pytest.raises(TypeError, match="estimator must be a scikit-learn regressor or classifier"):
        Estimator(Ridge)
    with pytest.raises(TypeError, match="learner Estimator has no way to a regressor's extreme atom"):
        Estimator(Ridge()).extreme(Space(X6), Y6)
