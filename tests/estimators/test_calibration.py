"""Probabilities of estimators by rows that were not fitted; groups told apart."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

import anyboost as ab
from anyboost.draws import Units
from anyboost.estimators.dials import FOLDS
from anyboost.explain import calibration


def rows(n=500, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, np.where(random.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), "yes", "no")


def quick(loss="auto", **options):
    return ab.BoostingClassifier(loss, **{"max_iter": 15, "max_leaf_nodes": 5} | options)


def test_probabilities_are_learnt_from_what_models_of_others_said():
    X, y = rows()
    model = quick("hinge", calibration="temperature").fit(X, y)
    scores = np.empty(len(y))
    for out in Units(0, X, 2.0 * (y == "yes") - 1).folds(FOLDS, y == "yes").astype(bool):
        scores[out] = quick("hinge").fit(X[~out], y[~out]).decision_function(X[out])
    by_hand = calibration.fit("temperature", scores, (y == "yes").astype(int), None)
    assert model.calibration_.scale == pytest.approx(by_hand.scale, rel=1e-6)
    np.testing.assert_array_equal(model.decision_function(X), quick("hinge").fit(X, y).decision_function(X))


@pytest.mark.parametrize("way", ["temperature", "isotonic"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "exponential"])
def test_two_classes_have_probabilities_that_come_true(loss, way):
    X, y = rows(1500)
    model = quick(loss, calibration=way).fit(X[:900], y[:900])
    p = model.predict_proba(X[900:])
    truth = 1 / (1 + np.exp(-2 * X[900:, 0]))
    # Among rows that are told about the same, the mean is the truth.
    for part in np.array_split(np.argsort(p[:, 1], kind="stable"), 4):
        assert abs(p[part, 1].mean() - truth[part].mean()) < 0.07
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[900:]))


def test_several_classes_that_were_too_unsure_are_mended():
    X, y = load_digits(return_X_y=True)
    losses = {
        way: log_loss(
            y[900:], quick(max_iter=30, calibration=way).fit(X[:900], y[:900]).predict_proba(X[900:])
        )
        for way in (None, "temperature")
    }
    assert losses["temperature"] < 0.8 * losses[None]


@pytest.mark.parametrize("way", ["temperature", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_files_keep_calibrations(way, classes, tmp_path):
    X, y = rows()
    y = y if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    model = quick(calibration=way).fit(X, y)
    ab.save(model, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.calibration == way


def test_without_calibration_a_hinge_says_how_to_get_probabilities():
    X, y = rows(60)
    model = quick("hinge").fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="calibration='temperature'"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match="calibration must be 'temperature' or 'isotonic', got 'platt'"):
        quick(calibration="platt").fit(X, y)


def test_groups_of_numbers_are_told_apart():
    random = np.random.default_rng(3)
    X = pd.DataFrame({"x": random.normal(size=600)})
    y = X["x"] + random.normal(size=600)
    groups = np.repeat(["a", "b", "c"], 200)
    y[groups == "b"] += 5 * random.normal(size=200)
    model = ab.BoostingRegressor(conformal="split", max_iter=15).fit(X, y)
    weights = random.integers(1, 3, 600)
    found = model.by_group(X, y, groups, weights, coverage=0.8)
    assert found["group"].tolist()[0] == "b"
    low, high = model.predict_interval(X, 0.8).T
    for _, line in found.iterrows():
        own = groups == line["group"]
        off = model.predict(X)[own] - y[own]
        assert line["rows"] == 200
        assert line["weight"] == weights[own].sum()
        assert line["loss"] == pytest.approx(np.average(off**2 / 2, weights=weights[own]))
        assert line["bias"] == pytest.approx(np.average(off, weights=weights[own]))
        inside = (low[own] <= y[own]) & (y[own] <= high[own])
        assert line["coverage"] == pytest.approx(np.average(inside, weights=weights[own]))


def test_groups_of_classes_are_told_apart_in_the_frame_of_the_rows():
    X, y = rows()
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    model = quick().fit(frame, y)
    groups = X[:, 1] > 0
    found = model.by_group(frame, y, groups)
    assert isinstance(found, pl.DataFrame)
    p = model.predict_proba(frame)
    for line in found.iter_rows(named=True):
        own = groups == line["group"]
        right = model.classes_[p[own].argmax(axis=1)] == y[own]
        assert line["loss"] == pytest.approx(log_loss(y[own], p[own]))
        assert line["error"] == pytest.approx(1 - right.mean())
        assert line["sureness"] == pytest.approx(p[own].max(axis=1).mean() - right.mean())
        assert line["brier"] == pytest.approx(2 * ((p[own, 1] - (y[own] == "yes")) ** 2).mean())


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"groups": [1, 2]}, ValueError, "groups must"),
        ({"y": [1.0]}, ValueError, "y "),
        ({"coverage": 1}, ValueError, "coverage must"),
        ({"sample_weight": np.repeat([0.0, 1.0], 20)}, ValueError, "zero for all rows of the group 'a'"),
    ],
)
def test_bad_groups_are_refused(asked, error, said):
    X, y = np.random.default_rng(0).normal(size=(2, 40, 1))
    model = ab.BoostingRegressor(max_iter=2).fit(X, y[:, 0])
    with pytest.raises(error, match=said):
        model.by_group(**{"X": X, "y": y[:, 0], "groups": np.repeat(["a", "b"], 20)} | asked)


def test_a_loss_of_pairs_has_no_groups():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ab.BoostingRegressor("cox", max_iter=2).fit(X, np.arange(1.0, 31))
    with pytest.raises(TypeError, match="by_group needs a loss that rows have each by themselves"):
        model.by_group(X, np.arange(1.0, 31), np.zeros(30))
