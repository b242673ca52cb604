"""The race's own arithmetic, and our lane of it; times are never judged here."""

import numpy as np
import pytest

from benchmarks import rounds, speed
from benchmarks.one import measure
from benchmarks.peers import Work, training_loss


@pytest.mark.parametrize("name", speed.QUICK)
def test_our_lane_runs_and_learns(name):
    task = speed.QUICK[name]._replace(rows=2500)
    X, y = speed.data(task)
    found = measure("anyboost", X, y, task.work)
    at_rest = np.zeros((len(y), task.work.classes)) if task.work.classes else np.full(len(y), np.median(y))
    assert found["loss"] < training_loss(at_rest, y, task.work)
    assert found["fit"] > 0
    assert {"bin", "predict", "one_row", "memory"} <= set(found)


def test_ratios_are_their_time_by_ours_turn_by_turn():
    ours = [{"fit": fit, "predict": 2.0, "memory": 1.0, "loss": 0.5} for fit in (1.0, 2.0)]
    theirs = [{"fit": fit, "predict": 1.0, "memory": 2 * fit + 1, "loss": 0.4} for fit in (3.0, 4.0)]
    found = speed.summary(theirs, ours)
    assert found["fit_ratio"] == [2.0, 2.5, 3.0]
    assert found["predict_ratio"][1] == 0.5
    assert found["memory"] == 8.0
    assert "2.50 (2.00 to 3.00)" in speed.table("x", {"them": found})[0]
    assert "not installed" in speed.table("x", {"them": None})[0]


def test_the_page_says_what_ran_and_what_came_out():
    row = {"fit": 1.0, "fit_ratio": [1.0, 2.5, 3.0], "memory": 8.0, "loss": 0.25}
    results = {
        "machine": {"cpu": "a processor", "cores": 2, "python": "3", "versions": {"anyboost": "0"}},
        "command": speed.COMMAND,
        "repeats": 5,
        "tasks": {"stumps": {"them": row}},
        "growth": {"rows": {"small": 1.0, "large": 3.0, "size": 4.0, "time": 3.0}},
        "first_fit": {"warm": 0.5, "cold": 5.0},
    }
    page = speed.page(results)
    for part in ("a processor", "anyboost bench speed", "2.50 (1.00 to 3.00)", "4 times as large", "0.50 s"):
        assert part in page


def test_training_loss_is_the_one_asked_for():
    scores, y = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    assert training_loss(scores, y, Work("absolute", 2, 1)) == 1.5
    assert training_loss(scores, y, Work("squared", 2, 1)) == 1.25
    two = np.array([[0.0, np.log(3.0)]])
    assert training_loss(two, np.array([1]), Work("softmax", 2, 1, classes=2)) == pytest.approx(np.log(4 / 3))


@pytest.mark.parametrize("name", rounds.QUICK)
def test_our_rounds_run_alone(name):
    lap = rounds.QUICK[name]
    X, y = speed.data(lap.task)
    below = 3.0 if lap.task.work.classes else None  # a loss that a few rounds reach
    assert rounds.ours(X, y, lap, below)() > 0


def test_a_line_of_rounds_has_milliseconds_and_ratios():
    row = {"seconds": 0.02, "theirs": 0.05, "ratio": [2.0, 2.5, 3.0], "rounds": 10}
    assert rounds.line_of("x", row) == "| x | 2.00 ms | 5.00 ms | 2.50 (2.00 to 3.00) |"
