"""`anyboost reproduce` tells what came out, goes on after a stop, and never spoils finished results."""

import io
import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from anyboost import cli
from anyboost.cli.shared.console import showing
from anyboost.experiments import frame


@pytest.fixture
def experiments(monkeypatch):
    """Two small experiments, `first` and `second`; `stop` and `lack` name a case that breaks off or has no data."""
    from matplotlib.figure import Figure

    state = SimpleNamespace(measured=[], stop=None, lack=None)

    def make(name):
        def measure(case, tick):
            if case == state.stop:
                raise KeyboardInterrupt
            if case == state.lack:
                raise FileNotFoundError("data set 'letter' not found")
            tick(0.5)
            state.measured.append(case)
            return len(state.measured)

        def draw(results):
            figure = Figure()
            figure.subplots().plot(list(results.values()))
            return figure

        return SimpleNamespace(
            TITLE=f"Title of {name}",
            SOURCE="a <paper>",
            SHOWS="a line",
            cases=lambda quick: {f"{name} {i}": f"{name} {i}" for i in range(2 if quick else 3)},
            measure=measure,
            table=lambda results: [
                "| case | value |",
                "|---|---|",
                *(f"| {k} | {v} |" for k, v in results.items()),
            ],
            claims=lambda results: [frame.Claim("1 < 2", "partly", f"{len(results)} cases")],
            draw=draw,
        )

    made = {name: make(name) for name in ("first", "second")}
    monkeypatch.setattr(frame, "NAMES", tuple(made))
    monkeypatch.setattr(frame, "named", made.__getitem__)
    return state


@pytest.fixture
def reproduce(tmp_path):
    """Runs the command on the folder `out`."""

    def call(*words):
        return CliRunner().invoke(cli.build(), ["reproduce", *words, "-o", str(tmp_path / "out")])

    return call


def test_a_terminal_shows_a_bar_that_begins_where_a_stopped_run_had_been():
    from rich.console import Console

    console = Console(force_terminal=True, width=100, file=io.StringIO())
    with showing(console) as show:
        show("case [3]", 2.0, 4)
        show("case [3]", 2.5, 4)
    said = console.file.getvalue()
    assert "case [3]" in said
    assert "2/4" in said
    assert "left" in said


@pytest.mark.usefixtures("experiments")
def test_without_a_name_it_lists_what_there_is():
    result = CliRunner().invoke(cli.build(), ["reproduce"])
    assert result.exit_code == 0
    assert "Title of first" in result.output
    assert "--all" in result.output


@pytest.mark.usefixtures("experiments")
def test_table_claims_and_plain_progress(reproduce):
    result = reproduce("first")
    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if line.startswith(("1 of", "2 of", "3 of"))] == [
        f"{i + 1} of 3: first {i}" for i in range(3)
    ]
    assert "| first 2 | 3 |" in result.output
    assert "partly: 1 < 2\n    3 cases" in result.output


def test_stopped_it_says_how_to_go_on_and_does(experiments, reproduce, tmp_path):
    experiments.stop = "first 1"
    result = reproduce("first")
    assert result.exit_code == 130
    assert f"go on with: anyboost reproduce first --output {tmp_path / 'out'}" in result.output
    assert "Traceback" not in result.output
    experiments.stop = None
    result = reproduce("first")
    assert experiments.measured == ["first 0", "first 1", "first 2"]
    assert "2 of 3: first 1" in result.output
    assert "1 of 3" not in result.output


def test_finished_results_are_used_again_unless_fresh(experiments, reproduce):
    reproduce("first")
    assert "--fresh" in reproduce("first").output
    assert len(experiments.measured) == 3
    reproduce("first", "--fresh")
    assert len(experiments.measured) == 6


@pytest.mark.parametrize("change", [{"version": "0.0.1"}, {"results": {"another": 1}}])
def test_results_of_something_else_are_not_used(experiments, reproduce, tmp_path, change):
    reproduce("first")
    path = tmp_path / "out" / "first.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    reproduce("first")
    assert len(experiments.measured) == 6


def test_a_quick_run_does_not_replace_a_full_one(experiments, reproduce):
    reproduce("first")
    result = reproduce("first", "--quick")
    assert result.exit_code == 2
    assert "holds a full run" in result.output
    assert len(experiments.measured) == 3


@pytest.mark.usefixtures("experiments")
@pytest.mark.parametrize(
    ("words", "reason"), [(["third"], "not an experiment"), (["first", "--all"], "not both")]
)
def test_a_wrong_name_is_refused(reproduce, words, reason):
    result = reproduce(*words)
    assert result.exit_code == 2
    assert reason in result.output


@pytest.mark.usefixtures("experiments")
@pytest.mark.parametrize("below", [(), ("-o", "sub")])
def test_a_file_is_no_folder(reproduce, tmp_path, below):
    (tmp_path / "out").write_text("")
    given = [str(tmp_path / "out" / word) if word == "sub" else word for word in below]
    words = reproduce("first", *given).output.replace("│", " ").split()  # whatever the width of the box
    assert "is a file" in " ".join(words)


def test_a_missing_data_set_is_one_sentence(experiments, reproduce):
    experiments.lack = "first 0"
    result = reproduce("first")
    assert result.exit_code == 1
    assert "data set 'letter' not found" in result.output


@pytest.fixture
def lacking(experiments, monkeypatch, tmp_path):
    """The cases of `first` need sets of their own, none of which is to be had."""
    monkeypatch.setenv("ANYBOOST_DATA", str(tmp_path))
    frame.named("first").needs = lambda case: f"set_{case[-1]}"
    return experiments


def test_all_missing_data_sets_are_named_before_anything_is_done(lacking, reproduce, tmp_path):
    """Not one after the other, each after the hours that the ones before it took."""
    result = reproduce("first")
    assert result.exit_code == 1
    assert (
        "data sets 'set_0', 'set_1', 'set_2' not found: ANYBOOST_DATA has no set_0.npz, set_1.npz"
        in result.stderr
    )
    assert result.stderr.count("\n") == 1
    assert not result.stdout
    assert not lacking.measured
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("lacking")
def test_data_sets_of_cases_that_are_done_are_not_asked_for(reproduce, tmp_path):
    for case in "01":
        (tmp_path / f"set_{case}.npz").write_bytes(b"")
    assert "data set 'set_2' not found" in reproduce("first").stderr
    (tmp_path / "set_2.npz").write_bytes(b"")
    assert reproduce("first").exit_code == 0
    for path in tmp_path.glob("*.npz"):
        path.unlink()
    assert reproduce("first").exit_code == 0  # of finished results
    kept = (tmp_path / "out" / "first.json").read_bytes()
    assert "not found" in reproduce("first", "--fresh").stderr
    assert (tmp_path / "out" / "first.json").read_bytes() == kept


@pytest.mark.usefixtures("lacking")
def test_of_all_experiments_those_with_data_are_run(reproduce, tmp_path):
    result = reproduce("--all")
    assert result.exit_code == 1
    assert "data sets 'set_0', 'set_1', 'set_2' not found" in result.stderr
    assert "Title of second" in (tmp_path / "out" / "reproduced.html").read_text()


def test_all_makes_a_page_and_tells_what_is_missing(experiments, reproduce, tmp_path):
    experiments.lack = "first 0"
    result = reproduce("--all")
    assert result.exit_code == 1
    page = (tmp_path / "out" / "reproduced.html").read_text()
    assert "Not run: data set &#39;letter&#39; not found" in page
    assert "Title of second" in page
    experiments.lack = None
    result = reproduce("--all")
    assert result.exit_code == 0, result.output
    assert "Not run" not in (tmp_path / "out" / "reproduced.html").read_text()
    assert experiments.measured == [*(f"second {i}" for i in range(3)), *(f"first {i}" for i in range(3))]


def test_fresh_all_can_be_stopped_and_gone_on_with(experiments, reproduce):
    reproduce("--all")
    experiments.measured.clear()
    experiments.stop = "second 1"
    result = reproduce("--all", "--fresh")
    assert "go on with: anyboost reproduce --all --output" in result.output
    assert "--fresh" not in result.output.partition("go on with")[2]
    experiments.stop = None
    reproduce("--all")
    assert experiments.measured == [f"{name} {i}" for name in ("first", "second") for i in range(3)]


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.usefixtures("experiments")
def test_verdicts_of_a_quick_run_are_not_meant(reproduce, quick):
    said = reproduce("first", *(["--quick"] if quick else [])).output
    assert ("means nothing" in said) == quick
