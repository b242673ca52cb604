"""The two estimators: scikit-learn's own checks, cross-fitting, streams of models, classes and weights."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import anyboost as ab
from anyboost.mirror import MirrorAverager, Tracker


@pytest.mark.parametrize("kind", [ab.MirrorAveragingRegressor, ab.MirrorAveragingClassifier])
def test_scikit_learns_checks_pass(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of array libraries that are not installed
        results = check_estimator(kind(), on_fail=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert not [result for result in results if result["status"] == "xfail"]
    assert len(results) > 50


def regression():
    X, y = load_diabetes(return_X_y=True)
    return X, y


def test_columns_of_forecasts_in_the_order_of_time_are_the_averager():
    random = np.random.default_rng(0)
    y = random.normal(size=200)
    H = y[:, None] + random.normal(size=(200, 4)) * [0.3, 1, 2, 3]
    plain = MirrorAverager(schedule="second_order", lipschitz="running").partial_fit(H, y)
    model = ab.MirrorAveragingRegressor(shuffle=False).fit(H, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.predict(H), plain.predict(H))
    parts = ab.MirrorAveragingRegressor()
    for rows in np.array_split(np.arange(200), 7):
        parts.partial_fit(H[rows], y[rows])
    np.testing.assert_array_equal(parts.weights_, plain.weights_)
    assert model.score(H, y) > 0.8


def test_rows_and_weights_in_any_order_are_one_model():
    X, y = regression()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    one = ab.MirrorAveragingRegressor(random_state=3).fit(X, y, weights)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weights.astype(int)))
    other = ab.MirrorAveragingRegressor(random_state=3).fit(X[order], y[order])
    np.testing.assert_array_equal(one.weights_, other.weights_)


def test_votes_that_repeat_are_shuffled_too():
    """A table of few distinct rows must not be learned one block of equal rows after the other."""
    random = np.random.default_rng(0)
    y = random.choice([-1.0, 1.0], 6000)
    votes = np.where(random.random((6000, 3)) < [0.9, 0.6, 0.5], y[:, None], -y[:, None])
    model = ab.MirrorAveragingClassifier(random_state=0).fit(votes, y)
    stream = ab.MirrorAveragingClassifier(shuffle=False).fit(votes, y)
    np.testing.assert_allclose(model.weights_, stream.weights_, atol=0.05)
    assert model.weights_.argmax() == 0
    weights = random.integers(0, 3, 6000) / 2  # halves: two of them are a step
    one = ab.MirrorAveragingClassifier(random_state=0).fit(votes, y, weights)
    order = random.permutation(6000)
    other = ab.MirrorAveragingClassifier(random_state=0).fit(votes[order], y[order], weights[order])
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert one.averagers_[0].n_rows_ == weights.sum()
    with pytest.raises(ValueError, match="divide all weights by a number"):
        model.fit(votes, y, np.full(6000, 1e6))


def test_weights_are_learned_on_rows_the_models_had_not_seen():
    """A tree that knows every training row by heart has no error there, and must not win for it."""
    X, y = regression()
    models = [
        ("tree", DecisionTreeRegressor(random_state=0)),
        ("linear", LinearRegression()),
        DummyRegressor(),
    ]
    model = ab.MirrorAveragingRegressor(models, random_state=0).fit(X, y)
    assert model.weights_[1] > 0.5
    assert model.weights_[0] < 0.4
    held_out = np.column_stack(
        [cross_val_predict(m[1] if isinstance(m, tuple) else m, X, y, cv=5) for m in models]
    )
    again = ab.MirrorAveragingRegressor(random_state=0).fit(held_out, y)
    np.testing.assert_allclose(model.weights_, again.weights_, rtol=1e-12)
    by_hand = np.column_stack([m.predict(X) for m in model.models_]) @ model.weights_
    np.testing.assert_allclose(model.predict(X), by_hand)
    assert all(
        not hasattr(m, "n_features_in_") for m in (models[0][1], models[1][1])
    )  # the user's stay as they were


def test_fitted_models_are_taken_as_they_are():
    X, y = regression()
    fitted = [
        LinearRegression().fit(X[:200], y[:200]),
        RandomForestRegressor(20, random_state=0).fit(X[:200], y[:200]),
    ]
    model = ab.MirrorAveragingRegressor(fitted, cv="prefit", random_state=0).fit(X[200:], y[200:])
    assert model.models_[0] is fitted[0]
    H = np.column_stack([m.predict(X[200:]) for m in fitted])
    np.testing.assert_array_equal(
        model.weights_, ab.MirrorAveragingRegressor(random_state=0).fit(H, y[200:]).weights_
    )
    model.partial_fit(X[:50], y[:50])
    assert model.averager_.n_rows_ == 292
    streamed = ab.MirrorAveragingRegressor(fitted, cv="prefit").partial_fit(X[200:], y[200:])
    assert streamed.weights_.sum() == pytest.approx(1.0)


def test_the_combination_beats_its_parts():
    X, y = regression()
    models = [
        LinearRegression(),
        RandomForestRegressor(50, random_state=0),
        DecisionTreeRegressor(max_depth=3),
    ]
    score = cross_val_score(ab.MirrorAveragingRegressor(models, random_state=0), X, y, cv=3).mean()
    parts = [cross_val_score(model, X, y, cv=3).mean() for model in models]
    assert score > max(parts)


def test_models_that_learn_in_parts_forecast_before_they_learn():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=600)
    model = ab.MirrorAveragingRegressor(
        [SGDRegressor(random_state=0), SGDRegressor(eta0=1e-6, random_state=0)]
    )
    for rows in np.array_split(np.arange(600), 12):
        model.partial_fit(X[rows], y[rows])
    assert model.averager_.n_rows_ == 550  # in the first batch nobody had anything to say
    assert model.weights_[0] > 0.7
    with pytest.raises(ValueError, match=r"models\[0\] is neither fitted nor able to learn in parts"):
        ab.MirrorAveragingRegressor([LinearRegression()]).partial_fit(X, y)


def test_river_models_learn_row_by_row():
    pytest.importorskip("river")
    from river import dummy, linear_model, naive_bayes, preprocessing, stats, tree

    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=400)
    scaled = preprocessing.StandardScaler() | linear_model.LinearRegression()
    pool = [scaled, tree.HoeffdingTreeRegressor(), dummy.StatisticRegressor(stats.Mean())]
    model = ab.MirrorAveragingRegressor(pool)
    for rows in np.array_split(np.arange(400), 5):
        model.partial_fit(X[rows], y[rows])
    forecasts = np.empty((400, 3))
    for j, own in enumerate(m.clone() for m in pool):
        for i in range(400):
            row = dict(enumerate(X[i].tolist()))
            forecasts[i, j] = own.predict_one(row)
            own.learn_one(row, y[i])
    plain = ab.MirrorAveragingRegressor().partial_fit(forecasts, y)
    np.testing.assert_allclose(model.weights_, plain.weights_, rtol=1e-9)
    assert model.score(X, y) > 0.9
    labels = np.where(y > 0, "up", "down")
    classifier = ab.MirrorAveragingClassifier(
        [preprocessing.StandardScaler() | linear_model.LogisticRegression(), naive_bayes.GaussianNB()],
        shuffle=False,
    ).fit(X, labels)
    assert classifier.score(X, labels) > 0.85
    table = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    assert ab.MirrorAveragingClassifier(classifier.models).partial_fit(
        table, labels, classes=["up", "down"]
    ).predict(table[:3]).shape == (3,)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_classes_with_models(loss):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    models = [
        LogisticRegression(max_iter=500),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=1),
        SVC(),
        RidgeClassifier(),
    ]
    model = ab.MirrorAveragingClassifier(models, loss=loss, random_state=0).fit(X, names)
    assert model.weights_.shape == (5,)
    assert model.score(X, names) > 0.9
    assert hasattr(model, "predict_proba") == (loss == "logistic")
    if loss == "logistic":
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    two = names[:100]
    model = clone(model).fit(X[:100], two)
    assert model.score(X[:100], two) > 0.95


def test_classes_with_columns():
    X, y = load_iris(return_X_y=True)
    scores = LogisticRegression(max_iter=500).fit(X, y).decision_function(X)
    model = ab.MirrorAveragingClassifier(domain="octahedron:3", random_state=0).fit(scores, y)
    assert model.weights_.shape == (3, 3)
    assert model.score(scores, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(scores).sum(axis=1), 1.0)


def test_partial_fit_of_classes():
    X, y = make_classification(400, n_informative=4, random_state=0)
    model = ab.MirrorAveragingClassifier([SGDClassifier(loss="log_loss", random_state=0), GaussianNB()])
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        model.partial_fit(X, y)
    for rows in np.array_split(np.arange(400), 8):
        model.partial_fit(X[rows], y[rows], classes=[0, 1], sample_weight=np.full(len(rows), 2.0))
    assert model.score(X, y) > (0.7 if hasattr(model, "classes_") else 0.8)
    assert model.averagers_[0].n_rows_ == 700
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="y holds the class"):
        model.partial_fit(X[:2], [0, 7])


def test_a_tracker_may_do_the_combining():
    random = np.random.default_rng(0)
    y = random.normal(size=300)
    H = y[:, None] + random.normal(size=(300, 4)) * [0.3, 1, 2, 3]
    model = ab.MirrorAveragingRegressor(schedule="tracker").partial_fit(H, y)
    np.testing.assert_array_equal(model.weights_, Tracker().partial_fit(H, y).weights_)
    with pytest.raises(ValueError, match="proxy must be entropy for a tracker"):
        clone(model).set_params(proxy="p_norm").fit(H, y)


def test_counts_combine_on_the_log_scale():
    random = np.random.default_rng(0)
    X = random.random((300, 2))
    y = random.poisson(np.exp(1 + X[:, 0])).astype(float)
    model = ab.MirrorAveragingRegressor(
        [LinearRegression(), DummyRegressor()], loss="poisson", random_state=0
    ).fit(X, y)
    by_hand = np.exp(np.column_stack([np.log(m.predict(X)) for m in model.models_]) @ model.weights_)
    np.testing.assert_allclose(model.predict(X), by_hand)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ab.MirrorAveragingRegressor(loss="hinge"), "use MirrorAveragingClassifier"),
        (ab.MirrorAveragingClassifier(loss="squared"), "loss must be one of two classes"),
        (ab.MirrorAveragingRegressor(models=3), "models must be a list of models"),
        (ab.MirrorAveragingRegressor(models=[LinearRegression]), r"models\[0\] must have predict"),
        (ab.MirrorAveragingRegressor(models=[DummyRegressor()], cv="none"), "cv must be 'prefit'"),
        (ab.MirrorAveragingRegressor(proxy="power_divergence", domain="octahedron"), "PowerDivergence"),
    ],
)
def test_mistakes_are_named(model, sentence):
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, (X[:, 0] > 9).astype(float))


def test_the_order_of_steps_does_not_hang_on_the_last_bits_of_forecasts():
    """Another processor rounds a model's forecasts differently: that must not give another model."""
    rng = np.random.default_rng(0)
    y = np.round(rng.normal(size=200), 1)
    forecasts = y[:, None] + rng.normal(size=(200, 3))
    rounded = np.nextafter(forecasts, np.where(rng.random((200, 3)) < 0.5, -np.inf, np.inf))
    fits = [ab.MirrorAveragingRegressor(random_state=0).fit(part, y) for part in (forecasts, rounded)]
    np.testing.assert_allclose(fits[0].weights_, fits[1].weights_, rtol=1e-9)
