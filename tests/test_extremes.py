"""Numbers that no sum can hold are refused in a sentence that names them, before any work."""

import numpy as np
import pytest

import anyboost as ab

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, 0] + 1.0


def fits(y, weights):
    yield lambda: ab.boost(X, y, sample_weight=weights, rounds=2)
    yield lambda: ab.BoostingRegressor("huber", max_iter=2).fit(X, y, weights)


@pytest.mark.parametrize("value", [1e155, -1e155, 1.7e308])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "expectile:0.3", "tweedie"])
def test_a_target_too_large_for_its_square(loss, value):
    y = np.abs(Y) + 1.0
    y[7] = value
    for fit in (
        lambda: ab.boost(X, y, loss, rounds=2),
        lambda: ab.BoostingRegressor(loss, max_iter=2).fit(X, y),
    ):
        with pytest.raises(
            ValueError, match=r"^y must be at most 1e\+100 in size, got .* at row 7: divide y"
        ):
            fit()


def test_targets_up_to_the_limit_fit():
    for loss in ("squared", "absolute", "expectile:0.3", "huber"):
        run = ab.boost(X, 1e100 * Y / np.abs(Y).max(), loss, rounds=5)
        assert run.steps[-1].loss < run.start_loss


@pytest.mark.parametrize("weight", [1e-320, 1e307, 1e-200, 1e200])
def test_weights_whose_sums_or_quotients_are_not_finite(weight):
    for weights in (np.full(30, weight), np.append(np.ones(29), weight)):
        row = 0 if weights[0] == weight else 29
        for fit in (*fits(Y, weights), lambda weights=weights: ab.Binned(X, weights)):
            with pytest.raises(
                ValueError, match=rf"^sample_weight must be 0, or between .* at row {row}: multiply"
            ):
                fit()


def test_weights_up_to_the_limit_are_the_measure_that_they_are():
    plain = ab.boost(X, Y, rounds=5)
    for weight in (1e-100, 1e100):
        run = ab.boost(X, Y, sample_weight=np.full(30, weight), rounds=5)
        np.testing.assert_array_equal(run.scores, plain.scores)
