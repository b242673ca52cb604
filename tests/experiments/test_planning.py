"""The experiment's quick form runs without data; its figures follow from the losses."""

import numpy as np
import pytest

from anyboost.experiments import frame, planning


@pytest.mark.full
def test_the_quick_form_runs(tmp_path):
    pytest.importorskip("matplotlib")
    record = frame.run("planning", True, tmp_path)
    assert set(record["results"]) == set(planning.cases(True))
    assert len(record["claims"]) == 3
    for name, case in planning.cases(True).items():
        found = record["results"][name]
        assert found["learners"][-1] == case["learners"]  # all descents at equal numbers of nets
        tried = {one["rate"]: np.inf if one["valid"] is None else one["valid"] for one in found["tried"]}
        assert list(tried) == case["rates"]
        assert found["rate"] == min(tried, key=tried.get)
        (run,) = found["runs"]
        assert run["best_round"] == int(np.argmin(run["valid"]))
        assert len(run["test"]) == len(run["train"]) == len(run["valid"]) == len(found["learners"])
    assert (tmp_path / "planning.svg").stat().st_size > 1000


def test_repeated_projection_gets_no_more_learners_than_the_others():
    assert [planning.rounds_for("repeated", count) for count in (1, 2, 3, 10, 119, 120)] == [
        1,
        1,
        2,
        4,
        14,
        15,
    ]
    assert planning.rounds_for("residual", 120) == 120


def results(stalls=False, **ends):
    """Two folds a descent with these test losses at the round chosen and in the end."""
    found = {}
    for name in planning.METHODS:
        for fold, (best, end) in enumerate(ends.get(name.split(",")[0], [(9.0, 10.0)] * 2)):
            found[f"fold {fold}, {name}"] = {
                "learners": [0, 1, 2, 3, 4],
                "runs": [
                    {
                        "test": [20.0, 15.0, 12.0, best + away, end + away],
                        "train": [4.0, 2.0, 1.0, 1.0, 1.0] if stalls else [4.0, 3.0, 2.0, 1.5, 1.0],
                        "best_round": 3,
                    }
                    for away in (-0.5, 0.5)  # seeds
                ],
            }
    return found


@pytest.mark.parametrize(
    ("given", "verdicts"),
    [
        (
            {"repeated": [(8.0, 9.0)] * 2, "residual": [(7.0, 10.5), (9.5, 9.0)], "stalls": True},
            ["reproduced"] * 3,
        ),
        ({"repeated": [(8.0, 11.0)] * 2, "residual": [(9.0, 10.0)] * 2}, ["partly", *["not reproduced"] * 2]),
        ({"repeated": [(8.9, 9.9)] * 2, "residual": [(9.5, 12.0)] * 2}, ["not reproduced"] * 3),
    ],
)
def test_claims_follow_the_losses(given, verdicts):
    said = planning.claims(results(**given))
    assert [claim.verdict for claim in said] == verdicts
    assert "With 4 nets" in said[0].because
    assert "against 10.00" in said[0].because
