"""Losses that couple rows or outputs, in the loop: optima against HiGHS, floors, behavior."""

import tracemalloc

import numpy as np
import pytest

import anyboost as ab
from anyboost.descent import Hull, Naive, Residual
from anyboost.steps import InverseSqrt
from anyboost.weak import Stump, Tree
from reference.optima import optimum_coupled


def problem(n=40, seed=5):
    random = np.random.default_rng(seed)
    X = np.c_[random.integers(0, 5, n), random.integers(0, 4, n)].astype(float)
    signal = X[:, 0] - 0.8 * X[:, 1] + random.normal(size=n)
    signal = (signal - signal.mean()) / signal.std()
    return X, signal, random.integers(0, 3, n), random.integers(1, 4, n).astype(float)


CASES = {
    "rank_hinge": (ab.losses.RankHinge(), {}, True),
    "cvar": (ab.losses.CVaR("absolute", 0.7), {"alpha": 0.7}, False),
    "worst_group": (ab.losses.WorstGroup("absolute"), {}, True),
    "multi_quantile": (ab.losses.MultiQuantile([0.2, 0.5, 0.9]), {"taus": (0.2, 0.5, 0.9)}, False),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_optimum_and_floor_against_a_solver(name, weighted):
    loss, options, grouped = CASES[name]
    X, y, groups, weights = problem(28 if name == "multi_quantile" else 40)
    y = np.round(y) if name == "rank_hinge" else y
    weights = weights if weighted else None
    given = {"groups": groups} if grouped else {}
    for radius in (1.0, 3.0):
        optimum = optimum_coupled(X, y, weights, name, radius, **options, **given)
        hull = ab.boost(X, y, loss, "stump", Hull(radius), 3000, start=0.0, sample_weight=weights, **given)
        assert optimum - 1e-7 <= hull.steps[-1].loss <= optimum + 0.01
        assert optimum - 0.02 * radius <= hull.floor(radius) <= optimum + 1e-7
        for descent in (Naive(), Residual(InverseSqrt(0.3))):
            run = ab.boost(X, y, loss, "stump", descent, 500, start=0.0, sample_weight=weights, **given)
            assert run.floor(radius) <= optimum + 1e-7
            assert run.floor(radius) >= optimum - 1.5


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("learner", [Stump(leaf="exact"), Tree(max_leaves=4)])
def test_training_lowers_the_loss(name, learner):
    loss, _, grouped = CASES[name]
    X, y, groups, weights = problem(80)
    y = np.round(y) if name == "rank_hinge" else y
    given = {"groups": groups} if grouped else {}
    run = ab.boost(
        X, y, loss, learner, Residual(InverseSqrt(0.1), memory=0.5), 60, sample_weight=weights, **given
    )
    assert min(step.loss for step in run.steps) < 0.85 * run.start_loss


def test_cox_ranks_by_hazard():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    times = random.exponential(np.exp(-1.5 * X[:, 0])) + 1e-6
    y = np.where(random.random(300) < 0.7, times, -times)
    run = ab.boost(X, y, "cox", "stump", Naive(0.5), 60)
    scores = run.ensemble.predict(X)
    assert np.corrcoef(scores, X[:, 0])[0, 1] > 0.8
    assert run.steps[-1].loss < run.start_loss


def test_quantiles_never_cross_after_the_link_and_less_before_it_with_the_penalty():
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, (300, 2))
    y = X[:, 0] + (0.2 + np.abs(X[:, 1])) * random.normal(size=300)
    taus = np.linspace(0.1, 0.9, 9)
    plain = ab.losses.MultiQuantile(taus)
    fenced = plain + 2.0 * ab.losses.Crossing()
    crossed = {}
    for loss in (plain, fenced):
        run = ab.boost(X, y, loss, Tree(max_leaves=6), Naive(InverseSqrt(0.5)), 150)
        scores = run.ensemble.predict(X)
        assert np.all(np.diff(run.loss.link(scores), axis=1) >= 0)
        crossed[loss] = np.mean(np.any(np.diff(scores, axis=1) < 0, axis=1))
    assert crossed[plain] > 0
    assert crossed[fenced] < 0.5 * crossed[plain]


def test_validation_groups_are_the_validation_rows_queries():
    X, y, groups, _ = problem(60)
    y = np.round(y)
    run = ab.boost(
        X,
        y,
        "rank_hinge",
        rounds=3,
        groups=groups,
        valid={"X": X[::-1], "y": y[::-1], "groups": groups[::-1]},
    )
    for step in run.steps:
        assert step.valid_loss == pytest.approx(step.loss, abs=1e-9)


def test_ranking_memory_is_linear():
    """10^5 documents in 100 queries of 1000: 5 * 10^7 pairs; their margins alone would be 400 MB."""
    random = np.random.default_rng(0)
    n = 100_000
    y = random.integers(0, 5, n).astype(float)
    f = random.normal(size=n)
    groups = np.arange(n) // 1000
    functional = ab.losses.RankHinge().on(y, ab.space.Space(np.zeros((n, 1))), groups)
    functional.value(f)
    tracemalloc.start()
    functional.value(f)
    functional.subgradient(f)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * 8 * n


def test_mq2008_naive_repeats_and_residual_learns():
    try:
        data = ab.datasets.load("mq2008")
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    X, y, qid, part = data.X, data.y, data.qid, data.split
    train, valid, test = part <= 3, part == 4, part == 5

    def disagreement(scores):
        wrong = total = 0.0
        for q in np.unique(qid[test]):
            rows = qid[test] == q
            s, g = scores[rows], y[test][rows]
            pairs = g[:, None] > g[None, :]
            margin = s[:, None] - s[None, :]
            wrong += np.sum(pairs & (margin < 0)) + 0.5 * np.sum(pairs & (margin == 0))
            total += np.sum(pairs)
        return wrong / total

    common = {
        "loss": "rank_hinge",
        "learner": "stump",
        "groups": qid[train],
        "valid": {"X": X[valid], "y": y[valid], "groups": qid[valid]},
    }
    naive = ab.boost(X[train], y[train], descent=Naive(InverseSqrt(1.0)), rounds=300, **common)
    used = {(int(h.feature[0]), float(h.threshold[0])) for h in naive.ensemble.hypotheses[20:]}
    print("naive:", len(used), "stumps after the 20th,", disagreement(naive.ensemble.predict(X[test])))
    assert len(used) <= 2
    best = {}
    for scale in (0.03, 0.1, 0.3):
        run = ab.boost(
            X[train], y[train], descent=Residual(InverseSqrt(scale)), rounds=300, patience=60, **common
        )
        best[scale] = (
            run.watch.losses[run.best_round],
            disagreement(run.best.predict(X[test])),
            run.best_round,
        )
    print("residual:", best)
    assert min(best.values())[1] < 0.176
