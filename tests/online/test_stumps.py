"""Stumps with an intercept and a scale of their own: columns may be shifted and scaled, and more of them gain more."""

import numpy as np
import pytest

from anyboost.online import FeatureStumpLearner, HullBooster, SpanBooster


def stream(n=2000, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[:, 3] = random.integers(0, 2, n)  # zeros are values like others
    return X, np.sign(X[:, 0]) + X[:, 1] + 2.0 * X[:, 3] + 0.1 * random.normal(size=n)


@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e6), (3.0, 1.0), (-50.0, 1e-3)])
def test_shifting_and_scaling_a_column_changes_nothing_but_rounding(make, shift, scale):
    X, y = stream()
    moved = X * [1.0, scale, 1.0, scale] + [shift, 0.0, scale * shift, shift]
    plain, other = (
        make(FeatureStumpLearner(), n_learners=5).partial_fit(each, y).predict(each[-200:])
        for each in (X, moved)
    )
    np.testing.assert_allclose(other, plain, rtol=0, atol=1e-6)


def test_more_stumps_gain_on_raw_columns():
    X, y = stream()
    X = X * [1.0, 100.0, 0.01, 1.0] + [5.0, -1000.0, 0.3, 2.0]

    def loss(count, **form):
        booster = SpanBooster(FeatureStumpLearner(**form), n_learners=count)
        answers = np.concatenate(
            [
                [booster.predict(x[None])[0], booster.partial_fit(x[None], [t])][:1]
                for x, t in zip(X, y, strict=True)
            ]
        )
        return np.mean((answers[1000:] - y[1000:]) ** 2) / y.var()

    one, many = loss(1), loss(20)
    assert many < 0.6 * one  # no single column says enough
    assert many < 0.5 * loss(20, centered=False)


def test_the_statistics_of_a_column_are_those_of_the_textbook():
    X, y = stream(500)
    booster = SpanBooster(FeatureStumpLearner(), n_learners=1).partial_fit(X, y)
    spreads = booster.state.arrays.table[1:, :3]
    np.testing.assert_allclose(spreads[:, 0], 500)
    np.testing.assert_allclose(spreads[:, 1], X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(spreads[:, 2], X.var(axis=0), rtol=1e-10)


@pytest.mark.parametrize("wild", [1e10, -1e300])
def test_a_wild_value_does_no_lasting_harm(wild):
    X, y = stream(3000)
    hurt = X.copy()
    hurt[[0, 1500], 1] = wild
    booster = SpanBooster(FeatureStumpLearner(), n_learners=5).partial_fit(X, y)
    other = SpanBooster(FeatureStumpLearner(), n_learners=5).partial_fit(hurt, y)
    errors = [np.mean((each.predict(X[2000:]) - y[2000:]) ** 2) for each in (booster, other)]
    assert np.isfinite(errors[1])
    assert errors[1] < 2.0 * errors[0]


def test_a_sparse_row_has_the_features_that_are_stored():
    import scipy.sparse

    X, y = stream(400)
    X[:, 0] = np.where(X[:, 0] > 0, X[:, 0], 0.0)
    stored = scipy.sparse.csr_matrix(np.where(X == 0, 7.0, X))
    stored.data[stored.data == 7.0] = 0.0  # zeros that are stored
    dense = SpanBooster(FeatureStumpLearner(), n_learners=3).partial_fit(X, y)
    sparse = SpanBooster(FeatureStumpLearner(), n_learners=3).partial_fit(stored, y)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(stored))
