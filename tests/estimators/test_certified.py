"""Certificates of estimators: the floors of a run, without the rows, also after a save and a load."""

from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from reference.optima import optimum_stumps

KEPT = Path(__file__).parents[1] / "files"
STUMPS = {"max_leaf_nodes": 2, "min_leaf_weight": 0, "max_iter": 120, "preset": "paper"}


def rows(seed=0, n=60):
    random = np.random.default_rng(seed)
    X = random.integers(0, 6, (n, 3)).astype(float)
    return X, X[:, 0] - np.abs(X[:, 1] - 3) + random.normal(size=n)


@pytest.mark.parametrize("radius", [0.5, 2.0, 6.0])
def test_a_floor_lies_under_the_linear_program_and_close_to_it(radius):
    X, y = rows()
    model = ab.BoostingRegressor("absolute", memory=1.0, **STUMPS).fit(X, y)
    best = optimum_stumps(X, y, None, "absolute", radius, model.ensemble_.start[0])
    assert model.floor(radius) <= best.value + 1e-9
    assert model.floor(radius) > best.value - 0.35 * -model.train_score_[0]


@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("absolute", STUMPS),
        ("squared", {"learner": "linear", "max_iter": 5}),
        ("squared", {"max_iter": 10}),
        ("poisson", {"max_leaf_nodes": 2, "max_iter": 20, "subsample": 0.5}),
    ],
)
def test_a_gap_is_that_of_the_run(loss, options):
    X, y = rows()
    y = np.round(np.exp(y / 3))
    model = ab.BoostingRegressor(loss, warm_start=True, **options).fit(X, y)
    run = model._continuation[0]
    assert model.norm_ == run.norm
    sizes = [np.abs(h.predict(X)).max() for h in model.ensemble_.hypotheses]
    assert model.norm_ == pytest.approx(np.abs(model.ensemble_.coefficients) @ sizes, rel=1e-9)
    for radius in (None, 0.1, 3.0, 1e6):
        assert model.floor(radius) == run.floor(radius)
        assert model.gap(radius) == run.gap(radius)
    assert 0 <= model.gap() <= -model.train_score_[-1] - run.infimum


def test_a_fit_that_stopped_early_is_certified_as_it_is_kept():
    X, y = rows(n=200)
    model = ab.BoostingRegressor("absolute", max_leaf_nodes=2, max_iter=300, early_stopping=True).fit(X, y)
    kept = model.best_iteration_
    assert kept < model.n_iter_
    # The rows that were fitted are not known here; the sum of the sizes of leaves bounds the norm.
    most = sum(
        abs(c) * np.abs(h.value).max()
        for c, h in zip(model.ensemble_.coefficients, model.ensemble_.hypotheses, strict=True)
    )
    assert model.norm_ == pytest.approx(most, rel=1e-9)
    assert model.gap() == pytest.approx(-model.train_score_[kept] - model.floor(), abs=1e-12)


@pytest.mark.parametrize("kind", ["regressor", "classes", "ranker"])
def test_files_keep_what_is_proved(kind, tmp_path):
    X, y = rows(n=90)
    if kind == "ranker":
        model = ab.BoostingRanker(max_iter=5, max_leaf_nodes=2).fit(X, y > 0, qid=np.repeat(range(9), 10))
    elif kind == "classes":
        model = ab.BoostingClassifier(max_iter=5).fit(X, np.digitize(y, [-1, 1]))
    else:
        model = ab.BoostingRegressor("huber", max_iter=5, max_leaf_nodes=2).fit(X, y)
    ab.save(model, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    assert loaded.norm_ == model.norm_ > 0
    for radius in (None, 0.5, 100.0):
        assert loaded.floor(radius) == model.floor(radius)
        assert loaded.gap(radius) == model.gap(radius)


def test_a_file_of_an_older_version_says_that_nothing_is_proved():
    model = ab.load(KEPT / "kinds_1" / "regressor.safetensors")
    assert not hasattr(model, "norm_")
    with pytest.raises(ValueError, match=r"file of an older version.*fit it anew"):
        model.gap()


def test_a_bad_radius_is_refused():
    X, y = rows()
    model = ab.BoostingRegressor(max_iter=2).fit(X, y)
    with pytest.raises(ValueError, match="radius must be a number >= 0, got -1"):
        model.floor(-1)
