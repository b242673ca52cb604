"""Floor and gap: below the optimum that a solver finds, close enough to be of use, and as defined."""

from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost import certificates
from anyboost.descent import PRESETS, Hull, Naive, Residual
from anyboost.steps import InverseSqrt, LineSearch
from anyboost.weak import Stump, Tree

LOSSES = ("absolute", "quantile:0.8", "hinge")
RADII = (1.0, 3.0, 10.0)
THEOREM = InverseSqrt(1.0)
METHODS = {
    "naive": {"descent": Naive(THEOREM)},
    "residual": {"descent": Residual(THEOREM)},
    "exact leaves": {"descent": Residual(THEOREM), "learner": Stump(leaf="exact")},
    "other start": {"descent": Residual(THEOREM), "start": 0.7},
    "weights": {"descent": Residual(THEOREM), "sample_weight": np.tile([1.0, 2.0, 0.5], 20)},
}


def problem(loss, n=60, seed=7):
    """Targets of mean 0 and deviation 1 (hinge: their signs, some flipped); equal rows that disagree."""
    random = np.random.default_rng(seed)
    X = np.c_[random.integers(0, 6, n), random.integers(0, 4, n), random.integers(0, 3, n)].astype(float)
    signal = X[:, 0] * np.where(X[:, 2] > 1, 1, -0.5) - X[:, 1] + 2 * random.normal(size=n)
    signal = (signal - signal.mean()) / signal.std()
    if loss != "hinge":
        return X, signal
    return X, np.where(signal > 0, 1, -1) * np.where(random.random(n) < 0.2, -1, 1)


def follow(loss, marks, radii=RADII, **options):
    """The floors, and the loss of the averaged iterate, at some rounds of one run from 0 unless said."""
    X, y = problem(loss)
    options = {"learner": "stump", "start": 0.0, **options}
    found = {}

    def look(step, run):
        if step.round in marks:
            averaged = run.functional.value(run.ensemble.averaged().predict(X))
            found[step.round] = averaged, [run.floor(radius) for radius in radii]

    run = ab.boost(X, y, loss, rounds=max(marks), callbacks=[look], **options)
    optima = [
        reference.optimum_stumps(
            X, y, options.get("sample_weight"), loss, radius, start=options["start"]
        ).value
        for radius in radii
    ]
    return run, found, optima


@pytest.mark.parametrize("rounds", [1000, pytest.param(10_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES)
def test_floor_is_never_above_the_optimum(loss, method, rounds):
    _, found, optima = follow(loss, (1, 100, rounds), **METHODS[method])
    for _, floors in found.values():
        for floor, optimum in zip(floors, optima, strict=True):
            assert floor <= optimum + 1e-7


@pytest.mark.parametrize("loss", LOSSES)
def test_floor_is_close_to_the_optimum(loss):
    _, found, (optimum,) = follow(loss, (2000,), radii=(3.0,), descent="residual")
    assert optimum - found[2000][1][0] < 0.3


@pytest.mark.parametrize("radius", [3.0, pytest.param(10.0, marks=pytest.mark.full)])
@pytest.mark.parametrize("loss", LOSSES)
def test_gap_of_the_averaged_iterate_falls(loss, radius):
    marks = (100, 300, 1000, 3000, 10_000)
    _, found, _ = follow(loss, marks, radii=(radius,), descent="residual")
    gaps = [found[mark][0] - found[mark][1][0] for mark in marks]
    assert min(gaps) > 0
    slope = np.polyfit(np.log(marks), np.log(gaps), 1)[0]
    assert slope <= -0.3


@pytest.mark.parametrize("descent", ["naive", "residual", "repeated"])
def test_floor_with_vector_stumps(descent):
    random = np.random.default_rng(3)
    X = np.c_[random.integers(0, 4, 40), random.integers(0, 3, 40)].astype(float)
    y = (X[:, 0] + random.integers(0, 2, 40)).astype(int) % 3
    rounds = 30 if descent == "repeated" else 1000
    run = ab.boost(X, y, "multiclass_hinge", "stump", descent, rounds, start=0.0)
    for radius in (0.5, 1.0, 3.0):
        optimum = reference.optimum_vector_stumps(X, y, 3, None, radius).value
        assert run.floor(radius) <= optimum + 1e-7
        if descent == "residual" and radius <= 1:
            assert run.floor(radius) >= optimum - 0.3


@pytest.mark.parametrize("loss", ["absolute", "hinge", "multiclass_hinge"])
@pytest.mark.parametrize("kind", ["naive", "residual"])
def test_floor_equals_its_definition(loss, kind):
    X, y = problem(loss)
    start: float | np.ndarray = 0.3
    if loss == "multiclass_hinge":
        y, start = np.digitize(y, [-0.5, 0.5]), 0.0
    weights = np.tile([1.0, 2.0, 0.5], 20)
    run = ab.boost(X, y, loss, "stump", PRESETS[kind](THEOREM), 37, start=start, sample_weight=weights)
    oracle = reference.descend(X, y, weights, loss, reference.project_stump, kind, rounds=37, start=start)

    def reach(w, G):
        return reference.extreme_stump(X, w, G)[0]

    for radius in (0.0, 0.5, 2.0, 20.0):
        expected = reference.floor_from_trace(oracle.trace, oracle.etas, weights, oracle.start, radius, reach)
        assert run.floor(radius) == pytest.approx(max(expected, 0.0), abs=1e-6)
        assert run.gap(radius) == run.steps[-1].loss - run.floor(radius)


def test_a_tree_floor_is_proof_and_its_estimate_is_not():
    X, y = problem("absolute")
    run = ab.boost(X, y, "absolute", Tree(max_leaves=5), "residual", 300, start=0.0)
    for radius in RADII:
        optimum = reference.optimum_stumps(X, y, None, "absolute", radius).value
        assert run.floor(radius) <= optimum + 1e-7  # stumps are trees
        assert run.floor(radius) <= run.floor_estimate(radius)


def test_floor_with_row_and_feature_sampling_is_still_below():
    X, y = problem("absolute")
    run = ab.boost(
        X,
        y,
        "absolute",
        "stump",
        "residual",
        500,
        start=0.0,
        row_fraction=0.5,
        feature_fraction=0.7,
        random_state=0,
    )
    for radius in RADII:
        assert run.floor(radius) <= reference.optimum_stumps(X, y, None, "absolute", radius).value + 1e-7


def test_floor_of_a_dictionary():
    random = np.random.default_rng(0)
    B = random.normal(size=(30, 4))
    y = B @ [1.0, -1.0, 0.5, 0.0] + 0.3 * random.normal(size=30)
    run = ab.boost(B, y, "absolute", "dictionary", "residual", 2000, start=0.0)
    atoms = B / np.abs(B).max(axis=0)
    best = np.inf
    for _ in range(3000):  # feasible points: none may lie under the floor
        c = random.normal(size=4)
        best = min(best, np.abs(y - atoms @ (3 * c / np.abs(c).sum())).mean())
    assert best - 0.3 < run.floor(3.0) <= best


def test_bad_radius_and_empty_run():
    X, y = problem("absolute")
    run = ab.boost(X, y, "absolute", rounds=0)
    assert run.floor(1.0) == 0.0  # of no rounds, all that is known is that errors are not negative
    assert run.norm == 0.0
    assert run.steps == []
    run = ab.boost(X, y, "absolute", rounds=3)
    for radius in (-1.0, np.nan):
        with pytest.raises(ValueError, match="radius must be a number >= 0"):
            run.floor(radius)


NEVER_NEGATIVE = {
    "stumps": {},
    "trees": {"learner": Tree(6)},
    "exact leaves": {"learner": Tree(6, leaf="exact")},
    "monotone": {"learner": Tree(4, monotone=(1, 0, 0))},
    "linear": {"learner": "linear"},
    "leaky": {"descent": Residual(memory=0.7)},
    "repeated": {"descent": "repeated"},
    "shrinking": {"descent": "shrinking"},
    "hull": {"descent": Hull(2.0)},
    "search": {"descent": Naive(LineSearch(1.0))},
    "rows": {"row_fraction": 0.5, "random_state": 0},
    "weights": {"sample_weight": np.tile([1.0, 2.0, 0.5], 20)},
    "an offset": {"start": np.tile([0.1, -0.2], 30)},
}


@pytest.mark.parametrize("case", NEVER_NEGATIVE)
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "hinge", "logistic", "softmax", "cvar"])
def test_no_model_is_under_the_floor_of_its_own_norm(loss, case):
    """A gap at the model's own norm that came out negative would be a proof of something false."""
    X, y = problem("hinge" if loss in ("hinge", "logistic") else "absolute")
    y = np.digitize(y, [-0.5, 0.5]) if loss == "softmax" else y
    options = NEVER_NEGATIVE[case]
    if loss == "softmax" and case in ("an offset", "monotone", "linear"):
        pytest.skip("for one output")
    run = ab.boost(
        X,
        y,
        ab.losses.CVaR("absolute", 0.5) if loss == "cvar" else loss,
        rounds=25,
        **{"learner": "stump"} | options,
    )
    scale = run.start_loss
    assert certificates.floor(run.witnesses, run.norm) <= run.steps[-1].loss + 1e-9 * scale  # not cut off
    assert 0 <= run.gap() <= run.steps[-1].loss
    assert run.gap() == run.gap(run.norm)
    assert run.floor() == run.floor(run.norm) >= 0.0
    assert run.floor(1e6 * run.norm) >= 0.0
    assert run.floor() <= run.floor_estimate() + 1e-12


@pytest.mark.parametrize(
    "case", ["stumps", "trees", "exact leaves", "linear", "shrinking", "hull", "repeated"]
)
def test_the_norm_is_the_sum_over_terms(case):
    X, y = problem("absolute")
    run = ab.boost(X, y, "absolute", rounds=12, **{"learner": "stump"} | NEVER_NEGATIVE[case])
    ensemble = run.ensemble
    sizes = [np.abs(h.predict(X)).max() for h in ensemble.hypotheses]
    assert run.norm == pytest.approx(np.abs(ensemble.coefficients) @ sizes, rel=1e-9)
    assert np.abs(run.scores - run.state.start).max() <= run.norm * (1 + 1e-12)
    if case == "hull":
        assert run.norm <= 2.0 + 1e-12


def test_a_gap_within_less_than_the_model_s_norm_may_be_negative():
    X, y = problem("absolute")
    run = ab.boost(X, y, "absolute", "stump", rounds=200)
    assert run.gap(0.01 * run.norm) < 0  # no model that small is as good as this one


def test_a_file_keeps_norm_and_infimum(tmp_path):
    X, y = problem("absolute")
    run = ab.boost(X, np.round(np.exp(y)), "poisson", "stump", rounds=6)
    ab.save(run, tmp_path / "run")
    loaded = ab.load(tmp_path / "run")
    assert (loaded.norm, loaded.infimum, loaded.floor(), loaded.gap()) == (
        run.norm,
        run.infimum,
        run.floor(),
        run.gap(),
    )


def test_a_file_of_an_older_version_has_no_norm():
    run = ab.load(Path(__file__).parent / "files" / "format_1" / "absolute-stumps.safetensors")
    assert np.isfinite(run.floor(1.0))
    with pytest.raises(ValueError, match=r"norm is not known of this model .its file is of an older version"):
        run.gap()
