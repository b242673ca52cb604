"""The experiment's quick form runs without data; its figures follow from the losses."""

import numpy as np
import pytest

from anyboost.experiments import frame, planning


def test_the_quick_form_runs(tmp_path):
    pytest.importorskip("matplotlib")
    record = frame.run("planning", True, tmp_path)
    assert set(record["results"]) == set(planning.cases(True))
    assert len(record["claims"]) == 3
    for name, case in planning.cases(True).items():
        found = record["results"][name]
        assert found["learners"][-1] == case["learners"]  # all descents at equal numbers of nets
        tried = [np.inf if loss is None else loss for loss in found["valid_losses_by_rate"]]
        assert found["rate"] == case["rates"][int(np.argmin(tried))]
        assert found["best_round"] == int(np.argmin(found["valid"]))
        assert len(found["test"]) == len(found["train"]) == len(found["valid"]) == len(found["learners"])
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


def results(**ends):
    """Two folds a descent that end at these test losses; training loss falls to 1 and stays or goes on."""
    found = {}
    for name in planning.METHODS:
        for fold, end in enumerate(ends.get(name.split(",")[0], (10.0, 10.0))):
            train = [4.0, 2.0, 1.0, 1.0, 1.0] if ends.get("stalls") else [4.0, 3.0, 2.0, 1.5, 1.0]
            found[f"fold {fold}, {name}"] = {
                "learners": [0, 1, 2, 3, 4],
                "test": [20.0, 15.0, 12.0, 11.0, end],
                "train": train,
            }
    return found


@pytest.mark.parametrize(
    ("ends", "verdicts"),
    [
        ({"repeated": (8.0, 9.0), "residual": (8.0, 9.0), "stalls": True}, ["reproduced"] * 3),
        ({"repeated": (8.0, 10.5), "residual": (11.0, 12.0)}, ["partly", "not reproduced", "not reproduced"]),
        ({"repeated": (9.9, 9.9), "residual": (10.0, 10.0)}, ["partly", "not reproduced", "not reproduced"]),
    ],
)
def test_claims_follow_the_losses(ends, verdicts):
    assert [claim.verdict for claim in planning.claims(results(**ends))] == verdicts
