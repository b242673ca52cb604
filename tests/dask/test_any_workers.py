"""Every option of a fit on one worker, two, three and seven: the bytes of rows in one place, however they lie."""

import warnings
from functools import cache

import numpy as np
import pytest

from collective_fits import FITS, ROWS, Layout, answer

SHUFFLED = np.random.default_rng(7).permutation(ROWS)
LAYOUTS = {
    "1 worker": (1, None),
    "2 workers": (2, None),
    "7 workers, 5 parts": (7, None),
    "7 workers, all with rows, shuffled": (7, (0, 20, 90, 150, 151, 260, 330, ROWS)),
    "3 workers, one without rows, shuffled": (3, (0, 0, 130, ROWS)),
    "7 workers, three without rows, shuffled": (7, (0, 1, 1, 90, 90, 90, 250, ROWS)),
}


@pytest.fixture(scope="module", params=LAYOUTS)
def some(request):
    from distributed import Client, LocalCluster

    workers, edges = LAYOUTS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
        with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
            yield client if edges is None else Layout(client, SHUFFLED, edges)


@cache
def whole(name):
    return answer(FITS[name](None))


@pytest.mark.full
@pytest.mark.parametrize("name", FITS)
def test_any_number_of_workers_gives_the_same_bytes(some, name):
    assert answer(FITS[name](some)) == whole(name)


QUICK = ("huber", "pointwise", "multiclass hinge", "ranking", "categories", "a classifier")


@pytest.mark.parametrize("name", QUICK)
def test_shuffled_rows_and_a_worker_without_any_give_the_same_bytes(client, name):
    layout = Layout(client, SHUFFLED, LAYOUTS["3 workers, one without rows, shuffled"][1])
    assert answer(FITS[name](layout)) == whole(name)
