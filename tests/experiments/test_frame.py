"""A run that was stopped goes on where it was, and ends as one that was not."""

import json
from types import SimpleNamespace

import pytest

from anyboost.experiments import frame


class Stopped(Exception):
    pass


@pytest.fixture
def experiment(monkeypatch):
    """Squares of numbers; `stop_at` is the case at which it breaks off, `measured` what it worked on."""
    from matplotlib.figure import Figure

    made = SimpleNamespace(TITLE="Squares", SOURCE="arithmetic", stop_at=None, measured=[])

    def measure(case, tick):
        if case == made.stop_at:
            raise Stopped
        tick(0.5)
        made.measured.append(case)
        return {"square": case**2, "pair": (case, case)}

    made.cases = lambda quick: {f"case {i}": i for i in range(2 if quick else 4)}
    made.measure = measure
    made.table = lambda results: [f"| {label} | {result['square']} |" for label, result in results.items()]
    made.claims = lambda results: [frame.Claim("squares grow", "reproduced", f"{len(results)} of them")]

    def draw(results):
        figure = Figure()
        figure.subplots().plot([result["square"] for result in results.values()])
        return figure

    made.draw = draw
    monkeypatch.setattr(frame, "named", lambda name: made)
    return made


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_stopped_run_goes_on_and_ends_like_another(experiment, tmp_path):
    whole = frame.run("squares", False, tmp_path / "whole")
    assert whole["results"]["case 3"] == {"square": 9, "pair": [3, 3]}
    experiment.measured.clear()
    experiment.stop_at = 2
    with pytest.raises(Stopped):
        frame.run("squares", False, tmp_path / "again")
    assert set(files(tmp_path / "again")) == {"squares.part"}
    experiment.stop_at = None
    assert frame.run("squares", False, tmp_path / "again") == whole
    assert experiment.measured == [0, 1, 2, 3]
    assert files(tmp_path / "again") == files(tmp_path / "whole")
    assert set(files(tmp_path / "whole")) == {f"squares.{end}" for end in ("json", "md", "png", "svg")}


@pytest.mark.parametrize("spoil", ["quick", "text"])
def test_what_was_kept_of_something_else_is_not_used(experiment, tmp_path, spoil):
    experiment.stop_at = 1
    with pytest.raises(Stopped):
        frame.run("squares", spoil == "quick", tmp_path)
    if spoil == "text":
        (tmp_path / "squares.part").write_text("{")
    experiment.stop_at = None
    frame.run("squares", False, tmp_path)
    assert experiment.measured == [0, 0, 1, 2, 3]


@pytest.mark.usefixtures("experiment")
def test_progress_is_told_and_ends_at_all(tmp_path):
    told = []
    frame.run("squares", True, tmp_path, lambda *news: told.append(news))
    assert told == [
        ("case 0", 0.0, 2),
        ("case 0", 0.5, 2),
        ("case 1", 1.0, 2),
        ("case 1", 1.5, 2),
        ("", 2, 2),
    ]


def test_numbers_that_json_does_not_have_are_refused(experiment, tmp_path):
    experiment.measure = lambda case, tick: float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        frame.run("squares", True, tmp_path)


@pytest.mark.usefixtures("experiment")
def test_the_json_holds_everything(tmp_path):
    record = frame.run("squares", True, tmp_path)
    assert json.loads((tmp_path / "squares.json").read_text()) == record
    assert record["claims"] == [{"says": "squares grow", "verdict": "reproduced", "because": "2 of them"}]
