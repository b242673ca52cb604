"""The oracle of the curved loop: its curvatures against differences, its trees and steps against scikit-learn."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import reference
from curvature import conic, oracle
from curvature.samples import CURVED, sample, scores, weights


def hessian(problem, f, w):
    """Of R at f, in L2(P), (m, m) for all scores in one list, by differences of the gradient."""
    e, flat = 1e-5, f.ravel()
    columns = []
    for j in range(f.size):
        step = np.zeros(f.size)
        step[j] = e
        ahead, behind = (problem.gradient((flat + s * step).reshape(f.shape)).ravel() for s in (1, -1))
        columns.append((ahead - behind) / (2 * e))
    spread = np.repeat(w, f.size // len(w))
    return spread[:, None] * np.column_stack(columns), spread


def problems(n=9):
    random = np.random.default_rng(3)
    for loss in CURVED:
        _, y = sample(loss, n)
        f = scores(loss, y) + random.normal(size=scores(loss, y).shape)
        yield loss, oracle.rowwise(loss, y, weights("floats", n)), f
    times = random.permutation(n) + 1.0
    y = np.where(np.arange(n) % 3 == 0, -times, times)
    yield "cox", oracle.cox(y, weights("floats", n)), random.normal(size=n)
    grades, groups = random.integers(0, 3, n), np.arange(n) % 2
    yield "rank_logistic", oracle.rank_logistic(grades, groups, weights("floats", n)), random.normal(size=n)


PROBLEMS = {name: (problem, f) for name, problem, f in problems()}
SECOND_DERIVATIVES = ("logistic", "exponential", "poisson", "gamma", "tweedie:1.3", "squared")


@pytest.mark.parametrize("name", PROBLEMS)
def test_curvatures_are_above_the_hessian(name):
    problem, f = PROBLEMS[name]
    w = reference.normalised(problem.weights, len(f))
    bends, spread = hessian(problem, f, w)
    diagonal = spread * problem.curvature(f).ravel()
    if name in SECOND_DERIVATIVES:
        np.testing.assert_allclose(np.diag(bends), diagonal, rtol=1e-6)
    assert np.linalg.eigvalsh(np.diag(diagonal) - 0.5 * (bends + bends.T)).min() >= -1e-8


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_step_costs_at_most_what_psi_says(name):
    """R(f + d) <= R(f) + <g, d> + psi(r) sum w k d^2: what the descent inequality rests on."""
    problem, f = PROBLEMS[name]
    w = reference.normalised(problem.weights, len(f))
    random = np.random.default_rng(0)
    for size in (0.1, 1.0, 3.0):
        d = size * random.normal(size=f.shape)
        r = np.ptp(d) if name in ("cox", "rank_logistic") else np.abs(d).max()
        factor = (
            0.5
            if name in ("squared", "huber:0.7")
            else oracle.psi(np.ptp(d, axis=1).max() if d.ndim > 1 else r)
        )
        bound = problem.value(f) + oracle.pairing(w, problem.gradient(f), d)
        assert problem.value(f + d) <= bound + factor * oracle.pairing(w, problem.curvature(f) * d, d) + 1e-12


HISTOGRAMS = {
    "logistic": HistGradientBoostingClassifier(),
    "poisson": HistGradientBoostingRegressor(loss="poisson"),
    "softmax": HistGradientBoostingClassifier(),
}


@cache
def fit_histograms(loss, seed, rounds=8, leaves=7, least=15, l2=1.5, eta=0.2):
    """Data, scikit-learn's model of them, and the step and the tree that make it ours.

    Our curvature of the softmax is twice its p (1 - p): with twice the step and the penalty the model is the same.
    """
    X, y = sample(loss, 240, seed, continuous=True)
    model = clone(HISTOGRAMS[loss]).set_params(
        learning_rate=eta,
        max_iter=rounds,
        max_leaf_nodes=leaves,
        min_samples_leaf=least,
        l2_regularization=l2,
        early_stopping=False,
    )
    factor = 2 if loss == "softmax" else 1
    with threadpool_limits(1):  # more threads wait for each other where other tests run
        model.fit(X, y)
    return X, y, model, factor * eta, {"max_leaves": leaves, "min_leaf_weight": least, "l2": factor * l2}


@pytest.mark.parametrize("loss", HISTOGRAMS)
def test_the_oracle_is_histogram_boosting_without_the_cap(loss):
    X, y, model, eta, options = fit_histograms(loss, seed=0)
    start = scores(loss, y) + model._baseline_prediction.ravel()
    run = oracle.descend(
        X,
        oracle.rowwise(loss, y),
        oracle.Trees(**options, outputs="each"),
        start,
        model.n_iter_,
        lambda t: eta,
        farthest=math.inf,
    )
    for done, predictors in zip(run.rounds, model._predictors, strict=True):
        (found,) = done.hypotheses
        assert done.coefficients == [1.0]  # the penalty bounds it
        for tree, predictor in zip(getattr(found, "trees", [found]), predictors, strict=True):
            cuts, values = oracle.walk(tree, X)
            theirs, their_values = oracle.walk_predictor(predictor, X)
            assert cuts == theirs
            np.testing.assert_allclose(-eta * values, their_values, atol=1e-6)


def test_a_stump_is_the_best_of_all_cuts_and_values():
    """argmin of sum w (k h^2 - 2 D h), with a search in place of the quotient G / H."""
    X, _ = sample("logistic", 30)
    random = np.random.default_rng(0)
    w, D, k = random.uniform(0.5, 2, 30), random.normal(size=30), random.uniform(0.1, 1, 30)
    _, _, left = reference.candidate_splits(X, w)
    costs = []
    for side in left:
        costs.append(
            minimize(
                lambda v, side=side: w @ (k * np.where(side, *v) ** 2 - 2 * D * np.where(side, *v)), [0, 0]
            ).fun
        )
    h = oracle.Trees().project(X, w, D, k).values
    assert w @ (k * h * h - 2 * D * h) == pytest.approx(min(costs), abs=1e-8)


@pytest.mark.parametrize("memory", [0.0, 0.7, 1.0])
def test_what_is_left_is_orthogonal_to_what_was_found(memory):
    X, y = sample("logistic")
    w = weights("floats", len(y))
    run = oracle.descend(
        X, oracle.rowwise("logistic", y, w), oracle.Trees(5), scores("logistic", y), 6, lambda t: 0.5, memory
    )
    tree = run.rounds[-1].hypotheses[-1]
    for leaf in np.unique(tree.leaf):
        assert abs(np.sum((w * run.residual)[tree.leaf == leaf])) < 1e-12


def test_curvature_one_is_the_flat_loop():
    X, y = sample("squared")
    w = weights("floats", len(y))
    curved = oracle.descend(
        X, oracle.rowwise("squared", y, w), oracle.Trees(2), scores("squared", y), 9, lambda t: t**-0.5, 1.0
    )
    flat = reference.descend(X, y, w, "squared", reference.project_stump, "residual", rounds=9)
    np.testing.assert_allclose(curved.scores, flat.scores, rtol=1e-12)
    np.testing.assert_allclose([r.edges[0] for r in curved.rounds], flat.edges, rtol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "poisson"])
def test_the_conic_optimum_is_that_of_a_search(loss):
    """Within a large radius no stump can improve it, and a smaller one costs more."""
    X, y = sample(loss, 30)
    X[:] = X[:, [0]] > 3  # one cut: two levels
    w = weights("floats", 30)
    levels = [reference.best_constant(loss, y[X[:, 0] == side], w[X[:, 0] == side]) for side in (0, 1)]
    f = np.where(X[:, 0] == 0, *levels)
    least = reference.mean_loss(loss, f, y, w)
    assert conic.optimum_stumps(X, y, w, loss, 20.0, 0.3) == pytest.approx(least, abs=1e-6)
    radius = 0.1
    small = conic.optimum_stumps(X, y, w, loss, radius, 0.3)
    corners = [
        reference.mean_loss(loss, 0.3 + np.where(X[:, 0] == 0, a, b), y, w)
        for a in np.linspace(-radius, radius, 21)
        for b in np.linspace(-radius, radius, 21)
    ]
    assert min(corners) == pytest.approx(small, abs=1e-4)
    assert small > least
