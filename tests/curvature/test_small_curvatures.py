"""Curvatures far below the largest: they are rounded up, not away."""

import math

import numpy as np
import pytest

import anyboost as ab
from anyboost.descent import Naive, Residual
from anyboost.losses import Huber, Logistic
from anyboost.weak import Stump, Tree
from curvature import oracle
from curvature.samples import sample, scores

FAR = 69.0  # e^-69 is 1e-30


def finite(run):
    trees = [tree for h in run.ensemble.hypotheses for tree in getattr(h, "trees", (h,))]
    return np.isfinite(run.scores).all() and all(np.isfinite(tree.value).all() for tree in trees)


def two_kinds(loss, n=60):
    """Column 0 says which rows are far out, where they bend 1e-30 of what the others do."""
    X, y = sample(loss, n)
    far = np.arange(n) % 3 == 0
    X[:, 0] = far
    if loss == "softmax":
        start = np.where(far[:, None], np.array([0.0, FAR, -FAR]), 0.0)
    else:
        start = np.where(far, -FAR if loss == "poisson" else FAR * y, 0.0)
    return X, y, far, start


@pytest.mark.parametrize("learner", [Stump(), Tree(8), Tree(8, outputs="each"), Tree(20, l2=1e-3)])
@pytest.mark.parametrize("memory", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["logistic", "exponential", "poisson", "softmax"])
def test_leaves_of_rows_that_hardly_bend(loss, memory, learner):
    X, y, far, start = two_kinds(loss)
    k = oracle.rowwise(loss, y).curvature(start)
    assert 0 < k[far].min() < 1e-29 * k.max()
    run = ab.boost(X, y, loss, learner, Residual(0.5, memory=memory, curvature=True), 6, start=start)
    assert finite(run)
    for h in run.ensemble.hypotheses:
        assert np.abs(h.predict(X)).max() <= 8.0 * (1 + 1e-9)
    assert run.steps[-1].loss <= run.start_loss


@pytest.mark.parametrize("wrong", [False, True])
def test_a_leaf_of_only_such_rows(wrong):
    """On the right side they have no slope to speak of and stay; on the wrong side the cap says how far they go."""
    n = 40
    X = np.repeat([0.0, 1.0], n // 2)[:, None]
    y = np.tile([1.0, -1.0, 1.0, 1.0], n // 4)
    far = X[:, 0] == 1
    start = np.where(far, (-FAR if wrong else FAR) * y, 0.0)
    run = ab.boost(X, y, "logistic", Stump(), Naive(1.0, curvature=True), 1, start=start)
    (tree,) = run.ensemble.hypotheses
    value = tree.predict(np.array([[1.0]]))[0]
    if wrong:  # (10 - 30) of 40 rows' slopes, over 40 curvatures of an eighth
        assert value == pytest.approx(-8.0 * 0.5, rel=1e-9)
    else:
        assert abs(value) <= 8.0
    assert tree.predict(np.array([[0.0]]))[0] == pytest.approx(-2.0 * 0.5, rel=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e9, 1e15, 1e30, 1e100])
def test_without_a_cap_a_value_may_fall_short_but_never_past(size):
    """Sums of curvature are rounded up: the denominator is positive, and the step never longer than it should be."""
    X = np.repeat([0.0, 1.0], 30)[:, None]
    y = np.where(X[:, 0] == 1, size, np.tile([-0.3, 0.3, 0.1], 20))
    run = ab.boost(X, y, Huber(1.0), Stump(), Naive(1.0, curvature=True), 1, start=0.0)
    value = -run.scores[-1]
    assert math.isfinite(value)
    assert -size * (1 + 1e-9) <= value < -1.0
    if size <= 1e9:
        assert value == pytest.approx(-size, rel=1e-3)
    assert run.scores[0] == pytest.approx(0.1 / 3, rel=1e-6)


def test_without_a_cap_logistic_rows_on_the_wrong_side_have_a_denominator(monkeypatch):
    monkeypatch.setattr(Logistic, "farthest", math.inf)
    X = np.repeat([0.0, 1.0], 30)[:, None]
    y = np.tile([1.0, -1.0, 1.0], 20)
    start = np.where(X[:, 0] == 1, -FAR * y, 0.0)
    start[30:] = np.where(y[30:] > 0, -FAR, 0.0)  # at the wrong end, or where the loss bends most
    run = ab.boost(X, y, "logistic", Tree(4), Naive(1e-3, curvature=True), 3, start=start)
    assert finite(run)


def test_curvatures_of_many_sizes_against_the_oracle():
    """Leaves of one size each: every sum is of its own scale, down to a millionth of the largest."""
    random = np.random.default_rng(0)
    n, levels = 120, 6
    X = np.repeat(np.arange(levels), n // levels)[:, None] * 1.0
    y = np.where(random.random(n) < 0.4, 1.0, -1.0)
    start = 2.5 * X[:, 0] * y
    run = ab.boost(X, y, "logistic", Tree(levels), Naive(1.0, curvature=True), 1, start=start)
    expected = oracle.descend(X, oracle.rowwise("logistic", y), oracle.Trees(levels), start, 1, lambda t: 1.0)
    np.testing.assert_allclose(run.scores, expected.scores, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "softmax"])
def test_rows_that_do_not_bend_at_all(loss):
    """Beyond where e^-|f| underflows curvature and slope are 0, and 0 / 0 is 0."""
    X, y, far, start = two_kinds(loss)
    start = 12.0 * start
    k = oracle.rowwise(loss, y).curvature(start)
    assert k[far].min() == 0
    for learner in (Stump(), Tree(20), Tree(20, l2=0.1)):
        run = ab.boost(X, y, loss, learner, Residual(0.5, curvature=True), 4, start=start)
        assert finite(run)
        assert all(math.isfinite(step.edge) and 0 <= step.edge <= 1 + 1e-9 for step in run.steps)


def test_a_model_that_is_sure_of_everything_stays():
    X, y = sample("logistic", 40)
    start = 1e5 * y
    run = ab.boost(X, y, "logistic", Tree(4), Residual(0.5, curvature=True), 3, start=start)
    np.testing.assert_array_equal(run.scores, start)
    assert finite(run)
    assert scores("logistic", y).shape == run.scores.shape
