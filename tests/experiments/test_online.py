"""The experiment runs from data to table, JSON and figure; the paper's figures are those it prints."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from anyboost import cli
from anyboost.experiments import online


def small_stream(name, most=None):  # noqa: ARG001
    random = np.random.default_rng(len(name))
    X = random.normal(size=(120, 3))
    return online.Stream(X, X[:, 0] + 0.1 * random.normal(size=120))


def test_it_writes_the_table_the_figures_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(online, "stream", small_stream)
    monkeypatch.setattr(online, "PAPER", {name: online.PAPER[name] for name in ("casp", "bank")})
    monkeypatch.setattr(online, "BASES", {"SGD": online.BASES["SGD"], "stumps": online.BASES["stumps"]})
    said = []
    results = online.run(True, tmp_path, said.append)
    assert json.loads((tmp_path / "online.json").read_text()) == results
    table = (tmp_path / "online.md").read_text()
    assert "| SGD | casp |" in table
    assert "0.0632" in table  # the paper's baseline
    assert (tmp_path / "online.png").stat().st_size > 1000
    assert len(said) == 2 * 2 + 2


def test_the_papers_mean_gains_are_those_it_states():
    # 21 % and 16 % for stumps over these ten sets.
    gains = np.mean([online.gains(row[1]) for row in online.PAPER.values()], axis=0)
    np.testing.assert_allclose(gains, [21, 16], atol=0.6)


@pytest.mark.parametrize(
    ("arguments", "words"), [(["nothing"], "not an experiment"), (["online"], "ANYBOOST_DATA")]
)
def test_the_command_says_what_is_missing(arguments, words, monkeypatch, tmp_path):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    result = CliRunner().invoke(cli.build(), ["reproduce", *arguments, "-o", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert words in result.output
