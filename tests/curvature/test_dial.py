"""The dial itself: where it is set, what it defaults to, who refuses it, and that files keep it."""

import numpy as np
import pytest
from sklearn.base import clone

import anyboost as ab
from anyboost import losses
from anyboost.descent import Descent, Hull, Naive, Repeated, Residual, Shrinking
from anyboost.weak import Stump, Tree
from curvature.samples import sample
from curvature.test_same_bits import CASES, bits, fit

PRESETS = {
    "Descent": lambda **dial: Descent(0.3, memory=0.5, projections=2, **dial),
    "Naive": lambda **dial: Naive(0.3, **dial),
    "Repeated": lambda **dial: Repeated(0.3, projections=2, **dial),
    "Residual": lambda **dial: Residual(0.3, memory=0.7, **dial),
}


def run_bits(descent, **options):
    X, y = sample("logistic")
    return bits(ab.boost(X, y, "logistic", Tree(4), descent, 4, **options), X)


@pytest.mark.parametrize("name", PRESETS)
def test_flat_unless_asked_for(name):
    """In `boost` and in descents "auto" is flat, and either of them can ask."""
    make = PRESETS[name]
    assert make().curvature == "auto"
    flat, curved = run_bits(make(curvature=False)), run_bits(make(curvature=True))
    assert flat != curved
    assert run_bits(make()) == run_bits(make(curvature="auto")) == flat
    assert run_bits(make(), curvature="auto") == run_bits(make(), curvature=False) == flat
    assert run_bits(make(), curvature=True) == curved
    assert run_bits(make(curvature=True), curvature="auto") == curved


def test_curvature_one_changes_nothing_but_rounding():
    X, y = sample("squared")
    runs = [
        ab.boost(X, y, "squared", Tree(5), Residual(0.3, memory=0.7), 8, curvature=curvature)
        for curvature in (False, True)
    ]
    np.testing.assert_allclose(runs[0].scores, runs[1].scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("value", ["yes", 1.5, None])
def test_other_values_are_refused(value):
    X, y = sample("logistic")
    with pytest.raises((ValueError, TypeError), match="curvature"):
        Naive(0.3, curvature=value)
    with pytest.raises((ValueError, TypeError), match="curvature"):
        ab.boost(X, y, "logistic", rounds=1, curvature=value)


FLAT = {
    "absolute": "absolute",
    "quantile": "quantile:0.8",
    "hinge": "hinge",
    "multiclass_hinge": "multiclass_hinge",
    "cvar": losses.CVaR("logistic", 0.5),
    "multi_quantile": losses.MultiQuantile((0.1, 0.9)),
}


@pytest.mark.parametrize("name", FLAT)
def test_losses_without_curvature(name):
    X, y = sample("logistic" if name == "cvar" else name)
    loss = FLAT[name]
    with pytest.raises(ValueError, match=r"(?s)^(?=.*curvature)(?=.*" + name + r")[^\n]*$"):
        ab.boost(X, y, loss, "stump", Naive(0.3), 2, curvature=True)
    with pytest.raises(ValueError, match="curvature"):
        ab.boost(X, y, loss, "stump", Naive(0.3, curvature=True), 2)
    for curvature in ("auto", False):
        assert len(ab.boost(X, y, loss, "stump", Naive(0.3), 2, curvature=curvature).steps) == 2


@pytest.mark.parametrize("loss", ["rank_hinge", "worst_group"])
def test_coupled_losses_without_curvature(loss):
    X, y = sample("poisson")
    loss = losses.WorstGroup("squared") if loss == "worst_group" else loss
    with pytest.raises(ValueError, match="curvature"):
        ab.boost(X, y, loss, "stump", Naive(0.3), 2, curvature=True, groups=np.arange(len(y)) % 5)


@pytest.mark.parametrize("descent", [Hull(1.0), Shrinking(0.5)])
def test_descents_along_atoms_are_flat(descent):
    X, y = sample("logistic")
    with pytest.raises(ValueError, match="curvature"):
        ab.boost(X, y, "logistic", "stump", descent, 2, curvature=True)
    assert len(ab.boost(X, y, "logistic", "stump", descent, 2).steps) == 2


def predicted(model, X, y):
    model = clone(model).fit(X, y)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def test_estimators_are_curved_where_the_loss_is():
    X, y = sample("logistic", 200)
    model = ab.BoostingClassifier(max_iter=5)
    assert model.get_params()["curvature"] == "auto"
    auto, curved, flat = (
        predicted(model.set_params(curvature=value), X, y) for value in ("auto", True, False)
    )
    np.testing.assert_array_equal(auto, curved)
    assert np.abs(auto - flat).max() > 1e-6


@pytest.mark.parametrize("loss", ["absolute", "quantile"])
def test_estimators_are_flat_where_the_loss_is(loss):
    X, y = sample("squared", 200)
    model = ab.BoostingRegressor(loss, max_iter=5)
    np.testing.assert_array_equal(predicted(model, X, y), predicted(model.set_params(curvature=False), X, y))
    with pytest.raises(ValueError, match="curvature"):
        model.set_params(curvature=True).fit(X, y)


@pytest.mark.parametrize("case", CASES)
def test_a_file_keeps_it_and_a_run_goes_on(case, tmp_path):
    X, y = sample(CASES[case][0])
    some = {"feature_fraction": 0.7, "random_state": 5}
    whole, part = fit(case, X, y, rounds=7, **some), fit(case, X, y, rounds=4, **some)
    ab.save(part, tmp_path / "run")
    loaded = ab.load(tmp_path / "run")
    assert loaded.descent.curvature is True
    assert repr(loaded.descent) == repr(part.descent)
    np.testing.assert_array_equal(loaded.state.residual, part.state.residual)
    for earlier in (part, loaded):
        resumed = fit(case, X, y, rounds=7, resume=earlier, **some)
        assert bits(resumed, X) == bits(whole, X)
        np.testing.assert_array_equal(resumed.state.residual, whole.state.residual)
    with pytest.raises(ValueError, match=r"curvature|descent"):
        ab.boost(X, y, rounds=7, resume=loaded, curvature=False)


@pytest.mark.parametrize("learner", [Stump(leaf="exact"), Tree(5, leaf="exact")])
def test_exact_leaves_with_curvature(learner):
    """Cuts in the metric of the loss, values that minimize it; D loses c k h as ever."""
    X, y = sample("logistic")
    run = ab.boost(X, y, "logistic", learner, Residual(0.3, curvature=True), 8)
    losses_ = [run.start_loss, *(step.loss for step in run.steps)]
    assert losses_[-1] < losses_[0]
    assert np.isfinite(run.state.residual).all()
