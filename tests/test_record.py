"""record="light": the same model, fewer numbers about it, and a floor that still holds."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.descent import Descent, Hull, Naive, Repeated, Residual, Shrinking

DESCENTS = {
    "naive": Naive(0.1),
    "residual": Residual(),
    "half memory": Descent(0.1, memory=0.5),
    "repeated": Repeated(0.1),
    "tolerance": Repeated(0.1, projections=6, tolerance=0.5),
    "memory, two projections": Descent(0.1, memory=0.5, projections=2),
    "line search": Naive(ab.steps.LineSearch(0.3)),
    "shrinking": Shrinking(),
    "hull": Hull(2.0),
}
LEFT_OUT = ("gradient_norm", "edge", "coefficient")


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    return X, X[:, 0] * X[:, 1] + random.normal(size=300)


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
@pytest.mark.parametrize("name", DESCENTS)
def test_the_model_is_the_same(table, name, loss):
    X, y = table
    y = np.sign(y) if loss == "logistic" else y
    full, light = (
        ab.boost(X, y, loss, "stump", DESCENTS[name], 12, record=record) for record in ("full", "light")
    )
    np.testing.assert_array_equal(light.scores, full.scores)
    assert light.norm == full.norm
    for one, other in zip(light.steps, full.steps, strict=True):
        assert all(getattr(one, name) is None for name in LEFT_OUT)
        assert one._replace(seconds=0.0) == other._replace(
            seconds=0.0, **{name: getattr(one, name) for name in LEFT_OUT}
        )


@pytest.mark.parametrize("leaf", ["mean", "exact"])
def test_a_run_at_its_optimum_stays_there(leaf):
    X = np.arange(8.0)[:, None]
    y = (X[:, 0] > 3).astype(float)
    options = {"loss": "absolute", "learner": ab.weak.Stump(leaf), "descent": Residual(1.0), "rounds": 6}
    full, light = (ab.boost(X, y, record=record, **options) for record in ("full", "light"))
    np.testing.assert_array_equal(light.scores, full.scores)
    assert len(light.ensemble) == len(full.ensemble)


def test_the_floor_holds_and_is_looser(table):
    X, y = table
    full, light = (
        ab.boost(X, y, "absolute", "stump", Residual(), 60, record=record) for record in ("full", "light")
    )
    for radius in (0.5, 1.0, 3.0):
        reached = ab.boost(X, y, "absolute", "stump", Hull(radius), 200).state.loss
        assert light.floor(radius) <= full.floor(radius) + 1e-12
        assert full.floor(radius) <= reached
    assert light.gap(0.0) == pytest.approx(full.gap(0.0))
    assert light.gap() >= 0.0


def test_floors_follow_a_run_that_goes_on(table):
    X, y = table
    first = ab.boost(X, y, "absolute", "stump", "naive", 5, record="light")
    first.floor(1.0)
    longer = ab.boost(X, y, rounds=11, resume=first)
    at_once = ab.boost(X, y, "absolute", "stump", "naive", 11, record="light")
    assert longer.options.record == "light"
    assert longer.floor(1.0) == at_once.floor(1.0)
    np.testing.assert_array_equal(longer.scores, at_once.scores)


def test_files_keep_what_there_is(table, tmp_path):
    X, y = table
    run = ab.boost(X, y, "absolute", "stump", "naive", 7, record="light")
    ab.save(run, tmp_path / "run.ab")
    found = ab.load(tmp_path / "run.ab")
    assert found.steps == run.steps
    assert found.floor(2.0) == run.floor(2.0)
    resumed = ab.boost(X, y, rounds=9, resume=found)
    again = ab.boost(X, y, "absolute", "stump", "naive", 9, record="light")
    np.testing.assert_array_equal(resumed.scores, again.scores)


def test_what_needs_more_says_so(table):
    X, y = table
    run = ab.boost(X, y, "squared", "stump", Naive(1.0), 3, record="light")
    with pytest.raises(ValueError, match='record="full"'):
        ab.bounds.gamma(run)
    with pytest.raises(ValueError, match='record="full"'):
        ab.bounds.theorem_3(run, 0.0)
    with pytest.raises(ValueError, match="record is light in the run to resume, got full"):
        ab.boost(X, y, rounds=4, resume=run, record="full")
    with pytest.raises(ValueError, match="record must be 'full' or 'light', got 'some'"):
        ab.boost(X, y, record="some")


def test_no_finite_gradient_is_said_in_both(table):
    X, y = table
    for record in ("full", "light"):
        with pytest.raises(FloatingPointError, match="smaller steps"), np.errstate(all="ignore"):
            ab.boost(X, np.sign(y), "exponential", "stump", Naive(1e6), 20, record=record)
