"""`anyboost combine`: a table of forecasts in, progressive losses, weights, regret and a figure out."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost import cli
from anyboost.mirror import MirrorAverager, Tracker

NAMES = ["good", "fair", "bad"]


@pytest.fixture
def invoke():
    runner = CliRunner()
    return lambda *arguments, **options: runner.invoke(
        cli.build(), ["combine", *map(str, arguments)], **options
    )


def stream(rows=70):
    random = np.random.default_rng(0)
    y = np.cumsum(random.normal(size=rows)).round(3)
    H = (y[:, None] + random.normal(size=(rows, 3)) * [0.2, 1.0, 3.0]).round(3)
    return H, y


def written(path, H, y, extra=""):
    """A CSV file; NaN is an empty cell."""
    lines = [",".join([*NAMES, "truth"])]
    for row, target in zip(H.tolist(), y.tolist(), strict=True):
        lines.append(",".join("" if np.isnan(v) else repr(v) for v in [*row, target]))
    path.write_text("\n".join(lines) + "\n" + extra)
    return path


def test_what_it_prints_and_writes(tmp_path, invoke):
    H, y = stream()
    path = written(tmp_path / "table.csv", H, y)
    figure, output = tmp_path / "weights.png", tmp_path / "result.json"
    saved = tmp_path / "model"
    more = ["--output", output, "--switches", 2, "--save", saved]
    result = invoke(path, "--target", "truth", "--figure", figure, *more)
    assert result.exit_code == 0, result.output
    tracker = Tracker()
    scores = tracker.predict_then_fit(H, y)
    losses = (scores - y) ** 2 / 2
    lines = result.stdout.splitlines()
    for row, line in zip((1, 2, 4, 8, 16, 32, 64), lines[2:], strict=False):
        cells = line.split()
        assert float(cells[0]) == pytest.approx(losses[:row].mean(), abs=1e-6)
        assert int(cells[2]) == row
        best = ((H[:row] - y[:row, None]) ** 2 / 2).mean(axis=0).min()
        assert float(cells[-1]) == pytest.approx(best, abs=1e-6)
    found = json.loads(output.read_text())
    assert found["loss"] == pytest.approx(losses.mean())
    assert list(found["weights"].values()) == pytest.approx(tracker.weights_.tolist())
    single = ((H - y[:, None]) ** 2 / 2).mean(axis=0)
    assert found["columns"] == pytest.approx(dict(zip(NAMES, single, strict=True)))
    assert found["regret"]["the best column, good"] == pytest.approx(losses.mean() - single[0])
    assert set(found["regret"]) == {
        "the best column, good",
        "the best fixed weights",
        "the best with 2 switches",
    }
    for text in ("weights", "good", "a row against the best fixed weights"):
        assert text in result.stdout
    assert figure.stat().st_size > 1000
    np.testing.assert_allclose(ab.load(saved).weights_, tracker.weights_, rtol=1e-12)


def test_gaps_are_sleepers_and_standard_input_is_a_file(tmp_path, invoke):
    H, y = stream()
    H[:20, 0] = np.nan
    path = written(tmp_path / "table.csv", H, y)
    saved, output = tmp_path / "model", tmp_path / "result.json"
    options = ["--target", "truth", "--rule", "second_order", "--loss", "absolute"]
    result = invoke("-", *options, "--save", saved, "--output", output, input=path.read_text())
    assert result.exit_code == 0, result.output
    plain = MirrorAverager("absolute", schedule="second_order", lipschitz="running").partial_fit(H, y)
    np.testing.assert_array_equal(ab.load(saved).weights_, plain.weights_)
    assert list(json.loads(output.read_text())["regret"]) == ["the best column, good"]


def test_probabilities_are_combined_as_log_odds(tmp_path, invoke):
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 200).astype(float)
    H = np.clip(0.5 + (y[:, None] - 0.5) * [0.6, 0.2, -0.1] + 0.1 * random.normal(size=(200, 3)), 0.01, 0.99)
    H = H.round(4)
    path = written(tmp_path / "table.csv", H, y)
    output = tmp_path / "result.json"
    options = [
        "--target",
        "truth",
        "--loss",
        "logistic",
        "--probabilities",
        "--rule",
        "anytime",
        "--no-regret",
    ]
    result = invoke(path, *options, "--output", output)
    assert result.exit_code == 0, result.output
    plain = MirrorAverager("logistic", lipschitz="running")
    scores = plain.predict_then_fit(np.log(H / (1 - H)), 2 * y - 1)
    found = json.loads(output.read_text())
    assert found["loss"] == pytest.approx(np.log1p(np.exp(-(2 * y - 1) * scores)).mean(), rel=1e-9)
    assert found["regret"] == {}


@pytest.mark.parametrize(
    ("options", "extra", "sentence"),
    [
        (
            ["--target", "price"],
            "",
            "--target names a column 'price' that",
        ),
        (["--target", "truth", "--ignore", "x"], "", "--ignore names a column 'x' that"),
        (["--target", "truth"], "1,2,3,\n", "line 72: the target is missing"),
        (["--target", "truth"], ",,,3\n", "line 72: no column has a forecast"),
        (["--target", "truth"], "1,x,3,4\n", "line 72: column 'fair' is 'x'"),
        (["--target", "truth", "--loss", "softmax"], "", "loss of one score"),
        (["--target", "truth", "--loss", "logistic"], "", "y must be -1 or +1"),
        (["--target", "truth", "--probabilities"], "", "needs --loss logistic"),
        (["--target", "truth", "--rule", "best"], "", "schedule 'best' is not known"),
        (["--target", "truth", "--figure", "w.txt"], "", "names no picture format"),
        (
            ["--target", "truth", "--output", "no/where.json"],
            "",
            "--output: no such folder, create it first: no",
        ),
        (["--target", "truth", "--figure", "no/w.png"], "", "--figure: no such folder, create it first: no"),
        (["--target", "truth", "--save", "no/model"], "", "--save: no such folder, create it first: no"),
        (
            ["--target", "truth", "--format", "vw"],
            "",
            "--format must be one of csv, tsv, parquet, arrow, got",
        ),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, invoke, options, extra, sentence):
    path = written(tmp_path / "table.csv", *stream(), extra)
    result = invoke(path, *options)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout or "line 72" in sentence  # rows before a bad one have been told by then


def test_a_table_without_rows_or_that_is_not_there(tmp_path, invoke):
    path = tmp_path / "table.csv"
    assert "there is no such file" in invoke(path, "--target", "truth").stderr
    path.write_text("a,truth\n")
    assert "has no rows" in invoke(path, "--target", "truth").stderr
    path.write_text("truth\n1\n")
    assert "no column of forecasts" in invoke(path, "--target", "truth").stderr


def test_an_old_result_stays_whole_where_the_new_one_cannot_be_made(tmp_path, invoke, monkeypatch):
    path = written(tmp_path / "table.csv", *stream())
    figure, output = tmp_path / "weights.png", tmp_path / "result.json"
    for file in (figure, output):
        file.write_text("old")

    def fail(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr("anyboost.saving.os.replace", fail)
    for option, file in (("--figure", figure), ("--output", output)):
        result = invoke(path, "--target", "truth", option, file)
        assert "the disk is full" in result.stderr
        assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3
