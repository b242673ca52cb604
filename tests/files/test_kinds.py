"""Files of every kind that earlier versions wrote load, and answer as they did."""

import json
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost import files
from files.keep_kinds import ask

FILES = sorted(Path(__file__).parent.glob("kinds_*/*.safetensors"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_kept_model_answers_as_it_did(path):
    kept = json.loads(path.with_suffix(".json").read_text())
    found = ask(path.stem, ab.load(path), kept["rows"])
    np.testing.assert_allclose(found, kept["answers"], rtol=1e-12, atol=1e-12)


def test_every_kind_is_kept():
    """Ensembles and runs have folders of their own; models that others combine are no part of a file."""
    kinds = {files.peek(path).header["kind"] for path in FILES}
    assert kinds >= set(files.KINDS) - {"ensemble", "run", "mirror estimator"}
    assert all(path.stat().st_size < 16_000 for path in FILES)
