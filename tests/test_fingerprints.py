"""The tree engine makes the models that it made, in sixty recorded fits.

The record is an output, not a truth; see `fingerprints`. It says that a model changed, not that it was right.
"""

import json

import pytest

import fingerprints

RECORDED = json.loads(fingerprints.FILE.read_text())


def test_every_case_is_recorded():
    assert list(RECORDED) == list(fingerprints.CASES)
    assert len(RECORDED) >= 60


@pytest.mark.parametrize("name", fingerprints.CASES)
def test_the_engine_makes_the_same_model(name):
    result = fingerprints.fingerprint(*fingerprints.fit(**fingerprints.CASES[name]))
    assert fingerprints.differences(name, result, RECORDED[name]) == []


@pytest.fixture
def record(tmp_path, monkeypatch):
    """A copy of the record in which two cases were changed."""
    file = tmp_path / "fingerprints.json"
    changed = json.loads(json.dumps(RECORDED))
    changed["squared, trees"]["cuts"] = "another"
    changed["absolute, trees"]["scores"][0] += 1e-9
    file.write_text(json.dumps(changed, indent=0) + "\n")
    monkeypatch.setattr(fingerprints, "FILE", file)
    few = {name: fingerprints.CASES[name] for name in ("squared, trees", "absolute, trees", "hinge, trees")}
    monkeypatch.setattr(fingerprints, "CASES", few)
    return file


def test_comparing_names_what_differs_and_writes_nothing(record, capsys):
    before = record.read_bytes()
    assert fingerprints.main([]) == 2
    assert capsys.readouterr().out == "squared, trees: cuts\nabsolute, trees: scores\n2 of 3 differ\n"
    assert record.read_bytes() == before


def test_only_named_cases_are_recorded_anew(record, capsys):
    """Nobody re-records sixty models for a change that was to alter one."""
    assert fingerprints.main(["squared, trees", "hinge, trees"]) == 1
    assert capsys.readouterr().out == "squared, trees: cuts\n1 of 2 differ, and are recorded anew\n"
    written = json.loads(record.read_text())
    assert written["squared, trees"] == RECORDED["squared, trees"]
    assert written["absolute, trees"] != RECORDED["absolute, trees"]
    assert list(written) == list(fingerprints.CASES)


def test_an_unknown_case_is_refused_before_any_fit(record):
    before = record.read_bytes()
    with pytest.raises(SystemExit, match="no such case: 'square'; the cases are 'squared, trees'"):
        fingerprints.main(["squared, trees", "square"])
    assert record.read_bytes() == before


def test_a_last_bit_that_depends_on_the_machine_is_no_difference():
    recorded = RECORDED["logistic, trees"]
    nearly = recorded | {
        "values": "another",
        "scores": [score * (1 + 2e-16) for score in recorded["scores"]],
    }
    assert fingerprints.differences("logistic, trees", nearly, recorded) == []
    off = recorded | {"scores": [score + 1e-9 for score in recorded["scores"]]}
    assert fingerprints.differences("logistic, trees", off, recorded) == ["scores"]
    assert fingerprints.differences("squared, trees", nearly, recorded) == ["values", "scores"]
