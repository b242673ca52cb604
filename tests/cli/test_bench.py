"""`anyboost bench`: the races are in a checkout, wherever one stands, and nowhere else."""

import json

import pytest
from typer.testing import CliRunner

from anyboost.cli import bench, build
from benchmarks import combine


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(build(), ["bench", *words])


def test_a_race_is_found_from_any_folder_of_a_checkout(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(combine, "race", lambda quick, repeats, say: {"quick": quick, "repeats": repeats})
    done = invoke("combine", "--quick", "--repeats", "2", "--output", "found.json")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == list(combine.HEAD)
    assert json.loads((tmp_path / "found.json").read_text()) == {"quick": True, "repeats": 2}


def test_elsewhere_it_is_said_where_the_races_are(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    done = invoke("speed")
    assert done.exit_code == 1
    assert done.stderr == bench.ELSEWHERE + "\n"
    assert "checkout" in done.stderr
    assert not done.stdout


def test_an_unknown_race_is_named(invoke):
    done = invoke("nothing")
    assert done.exit_code == 2
    assert "'nothing' is not a benchmark" in " ".join(done.stderr.replace("│", " ").split())
