"""Floors, gaps and the descent inequality of curved runs; theorems about the flat metric are refused."""

import math

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost import bounds
from anyboost.descent import Descent, Naive, Repeated, Residual
from anyboost.losses import Logistic, Squared
from anyboost.steps import Constant, InverseSqrt, InverseT
from anyboost.weak import Stump, Tree
from curvature import conic, oracle
from curvature.samples import sample, scores, weights

METHODS = {
    "naive": Naive(0.5, curvature=True),
    "residual": Residual(0.3, curvature=True),
    "memory 0.7": Residual(0.3, memory=0.7, curvature=True),
    "repeated": Repeated(0.5, projections=3, curvature=True),
}


@pytest.mark.parametrize("loss", ["logistic", "exponential", "poisson"])
def test_no_stumps_of_the_radius_are_under_the_floor(loss):
    """floor <= the optimum that a conic solver finds, and that <= the loss of a run within the radius."""
    X, y = sample(loss, 60)
    w = weights("whole", len(y))
    runs = [
        ab.boost(X, y, loss, "stump", descent, 150, start=0.2, sample_weight=w)
        for descent in METHODS.values()
    ]
    for radius in (0.3, 1.0, 3.0, *(1.0001 * run.norm for run in runs[:2])):
        optimum = conic.optimum_stumps(X, y, w, loss, radius, 0.2)
        for run in runs:
            assert run.floor(radius) <= optimum + 1e-7
            if run.norm <= radius:
                assert optimum <= run.steps[-1].loss + 1e-7


def test_the_floor_is_close_to_the_optimum():
    X, y = sample("logistic", 60)
    run = ab.boost(X, y, "logistic", "stump", Residual(InverseSqrt(0.5), curvature=True), 1000, start=0.0)
    optimum = conic.optimum_stumps(X, y, None, "logistic", 3.0)
    assert optimum - 0.1 * run.start_loss <= run.floor(3.0) <= optimum + 1e-7


@pytest.mark.parametrize("loss", ["logistic", "poisson", "softmax"])
@pytest.mark.parametrize("method", METHODS)
def test_the_floor_equals_its_definition(loss, method):
    """By the full gradients and the pairing in L2(P), whatever metric the run projected in."""
    X, y = sample(loss, 60)
    w = weights("floats", len(y))
    seen = []

    def look(step, run):
        seen.append((step.step_size, run.scores.copy()))

    run = ab.boost(X, y, loss, "stump", METHODS[method], 17, start=0.1, sample_weight=w, callbacks=[look])
    start = scores(loss, y, 0.1)
    points = [start, *(f for _, f in seen[:-1])]
    problem = oracle.rowwise(loss, y, w)
    trace = [(problem.gradient(f), f, problem.value(f)) for f in points]

    def reach(w, G):
        return reference.extreme_stump(X, w, G)[0]

    for radius in (0.0, 0.5, 2.0):
        expected = reference.floor_from_trace(trace, [eta for eta, _ in seen], w, start, radius, reach)
        assert run.floor(radius) == pytest.approx(max(expected, run.infimum), abs=1e-6)
    assert run.gap() >= 0


@pytest.mark.parametrize("eta", [0.1, 0.7, 1.0])
@pytest.mark.parametrize("learner", [Stump(), Tree(6), Tree(6, outputs="each")])
@pytest.mark.parametrize("loss", ["logistic", "exponential", "poisson", "gamma", "huber:0.7", "softmax"])
def test_every_round_descends_by_what_the_inequality_says(loss, learner, eta):
    """R(f+) <= R(f) - eta (1 - eta psi(r)) edge^2 ||g||*^2, with one projection and no memory.

    r is eta max|c h|, for the softmax its range over classes; psi is 1/2 where a parabola lies above the loss.
    """
    X, y = sample(loss, 80)
    w = weights("floats", len(y))
    problem, measure = oracle.rowwise(loss, y, w), reference.normalised(w, len(y))
    points = [scores(loss, y, 0.3)]
    run = ab.boost(
        X,
        y,
        loss,
        learner,
        Naive(eta, curvature=True),
        12,
        start=0.3,
        sample_weight=w,
        callbacks=[lambda step, run: points.append(run.scores.copy()) and None],
    )
    for step, f, after in zip(run.steps, points[:-1], points[1:], strict=True):
        g, moved = problem.gradient(f), (f - after) / eta  # c h
        k = problem.bend(f, g)
        r = np.abs(f - after).max() if f.ndim == 1 else np.ptp(f - after, axis=1).max()
        factor = 0.5 if loss.startswith("huber") else oracle.psi(r)
        dual = oracle.dual_norm(measure, g, k)
        edge = oracle.pairing(measure, g, moved) / (
            math.sqrt(oracle.pairing(measure, k * moved, moved)) * dual
        )
        assert step.edge == pytest.approx(edge, rel=1e-6)
        promised = eta * (1 - eta * factor) * edge**2 * dual**2
        assert problem.value(after) <= problem.value(f) - promised + 1e-9


BOTH = Logistic() + 0.1 * Squared()  # strongly convex and smooth, and curved
SPEAKING = {
    "theorem_3": (Naive(Constant(1 / BOTH.smoothness), curvature=True), {"optimum": 0.0}),
    "theorem_4": (Repeated(InverseT(2 / BOTH.strong_convexity), curvature=True), {}),
    "theorem_5": (Repeated(InverseSqrt(1.0), curvature=True), {"distance": 1.0}),
    "theorem_6": (Residual(InverseT(1 / BOTH.strong_convexity), curvature=True), {}),
    "theorem_7": (Residual(InverseSqrt(1.0), curvature=True), {"distance": 1.0}),
    "computable": (Residual(InverseSqrt(1.0), curvature=True), {"distance": 1.0}),
}


@pytest.mark.parametrize("name", SPEAKING)
def test_bounds_refuse_curved_runs(name):
    X, y = sample("logistic", 60)
    curved, given = SPEAKING[name]
    flat = Descent(curved.step, memory=curved.memory, projections=curved.projections, curvature=False)
    assert np.isfinite(getattr(bounds, name)(ab.boost(X, y, BOTH, "stump", flat, 3), **given)).any()
    run = ab.boost(X, y, BOTH, "stump", curved, 3)
    with pytest.raises(ValueError, match="curvature"):
        getattr(bounds, name)(run, **given)
