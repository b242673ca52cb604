"""Rates: the quick form runs without data, the counterexamples are there, and a violated bound would be told."""

import copy

import pytest

from anyboost.experiments import frame, rates


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return frame.run("rates", True, tmp_path_factory.mktemp("rates"))


def test_every_theorem_has_its_verdict(record):
    assert [claim["verdict"] for claim in record["claims"]] == [
        "reproduced",
        "reproduced",
        "partly",
        "reproduced",
        "partly",
        "reproduced",
        "reproduced",
    ]


def test_the_counterexamples_are_those_of_the_page_of_theorems(record):
    five = record["results"]["Theorem 5, one row"]
    at = five["rounds"].index(4)
    assert five["gap"][at] == pytest.approx(2.752, abs=1e-3)
    assert five["bounds"]["printed"][at] == pytest.approx(1.5, abs=1e-3)
    assert rates.worst(five)[0] == 4
    assert five["least"]["printed"] < 0.6 < 1 < five["least"]["safe"]
    assert record["results"]["Theorem 7, one row"]["least"]["printed"] < 0.7


def test_squared_loss_obeys_theorem_3_with_equality(record):
    assert record["results"]["Theorem 3, squared, random 0"]["least"]["sharp"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("label", "form", "place"),
    [
        ("Theorem 3, squared, random 0", "printed", 0),
        ("Theorem 4, squared + absolute, random 0", "printed", 1),
        ("Theorem 6, squared + absolute, random 0", "printed", 3),
        ("Theorem 7, absolute, random 0", "safe", 4),
        ("Theorem 7, absolute, random 0", "computable", 5),
    ],
)
def test_a_violated_bound_is_told(record, label, form, place):
    results = copy.deepcopy(record["results"])
    results[label]["least"][form] = 0.99
    claim = rates.claims(results)[place]
    assert claim.verdict == "not reproduced"
    assert "failed" in claim.because


def test_a_floor_above_the_optimum_is_told(record):
    results = copy.deepcopy(record["results"])
    results["floor, absolute"]["Hull"]["under"][3] = -0.01
    assert rates.claims(results)[-1].verdict == "not reproduced"


def test_slopes_are_those_of_power_laws():
    import numpy as np

    T = np.arange(1, 501)
    assert rates.slope(T, 3.0 / T**0.5) == pytest.approx(-0.5)


def test_progress_reaches_the_end_of_a_case():
    told = []
    rates.measure(rates.cases(True)["floor, absolute"], told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
