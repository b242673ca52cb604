"""The tree engine makes what it made: cuts, values and scores of sixty recorded fits."""

import json

import numpy as np
import pytest

import fingerprints

RECORDED = json.loads(fingerprints.FILE.read_text())


def computed_otherwise(name):
    """Whether exp, log or a sum of float weights has a part in the numbers: their last bits hang on the machine."""
    return "float weights" in name or any(loss in name for loss in fingerprints.TRANSCENDENTAL)


def test_every_case_is_recorded():
    assert list(RECORDED) == list(fingerprints.CASES)
    assert len(RECORDED) >= 60


@pytest.mark.parametrize("name", fingerprints.CASES)
def test_the_engine_makes_the_same_model(name):
    found, recorded = fingerprints.fingerprint(*fingerprints.fit(**fingerprints.CASES[name])), RECORDED[name]
    assert found["trees"] == recorded["trees"]
    assert found["cuts"] == recorded["cuts"]
    np.testing.assert_allclose(found["scores"], recorded["scores"], rtol=1e-12, atol=1e-12)
    if not computed_otherwise(name):
        assert found["values"] == recorded["values"]
        assert found["scores"] == recorded["scores"]
