"""`anyboost demo` compares like with like, and its table, figure and sentences appear."""

import numpy as np
import pytest
from typer.testing import CliRunner

from anyboost.cli import build
from anyboost.experiments import contrast
from anyboost.experiments.methods import METHODS


def test_quick_demo_writes_table_and_figure(tmp_path):
    picture = tmp_path / "contrast.png"
    result = CliRunner().invoke(build(), ["demo", "--quick", "--output", str(picture)])
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    for word in ("digits", "iris", "naive", "repeated", "residual", "Certified", str(picture)):
        assert word in result.output


@pytest.mark.parametrize(
    ("name", "reason"), [("nowhere/figure.png", "no such folder"), ("figure.doc", ".svg")]
)
def test_a_figure_that_cannot_be_saved_is_refused_before_the_work(tmp_path, name, reason):
    result = CliRunner().invoke(build(), ["demo", "--output", str(tmp_path / name)])
    assert result.exit_code == 2
    assert "--output" in result.output
    assert reason in result.output


def test_every_method_spends_the_same_stumps():
    iris = next(data for data in contrast.load() if data.name == "iris")
    heard: list[int] = []
    curves = [contrast.fit(iris, method, 15, heard.append) for method in METHODS]
    assert [curve.stumps[-1] for curve in curves] == [15, 15, 15]
    assert heard == [*range(1, 16), 1, 3, 6, 10, 15, *range(1, 16)]
    for curve in curves:
        assert curve.loss.shape == curve.test_error.shape == curve.stumps.shape
        assert 1 <= curve.distinct <= 15
        assert np.isfinite(curve.floor)
