"""Shrinking: bounds are the printed ones, verdicts follow the numbers, the quick form needs no data."""

import numpy as np
import pytest

from anyboost.experiments import frame, shrinking


def test_the_quick_form_needs_no_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    record = frame.run("shrinking", True, tmp_path)
    assert record["claims"][2]["verdict"] == "reproduced"  # the bounds hold
    for found in record["results"].values():
        for method in shrinking.METHODS:
            assert found[method]["excess"][-1] > 0
            assert found[method]["excess"][-1] < found[method]["bound"][-1]


@pytest.mark.parametrize("norm", [0.5, 4.0])
def test_both_bounds_are_the_printed_ones(norm):
    eta, beta, first = np.array([0.5, 0.2, 0.3]), 0.7, 2.0
    s = 1 + np.cumsum(eta)
    ten = (1 + norm) / (s[-1] + norm) * first + sum((s + norm) / (s[-1] + norm) * beta / 2 * eta**2)
    assert shrinking.upper_bound(False, first, eta, beta, norm)[-1] == pytest.approx(ten)
    c = max(norm, 1.0)
    eleven = np.exp(-(s[-1] - 1) / c) * first + sum(np.exp(-(s[-1] - s) / c) * beta / 2 * eta**2 * (s**2 + 1))
    assert shrinking.upper_bound(True, first, eta, beta, norm)[-1] == pytest.approx(eleven)


def test_the_sum_at_which_a_level_is_reached():
    excess, eta = np.array([1.0, 0.5, 0.05, 0.2]), np.array([0.1, 0.2, 0.3])
    assert shrinking.first_sum(excess, 0.1, eta) == pytest.approx(0.3)
    assert shrinking.first_sum(excess, 0.01, eta) is None


def invented(zhang_yu, c3, sums, bounds=(1.0, 2.0)):
    """A run with these excesses, sums of steps at 10 and 1 % for each, and bounds."""
    made = {"shrank": zhang_yu != c3, "norm": 5.0}
    for method, end, reached, bound in zip(shrinking.METHODS, (zhang_yu, c3), sums, bounds, strict=True):
        made[method] = {"end": end, "reached": [*reached, None], "holds": True, "bound": [3.0, bound]}
    return made


@pytest.mark.parametrize(
    ("found", "verdicts"),
    [
        (invented(1.0, 0.01, ([1, 10], [1, 2]), (2.0, 1.0)), ["reproduced"] * 4),
        (invented(1.0, 0.7, ([1, 2], [1, 2])), ["partly", "not reproduced", "reproduced", "not reproduced"]),
        (
            invented(1.0, 1.0, ([1, 2], [1, 2])),
            ["not reproduced", "not reproduced", "reproduced", "not reproduced"],
        ),
        (
            invented(0.5, 1.0, ([1, 10], [1, 9])),
            ["not reproduced", "not reproduced", "reproduced", "not reproduced"],
        ),
    ],
)
def test_claims_follow_the_numbers(found, verdicts):
    assert [claim.verdict for claim in shrinking.claims({"any, 1/t": found})] == verdicts
