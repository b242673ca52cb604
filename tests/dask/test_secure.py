"""A cluster whose own connections are encrypted and authenticated is fitted on like any other."""

import shutil
import subprocess

import pytest
from distributed import Client, LocalCluster
from distributed.security import Security

import anyboost as ab
import fingerprints
from models import model_of
from spread import arrays

OPENSSL = shutil.which("openssl")


@pytest.fixture
def security(tmp_path):
    """One certificate for all, signed by itself."""
    own, key = str(tmp_path / "own.pem"), str(tmp_path / "key.pem")
    made = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cluster", "-days", "2"]
    subprocess.run([*made, "-out", own, "-keyout", key], check=True, capture_output=True)
    parts = ("client", "scheduler", "worker")
    given = {f"tls_{part}_{kind}": file for part in parts for kind, file in (("cert", own), ("key", key))}
    return Security(tls_ca_file=own, require_encryption=True, **given)


@pytest.mark.skipif(OPENSSL is None, reason="makes a certificate by openssl")
def test_a_cluster_with_tls_gives_the_same_model(security):
    X, y, _ = fingerprints.data("squared")
    how = ("absolute", ab.weak.Tree(8))
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tls://",
            security=security,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, security=security) as client,
    ):
        assert all(worker.startswith("tls://") for worker in client.nthreads())
        run = ab.dask.boost(client, *arrays(X, y), *how, rounds=5, timeout=60.0)
    assert model_of(run) == model_of(ab.boost(X, y, *how, rounds=5))
