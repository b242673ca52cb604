"""Runs with curvature against the oracle: the same cuts, values, steps, edges and residuals."""

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import anyboost as ab
import reference
from anyboost.descent import Descent, Naive, Repeated, Residual
from anyboost.steps import Constant, InverseSqrt
from anyboost.weak import Stump, Tree
from curvature import oracle
from curvature.samples import CURVED, WEIGHTS, sample, scores, weights
from reference.learners import ridge

ROUNDING = 1e-12  # the library projects nothing smaller again

# What the library is given, and what the oracle
DESCENTS = {
    "naive": (Naive(Constant(0.7), curvature=True), {"eta": lambda t: 0.7}),
    "repeated": (
        Repeated(InverseSqrt(0.8), curvature=True),
        {"eta": lambda t: 0.8 / math.sqrt(t), "projections": lambda t: t, "tolerance": ROUNDING},
    ),
    "repeated, to a tolerance": (
        Repeated(Constant(0.6), projections=6, tolerance=0.7, curvature=True),
        {"eta": lambda t: 0.6, "projections": lambda t: 6, "tolerance": 0.7},
    ),
    "residual": (
        Residual(InverseSqrt(0.5), curvature=True),
        {"eta": lambda t: 0.5 / math.sqrt(t), "memory": 1.0},
    ),
    "residual, memory 0.5": (
        Residual(Constant(0.5), memory=0.5, curvature=True),
        {"eta": lambda t: 0.5, "memory": 0.5},
    ),
    "memory and two projections": (
        Descent(Constant(0.4), memory=0.8, projections=2, curvature=True),
        {"eta": lambda t: 0.4, "memory": 0.8, "projections": lambda t: 2, "tolerance": ROUNDING},
    ),
}
LEARNERS = {
    "stumps": (Stump(), oracle.Trees()),
    "trees": (Tree(5), oracle.Trees(5)),
    "l2, least weight": (
        Tree(6, l2=1.3, min_leaf_weight=7.0),
        oracle.Trees(6, l2=1.3, min_leaf_weight=7.0),
    ),
    "a tree an output": (Tree(4, outputs="each"), oracle.Trees(4, outputs="each")),
    "a tree an output, l2": (Tree(4, outputs="each", l2=0.8), oracle.Trees(4, outputs="each", l2=0.8)),
}
MATTER_FOR_VECTORS = ("a tree an output", "a tree an output, l2")


def some_of_them():
    """Every loss meets every descent, and learners and weights in turn."""
    for number, (loss, descent) in enumerate(itertools.product(CURVED, DESCENTS)):
        usable = [name for name in LEARNERS if loss == "softmax" or name not in MATTER_FOR_VECTORS]
        yield loss, descent, usable[number % len(usable)], WEIGHTS[(number // 2) % 3]
    for learner, kind in itertools.product(MATTER_FOR_VECTORS, WEIGHTS):
        yield "softmax", "naive", learner, kind


def both(loss, descent, learner, kind, rounds, X=None, y=None, start=0.0):
    if X is None:
        X, y = sample(loss)
    w = weights(kind, len(y))
    ours, theirs = DESCENTS[descent]
    lent, plain = LEARNERS[learner]
    run = ab.boost(X, y, loss, lent, ours, rounds, start=start, sample_weight=w)
    offset = scores(loss, y) + start
    return run, oracle.descend(X, oracle.rowwise(loss, y, w), plain, offset, rounds, **theirs), X


def assert_same(run, expected, X, keeps_residual):
    hypotheses, coefficients = iter(run.ensemble.hypotheses), iter(run.ensemble.coefficients)
    for step, done in zip(run.steps, expected.rounds, strict=True):
        for found, c in zip(done.hypotheses, done.coefficients, strict=True):
            h = next(hypotheses)
            assert next(coefficients) == pytest.approx(-done.eta * c, rel=1e-8)
            for ours, theirs in zip(getattr(h, "trees", [h]), getattr(found, "trees", [found]), strict=True):
                assert_same_tree(ours, theirs, X)
        assert step.edge == pytest.approx(done.edges[0], rel=1e-7)
        assert step.coefficient == pytest.approx(done.coefficients[0], rel=1e-8)
    assert next(hypotheses, None) is None
    np.testing.assert_allclose(run.scores, expected.scores, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose([step.loss for step in run.steps], expected.losses, rtol=1e-9)
    if keeps_residual:
        np.testing.assert_allclose(run.state.residual, expected.residual, rtol=1e-8, atol=1e-9)


def assert_same_tree(ours, theirs, X):
    cuts, values = oracle.walk_function(ours, X)
    their_cuts, their_values = oracle.walk(theirs, X)
    assert cuts == their_cuts
    thresholds = sorted(ours.threshold[ours.feature >= 0])
    np.testing.assert_allclose(
        thresholds, sorted(t for t in theirs.threshold if not math.isnan(t)), rtol=1e-15
    )
    np.testing.assert_allclose(values, their_values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("loss", "descent", "learner", "kind"), list(some_of_them()))
def test_trees_and_values(loss, descent, learner, kind):
    run, expected, X = both(loss, descent, learner, kind, 5 if "repeated" in descent else 8)
    assert_same(run, expected, X, keeps_residual=run.descent.memory > 0)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_missing_values_go_where_they_gain_more(loss):
    X, y = sample(loss)
    X[np.random.default_rng(2).random(X.shape) < 0.15] = np.nan
    run, expected, X = both(loss, "residual", "trees", "floats", 6, X, y)
    assert_same(run, expected, X, keeps_residual=True)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "softmax"])
@pytest.mark.parametrize("descent", ["naive", "residual"])
def test_from_a_start_where_the_cap_binds(loss, descent):
    """Rows far on the wrong side bend a millionth of others: there the quotient would step by e^|margin|."""
    X, y = sample(loss)
    most = 2.0 if loss == "poisson" else 14.0  # of a score, or e^f is out of scale
    start = np.random.default_rng(4).uniform(-14.0, most, scores(loss, y).shape)
    run, expected, X = both(loss, descent, "trees", "whole", 5, X, y, start)
    bound = np.abs(expected.rounds[0].g) > 8.0 * oracle.rowwise(loss, y).curvature(start) * (1 + 1e-9)
    assert 0.02 < np.mean(bound) < 0.98
    assert_same(run, expected, X, keeps_residual=descent == "residual")
    for tree in run.ensemble.hypotheses:
        assert np.abs(tree.value).max() <= 8.0 * (1 + 1e-9)


def test_the_cap_is_an_attribute_of_losses(monkeypatch):
    losses = ab.losses
    for loss in (
        losses.Logistic,
        losses.Softmax,
        losses.Poisson,
        losses.Exponential,
        losses.Gamma,
        losses.Tweedie,
    ):
        assert loss.farthest == 8.0
    for loss in (losses.Squared(), losses.Huber()):
        assert loss.farthest == math.inf
    X, y = sample("logistic")
    start = np.random.default_rng(4).uniform(-6.0, 6.0, len(y))
    monkeypatch.setattr(losses.Logistic, "farthest", math.inf)
    run = ab.boost(X, y, "logistic", Tree(3), Naive(0.1, curvature=True), 3, start=start)
    expected = oracle.descend(
        X, oracle.rowwise("logistic", y), oracle.Trees(3), start, 3, lambda t: 0.1, farthest=math.inf
    )
    assert_same(run, expected, X, keeps_residual=False)


def test_a_mean_leaf_needs_no_other_step():
    """The c of the ray is 1 without l2; with it, it would be larger, and is held at 1."""
    X, y = sample("logistic")
    for l2 in (0.0, 2.0):
        run = ab.boost(X, y, "logistic", Tree(5, l2=l2), Residual(0.3, memory=0.7, curvature=True), 10)
        np.testing.assert_allclose([step.coefficient for step in run.steps], 1.0, rtol=1e-9)


def coupled_problem(loss, n=40):
    random = np.random.default_rng(5)
    X, signal = sample("squared", n)
    if loss == "cox":
        times = np.exp(-signal / 3) + random.permutation(n) / 1000.0
        y = np.where(random.random(n) < 0.3, -times, times)
        return X, y, None
    return X, np.digitize(signal, [-1.0, 0.5]).astype(float), np.arange(n) % 4


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("loss", ["cox", "rank_logistic"])
@pytest.mark.parametrize("descent", ["naive", "residual, memory 0.5"])
def test_losses_that_couple_rows(loss, descent, kind):
    X, y, groups = coupled_problem(loss)
    w = weights(kind, len(y))
    problem = oracle.cox(y, w) if loss == "cox" else oracle.rank_logistic(y, groups, w)
    reach = getattr(ab.losses, "Cox" if loss == "cox" else "RankLogistic").farthest
    ours, theirs = DESCENTS[descent]
    run = ab.boost(X, y, loss, Tree(4), ours, 5, start=0.0, sample_weight=w, groups=groups)
    expected = oracle.descend(X, problem, oracle.Trees(4), np.zeros(len(y)), 5, farthest=reach, **theirs)
    assert_same(run, expected, X, keeps_residual="memory" in theirs)


OTHERS = {
    "linear": ("linear", lambda X, w, T: reference.Atom(None, None, 1.0, ridge(X, w, T, 0.0)), 1e-7),
    "scikit-learn": (
        LinearRegression(),
        lambda X, w, T: reference.Atom(None, None, 1.0, ridge(X, w, T, 0.0)),
        1e-7,
    ),
    "dictionary": ("dictionary", reference.project_dictionary, 1e-9),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("descent", ["naive", "residual"])
def test_other_learners_are_lent_the_measure(name, loss, descent):
    """w k in the place of w, and D / k in that of D."""
    X, y = sample(loss)
    w = weights("floats", len(y))
    learner, flat, close = OTHERS[name]
    ours, theirs = DESCENTS[descent]
    run = ab.boost(X, y, loss, learner, ours, 6, start=0.0, sample_weight=w)
    expected = oracle.descend(X, oracle.rowwise(loss, y, w), oracle.Lent(flat), scores(loss, y), 6, **theirs)
    np.testing.assert_allclose(run.scores, expected.scores, rtol=close, atol=close)
    np.testing.assert_allclose(
        [step.edge for step in run.steps], [r.edges[0] for r in expected.rounds], rtol=1e-6
    )


@pytest.mark.parametrize("l2", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_categories_are_cut_into_the_best_two_sets(l2, seed):
    """Any two sets of six categories, by trying them all."""
    random = np.random.default_rng(seed)
    n = 60
    codes = random.integers(0, 6, n)
    y = np.where(random.random(n) < 0.2 + 0.1 * ((codes * 5) % 6), 1.0, -1.0)
    start = random.normal(size=n) * 2
    w = weights("floats", n)
    run = ab.boost(
        codes[:, None] * 1.0,
        y,
        "logistic",
        Tree(2, l2=l2),
        Naive(1.0, curvature=True),
        1,
        start=start,
        sample_weight=w,
        categorical=[0],
    )
    problem = oracle.rowwise("logistic", y, w)
    g = problem.gradient(start)
    k = np.maximum(problem.curvature(start), np.abs(g) / problem.farthest)

    def leaves(side):
        return [(np.sum((w * g)[rows]), np.sum((w * k)[rows]) + l2) for rows in (side, ~side)]

    sides = [np.isin(codes, [c for c in range(6) if mask >> c & 1]) for mask in range(1, 32)]
    best = max(sides, key=lambda side: sum(G * G / H for G, H in leaves(side)) if 0 < side.sum() < n else 0.0)
    values = [G / H for G, H in leaves(best)]
    np.testing.assert_allclose(start - run.scores, np.where(best, *values), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("memory", [0.0, 1.0])
def test_a_monotone_model_is_monotone(memory):
    X, y = sample("logistic", 300, continuous=True)
    learner = Tree(6, monotone=(1, -1, 0, 0), l2=0.5)
    run = ab.boost(X, y, "logistic", learner, Residual(0.3, memory=memory, curvature=True), 15)
    for column, sign in ((0, 1), (1, -1)):
        moved = X.copy()
        moved[:, column] += sign * np.random.default_rng(0).exponential(size=len(X))
        assert (run.ensemble.predict(moved) >= run.ensemble.predict(X) - 1e-12).all()


def test_of_some_rows_the_step_is_that_of_all():
    """c on all rows, so that D stays orthogonal to h, whatever rows the tree was grown on."""
    X, y = sample("logistic", 400)
    w = weights("floats", len(y))
    run = ab.boost(
        X,
        y,
        "logistic",
        Tree(5),
        Residual(0.5, curvature=True),
        1,
        start=0.4,
        sample_weight=w,
        row_fraction=0.5,
    )
    problem, f = oracle.rowwise("logistic", y, w), np.full(len(y), 0.4)
    g, h = problem.gradient(f), run.ensemble.hypotheses[0].predict(X)
    k = np.maximum(problem.curvature(f), np.abs(g) / problem.farthest)
    c = np.sum(w * g * h) / np.sum(w * k * h * h)
    assert run.steps[0].coefficient == pytest.approx(c, rel=1e-8)
    assert abs(c - 1.0) > 1e-4
    np.testing.assert_allclose(run.state.residual, g - c * k * h, rtol=1e-8, atol=1e-10)


def test_covers_are_of_weights():
    X, y = sample("logistic")
    w = weights("floats", len(y))
    run = ab.boost(X, y, "logistic", Tree(5), Naive(0.5, curvature=True), 3, sample_weight=w)
    for tree in run.ensemble.hypotheses:
        leaf = tree.apply(X)
        for node in np.flatnonzero(tree.feature < 0):
            assert tree.cover[node] == pytest.approx(w[leaf == node].sum(), rel=1e-6)
