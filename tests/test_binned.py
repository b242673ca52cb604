"""Bin once, fit many."""

import numpy as np
import pytest

import anyboost as ab


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 11))
    X[random.random(X.shape) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) ** 2 + random.normal(size=400)


def test_a_binned_table_gives_the_same_model(data):
    X, y = data
    binned = ab.Binned(X)
    for learner in ("stump", "tree:7"):
        plain = ab.boost(X, y, "absolute", learner, rounds=20)
        again = ab.boost(binned, y, "absolute", learner, rounds=20)
        np.testing.assert_array_equal(again.scores, plain.scores)
        assert again.ensemble.predict(X[:5]).tolist() == plain.ensemble.predict(X[:5]).tolist()


def test_a_part_of_the_rows_keeps_the_bins(data):
    X, y = data
    binned = ab.Binned(X, max_bins=16)
    rows = np.arange(0, 400, 3)
    part = binned.take(rows)
    assert part.shape == (len(rows), 11)
    run = ab.boost(part, y[rows], "squared", "tree:5", rounds=10)
    masked = ab.boost(
        binned, y, "squared", "tree:5", rounds=10, sample_weight=np.isin(np.arange(400), rows).astype(float)
    )
    np.testing.assert_array_equal(run.scores, masked.scores)
    known = binned.bins.thresholds
    for tree in run.ensemble.hypotheses:
        inner = tree.feature >= 0
        for feature, threshold in zip(tree.feature[inner], tree.threshold[inner], strict=True):
            assert threshold in known[feature]


def test_weights_at_binning_decide_the_bins(data):
    X, _ = data
    X = np.nan_to_num(X)
    weight = np.where(X[:, 0] > 0, 10.0, 1.0)
    plain, weighted = ab.Binned(X, max_bins=8), ab.Binned(X, weight, max_bins=8)
    assert np.median(weighted.bins.thresholds[0, :7]) > np.median(plain.bins.thresholds[0, :7])


def test_what_does_not_fit_is_refused(data):
    X, y = data
    binned = ab.Binned(X, max_bins=16)
    with pytest.raises(ValueError, match="max_bins is 16 in the binned X, got 32"):
        ab.boost(binned, y, max_bins=32)
    with pytest.raises(ValueError, match="y must have one value for each of the 400 rows"):
        ab.boost(binned, y[:10])
    with pytest.raises(ValueError, match="max_bins"):
        ab.Binned(X, max_bins=1)
