"""The loop against the oracle's, the two-point example, and Theorem 3."""

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost.descent import PRESETS, Naive, Repeated, Residual
from anyboost.steps import Constant, InverseSqrt, InverseT


def problem(loss, ties, seed=0, n=80):
    random = np.random.default_rng(seed)
    X = random.integers(0, 5, (n, 4)).astype(float) if ties else random.normal(size=(n, 4))
    signal = X[:, 0] - 0.7 * X[:, 1] * (X[:, 2] > X[:, 2].mean()) + random.normal(size=n)
    if loss in ("logistic", "hinge"):
        return X, np.where(signal > np.median(signal), 1, -1)
    if loss == "multiclass_hinge":
        return X, np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    return X, np.round(signal) if ties else signal


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("kind", ["naive", "repeated", "residual"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic", "hinge", "multiclass_hinge"])
def test_trajectory_matches_the_oracle(loss, kind, ties):
    X, y = problem(loss, ties)
    weights = None if not ties else np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rounds = 50
    descent = PRESETS[kind](InverseSqrt(1.0))  # the oracle's step
    run = ab.boost(X, y, loss, "stump", descent, rounds, sample_weight=weights)
    start = reference.best_constant(loss, y, weights)
    oracle = reference.descend(X, y, weights, loss, reference.project_stump, kind, rounds=rounds, start=start)
    assert run.start_loss == pytest.approx(oracle.start_loss, abs=1e-12)
    assert run.steps[-1].learners == sum(len(c) for c in oracle.coefficients)
    np.testing.assert_allclose([step.loss for step in run.steps], oracle.losses, rtol=0, atol=1e-7)
    np.testing.assert_allclose([step.edge for step in run.steps], oracle.edges, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.scores, oracle.scores, rtol=0, atol=1e-6)
    first = [coefficients[0] if coefficients else 0.0 for coefficients in oracle.coefficients]
    np.testing.assert_allclose([step.coefficient for step in run.steps], first, rtol=0, atol=1e-7)


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.8", "hinge", "huber:1.0", "expectile:0.2"])
def test_exact_leaf_steps_match_the_oracle(loss):
    X, y = problem(loss.split(":")[0], True, seed=3)
    run = ab.boost(
        X, y, loss, ab.weak.Tree(max_leaves=4, leaf="exact"), Residual(step=0.3, memory=0.8), 15, start=0.1
    )

    def project(X, w, D):
        return reference.project_tree(X, w, D, max_leaves=4)

    oracle = reference.descend(
        X,
        y,
        None,
        loss,
        project,
        "residual",
        memory=0.8,
        eta=lambda t: 0.3,
        rounds=15,
        start=0.1,
        exact_leaves=True,
    )
    np.testing.assert_allclose([step.loss for step in run.steps], oracle.losses, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-10)


def test_relative_error_variant_projects_until_the_tolerance():
    X, y = problem("absolute", False)
    run = ab.boost(X, y, "absolute", "stump", Repeated(InverseSqrt(1.0), tolerance=0.5), 6)
    oracle = reference.descend(
        X,
        y,
        None,
        "absolute",
        reference.project_stump,
        "repeated",
        rounds=6,
        start=np.median(y),
        projections=lambda t: 1000,
        tolerance=0.5,
    )
    np.testing.assert_allclose([step.loss for step in run.steps], oracle.losses, rtol=0, atol=1e-7)
    assert np.diff([0] + [step.learners for step in run.steps]).tolist() == [
        len(c) for c in oracle.coefficients
    ]


def test_tolerance_out_of_reach_ends_at_the_cap_or_when_nothing_is_left():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])  # equal rows: no stump reaches all of the gradient
    y = [0.0, 1.0, 2.0, 9.0]
    flat = Repeated(projections=7, tolerance=1e-9)
    one = ab.boost(X, y, "squared", "stump", flat, 2, start=1.0)
    assert [step.learners for step in one.steps] == [1, 1]  # the second projection would be zero
    X = np.random.default_rng(0).integers(0, 3, (40, 3)).astype(float)
    many = ab.boost(X, np.arange(40.0), "absolute", "stump", flat, 2)
    assert [step.learners for step in many.steps] == [7, 14]


@pytest.mark.parametrize("start", [(1.3, 1.0), (-0.7, 2.0)])
def test_two_point_example(start):
    """R[f] = 2|f(x1)| + |f(x2)| over functions of one point each; step 1/sqrt(t), 2000 rounds."""
    X = np.eye(2)
    common = {
        "sample_weight": [2.0, 1.0],
        "start": np.array(start),
        "loss": "absolute",
        "learner": "dictionary",
    }
    naive = ab.boost(X, [0.0, 0.0], descent=Naive(InverseSqrt(1.0)), rounds=2000, **common)
    assert naive.scores[1] == start[1]
    assert {part.column for part in naive.ensemble.hypotheses} == {0}
    residual = ab.boost(X, [0.0, 0.0], descent=Residual(InverseT(1.0)), rounds=2000, **common)
    repeated = ab.boost(X, [0.0, 0.0], descent=Repeated(InverseT(1.0), tolerance=1e-6), rounds=2000, **common)
    for run in (residual, repeated):
        assert np.abs(run.scores).max() < 1e-2


@pytest.mark.parametrize(
    ("loss", "lowest", "constants"), [("squared", 0.0, (1.0, 1.0)), ("expectile:0.8", 0.0, (0.4, 1.6))]
)
def test_theorem_3_holds_at_every_round(loss, lowest, constants):
    """R(f_T) - R* <= prod (1 - edge_t^2 lambda / Lambda) (R(f_0) - R*); distinct rows make R* = 0."""
    X, y = problem("squared", False, n=60)
    chosen = ab.losses.get(loss)
    strong, smooth = constants
    assert (chosen.strong_convexity, chosen.smoothness) == pytest.approx(constants)
    run = ab.boost(X, y, chosen, "stump", Naive(step=Constant(1 / smooth)), 200, start=0.0)
    bound = run.start_loss - lowest
    smallest = 1.0
    for step in run.steps:
        smallest = min(smallest, step.edge)
        bound *= 1 - step.edge**2 * strong / smooth
        assert step.loss - lowest <= bound * (1 + 1e-9)
        assert step.loss - lowest <= (1 - smallest**2 * strong / smooth) ** step.round * run.start_loss * (
            1 + 1e-9
        )
    assert run.steps[-1].loss < 0.1 * run.start_loss


def test_one_step_a_round_and_nothing_moves_at_an_optimum():
    X = np.arange(6.0)[:, None]
    run = ab.boost(X, [1, 1, 1, -1, -1, -1], "hinge", "stump", Residual(step=1.0), 20)
    assert [step.round for step in run.steps] == list(range(1, 21))
    done = next(step.round for step in run.steps if step.loss == 0)
    for step in run.steps[done:]:
        assert (step.loss, step.edge, step.coefficient, step.gradient_norm) == (0, 0, 0, 0)
        assert step.learners == run.steps[done - 1].learners


def test_a_constant_target_fits():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for loss in ("squared", "absolute", "quantile:0.3", "huber"):
        run = ab.boost(X, np.full(20, 7.25), loss, rounds=5)
        np.testing.assert_array_equal(run.ensemble.predict(X), np.full(20, 7.25))
        assert run.steps[-1].loss == 0


def test_dials_between_the_presets():
    X, y = problem("absolute", False)
    run = ab.boost(
        X, y, "absolute", "stump", ab.descent.Descent(InverseSqrt(0.5), memory=0.7, projections=2), 10
    )
    assert run.steps[-1].learners == 20


def test_a_proximal_gradient_is_a_subgradient_at_the_proximal_point():
    X, y = problem("absolute", False)
    run = ab.boost(X, y, "absolute", "stump", ab.descent.Descent(InverseSqrt(0.5), proximal=True), 30)
    R, state = run.functional, run.state
    g, point = run.descent.look(R, state)
    mu = state.start_loss / np.sqrt(31)
    np.testing.assert_allclose(g, np.clip((state.scores - y) / mu, -1.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(point, state.scores - mu * g)
    away = np.abs(point - y) > 1e-9
    np.testing.assert_array_equal(g[away], np.sign(point - y)[away])
    assert run.floor(run.norm) <= run.steps[-1].loss
    with pytest.raises(ValueError, match="proximal=False"):
        ab.bounds.computable(run, 1.0)


def test_a_diverging_run_says_what_to_do():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(FloatingPointError, match="take smaller steps"):
        ab.boost(X, np.exp(2 * X[:, 0]), "poisson", "tree", Naive(step=50.0), 50)


def test_averaged_ensemble_is_the_mean_of_the_iterates():
    X, y = problem("hinge", False)
    run = ab.boost(X, y, "hinge", "stump", "repeated", 12)
    before = [np.full(len(y), run.ensemble.start[0]), *run.ensemble.staged_predict(X)][:-1]
    np.testing.assert_allclose(run.ensemble.averaged().predict(X), np.mean(before, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Residual(memory=1.5), "memory must be between 0 and at most 1, got 1.5"),
        (lambda: Naive(step=-1), "scale must be positive"),
        (lambda: Naive(step="fast"), "step must be a schedule or a positive number"),
        (lambda: Repeated(projections=0), "projections must be at least 1"),
        (lambda: Repeated(tolerance=0.0), "tolerance must be positive"),
        (lambda: ab.descent.Descent(proximal=1), "proximal must be True or False, got 1"),
        (
            lambda: ab.descent.get("residul"),
            "descent 'residul' is not known: use 'residual', or one of hull, naive, repeated, shrinking",
        ),
    ],
)
def test_bad_dials_are_named(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()
