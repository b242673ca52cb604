"""Linear functions and nets come back from their files; estimators of the user's own are refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import anyboost as ab
from anyboost.weak import Estimator, Linear, Net
from anyboost.weak.net import NetFunction
from files import mutations
from files.samples import LOSSES, SMOOTH, fit, sample
from files.test_round_trip import check_round_trip
from reference import files as reference

DESCENTS = ["naive", "repeated", "residual", "search", "dials", "my step"]


@pytest.mark.parametrize("learner", SMOOTH)
def test_round_trip(tmp_path, learner):
    for i, loss in enumerate(LOSSES):
        check_round_trip(tmp_path / "model.safetensors", loss, learner, DESCENTS[i % len(DESCENTS)])


@pytest.mark.parametrize("learner", SMOOTH)
@pytest.mark.parametrize("loss", ["absolute", "softmax"])
def test_a_file_says_what_the_format_says(tmp_path, learner, loss):
    path = tmp_path / "model.safetensors"
    run = fit(loss, learner, "residual", 4)
    ab.save(run, path)
    X = sample("real", seed=3)[0]
    plain = reference.predict(path.read_bytes(), X)
    np.testing.assert_allclose(run.ensemble.predict(X).reshape(plain.shape), plain, atol=1e-9)


@pytest.mark.parametrize("learner", SMOOTH)
def test_tensors_that_do_not_fit_together_are_refused(tmp_path, learner):
    path = tmp_path / "model.safetensors"
    ab.save(fit("softmax", learner, "residual", 4).ensemble, path)
    outer, inner, data = reference.split(path.read_bytes())
    for changes in ({"features": 5}, {"outputs": 2}, {"hypotheses": "trees"}, {"hypotheses": "nets, linear"}):
        model = inner["model"] | changes
        path.write_bytes(reference.join(outer, inner | {"model": model}, data))
        with pytest.raises(ab.ModelFileError):
            ab.load(path)
    for name in [name for name in outer if name.startswith(("linear.", "net."))]:
        shape = outer[name]["shape"]
        for other in (shape[::-1], [shape[0] * shape[1], 1], [0, shape[1]], [shape[0] * shape[1]]):
            if other == shape:
                continue
            changed = json.loads(json.dumps(outer))
            changed[name]["shape"] = other
            path.write_bytes(reference.join(changed, inner, data))
            with pytest.raises(ab.ModelFileError):
                ab.load(path)


@pytest.mark.parametrize("learner", SMOOTH)
def test_a_mutated_file_is_refused_or_predicts_what_it_says(tmp_path, learner):
    path = tmp_path / "model.safetensors"
    ab.save(fit("softmax", learner, "residual", 3), path)
    whole, random, others = path.read_bytes(), np.random.default_rng(0), 0
    X = sample("real", seed=3)[0][:5]
    for case in range(400):
        kinds = [mutation for mutation in mutations.MUTATIONS if mutation is not mutations.rewire_trees]
        blob = kinds[case % len(kinds)](random, whole)
        path.write_bytes(blob)
        try:
            model = ab.load(path)
        except ab.ModelFileError:
            continue
        table = np.resize(X, (5, model.ensemble.n_features))
        with np.errstate(all="ignore"):
            found, plain = model.ensemble.predict(table), reference.predict(blob, table)
        if np.abs(plain).max() < 1e3:  # else sums in another order differ
            np.testing.assert_allclose(found.reshape(plain.shape), plain, atol=1e-6)
            others += blob != whole
    assert others > 10


KEPT = Path(__file__).parent / "functions_1"


@pytest.mark.parametrize("name", ["linear", "net"])
def test_a_kept_file_predicts_what_it_did(name):
    """Files that the first version with such functions wrote. The folder is never changed."""
    kept = json.loads((KEPT / "predictions.json").read_text())
    X = np.array(kept["X"])
    run = ab.load(KEPT / f"{name}.safetensors")
    np.testing.assert_allclose(run.ensemble.predict(X), kept[name], rtol=1e-12, atol=1e-12)
    assert run.learner == SMOOTH[name]
    assert np.isfinite(run.floor(1.0))


@pytest.mark.parametrize(
    "learner", ["linear", Linear(0.5), Linear(0.1, standardize=False), Net(4, max_iter=5)], ids=str
)
def test_an_estimator_comes_back_with_its_learner(tmp_path, learner):
    X, y, _ = sample("class")
    model = ab.BoostingClassifier(learner=learner, max_iter=4, random_state=0).fit(X, y)
    ab.save(model, tmp_path / "model.safetensors")
    loaded = ab.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.learner == learner


@pytest.mark.parametrize("learner", [Estimator(Ridge()), Ridge(), Estimator(LogisticRegression())], ids=str)
def test_what_is_the_user_s_own_is_refused(tmp_path, learner):
    X, y, _ = sample("sign")
    path = tmp_path / "model.safetensors"
    run = ab.boost(X, y, "hinge", learner, rounds=2, random_state=0)
    model = ab.BoostingClassifier("hinge", learner=learner, max_iter=2, random_state=0).fit(X, y)
    for thing in (run, model, run.ensemble):
        with pytest.raises(ValueError, match="cannot be saved"):
            ab.save(thing, path)
    rounds = []
    with pytest.raises(ValueError, match="learner is an estimator of yours, which cannot be saved"):
        ab.boost(X, y, "hinge", learner, callbacks=[ab.Checkpoint(path, 5), lambda *_: rounds.append(1)])
    assert not path.exists()
    assert not rounds


def test_nets_of_different_sizes_are_refused(tmp_path):
    ensemble = fit("absolute", "net", "naive", 2).ensemble
    net = ensemble.hypotheses[0]
    ensemble.hypotheses[0] = NetFunction(net.hidden[:2], net.bias[:2], net.output[:, :2], net.constant)
    with pytest.raises(ValueError, match="its nets have different numbers of units"):
        ab.save(ensemble, tmp_path / "model.safetensors")
