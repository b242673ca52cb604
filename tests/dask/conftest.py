"""A cluster for the tests of this folder."""

import warnings

import pytest

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client():
    """Three workers, of one thread each, in threads of this process: a process each takes seconds to start."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield client
