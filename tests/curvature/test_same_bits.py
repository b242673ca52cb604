"""Curved runs depend on the measure alone: on threads, order and the unit of weights not by a bit."""

import numpy as np
import pytest

import anyboost as ab
import fingerprints
from anyboost.descent import Naive, Repeated, Residual
from anyboost.weak import Tree
from curvature.samples import sample, weights

CASES = {
    "logistic": ("logistic", Tree(7), Naive(0.4, curvature=True)),
    "logistic, residual": ("logistic", Tree(7, l2=0.5), Residual(0.3, curvature=True)),
    "poisson, memory": ("poisson", Tree(7), Residual(0.3, memory=0.7, curvature=True)),
    "huber, repeated": ("huber:0.7", "stump", Repeated(0.3, curvature=True)),
    "softmax": ("softmax", Tree(5), Residual(0.3, curvature=True)),
    "softmax, a tree an output": ("softmax", Tree(5, outputs="each"), Residual(0.3, curvature=True)),
    "logistic, linear": ("logistic", "linear", Residual(0.3, curvature=True)),
}
TREES = [name for name in CASES if not name.endswith("linear")]


def bits(run, X):
    found = [run.ensemble.start.tobytes(), run.ensemble.coefficients.tobytes()]
    for h in run.ensemble.hypotheses:
        for tree in getattr(h, "trees", (h,)):
            if hasattr(tree, "feature"):
                cuts, values = fingerprints.walk(tree)
                found += [cuts, np.array(values).tobytes()]
    found += [run.ensemble.predict(X).tobytes(), run.floor(2.0)]
    return found, [step._replace(seconds=0.0) for step in run.steps]


def fit(case, X, y, w=None, rounds=6, **options):
    loss, learner, descent = CASES[case]
    return ab.boost(X, y, loss, learner, descent, rounds, sample_weight=w, **options)


def big(case, n=40_000):
    return sample(CASES[case][0], n, continuous=True)


@pytest.mark.parametrize("case", CASES)
def test_threads(case):
    X, y = big(case)
    runs = [fit(case, X, y, rounds=3, n_threads=n) for n in (1, 2)]
    assert bits(runs[0], X[:100]) == bits(runs[1], X[:100])
    np.testing.assert_array_equal(runs[0].scores, runs[1].scores)


@pytest.mark.parametrize("kind", ["none", "whole", "floats"])
@pytest.mark.parametrize("case", TREES)
def test_order(case, kind):
    X, y = sample(CASES[case][0], 2000, continuous=True)
    w = weights(kind, len(y))
    order = np.random.default_rng(0).permutation(len(y))
    one = fit(case, X, y, w)
    other = fit(case, X[order], y[order], None if w is None else w[order])
    assert bits(one, X) == bits(other, X)
    np.testing.assert_array_equal(one.scores[order], other.scores)


@pytest.mark.parametrize("case", TREES)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(case):
    X, y = sample(CASES[case][0], 300, continuous=True)
    w = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = fit(case, X, y, w.astype(float))
    repeated = fit(case, np.repeat(X, w, axis=0), np.repeat(y, w))
    for one, other in zip(weighted.ensemble.hypotheses, repeated.ensemble.hypotheses, strict=True):
        for tree, twin in zip(getattr(one, "trees", (one,)), getattr(other, "trees", (other,)), strict=True):
            (cuts, values), (their_cuts, their_values) = fingerprints.walk(tree), fingerprints.walk(twin)
            assert cuts == their_cuts
            # More rows leave fewer bits to each, so the last ones may differ.
            np.testing.assert_allclose(values, their_values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        np.repeat(weighted.scores, w[w > 0], axis=0), repeated.scores, rtol=1e-9, atol=1e-9
    )
    dropped = fit(case, X[w > 0], y[w > 0], w[w > 0].astype(float))
    assert bits(weighted, X) == bits(dropped, X)
    np.testing.assert_array_equal(weighted.scores, dropped.scores)


@pytest.mark.parametrize("case", TREES)
def test_the_unit_of_weights_does_not_matter(case):
    if getattr(CASES[case][1], "l2", 0.0):
        pytest.skip("a penalty is in units of weight")
    X, y = sample(CASES[case][0], 300)
    w = weights("whole", len(y))
    assert bits(fit(case, X, y, w), X) == bits(fit(case, X, y, w / 7.0), X)


@pytest.mark.parametrize("case", TREES)
def test_sampled_rows_in_any_order(case):
    X, y = sample(CASES[case][0], 800, continuous=True)
    order = np.random.default_rng(0).permutation(len(y))
    some = {"row_fraction": 0.6, "feature_fraction": 0.7, "random_state": 5}
    assert bits(fit(case, X, y, **some), X) == bits(fit(case, X[order], y[order], **some), X)
