"""Numbers that no sum can hold are refused in a sentence that names them, before any work."""

import numpy as np
import pytest
from scipy.sparse import csr_array

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


SCALED = ("squared", "absolute", "quantile:0.3", "expectile:0.3", "huber")


@pytest.mark.parametrize("scale", [1e-140, 1e-40, 1e-310])
@pytest.mark.parametrize("loss", [*SCALED, "tweedie", "multi_quantile:0.1,0.9"])
def test_targets_too_small_to_be_seen(loss, scale):
    """A model that is a constant looks as if X told nothing of y, and nobody hears that it is the unit of y."""
    y = scale * (np.abs(Y) + 1.0)
    for fit in (
        lambda: ab.boost(X, y, loss, rounds=2),
        lambda: ab.BoostingRegressor(loss, max_iter=2).fit(X, y),
    ):
        with pytest.raises(
            ValueError, match=r"^y must have values of 1e-24 or more in size, got .* at most: multiply"
        ):
            fit()
    two = np.column_stack([y, y])
    with pytest.raises(ValueError, match=r"^y must have values of 1e-24 or more in size"):
        ab.BoostingRegressor("squared", max_iter=2).fit(X, two)


@pytest.mark.parametrize("loss", SCALED)
def test_targets_down_to_the_limit_fit(loss):
    """All of these losses follow the unit of y; Huber's is the squared one next to zero."""
    unit, small_unit, size = 2.0**-20, 2.0**-79, np.abs(Y).max()  # a little over 1e-24
    learner = ab.weak.Tree(4, leaf="exact")
    plain = ab.boost(X, unit * (Y / size), loss, learner, rounds=5)
    small = ab.boost(X, small_unit * (Y / size), loss, learner, rounds=5)
    np.testing.assert_allclose(small.scores / small_unit, plain.scores / unit, rtol=1e-3, atol=1e-3)
    some = small_unit * (Y / size)
    some[:10] = 0.0
    some[10:20], some[-1] = 1e-150, small_unit  # beside a larger one
    assert len(ab.boost(X, some, loss, rounds=2).steps) == 2
    constant = ab.BoostingRegressor(loss, max_iter=2).fit(X, np.zeros(30))
    assert not constant.predict(X).any()


@pytest.mark.parametrize("learner", ["linear", "net"])
def test_columns_too_small_for_their_squares(learner):
    table = X.copy()
    table[:, 1] *= 1e-170
    model = ab.BoostingRegressor(max_iter=2, learner=learner)
    with pytest.raises(
        ValueError, match="X has values too small to be squared: give its columns larger units"
    ):
        model.fit(table, Y)
    if learner == "linear":
        with pytest.raises(ValueError, match="X has values too small to be squared"):
            model.fit(csr_array(table), Y)
    table[:, 1] = 1e-170  # constant: it tells nothing in any unit
    model.fit(table, Y)
    trees = [ab.boost(Z, Y, rounds=2).scores for Z in (X, X * 2.0**-565)]
    np.testing.assert_array_equal(*trees)


def test_a_stream_goes_on_past_labels_that_are_too_small():
    random = np.random.default_rng(0)
    table, scale = random.normal(size=(1200, 3)), np.repeat([1e-140, 1.0], 600)
    model = ab.OnlineBoostingRegressor()
    for rows in np.split(np.arange(1200), 12):
        model.partial_fit(table[rows], (scale * table[:, 0])[rows])
    assert np.corrcoef(model.predict(table), table[:, 0])[0, 1] > 0.9
