"""Drift: stages begin again where their loss has risen, and the model recovers sooner for it."""

import numpy as np
import pytest

drift = pytest.importorskip("river.drift")

from anyboost import OnlineBoostingClassifier, OnlineBoostingRegressor  # noqa: E402
from anyboost.online import LinearLearner  # noqa: E402


def turning(n=600, seed=0):
    """A stream whose rule turns round in the middle."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(2 * n, 3))
    weights = np.where(np.arange(2 * n)[:, None] < n, [2.0, -1.0, 0.0], [-2.0, 1.0, 3.0])
    return X, (X * weights).sum(axis=1) + 0.1 * random.normal(size=2 * n)


def dicts(X):
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def losses(model, X, y):
    return np.array([model.observe([x], [label]).losses[0] for x, label in zip(dicts(X), y, strict=True)])


def test_stages_are_reset_after_a_change_and_not_before():
    X, y = turning()
    model = OnlineBoostingRegressor("linear:0.02", n_learners=5, drift=drift.ADWIN())
    losses(model, X[:600], y[:600])
    assert model.guard_.resets == 0
    losses(model, X[600:], y[600:])
    assert model.guard_.resets > 0


def test_a_model_that_resets_recovers_sooner():
    """A learner whose rate has fallen with the rows cannot follow the new rule; one that began again can."""
    X, y = turning()
    slow = LinearLearner(rate=0.5, power=0.9)
    stubborn = OnlineBoostingRegressor(slow, n_learners=3)
    alert = OnlineBoostingRegressor(slow, n_learners=3, drift=drift.ADWIN())
    late = [losses(model, X, y)[800:].mean() for model in (stubborn, alert)]
    assert late[1] < late[0]


def test_arrays_and_dicts_go_the_same_way():
    X, y = turning(300)
    named, arrays, many = (OnlineBoostingRegressor(n_learners=3, drift=drift.ADWIN()) for _ in range(3))
    losses(named, X, y)
    arrays.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    many.learn_many(dicts(X), y)
    np.testing.assert_array_equal(arrays.predict(X), named.predict_many(dicts(X)))
    np.testing.assert_array_equal(arrays.predict(X), many.predict_many(dicts(X)))
    assert named.guard_.resets == arrays.guard_.resets == many.guard_.resets


def test_a_loss_that_falls_is_no_drift():
    """Detectors report any change; a model that gets better must not be reset for it."""
    model = OnlineBoostingRegressor(n_learners=2, drift=drift.ADWIN())
    random = np.random.default_rng(0)
    X = random.normal(size=(800, 3))
    noise = np.where(np.arange(800) < 400, 3.0, 0.01)
    losses(model, X, X[:, 0] + noise * random.normal(size=800))
    assert model.guard_.resets == 0


def test_classes_and_detectors_of_right_and_wrong():
    X, y = turning()
    for detector in (drift.ADWIN(), drift.binary.DDM()):
        model = OnlineBoostingClassifier(n_learners=3, drift=detector)
        model.learn_many(dicts(X), y > 0)
        guard = model.boosters_.members[0][1]
        assert guard.resets > 0
        assert np.mean(np.array(model.predict_many(dicts(X[900:]))) == (y[900:] > 0)) > 0.8
    three = OnlineBoostingClassifier(n_learners=2, drift=drift.ADWIN())
    three.learn_many(dicts(X[:100]), np.digitize(y[:100], [-1, 1]))
    assert len({id(guard.booster) for _, guard in three.boosters_.members}) == 3
    for booster, guard in three.boosters_.members:
        assert guard.booster is booster
    with pytest.raises(ValueError, match="DDM is told right from wrong, which the loss squared does not"):
        OnlineBoostingRegressor(drift=drift.binary.DDM()).fit(X, y)


@pytest.mark.parametrize("detector", [drift.PageHinkley(), drift.KSWIN(seed=0)])
def test_any_detector_of_river_will_do(detector):
    X, y = turning(300)
    model = OnlineBoostingRegressor(n_learners=2, drift=detector).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_bad_rows_are_refused_before_any_is_learnt():
    X, y = turning(20)
    model = OnlineBoostingRegressor(n_learners=2, drift=drift.ADWIN()).partial_fit(X, y)
    before = model.regret()
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        model.partial_fit(X, y, sample_weight=np.where(np.arange(40) == 39, -1.0, 1.0))
    with pytest.raises(ValueError, match="y must be finite"):
        model._learn_rows(X, np.where(np.arange(40) == 39, np.nan, y), None)
    assert model.regret() == before


def test_what_is_no_detector_is_refused():
    X, y = turning(20)
    with pytest.raises(
        ValueError, match=r"drift must be a River drift detector, got str: try river.drift.ADWIN\(\)"
    ):
        OnlineBoostingRegressor(drift="adwin").fit(X, y)
