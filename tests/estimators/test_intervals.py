"""Intervals of estimators: calibrated by rows that were not fitted, whatever their order, weights as rows, in files."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import anyboost as ab
from anyboost.estimators.dials import FOLDS

QUANTILES = "multi_quantile:0.05,0.5,0.95"


def rows(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, X[:, 0] + np.abs(X[:, 1]) * random.normal(size=n)


def quick(loss=QUANTILES, **options):
    return ab.BoostingRegressor(
        loss, **{"max_iter": 15, "max_leaf_nodes": 5, "min_leaf_weight": 10} | options
    )


@pytest.mark.parametrize(("loss", "conformal"), [(QUANTILES, "auto"), ("squared", "cv"), ("poisson", "cv")])
def test_ranks_are_those_of_rows_that_models_of_others_saw(loss, conformal):
    X, y = rows()
    y = np.exp(y) if loss == "poisson" else y
    model = quick(loss, conformal=conformal).fit(X, y)
    assert model.conformal_.way == "cv"
    # The same by hand: the model of each fold's other rows, on its rows.
    from anyboost.draws import Units

    folds = Units(0, X, y).folds(FOLDS)
    ranks = []
    for out in folds.astype(bool):
        other = quick(loss, conformal=None).fit(X[~out], y[~out])
        ranks.append(model.conformal_.distributions.ranks(other.predict(X[out]), y[out]))
    np.testing.assert_allclose(model.conformal_.ranks, np.sort(np.concatenate(ranks)), rtol=1e-9, atol=1e-9)
    # And the model is that of all rows, as without.
    np.testing.assert_array_equal(model.predict(X), quick(loss, conformal=None).fit(X, y).predict(X))


def test_folds_that_find_the_rounds_calibrate_too():
    X, y = rows(700)
    model = ab.BoostingRegressor(QUANTILES, max_leaf_nodes=5).fit(X, y)
    assert len(model.conformal_.ranks) == 700
    assert model.n_iter_ == model.dials_["max_iter"] > 1
    low, high = model.predict_interval(X, 0.8).T
    assert 0.7 < ((low <= y) & (y <= high)).mean() < 0.97


def test_folds_that_stopped_early_go_on_to_the_rounds_of_the_model():
    # Those of fewer rounds are less sure of themselves: intervals of half the rows covered 1 % less.
    X, y = rows(300)
    found = ab.BoostingRegressor(QUANTILES, max_leaf_nodes=5, random_state=1).fit(X, y)
    given = {"max_iter": found.n_iter_, "learning_rate": found.dials_["learning_rate"]}
    told = ab.BoostingRegressor(
        QUANTILES, max_leaf_nodes=5, random_state=1, early_stopping=False, **given
    ).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), told.predict(X))
    np.testing.assert_array_equal(found.conformal_.ranks, told.conformal_.ranks)


def test_split_holds_rows_apart_from_all_fitting():
    X, y = rows()
    model = quick("squared", conformal="split").fit(X, y)
    apart = len(model.conformal_.ranks)
    assert apart == 80
    low = model.predict_interval(X, 0.9)[:, 0]
    # The ends are predictions plus ranks of the rows held apart.
    ranks = np.sort(model.conformal_.ranks)
    np.testing.assert_allclose(low, model.predict(X) + ranks[int(0.05 * 81 + 1e-9) - 1])
    residuals = y - model.predict(X)
    assert np.isin(np.round(ranks, 9), np.round(residuals, 9)).all()


def test_any_coverage_is_nested_and_made_of_quantiles():
    X, y = rows()
    model = quick().fit(X, y)
    shares = [0.3, 0.5, 0.8, 0.9, 0.95]
    ends = [model.predict_interval(X, share) for share in shares]
    for narrow, wide in pairwise(ends):
        assert (wide[:, 0] <= narrow[:, 0]).all()
        assert (narrow[:, 1] <= wide[:, 1]).all()
    np.testing.assert_array_equal(model.predict_quantiles(X, [0.95, 0.05])[:, ::-1], ends[3])
    levels = np.linspace(0.03, 0.97, 50)
    assert (np.diff(model.predict_quantiles(X, levels), axis=1) >= 0).all()


def test_without_calibration_quantiles_are_as_predicted():
    X, y = rows()
    model = quick(conformal=None).fit(X, y)
    assert model.conformal_ is None
    np.testing.assert_allclose(model.predict_quantiles(X, [0.05, 0.5, 0.95]), model.predict(X), atol=1e-9)


def test_the_order_of_rows_and_copies_for_weights_change_nothing():
    X, y = rows(200)
    weights = np.random.default_rng(1).integers(1, 3, 200)
    order = np.random.default_rng(2).permutation(200)
    weighted = quick().fit(X, y, sample_weight=weights)
    shuffled = quick().fit(X[order], y[order], sample_weight=weights[order])
    np.testing.assert_array_equal(
        weighted.predict_quantiles(X, [0.1, 0.7]), shuffled.predict_quantiles(X, [0.1, 0.7])
    )
    copied = quick().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(
        weighted.predict_quantiles(X, [0.1, 0.7]), copied.predict_quantiles(X, [0.1, 0.7]), atol=1e-9
    )


def test_groups_are_covered_each():
    random = np.random.default_rng(5)
    X, y = rows(1200, seed=5)
    loud = random.random(1200) < 0.3
    y = np.where(loud, X[:, 0] + 4 * random.normal(size=1200), X[:, 0] + 0.2 * random.normal(size=1200))
    groups = np.where(loud, "loud", "quiet")
    model = quick("squared", conformal="split").fit(X[:900], y[:900], groups=groups[:900])
    inside = {}
    for given in (None, groups[900:]):
        low, high = model.predict_interval(X[900:], 0.8, groups=given).T
        inside[given is None] = [
            ((low <= y[900:]) & (y[900:] <= high))[groups[900:] == name].mean() for name in ("loud", "quiet")
        ]
    assert inside[True][0] < 0.6  # a constant width is too narrow for the loud ones
    assert inside[True][1] > 0.9
    np.testing.assert_allclose(inside[False], 0.8, atol=0.12)


@pytest.mark.parametrize("options", [{}, {"conformal": "split"}, {"loss": "absolute", "conformal": "cv"}])
def test_files_keep_what_intervals_are_calibrated_by(options, tmp_path):
    X, y = rows()
    groups = np.where(X[:, 2] > 0, "east", "west")
    model = quick(**options).fit(X, y, groups=groups)
    ab.save(model, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_interval(X, 0.7), model.predict_interval(X, 0.7))
    np.testing.assert_array_equal(
        loaded.predict_interval(X, 0.7, groups=groups), model.predict_interval(X, 0.7, groups=groups)
    )
    assert repr(loaded.conformal_) == repr(model.conformal_)
    assert clone(loaded).get_params()["conformal"] == model.get_params()["conformal"]


def test_other_kinds_of_fits_calibrate_by_folds_of_as_many_rounds():
    X, y = rows()
    stopped = quick("squared", conformal="cv", early_stopping=True, max_iter=200).fit(X, y)
    assert len(stopped.conformal_.ranks) == 360  # those that were fitted
    watched = quick("squared", conformal="cv", max_iter=100).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert len(watched.conformal_.ranks) == 300
    started = quick("squared", conformal="cv").fit(X, y, offset=X[:, 0])
    low, high = started.predict_interval(X, 0.5, offset=X[:, 0]).T
    assert 0.35 < ((low <= y) & (y <= high)).mean() < 0.75


def test_fits_that_are_to_be_plain_are_not_calibrated_unasked():
    X, y = rows(100)
    assert quick(preset="paper").fit(X, y).conformal_ is None
    assert quick(warm_start=True).fit(X, y).conformal_ is None
    assert quick("squared").fit(X, y).conformal_ is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"conformal": "jackknife"}, "conformal must be 'auto' or 'cv' or 'split', got"),
        ({"loss": "cox", "conformal": "cv"}, "conformal='cv' is for one number a row"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(options, said):
    X, y = rows(60)
    with pytest.raises(ValueError, match=said):
        quick(**options).fit(X, np.abs(y) + 1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"coverage": 1.0}, "coverage must be .* between 0 and 1"),
        (
            {"coverage": 0.999},
            r"coverage 0.999 takes 1999 rows or more to calibrate by, and this model has 100",
        ),
        ({"groups": ["a"] * 100}, "not calibrated by group: give them to fit too"),
    ],
)
def test_an_interval_that_cannot_be_told_is_refused(asked, said):
    X, y = rows(100)
    model = quick("squared", conformal="cv").fit(X, y)
    with pytest.raises(ValueError, match=said):
        model.predict_interval(X, **asked)


@pytest.mark.parametrize("levels", [0.5, [], "0.5", [0.5, 1.0]])
def test_bad_levels_are_refused(levels):
    X, y = rows(100)
    model = quick("squared", conformal="cv").fit(X, y)
    with pytest.raises(ValueError, match="levels must be"):
        model.predict_quantiles(X, levels)
