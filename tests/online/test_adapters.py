"""Learners of other libraries in the chain: any River regressor, any scikit-learn one with `partial_fit`."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPRegressor

from anyboost import OnlineBoostingClassifier
from anyboost import OnlineBoostingRegressor as Regressor
from anyboost.online import FeatureStumpLearner, LinearLearner, NetLearner, SpanBooster
from anyboost.online.adapters import RiverLearner, ScikitLearner, get


def sample(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.0] + 0.1 * random.normal(size=n)


def dicts(X):
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def test_names_and_objects():
    assert get(None) == get("linear") == LinearLearner()
    assert get("linear:0.5") == LinearLearner(rate=0.5)
    assert get("stumps") == FeatureStumpLearner()
    assert get("net:5") == NetLearner(units=5)
    assert isinstance(get(SGDRegressor()), ScikitLearner)
    for wrong, reason in (
        (LinearLearner, r"got the class LinearLearner: write LinearLearner\(\)"),
        (SGDClassifier(), "must be a regressor, whatever is boosted, got the classifier SGDClassifier"),
        (object(), "learner must be one of linear, stumps, net, tree"),
    ):
        with pytest.raises(ValueError, match=reason):
            get(wrong)
    river = pytest.importorskip("river.linear_model")
    with pytest.raises(ValueError, match="must be a regressor, whatever is boosted, got the classifier Log"):
        get(river.LogisticRegression())


def models():
    yield pytest.param(SGDRegressor(learning_rate="constant", eta0=0.02), id="scikit-learn SGD")
    yield pytest.param(
        MLPRegressor(hidden_layer_sizes=(4,), random_state=0, learning_rate_init=0.02), id="scikit-learn net"
    )
    river = pytest.importorskip("river")
    from river import linear_model, neighbors, preprocessing, tree

    assert river
    yield pytest.param(linear_model.LinearRegression(), id="River linear")
    yield pytest.param(preprocessing.StandardScaler() | linear_model.LinearRegression(), id="River pipeline")
    yield pytest.param(tree.HoeffdingTreeRegressor(grace_period=20), id="River tree")
    yield pytest.param(neighbors.KNNRegressor(), id="River neighbours")


@pytest.mark.parametrize("model", list(models()))
def test_any_regressor_can_be_boosted(model):
    X, y = sample(100)
    boosted = Regressor(model, n_learners=3, step=0.5)
    boosted.learn_many(dicts(X), y)
    regret = boosted.regret()
    assert regret.rows == len(y)
    assert regret.loss < regret.best_constant_loss
    again = Regressor(model, n_learners=3, step=0.5)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        again.learn_one(x, label)
    assert again.regret() == regret  # the model that was given is not the one that learnt
    boosted.learn_one({"a": 1.0, "new": 3.0}, 0.5)
    assert np.isfinite(boosted.predict_one({"new": 1.0}))


def test_a_river_learner_boosts_classes():
    linear_model = pytest.importorskip("river.linear_model")
    X, y = sample()
    model = OnlineBoostingClassifier(linear_model.LinearRegression(), n_learners=5).fit(
        X, np.digitize(y, [-1, 1])
    )
    assert model.score(X, np.digitize(y, [-1, 1])) > 0.7


def test_one_stage_is_the_model_itself():
    """Greedy, squared loss, step 1, start 0: the only learner is taught the labels as they are."""
    X, y = sample(100)
    alone = SGDRegressor(learning_rate="constant", eta0=0.01)
    booster = SpanBooster(
        alone, n_learners=1, step=1.0, start=0.0, prefix="all", output_bound=1e6, label_bound=1e6
    )
    booster.partial_fit(X, y)
    for row, label in zip(X, y, strict=True):
        alone.partial_fit(row[None], [label])
    np.testing.assert_allclose(booster.predict(X), alone.predict(X), rtol=1e-9)


def test_weights_reach_the_learner():
    X, y = sample(60)
    w = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    weighted, kept = (Regressor(SGDRegressor(random_state=0), n_learners=2) for _ in range(2))
    weighted.partial_fit(X, y, sample_weight=w)
    kept.partial_fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    np.testing.assert_array_equal(weighted.predict(X), kept.predict(X))


def test_models_without_weights_learn_as_often():
    neighbors = pytest.importorskip("river.neighbors")
    X, y = sample(40)
    stages = [RiverLearner(neighbors.KNNRegressor()).start(3, 1) for _ in range(2)]
    for row, label in zip(X, y.tolist(), strict=True):
        stages[0].learn(row, label, 2.0)
        stages[1].learn(row, label, 1.0)
        stages[1].learn(row, label, 1.0)
    assert all(stages[0].predict(row) == stages[1].predict(row) for row in X)
    before = stages[0].predict(X[0] + 9.0)
    stages[0].learn(X[0] + 9.0, before[0] + 1.0, 0.25)
    assert stages[0].models[0].predict_one(dict(enumerate((X[0] + 9.0).tolist()))) <= before[0] + 0.25


def test_stages_are_clones():
    river = pytest.importorskip("river.linear_model")
    learner = RiverLearner(river.LinearRegression())
    first, second = learner.start(3, 1), learner.start(3, 1)
    first.learn(np.ones(3), 1.0, 1.0)
    assert first.predict(np.ones(3)) != 0
    assert second.predict(np.ones(3)) == learner.start(3, 1).predict(np.ones(3)) == 0
