"""Optima that experiments are held against are optima: by closed forms, and by runs that cannot beat them."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.experiments import finite


@pytest.mark.parametrize(
    ("loss", "y", "best"),
    [
        ("absolute", [1.0, 2.0, 6.0], 5 / 3),  # at the median
        ("quantile:0.9", [0.0, 0.0, 0.0, 5.0], 0.1 * 5 * 3 / 4),  # at the largest
        ("hinge", [1.0, 1.0, -1.0], 2 / 3),  # at 1: two rows are right, and one loses 2
    ],
)
def test_the_linear_optimum_of_constants(loss, y, best):
    assert finite.linear_optimum(np.ones((len(y), 1)), np.array(y), loss, 10.0) == pytest.approx(best)


def test_a_radius_binds():
    assert finite.linear_optimum(np.ones((2, 1)), np.array([3.0, 3.0]), "absolute", 1.0) == pytest.approx(2.0)


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.8", "hinge"])
def test_hull_comes_close_to_the_linear_optimum_and_not_below(loss):
    random = np.random.default_rng(2)
    H = finite.sign_stumps(random.normal(size=(25, 2)))
    y = random.normal(size=25) if loss != "hinge" else np.where(random.random(25) < 0.5, 1.0, -1.0)
    best = finite.linear_optimum(H, y, loss, 2.0)
    run = ab.boost(H, y, loss, "dictionary", ab.descent.Hull(2.0), 1500, start=0.0, n_threads=1)
    assert run.floor(2.0) <= best + 1e-9
    assert best - 1e-9 <= run.steps[-1].loss <= best + 0.02


def test_the_smooth_optimum_of_squares_is_least_squares():
    random = np.random.default_rng(3)
    H, y = random.uniform(-1, 1, size=(40, 5)), random.normal(size=40)
    found = finite.smooth_optimum(H, y, ab.losses.Squared())
    c, *_ = np.linalg.lstsq(H, y, rcond=None)
    assert found.value == pytest.approx(np.mean((H @ c - y) ** 2) / 2, rel=1e-10)
    np.testing.assert_allclose(found.scores, H @ c, atol=1e-6)
    assert found.norm == pytest.approx(np.abs(c).sum(), rel=1e-5)


def test_the_least_norm_uses_the_cheapest_columns():
    ones = np.ones((3, 1))
    assert finite.least_norm(np.c_[0.5 * ones, ones], np.array([4.0, 1.0])) == pytest.approx(3.0)


def test_classes_have_atoms_of_size_one():
    X = np.c_[np.arange(20.0), np.zeros(20), np.arange(20) % 2]
    for H in (finite.sign_stumps(X), finite.scaled_columns(X)):
        np.testing.assert_allclose(np.abs(H).max(axis=0), 1.0)
        assert len(np.unique(H, axis=1).T) == H.shape[1]
