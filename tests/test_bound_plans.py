"""`plan_repeated`: who wants an accuracy gets a tolerance, a step and rounds that reach it."""

import numpy as np
import pytest

import anyboost as ab
from anyboost import bounds
from anyboost.descent import Repeated
from anyboost.losses import Absolute, Squared
from anyboost.steps import InverseSqrt, InverseT

RANDOM = np.random.default_rng(0)
X = np.c_[RANDOM.permutation(12), RANDOM.normal(size=(12, 2))]
Y = 2 * RANDOM.normal(size=12)  # rows differ, so that f* = y, with loss 0


def farthest(run, rows, best):
    """max ||f_t - f*|| over t = 0 .. T-1."""
    offset = run.state.start if run.ensemble.needs_offset else None
    before = [run.state.start, *run.ensemble.staged_predict(rows, offset)][: len(run.steps)]
    return max(run.space.norm(f - best) for f in before)


@pytest.mark.parametrize(
    ("loss", "G", "y"), [("absolute", 1.0, Y), ("quantile:0.8", 0.8, Y), ("hinge", 1.0, np.sign(Y))]
)
def test_a_plan_reaches_the_accuracy_of_a_convex_loss(loss, G, y):
    accuracy, distance = 0.4, 1.2 * np.sqrt(np.mean(y**2))
    plan = bounds.plan_repeated(accuracy, G, distance=distance)
    descent = Repeated(InverseSqrt(plan.scale), tolerance=plan.tolerance)
    run = ab.boost(X, y, loss, "stump", descent, plan.rounds, start=0.0, n_threads=1)
    assert bounds.gradient_bound(run) <= G
    assert farthest(run, X, y) <= distance
    gap = bounds.average_gap(run, optimum=0.0)[-1]
    assert gap <= bounds.computable(run, distance)[-1] <= accuracy
    if loss != "hinge":  # whose loss becomes 0
        assert gap > accuracy / 12


def test_a_plan_reaches_the_accuracy_of_a_strongly_convex_loss():
    loss, accuracy, G = 0.5 * Squared() + Absolute(), 1.5, 4.0
    plan = bounds.plan_repeated(accuracy, G, strong_convexity=0.5)
    descent = Repeated(InverseT(plan.scale), tolerance=plan.tolerance)
    run = ab.boost(X, Y, loss, "stump", descent, plan.rounds, start=0.0, n_threads=1)
    assert bounds.gradient_bound(run) <= G
    gap = bounds.average_gap(run, optimum=0.0)[-1]
    assert accuracy / 12 < gap <= bounds.computable(run)[-1] <= accuracy


def test_a_larger_tolerance_never_reaches_the_accuracy():
    """2|f(x1)| + |f(x2)|, over functions of one point: what is left of a gradient after x1 is sqrt(1/3) of it.

    A tolerance above that never moves x2. The gap then stays at d * tolerance * G, which the plan keeps below the
    accuracy.
    """
    weights, start = np.array([2.0, 1.0]), np.array([0.1, 1.0])
    distance = 1.1 * np.sqrt(weights @ start**2 / 3)
    plan = bounds.plan_repeated(0.2, gradient_bound=1.0, distance=distance)

    def average_gap(tolerance, rounds):
        descent = Repeated(InverseSqrt(plan.scale), tolerance=tolerance)
        run = ab.boost(
            np.eye(2),
            [0.0, 0.0],
            "absolute",
            "dictionary",
            descent,
            rounds,
            start=start,
            sample_weight=weights,
        )
        assert farthest(run, np.eye(2), np.zeros(2)) <= distance
        return bounds.average_gap(run, optimum=0.0)[-1]

    assert average_gap(plan.tolerance, plan.rounds) <= 0.2
    assert average_gap(0.58, plan.rounds) > 0.33
    assert average_gap(0.58, 50 * plan.rounds) > 0.33


@pytest.mark.parametrize("accuracy", [0.03, 0.1, 3.0, 100.0])
@pytest.mark.parametrize("G", [0.3, 2.0])
@pytest.mark.parametrize(("distance", "strong"), [(0.5, None), (4.0, None), (None, 0.2), (None, 1.0)])
def test_the_bound_of_a_plan_is_below_the_accuracy(accuracy, G, distance, strong):
    """The sums of `computable`, with ||h_t|| = (1 + tolerance) G and ||e_t|| = tolerance G."""
    plan = bounds.plan_repeated(accuracy, G, distance, strong)
    T = np.arange(1.0, plan.rounds + 1)
    error, direction = plan.tolerance * G, (1 + plan.tolerance) * G
    if strong is None:
        eta = plan.scale / np.sqrt(T)
        total = distance**2 / (2 * eta[-1]) + np.sum(eta) * direction**2 / 2 + len(T) * distance * error
    else:
        eta = plan.scale / T
        total = np.sum(eta) * direction**2 / 2 + len(T) * error**2 / strong
    assert total / len(T) <= accuracy * (1 + 1e-12)
    assert 0 < plan.tolerance <= 1
    if plan.rounds > 10:  # and no plan of half the rounds would do
        assert total / len(T) > 0.6 * accuracy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"accuracy": 0.0, "distance": 1.0}, "accuracy must be positive"),
        ({"gradient_bound": -1.0, "distance": 1.0}, "gradient_bound must be positive"),
        ({"distance": 0.0}, "distance must be positive"),
        ({"strong_convexity": float("nan")}, "strong_convexity must be"),
        ({"accuracy": 1e-200, "distance": 1.0}, "accuracy=1e-200 would take more than 1e[+]15 rounds"),
        (
            {"accuracy": 1e-200, "strong_convexity": 1.0},
            "accuracy=1e-200 would take more than 1e[+]15 rounds",
        ),
        ({}, "needs one of distance"),
        ({"distance": 1.0, "strong_convexity": 1.0}, "needs one of distance"),
    ],
)
def test_what_no_plan_can_be_made_of_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        bounds.plan_repeated(**{"accuracy": 0.1, "gradient_bound": 1.0, **arguments})
