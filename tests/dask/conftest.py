"""A cluster for the tests of this folder."""

import warnings
from contextlib import closing

import pytest

pytest.importorskip("distributed")

from processes import Processes, at_most

MOST = 240.0  # seconds that a test of kills may take


@pytest.fixture(scope="session")
def client():
    """Three workers, of one thread each, in threads of this process: a process each takes seconds to start."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield client


@pytest.fixture(scope="session")
def cluster():
    with closing(Processes()) as found:
        yield found


@pytest.fixture
def processes(cluster):
    """Two workers in processes of their own, which may be killed; a test that hangs fails."""
    with at_most(MOST):
        yield cluster.ready()
