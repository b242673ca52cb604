"""Every option of a fit on one worker, two and seven, of which some hold no rows: the bytes of rows in one place."""

import warnings
from functools import cache

import pytest

from collective_fits import FITS, answer


@pytest.fixture(scope="module", params=[1, 2, 7])
def some(request):
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
        with LocalCluster(n_workers=request.param, **options) as cluster, Client(cluster) as client:
            yield client


@cache
def whole(name):
    return answer(FITS[name](None))


@pytest.mark.full
@pytest.mark.parametrize("name", FITS)
def test_any_number_of_workers_gives_the_same_bytes(some, name):
    assert answer(FITS[name](some)) == whole(name)
