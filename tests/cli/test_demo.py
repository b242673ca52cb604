"""`anyboost demo` compares like with like, says what its stations found, and its tables, figure and report appear."""

import numpy as np
import pytest
from typer.testing import CliRunner

from anyboost.cli import build
from anyboost.experiments import contrast
from anyboost.experiments.methods import METHODS
from anyboost.experiments.overview import Overview


def test_quick_demo_writes_table_and_figure(tmp_path):
    picture, page = tmp_path / "contrast.png", tmp_path / "report.html"
    result = CliRunner().invoke(build(), ["demo", "--quick", "--output", str(picture), "--report", str(page)])
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text(encoding="utf-8")
    assert all(words in text for words in ("anyboost demo", "Coverage", "Worst groups", "town"))
    for word in ("digits", "iris", "naive", "repeated", "residual", "certified", str(picture), str(page)):
        assert word in result.output
    for word in ("a frame as it is", "intervals", "one row explained", "a stream", "a pool"):
        assert word in result.output


def test_what_the_lines_say_is_true_of_their_models():
    overview = Overview(rounds=10, n_train=200, n_stream=60)
    heard: list[int] = []
    frame, intervals = overview.intervals(heard.append)
    assert heard == list(range(1, 11))
    X, y = overview.houses.test
    low, high = overview.model.predict_interval(X, 0.9).T
    assert f"{np.mean((low <= y) & (y <= high)):.1%} of new rows inside" in intervals.found
    assert f"mean absolute error {np.abs(y - overview.model.predict(X)[:, 1]).mean():.1f} on" in frame.found
    (row,) = overview.explained(lambda _: None)
    shares = [int(words.split()[-1]) for words in row.found.split(", ")]
    score, base = (int(words.split()[0]) for words in row.about.split(", "))
    assert abs(base + sum(shares) - score) <= 3  # each is rounded


@pytest.mark.parametrize(
    ("option", "name", "reason"),
    [
        ("--output", "nowhere/figure.png", "no such folder"),
        ("--output", "figure.doc", ".svg"),
        ("--report", "nowhere/report.html", "no such folder"),
    ],
)
def test_a_file_that_cannot_be_saved_is_refused_before_the_work(tmp_path, option, name, reason):
    result = CliRunner().invoke(build(), ["demo", option, str(tmp_path / name)])
    assert result.exit_code == 2
    assert option in result.output
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
        assert 0.0 < curve.floor < 1.0  # a floor of 0 proves nothing; 1 is the loss of no stumps
