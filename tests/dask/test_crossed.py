"""Every two choices of a fit together, on seven workers that all hold rows: the bytes of all rows in one place."""

import warnings
from itertools import combinations, pairwise

import pytest

from anyboost.dask import fits
from collective_fits import Layout, answer
from crossed import CHOICES, CURVED, EDGES, ESTIMATORS, ORDER, crossed, fit, fit_estimator

FULL = pytest.mark.full
CROSSED = crossed()
QUICK = list(CROSSED)[::31]
QUICK_ESTIMATORS = ("target statistics of two classes", "exact leaves of expectile")


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
        with LocalCluster(n_workers=7, **options) as cluster, Client(cluster) as client:
            yield client


@pytest.fixture
def seven(cluster, monkeypatch):
    """Where rows lie, on seven workers, who are counted."""
    members, run = set(), fits.Attempt.run
    monkeypatch.setattr(
        fits.Attempt, "run", lambda own, *given: members.add(len(own.workers)) or run(own, *given)
    )
    yield Layout(cluster, ORDER, EDGES)
    assert members == {7}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=FULL) for name in CROSSED]
)
def test_choices_that_meet_give_the_same_bytes(seven, name):
    assert answer(fit(seven, CROSSED[name])) == answer(fit(None, CROSSED[name]))


@pytest.mark.parametrize(
    "name", [name if name in QUICK_ESTIMATORS else pytest.param(name, marks=FULL) for name in ESTIMATORS]
)
def test_estimators_of_many_choices_give_the_same_bytes(seven, name):
    assert answer(fit_estimator(seven, name)) == answer(fit_estimator(None, name))


def test_every_pair_of_choices_meets():
    met = {pair for one in CROSSED.values() for pair in combinations(one.items(), 2)}
    wanted = {
        ((one, a), (other, b))
        for one, other in combinations(CHOICES, 2)
        for a in CHOICES[one]
        for b in CHOICES[other]
    }
    flat = {pair for pair in wanted if pair[1] == ("descent", "curved") and pair[0][1] not in CURVED}
    assert wanted - met == {pair for pair in flat if pair[0][0] == "loss"}


def test_one_of_the_workers_has_rows_and_no_weight():
    for kind in ("whole weights", "float weights"):
        weights = CHOICES["weights"][kind]["sample_weight"][ORDER]
        assert [weights[begin:end].any() for begin, end in pairwise(EDGES)].count(False) == 1
