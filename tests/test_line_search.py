"""Line searches: exact along a direction, for any convex loss."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import anyboost as ab
from anyboost.steps import LineSearch

REGRESSION = ("squared", "absolute", "quantile:0.9", "huber", "expectile:0.3", "poisson", "tweedie")
BINARY = ("logistic", "hinge", "squared_hinge", "exponential")
CLASSES = ("softmax", "multiclass_hinge")


def data(loss, n=60):
    random = np.random.default_rng(4)
    X = random.normal(size=(n, 3))
    signal = X[:, 0] + 0.5 * random.normal(size=n)
    if loss in BINARY:
        return X, np.where(signal + 0.5 * random.normal(size=n) > 0, 1, -1)
    if loss in CLASSES:
        return X, np.digitize(signal + random.normal(size=n), [-0.4, 0.4])
    return X, np.exp(signal) if loss in ("poisson", "tweedie") else signal


@pytest.mark.parametrize("loss", [*REGRESSION, *BINARY, *CLASSES])
def test_every_step_is_the_best_along_its_direction(loss):
    X, y = data(loss)
    stages = []
    run = ab.boost(
        X,
        y,
        loss,
        "stump",
        ab.descent.Naive(LineSearch()),
        8,
        callbacks=[lambda step, run: stages.append(run.scores)],
    )
    losses = [run.start_loss, *(step.loss for step in run.steps)]
    assert all(after <= before + 1e-12 for before, after in pairwise(losses))
    for before, after in pairwise(stages):
        if not np.any(after - before):
            continue
        best = minimize_scalar(
            lambda s, f=before, d=after - before: run.functional.value(f + s * d),
            bounds=(-1, 4),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert run.functional.value(after) <= best.fun + 1e-9


def test_a_scale_shortens_the_step():
    X, y = data("absolute")
    whole = ab.boost(X, y, "absolute", "stump", ab.descent.Naive(LineSearch()), 1)
    half = ab.boost(X, y, "absolute", "stump", ab.descent.Naive(LineSearch(0.5)), 1)
    assert half.steps[0].step_size == pytest.approx(0.5 * whole.steps[0].step_size)


def test_theorem_3_with_a_line_search():
    X, y = data("squared")
    run = ab.boost(X, y, "expectile:0.3", "stump", ab.descent.Naive(LineSearch()), 100, start=0.0)
    losses = np.array([step.loss for step in run.steps])
    assert np.all(losses <= ab.bounds.theorem_3(run, 0.0, form="sharp") * (1 + 1e-9))
    shorter = ab.boost(X, y, "expectile:0.3", "stump", ab.descent.Naive(LineSearch(0.5)), 5, start=0.0)
    with pytest.raises(ValueError, match="Theorem 3 needs the step Constant"):
        ab.bounds.theorem_3(shorter, 0.0)


def test_nothing_to_search_at_an_optimum():
    X = np.arange(6.0)[:, None]
    run = ab.boost(X, [1, 1, 1, -1, -1, -1], "hinge", "stump", ab.descent.Naive(LineSearch()), 5)
    assert run.steps[-1].loss == 0
    assert run.steps[-1].step_size == 0
