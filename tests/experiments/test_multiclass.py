"""The experiment measures what it says, chooses without looking at test rows, and decides by its results."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.experiments import frame, methods, multiclass

CASE = {
    "data": "wine",
    "learner": "classes",
    "method": "residual",
    "stumps": 15,
    "scales": (0.3, 3.0),
    "growth": 0,
}


def quietly(_):
    pass


def test_the_quick_form_runs_on_bundled_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    record = frame.run("multiclass", True, tmp_path)
    assert len(record["results"]) == 2 * 2 * 3
    assert len(record["claims"]) == 4
    table = (tmp_path / "multiclass.md").read_text().splitlines()
    assert len(table) == 2 + 12
    assert (tmp_path / "multiclass.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("learner", multiclass.LEARNERS)
@pytest.mark.parametrize("draw", [0, 2])
def test_curves_end_where_a_fit_of_a_draw_does(learner, draw):
    found = multiclass.measure({**CASE, "learner": learner}, quietly)
    data = multiclass.split("wine")
    own = multiclass.training_rows(data, draw)
    descent = ab.descent.Residual(ab.steps.InverseSqrt(found["scale"]))
    run = ab.boost(
        own.X,
        own.y,
        "multiclass_hinge",
        {"vectors": "stump", "classes": "classifier"}[learner],
        descent,
        15,
    )
    for rows, X, y in (("train", own.X, own.y), ("test", data.X_test, data.y_test)):
        scores = run.ensemble.predict(X)
        others = scores + 1.0
        others[np.arange(len(y)), y] = scores[np.arange(len(y)), y]
        loss = np.mean(others.max(axis=1) - scores[np.arange(len(y)), y])
        assert found[f"{rows}_loss"][draw][-1] == pytest.approx(loss, rel=1e-4)
        assert found[f"{rows}_error"][draw][-1] == pytest.approx(
            np.mean(scores.argmax(axis=1) != y), rel=1e-4
        )
    assert found["stumps"] == [1, 3, 6, 10, 15]
    assert found["distinct"][draw][-1] == len(set(methods.cuts(run)))


def test_test_rows_choose_nothing(monkeypatch):
    found = multiclass.measure(CASE, quietly)
    data = multiclass.split("wine")
    spoiled = data._replace(X_test=data.X_test[::-1], y_test=(data.y_test + 1) % 3)
    monkeypatch.setattr(multiclass, "split", lambda name: spoiled)
    again = multiclass.measure(CASE, quietly)
    assert again["test_error"] != found["test_error"]
    for name in ("scale", "tried", "train_loss", "train_error", "distinct"):
        assert again[name] == found[name]


def test_the_scale_is_the_one_with_the_lowest_validation_loss():
    found = multiclass.measure(CASE, quietly)
    assert found["scale"] == min(found["tried"], key=lambda one: one["loss"])["scale"]
    data = multiclass.split("wine")
    inner = multiclass.training_rows(data, 0)
    assert len(inner.y) + len(inner.y_test) <= len(data.y)
    both = np.vstack([inner.X, inner.X_test])
    assert len(np.unique(both, axis=0)) == len(both)  # rows of wine are all different
    assert {tuple(row) for row in both} <= {tuple(row) for row in data.X}


@pytest.mark.parametrize("y", [[0, 1, 1, 1], [0, 1, 2, 2]])
def test_the_best_constant_is_that_of_the_loss(y):
    run = ab.boost(np.zeros((4, 1)), y, "multiclass_hinge", rounds=0)
    assert multiclass.constant_loss(np.array(y)) == pytest.approx(run.start_loss)


def result(data, method, tuned, train, test, last):
    """A case's results: its lowest loss while tuned, training losses, its last test error, its last stumps."""
    return {
        "data": data,
        "learner": "vectors",
        "method": method,
        "tried": [{"scale": 1.0, "train_loss": loss} for loss in tuned],
        "constant_loss": 1.0,
        "stumps": [1, 3, 6, 10],
        "train_loss": [train, train],
        "test_error": [[test - 0.05], [test + 0.05]],
        "last": [last - 1, last + 1],
    }


def verdicts(naive, repeated, residual):
    results = {
        method: result("letter", method, *numbers)
        for method, numbers in (("naive", naive), ("repeated", repeated), ("residual", residual))
    }
    return [claim.verdict for claim in multiclass.claims(results)]


def test_claims_are_decided_by_the_results():
    falling = [0.9, 0.7, 0.5, 0.4]
    as_printed = verdicts(
        naive=([1.1, 0.99], [1.0] * 4, 0.8, 2),
        repeated=([0.4], falling, 0.3, 60),
        residual=([0.4], falling, 0.3, 60),
    )
    assert as_printed == ["reproduced"] * 4
    opposite = verdicts(
        naive=([0.4], falling, 0.2, 60),
        repeated=([0.4], falling, 0.3, 60),
        residual=([0.4], falling, 0.3, 60),
    )
    assert opposite == ["not reproduced"] * 4
    ahead = verdicts(
        naive=([0.99], [1.0] * 4, 0.8, 2),
        repeated=([0.4], falling, 0.9, 60),
        residual=([0.3], [0.9, 0.3, 0.2, 0.1], 0.3, 60),
    )
    assert ahead == ["reproduced", "reproduced", "partly", "partly"]
