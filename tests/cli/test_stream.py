"""`anyboost stream`: one pass, honest losses, and files that go on where they stopped."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build
from anyboost.cli.passes.course import Course
from anyboost.cli.passes.learning import Reached
from anyboost.cli.rows import cells, tables
from files.killed import report_of
from reference.files import split


def run(*arguments, text=None):
    return CliRunner().invoke(build(), ["stream", *map(str, arguments)], input=text)


def well(*arguments, text=None):
    done = run(*arguments, text=text)
    assert done.exit_code == 0, done.output
    return done.stdout


def ending(output):
    """The sums under the table."""
    return dict(
        line.split(" = ", 1) for line in output.split("finished run\n")[1].splitlines() if " = " in line
    )


def lines(output):
    """The lines of the table, as lists of words."""
    return [line.split() for line in output.split("\n\nfinished run")[0].splitlines()[2:]]


def sample(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    color = random.choice(["red", "green", "blue"], n)
    y = X @ [1.0, -2.0] + 2.0 * (color == "red") + 0.1 * random.normal(size=n)
    return X, color, y


def rows_of(X, color, y):
    return [
        f"{a!r},{b!r},{c},{t!r}" for (a, b), c, t in zip(X.tolist(), color.tolist(), y.tolist(), strict=True)
    ]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,color,y", *rows_of(*sample())]) + "\n")
    return path


def dicts(X, color):
    return [{"a": a, "b": b, "color": c} for (a, b), c in zip(X.tolist(), color.tolist(), strict=True)]


def test_the_table_shows_progressive_losses(data):
    X, color, y = sample()
    output = well(data, "--target", "y")
    model, losses = ab.OnlineBoostingRegressor(), []
    for x, label in zip(dicts(X, color), y.tolist(), strict=True):
        losses.append(0.5 * (model.predict_one(x) - label) ** 2)
        model.learn_one(x, label)
    found = lines(output)
    assert [int(words[2]) for words in found] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    for words in found:
        count = int(words[2])
        assert float(words[0]) == pytest.approx(np.mean(losses[:count]), abs=1e-6)
        constant = 0.5 * np.var(y[:count])
        assert float(words[7]) == pytest.approx(constant, abs=1e-6)
        assert int(words[6]) == 3
    sums = ending(output)
    assert sums["number of examples"] == "300"
    assert float(sums["average loss"]) == pytest.approx(np.mean(losses), abs=1e-6)
    found = model.regret()
    best = (found.loss - found.best_expert_regret) / 300
    assert float(sums["best expert's loss"]) == pytest.approx(best, abs=1e-6)
    assert sums["leader"] == found.leader


def test_every_format_gives_the_same_losses(data, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, color, y = sample()
    table = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1], "color": color, "y": y}), table)
    tabs = tmp_path / "data.tsv"
    tabs.write_text(data.read_text().replace(",", "\t"))
    lines = [
        f"{t!r} | a:{a!r} b:{b!r} color={c}\n"
        for (a, b), c, t in zip(X.tolist(), color.tolist(), y.tolist(), strict=True)
    ]
    vw = tmp_path / "data.vw"
    vw.write_text("".join(lines))
    expected = well(data, "--target", "y", "--learner", "linear")
    assert well(table, "--target", "y", "--learner", "linear") == expected
    assert well(tabs, "--target", "y", "--learner", "linear") == expected
    assert well(vw, "--learner", "linear") == expected
    assert well(table, "--target", "y") == well(tabs, "--target", "y") == well(data, "--target", "y")
    assert well("-", "--target", "y", "--learner", "linear", text=data.read_text()) == expected
    assert well("-", "--format", "vw", "--learner", "linear", text="".join(lines)) == expected


def test_a_text_target_is_classified(tmp_path):
    X, color, y = sample()
    path = tmp_path / "data.csv"
    names = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    body = [f"{a!r},{b!r},{c},{t}" for (a, b), c, t in zip(X.tolist(), color, names, strict=True)]
    path.write_text("\n".join(["a,b,color,y", *body]) + "\n")
    output = well(path, "--target", "y", "--save", tmp_path / "model", "--predictions", tmp_path / "p.txt")
    assert {words[4] for words in lines(output)} <= {"low", "middle", "high"}
    predictions = (tmp_path / "p.txt").read_text().split()
    assert predictions[0] == "none"
    assert np.mean(np.array(predictions) == names) > 0.7
    assert set(ab.load(tmp_path / "model").classes_) == {"low", "middle", "high"}
    sums = ending(output)
    assert float(sums["average loss"]) < float(sums["best constant's loss"])


def test_two_numbers_are_classes_where_the_loss_says_so(tmp_path):
    path = tmp_path / "data.vw"
    path.write_text("".join(f"{1 if i % 3 else -1} | x:{i % 3}\n" for i in range(64)))
    output = well(path, "--loss", "logistic", "--save", tmp_path / "model")
    assert set(ab.load(tmp_path / "model").classes_.tolist()) == {-1, 1}
    assert float(ending(output)["average loss"]) < np.log(2)
    again = well(path, "--task", "classification")
    assert ending(again).items() <= ending(output).items()


@pytest.mark.parametrize("cut", [1, 100, 299])
def test_stopping_and_going_on_is_not_stopping(data, tmp_path, cut):
    text = data.read_text().splitlines(keepends=True)
    whole, part = tmp_path / "whole", tmp_path / "part"
    expected = well(data, "--target", "y", "--save", whole)
    data.write_text("".join(text[: cut + 1]))
    first = well(data, "--target", "y", "--save", part)
    data.write_text("".join(text))  # the file has grown
    done = run(data, "--target", "y", "--resume", part, "--save", part)
    assert f"going on in {data} after its first {cut} examples" in done.stderr
    assert lines(first) + lines(done.stdout) == lines(expected)
    kept = [name for name in ending(expected) if name != "saved"]
    assert [ending(done.stdout)[name] for name in kept] == [ending(expected)[name] for name in kept]
    assert meaning(part) == meaning(whole)


def meaning(path):
    """All that a file says, but for the fingerprint of a source that was shorter when it was taken."""
    header = split(path.read_bytes())[1]
    header.pop("sha256")
    header["model"]["stream"].pop("source")
    return header, {name: tensor.tobytes() for name, tensor in load_file(path).items()}


def test_another_file_is_learnt_from_its_beginning(data, tmp_path):
    model, other = tmp_path / "model", tmp_path / "other.csv"
    well(data, "--target", "y", "--save", model)
    other.write_text("\n".join(["a,b,color,y", *rows_of(*sample(seed=1))]) + "\n")
    assert ending(well(other, "--target", "y", "--resume", model))["number of examples"] == "600"
    assert ending(well(data, "--target", "y", "--resume", model))["number of examples"] == "300"
    assert ending(well(data, "--target", "y", "--resume", model, "--again"))["number of examples"] == "600"


def test_a_test_learns_nothing(data, tmp_path):
    model = tmp_path / "model"
    well(data, "--target", "y", "--save", model)
    before = model.read_bytes()
    output = well(data, "--target", "y", "--resume", model, "--test", "--predictions", tmp_path / "p.txt")
    assert model.read_bytes() == before
    X, color, y = sample()
    expected = ab.load(model).predict_many(dicts(X, color))
    np.testing.assert_allclose(np.loadtxt(tmp_path / "p.txt"), expected, rtol=1e-9)
    assert float(ending(output)["average loss"]) == pytest.approx(
        0.5 * np.mean((expected - y) ** 2), abs=1e-6
    )


def test_examples_without_a_label_are_answered_in_their_place(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,2\n1,\n1,2\n,\n1,3\n")
    output = well(path, "--target", "y", "--predictions", tmp_path / "p.txt")
    assert ending(output)["number of examples"] == "3"
    predictions = np.loadtxt(tmp_path / "p.txt")
    assert len(predictions) == 5
    assert predictions[0] == 0.0
    assert predictions[1] == predictions[2] == 2.0


def test_a_stream_that_has_no_label_yet_is_saved_and_goes_on(tmp_path):
    first, second, saved = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "m.model"
    first.write_text("a,y\n1,\n2,\n")
    second.write_text("a,y\n" + "1,low\n9,high\n" * 30)
    well(first, "--target", "y", "--task", "classification", "--save", saved)
    output = well(second, "--resume", saved, "--save", saved)
    assert ending(output)["number of examples"] == "60"
    assert ab.load(saved).predict_one({"a": 9.0}) == "high"


def test_weights_ignored_columns_and_codes(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("id,x,w,zip,y\n1,1,2,01,1\n2,2,0,02,5\n3,3,1,01,2\n")
    options = [
        "--target",
        "y",
        "--weight",
        "w",
        "--ignore",
        "id",
        "--text",
        "zip",
        "--save",
        tmp_path / "model",
    ]
    output = well(path, *options)
    assert ending(output)["weighted example sum"] == "3.000000"
    assert ending(output)["weighted label sum"] == "4.000000"
    assert ab.load(tmp_path / "model").features_.names == ["x", "zip=01", "zip=02"]


def test_a_resumed_stream_remembers_its_columns(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model"
    path.write_text("id,x,w,zip,y\n1,1,2,01,1\n2,2,0,02,5\n")
    options = ["--weight", "w", "--ignore", "id", "--text", "zip"]
    well(path, "--target", "y", *options, "--save", model)
    with path.open("a") as file:
        file.write("3,3,1,01,2\n")
    assert ending(well(path, "--resume", model, "--save", model))["weighted example sum"] == "3.000000"
    assert ab.load(model).features_.names == ["x", "zip=01", "zip=02"]
    done = run(path, "--resume", model, "--target", "x")
    assert "--target is 'x', and the model predicts 'y': leave it out" in done.stderr


def test_examples_lost_from_a_pipe_are_counted(data, tmp_path):
    model = tmp_path / "model"
    well("-", "--target", "y", "--save", model, text=data.read_text())
    reached = Reached(str(model))
    reached.open()
    reached.note(345)  # as a run that was killed leaves it
    done = run("-", "--resume", model, text=data.read_text())
    assert (
        "300 examples learnt; 45 more were taken after its last save and lost when the run was killed"
        in done.stderr
    )
    assert "send them again if you have them" in done.stderr
    assert ending(done.stdout)["number of examples"] == "600"


def test_hashing_keeps_memory_fixed(data, tmp_path):
    well(data, "--target", "y", "--hash-bits", 6, "--save", tmp_path / "model")
    model = ab.load(tmp_path / "model")
    assert model.features_.names == []
    assert model.booster_.experts[0].booster.n_features == 64


def test_a_bad_row_is_named_and_what_came_before_is_kept(data, tmp_path):
    text = data.read_text().splitlines()
    text[101] = "1.0,oops,red,2.0"
    data.write_text("\n".join(text) + "\n")
    done = run(data, "--target", "y", "--save", tmp_path / "model")
    assert done.exit_code == 1
    assert "line 102: column 'b' is 'oops', and it held numbers so far" in done.stderr
    assert ending(done.stdout)["saved"].startswith("100 examples")
    text[101] = "1.0,0.5,red,2.0"
    data.write_text("\n".join(text) + "\n")
    rest = well(data, "--target", "y", "--resume", tmp_path / "model")
    assert ending(rest)["number of examples"] == "300"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["data.csv"], "--target is missing: name the column to predict"),
        (["data.csv", "--target", "z"], "--target names a column 'z' that"),
        (["data.csv", "--target", "y", "--weight", "z"], "--weight names a column 'z' that"),
        (["data.csv", "--target", "y", "--weight", "color"], "--weight names the column 'color', which holds text"),
        (["data.csv", "--target", "y", "--weight", "a"], "line 2: the weight must be a number that is not negative"),
        (["data.csv", "--target", "y", "--loss", "sqared"], "loss 'sqared' is not known"),
        (["data.csv", "--target", "y", "--learner", "forest"], "learner 'forest' is not known"),
        (["data.csv", "--target", "y", "--algorithm", "spam"], "algorithm must be 'span' or 'hull'"),
        (["data.csv", "--target", "y", "--refit", "later"], "refit must be 'inline' or 'background', got 'later'"),
        (["data.csv", "--target", "y", "--refit", "inline", "--learner", "tree"], "--refit belongs to the team"),
        (["data.csv", "--resume", "m", "--refit", "inline"], "--refit belongs to the model that --resume names"),
        (["data.csv", "--target", "y", "--task", "ranking"], "--task must be regression or classification"),
        (["data.csv", "--target", "color", "--task", "regression"], "the target 'color' must be a finite number"),
        (["nowhere.csv", "--target", "y"], "nowhere.csv cannot be read: there is no such file"),
        (["data.csv", "--target", "y", "--save", "nowhere/model"], "--save: no such folder, create it first: nowhere"),
        (["data.csv", "--target", "y", "--resume", "nowhere"], "there is no such model file"),
        (["data.csv", "--target", "y", "--resume", "data.csv"], "cannot be loaded: it is not a model file"),
        (["data.csv", "--test"], "--test needs a model: add --resume MODEL"),
        (["data.csv", "--target", "y", "--save", "data.csv"], "--save names data.csv, which this run needs"),
        (["data.csv", "--target", "y", "--predictions", "data.csv"], "--predictions names data.csv, which this run"),
        (["data.csv", "--target", "y", "--save", "m", "--predictions", "m"], "--predictions names m, which this run"),
        (["data.csv", "--target", "y", "--predictions", "."], "--predictions: . is a folder, name a file in it"),
        (["data.csv", "--target", "y", "--test", "--save", "m"], "--save has nothing to save in a --test"),
        (["data.csv", "--resume", "m", "--learners", "5"], "--learners belongs to the model that --resume names"),
        (["data.csv", "--resume", "m", "--hash-bits", "5"], "--hash-bits belongs to the model that --resume names"),
        (["data.csv", "--resume", "m", "--task", "regression"], "--task belongs to the model that --resume names"),
        (["data.csv", "--target", "y", "--format", "xml"], "--format must be one of csv, tsv, parquet, arrow, vw"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(data, monkeypatch, arguments, reason):
    monkeypatch.chdir(data.parent)
    (data.parent / "data.csv").write_text("a,b,color,y\n-1,2,red,1\n")
    done = run(*arguments)
    assert done.exit_code == 1
    assert reason in done.stderr
    assert not done.stdout  # no table of nothing
    assert "Traceback" not in done.output


@pytest.mark.parametrize("learner", [[], ["--learner", "linear"]])
def test_counts_that_begin_with_zeros_are_learnt(tmp_path, learner):
    """Else a stream of claims or clicks ends before its first one."""
    data = tmp_path / "counts.csv"
    data.write_text("a,y\n" + "".join(f"{i % 7},{0 if i < 45 else i % 3}\n" for i in range(70)))
    found = well(data, "--target", "y", "--loss", "poisson", *learner)
    assert ending(found)["number of examples"] == "70"
    assert [line[2] for line in lines(found)][-1] == "64"


@pytest.mark.parametrize(
    "wrong",
    [
        ["--target", "z"],
        ["--target", "y", "--weight", "a"],
        ["--target", "y", "--loss", "poisson"],  # which the model itself refuses, at the first row
        ["--target", "y", "--resume", "nowhere"],
        ["--resume", "model", "--weight", "z"],
        ["--target", "y", "--test"],
    ],
    ids=" ".join,
)
def test_a_refused_run_touches_nothing(data, tmp_path, monkeypatch, wrong):
    """Else a mistyped option costs the predictions, the model or the count of an earlier run."""
    monkeypatch.chdir(tmp_path)
    data.write_text("a,b,color,y\n-1,2,red,1\n")
    well(data, "--target", "y", "--save", "model")
    data.write_text(
        "a,b,color,y\n-1,2,red,1\n-1,2,red,-1\n" if "--resume" in wrong else "a,b,color,y\n-1,2,red,-1\n"
    )
    for name in ("p.txt", "p.txt.part", "p.txt.anyboost-part", "saved", "saved.reached"):
        Path(name).write_text("dear to someone")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    save = [] if "--test" in wrong else ["--save", "saved"]
    done = run(data, *wrong, "--predictions", "p.txt", *save)
    assert done.exit_code == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_predictions_stand_beside_until_the_stream_ends(data, tmp_path, monkeypatch):
    """A reader of the old predictions never meets half of the new ones."""
    file, other = tmp_path / "p.txt", tmp_path / "p.txt.part"
    file.write_text("old")
    other.write_text("of somebody else")
    seen = []
    observe = ab.OnlineBoostingRegressor.observe

    def watched(self, *arguments, **options):
        seen.append(file.read_text())
        return observe(self, *arguments, **options)

    monkeypatch.setattr(ab.OnlineBoostingRegressor, "observe", watched)
    well(data, "--target", "y", "--predictions", file)
    assert set(seen) == {"old"}
    assert len(file.read_text().splitlines()) == 300
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "p.txt", "p.txt.part"]
    assert other.read_text() == "of somebody else"


@pytest.mark.parametrize("cut", [1, 100, 300])
def test_predictions_go_on_where_the_run_was_stopped(data, tmp_path, cut):
    text = data.read_text().splitlines(keepends=True)
    whole, part, model = tmp_path / "whole.txt", tmp_path / "part.txt", tmp_path / "model"
    well(data, "--target", "y", "--predictions", whole)
    data.write_text("".join(text[: cut + 1]))
    well(data, "--target", "y", "--save", model, "--predictions", part)
    data.write_text("".join(text))
    well(data, "--resume", model, "--save", model, "--predictions", part)
    assert part.read_text() == whole.read_text()
    again = run(data, "--resume", model, "--predictions", part)
    assert not part.with_name("part.txt.anyboost-part").exists()
    assert part.read_text() == whole.read_text(), again.output


def test_predictions_that_are_gone_are_said_to_be(data, tmp_path):
    """Lines of another file at their beginning would be taken for predictions of this one."""
    text = data.read_text().splitlines(keepends=True)
    model, file = tmp_path / "model", tmp_path / "p.txt"
    data.write_text("".join(text[:101]))
    well(data, "--target", "y", "--save", model, "--predictions", file)
    data.write_text("".join(text))
    file.write_text("0\n" * 100)
    done = run(data, "--resume", model, "--predictions", file)
    assert f"{file} begins after the first 100 examples: their predictions are not there" in done.stderr
    assert len(file.read_text().splitlines()) == 200
    quiet = run(data, "--resume", model, "--test", "--predictions", file)
    assert "begins after" not in quiet.stderr
    assert len(file.read_text().splitlines()) == 300


def test_predictions_into_a_pipe(data, tmp_path):
    """`--predictions /dev/stdout` and the like: a pipe is written to, not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        well(data, "--target", "y", "--predictions", pipe)
        assert len(reader.communicate(timeout=60)[0].splitlines()) == 300
    assert not pipe.is_file()


def test_predictions_to_standard_output(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    well(data, "--target", "y", "--predictions", "p.txt")
    done = run(data, "--target", "y", "--predictions", "-")
    assert done.stdout == Path("p.txt").read_text()
    assert ending(done.stderr)["number of examples"] == "300"
    assert not Path("-").exists()


def answers_to(arguments, rows, end):
    """A process that is given row after row, each once the one before is answered, and then ended."""
    command = [sys.executable, "-m", "anyboost", "stream", "-", *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        answers = []
        for row in rows:
            process.stdin.write(row)
            process.stdin.flush()
            if not row.startswith("a"):
                answers.append(process.stdout.readline())
        end(process)
        process.communicate(timeout=60)
        return answers, process.returncode


def test_each_prediction_comes_with_its_row(tmp_path):
    """Of `tail -f log.csv | anyboost stream - --predictions -`; and what ends such a run saves it and says so."""
    rows = ["a,y\n", *(f"{row},{2 * row}\n" for row in range(20))]
    options = ["--target", "y", "--learner", "linear", "--predictions", "-"]
    for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        model = tmp_path / f"model {code}"
        answers, ended = answers_to([*options, "--save", model], rows, lambda p, n=number: p.send_signal(n))
        assert len(answers) == 20
        assert ended == code
        assert ab.load(model).regret().rows == 20


def test_a_test_needs_no_target(data, tmp_path):
    """Rows to predict have no target yet, and no weights either."""
    model, blank, file = tmp_path / "model", tmp_path / "blank.csv", tmp_path / "p.txt"
    rows = [line.split(",") for line in data.read_text().splitlines()]
    data.write_text("\n".join(",".join([*row, "w" if i == 0 else "1"]) for i, row in enumerate(rows)) + "\n")
    well(data, "--target", "y", "--weight", "w", "--save", model)
    well(data, "--resume", model, "--test", "--predictions", file)
    expected = file.read_text()
    blank.write_text("\n".join(",".join(row[:3]) for row in rows) + "\n")
    output = well(blank, "--resume", model, "--test", "--predictions", file)
    assert file.read_text() == expected
    assert ending(output)["number of examples"] == "0"
    asked = run(blank, "--resume", model, "--test", "--target", "y")
    assert "--target names a column 'y' that" in asked.stderr
    learning = run(blank, "--resume", model)
    assert "--target names a column 'y' that" in learning.stderr


def test_a_count_outlives_a_killed_process(tmp_path):
    model = tmp_path / "model"
    code = (
        "import os, sys, signal; from anyboost.cli.passes.learning import Reached\n"
        "reached = Reached(sys.argv[1]); reached.open(); reached.note(12345)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, model], check=False)
    assert Reached(str(model)).read() == 12345
    done = run("-", "--target", "y", "--resume", model, text="x,y\n1,1\n")
    assert done.exit_code == 1
    assert "killed before its first save, and 12345 examples were lost" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(2, 130), (15, 143)])
def test_an_interrupt_saves_between_examples(data, tmp_path, monkeypatch, number, code):
    """Ctrl-C or SIGTERM while examples are being learnt: they are finished, counted and saved."""
    observe = ab.OnlineBoostingRegressor.observe
    calls = []

    def interrupted(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 5:
            os.kill(os.getpid(), number)
        return observe(self, *arguments, **options)

    monkeypatch.setattr(ab.OnlineBoostingRegressor, "observe", interrupted)
    done = run(data, "--target", "y", "--save", tmp_path / "model")
    assert done.exit_code == code
    assert "interrupted after 16 examples" in done.stdout
    monkeypatch.undo()
    assert ab.load(tmp_path / "model").regret().rows == 16
    rest = well(data, "--target", "y", "--resume", tmp_path / "model")
    assert ending(rest)["average loss"] == ending(well(data, "--target", "y"))["average loss"]


def test_memory_stays_bounded(tmp_path, monkeypatch):
    """Batches, not the file, are in memory."""
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "1,2\n" * 20_000)
    sizes = []
    turn = cells.CellReader.turn

    def watched(self, names, rows, lines):
        sizes.append(len(rows))
        return turn(self, names, rows, lines)

    calls = []
    observe = ab.OnlineBoostingRegressor.observe

    def counted(self, *arguments, **options):
        calls.append(1)
        return observe(self, *arguments, **options)

    monkeypatch.setattr(cells.CellReader, "turn", watched)
    monkeypatch.setattr(ab.OnlineBoostingRegressor, "observe", counted)
    well(path, "--target", "y", "--every", 10)  # which means nothing without --save
    assert max(sizes) <= tables.ROWS
    assert sum(sizes) == 20_000
    assert len(calls) < 40


def test_a_figure_shows_the_whole_course_also_of_a_resumed_stream(tmp_path, data):
    half = tmp_path / "half.csv"
    half.write_text("\n".join(data.read_text().splitlines()[:151]) + "\n")
    options = ("--target", "y", "--figure", tmp_path / "course.png")
    assert ending(well(data, *options, "--save", tmp_path / "whole"))["figure"] == str(
        tmp_path / "course.png"
    )
    assert (tmp_path / "course.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    well(half, *options, "--save", tmp_path / "part")
    data_bytes = data.read_bytes()
    half.write_bytes(data_bytes)  # the file has grown
    well(half, *options, "--resume", tmp_path / "part", "--save", tmp_path / "part")
    course = ab.load(tmp_path / "whole")._stream["course"]
    assert ab.load(tmp_path / "part")._stream["course"] == course
    rows = [point[0] for point in course["points"]]
    assert rows == list(range(course["every"], 301, course["every"]))
    assert "linear" in course["experts"]
    # Weights of the average: of all experts they are 1.
    np.testing.assert_allclose([sum(point[3:]) for point in course["points"]], 1.0, rtol=1e-9)
    assert course["points"][-1][2] <= ab.load(tmp_path / "whole")._stream["tally"]["loss"] + 1e-9


def test_a_course_has_few_points_and_forgets_no_loss():
    course = Course()
    for rows in range(1, 5001):
        course.note(rows, float(rows), 2.0 * rows, {"a": 1.0})
    assert 128 < len(course.points) <= 257
    rows, recent, mean = course.losses()
    assert recent == mean == [2.0] * len(rows)
    assert rows[-1] > 4900


def kill_and_resume(folder, kills, seed):
    report = report_of(Path(__file__).with_name("stream_killed.py"), folder, kills, seed)
    for number in range(report["runs"]):
        for ending in ("", ".predictions"):
            way = ("inline", "background")[number % 2]
            killed, whole = folder / f"killed-{number}{ending}", folder / f"whole-{way}{ending}"
            assert killed.read_bytes() == whole.read_bytes()
        assert not (folder / f"killed-{number}.predictions.anyboost-part").exists()
        assert not (folder / f"killed-{number}.reached").exists()
    return report


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_killed_stream_resumes_to_the_same_file(tmp_path):
    report = kill_and_resume(tmp_path, 4, seed=0)
    assert 0 < report["most_lost"] <= 16
    assert report["kills"]["refit begun"] >= 2  # with either way of refits
    assert report["kills"]["refit done"] >= 2


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_hundred_kills(tmp_path):
    report = kill_and_resume(tmp_path, 100, seed=1)
    assert min(report["kills"].values()) > 0


def test_help_names_every_option():
    done = CliRunner().invoke(build(), ["stream", "--help"], terminal_width=200)
    for option in ("--target", "--save", "--resume", "--test", "--hash-bits", "--format"):
        assert re.search(option, done.output)
