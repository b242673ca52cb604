"""Descents along extreme atoms: Hull against a solver, Shrinking against its definition."""

import numpy as np
import pytest
from scipy.optimize import minimize

import anyboost as ab
import reference
from anyboost.descent import Hull, Shrinking
from anyboost.steps import Constant, InverseSqrt, LineSearch


def problem(loss, n=60, seed=7):
    random = np.random.default_rng(seed)
    X = np.c_[random.integers(0, 6, n), random.integers(0, 4, n), random.integers(0, 3, n)].astype(float)
    signal = X[:, 0] * np.where(X[:, 2] > 1, 1, -0.5) - X[:, 1] + 2 * random.normal(size=n)
    signal = (signal - signal.mean()) / signal.std()
    if loss not in ("hinge", "logistic"):
        return X, signal
    return X, np.where(signal > 0, 1, -1) * np.where(random.random(n) < 0.2, -1, 1)


def stump_atoms(X):
    """Every sign stump and the constant, as columns."""
    _, _, left = reference.candidate_splits(X)
    return np.c_[np.where(left, 1.0, -1.0).T, np.ones(len(X))]


def smooth_optimum(X, y, loss, radius):
    """min over sum |c| <= radius of R(atoms c), with c split into its positive and negative part."""
    atoms = stump_atoms(X)
    signed = np.c_[atoms, -atoms]
    chosen = ab.losses.get(loss)

    def value(c):
        scores = signed @ c
        slope = chosen.subgradients(scores, y) / len(y)
        return chosen.value(scores, y), signed.T @ slope

    found = minimize(
        value,
        np.full(signed.shape[1], radius / signed.shape[1] / 2),
        jac=True,
        bounds=[(0, None)] * signed.shape[1],
        constraints={"type": "ineq", "fun": lambda c: radius - c.sum(), "jac": lambda c: -np.ones(len(c))},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("radius", [1.0, 3.0])
@pytest.mark.parametrize(
    ("loss", "close"), [("squared", 1e-3), ("logistic", 1e-3), ("absolute", 1e-2), ("hinge", 1e-2)]
)
def test_hull_reaches_the_constrained_optimum(loss, close, radius):
    X, y = problem(loss)
    smooth = loss in ("squared", "logistic")
    optimum = (
        smooth_optimum(X, y, loss, radius)
        if smooth
        else reference.optimum_stumps(X, y, None, loss, radius).value
    )
    run = ab.boost(X, y, loss, "stump", Hull(radius), 2000, start=0.0)
    assert optimum - 1e-6 <= run.steps[-1].loss <= optimum + close
    assert run.floor(radius) <= optimum + 1e-6
    assert run.floor(radius) >= optimum - (0.02 if radius == 1 else 0.08)
    assert np.abs(run.ensemble.coefficients).sum() <= radius * (1 + 1e-9)


@pytest.mark.parametrize("start", [0.0, 0.8])
def test_hull_with_vector_stumps(start):
    random = np.random.default_rng(3)
    X = np.c_[random.integers(0, 4, 40), random.integers(0, 3, 40)].astype(float)
    y = (X[:, 0] + random.integers(0, 2, 40)).astype(int) % 3
    optimum = reference.optimum_vector_stumps(X, y, 3, None, 1.0).value  # a common start changes no margin
    run = ab.boost(X, y, "multiclass_hinge", "stump", Hull(1.0), 2000, start=start)
    assert optimum - 1e-7 <= run.steps[-1].loss <= optimum + 1e-2
    assert optimum - 0.02 <= run.floor(1.0) <= optimum + 1e-7


def test_hull_of_a_dictionary_and_from_an_offset():
    random = np.random.default_rng(1)
    B = random.normal(size=(50, 4))
    offset = random.normal(size=50)
    atoms = B / np.abs(B).max(axis=0)
    y = offset + atoms @ [0.7, -0.3, 0.0, 0.0]
    run = ab.boost(B, y, "absolute", "dictionary", Hull(1.0), 3000, start=offset)
    assert run.steps[-1].loss < 0.01
    np.testing.assert_allclose(run.ensemble.predict(B, offset=offset), run.scores, atol=1e-9)


def test_smoothing_beats_plain_subgradients():
    """Without the Moreau envelope Frank-Wolfe stalls on a loss with kinks."""
    X, y = problem("absolute")
    optimum = reference.optimum_stumps(X, y, None, "absolute", 1.0).value
    smoothed = ab.boost(X, y, "absolute", "stump", Hull(1.0), 3000, start=0.0)
    plain = ab.boost(X, y, "absolute", "stump", Hull(1.0).having(proximal=False), 3000, start=0.0)
    assert smoothed.steps[-1].loss - optimum < 0.2 * (plain.steps[-1].loss - optimum)


@pytest.mark.parametrize("shrinks", [True, False])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_shrinking_follows_its_definition(loss, shrinks):
    X, y = problem(loss)
    step = InverseSqrt(0.5)
    run = ab.boost(X, y, loss, "stump", Shrinking(step, shrinks=shrinks), 60, start=0.2)
    f0 = np.full(len(y), 0.2)
    f, shrunk = f0, 0
    for t in range(1, 61):
        g = reference.gradient(loss, f, y)
        _, atom = reference.extreme_stump(X, None, g)
        sigma = float(shrinks and np.mean(g * (f - f0)) >= 0)
        shrunk += sigma
        f = f0 + (1 - sigma * step(t)) * (f - f0) - step(t) * atom.values
        assert run.steps[t - 1].loss == pytest.approx(reference.mean_loss(loss, f, y), abs=1e-9)
    np.testing.assert_allclose(run.ensemble.predict(X), f, atol=1e-9)
    assert (shrunk > 0) == shrinks


def test_shrinking_stages_truncation_averages_and_validation():
    X, y = problem("squared")
    scores = []
    run = ab.boost(
        X,
        y,
        "squared",
        "stump",
        Shrinking(Constant(0.3)),
        25,
        start=0.2,
        valid=(X, y),
        callbacks=[lambda step, run: scores.append(run.scores)],
    )
    for stage, expected in zip(run.ensemble.staged_predict(X), scores, strict=True):
        np.testing.assert_allclose(stage, expected, atol=1e-10)
    np.testing.assert_allclose(run.ensemble.truncate(9).predict(X), scores[8], atol=1e-10)
    before = np.mean([np.full(len(y), 0.2), *scores[:-1]], axis=0)
    np.testing.assert_allclose(run.ensemble.averaged().predict(X), before, atol=1e-10)
    for step in run.steps:
        assert step.valid_loss == pytest.approx(step.loss, abs=1e-10)
    part = ab.boost(X, y, "squared", "stump", Shrinking(Constant(0.3)), 11, start=0.2, valid=(X, y))
    resumed = ab.boost(X, y, rounds=25, start=0.2, valid=(X, y), resume=part)
    np.testing.assert_array_equal(resumed.scores, run.scores)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hull(radius=0), "radius must be positive"),
        (lambda: Shrinking(LineSearch()), "step must be a schedule for Shrinking"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_steps_over_one_are_refused():
    X, y = problem("squared")
    with pytest.raises(ValueError, match="step must be at most 1 for Shrinking, got 2"):
        ab.boost(X, y, "squared", "stump", Shrinking(Constant(2.0)), 3)


@pytest.mark.parametrize("descent", [Hull(1.0), Shrinking(Constant(0.5))])
def test_theorems_about_projections_do_not_speak_of_atoms(descent):
    X, y = problem("squared")
    run = ab.boost(X, y, "squared", "stump", descent, 3, start=0.0)
    with pytest.raises(ValueError, match="is about projections"):
        ab.bounds.theorem_3(run, 0.0)
    with pytest.raises(ValueError, match="is about projections"):
        ab.bounds.computable(run, 1.0)
