"""Files that earlier versions wrote load, and predict what they did. Their folder is never changed, only added to."""

import json
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost.ensemble import Ensemble
from reference import files as reference

FILES = sorted(Path(__file__).parent.glob("format_*/*.safetensors"))


def expected(path):
    kept = json.loads((path.parent / "predictions.json").read_text())
    return np.array(kept["X"]), np.array(kept["predictions"][path.stem])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_file_predicts_what_it_did(path):
    X, scores = expected(path)
    model = ab.load(path)
    ensemble = model if isinstance(model, Ensemble) else model.ensemble
    np.testing.assert_allclose(ensemble.predict(X).reshape(len(X), -1), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(reference.predict(path.read_bytes(), X), scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_run_keeps_its_certificate_and_its_steps(path):
    model = ab.load(path)
    if isinstance(model, Ensemble):
        return
    evidence = reference.split(path.read_bytes())[1]["model"]["evidence"]
    for radius in (0.5, 2.0):
        bounds = [w[0] - radius * w[1] for w in evidence["witnesses"] + evidence["current"]]
        assert model.floor(radius) == max(bounds)
    assert [step.round for step in model.steps] == list(range(1, model.ensemble.n_rounds + 1))
    assert model.steps[-1].learners == len(model.ensemble)
    assert model.steps[-1].loss == model.state.loss


def test_every_format_has_its_files():
    from anyboost.files.container import FORMAT

    assert {path.parent.name for path in FILES} == {f"format_{number}" for number in range(1, FORMAT + 1)}
    assert all(path.stat().st_size < 16_000 for path in FILES)
