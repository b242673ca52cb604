"""Workers that keep their address when they are started anew: another worker has it then, and the fit goes on."""

import os
import signal
import socket
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial

import dask
import numpy as np
import pytest
from distributed import Client, Nanny, Scheduler, SpecCluster, Worker
from distributed.diagnostics.plugin import WorkerPlugin

import anyboost as ab
from collective_fits import dealt
from models import model_of
from processes import at_most, left_behind, pids

FULL = pytest.mark.full
PARTS = 4
HOW = {"learner": "tree:8", "rounds": 8}


def rows(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(300, 4))
    return X, X[:, 0] * X[:, 1] + generator.normal(size=len(X)) / 10


def on_both(client):
    """Rows and targets in parts dealt to the two workers."""
    return tuple(dealt(client, [partial(_one_of, seed, k) for seed in range(PARTS)]) for k in (0, 1))


def _one_of(seed, number):
    return rows(seed)[number]


def whole(loss, **how):
    made = [rows(seed) for seed in range(PARTS)]
    return ab.boost(*(np.concatenate([part[k] for part in made]) for k in (0, 1)), loss, **HOW | how)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    found = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return found


@contextmanager
def cluster_of(kind, **options):
    """Two workers at ports of their own choice."""
    key = "worker_port" if kind is Nanny else "port"
    specs = {
        number: {"cls": kind, "options": {"nthreads": 1, "host": "127.0.0.1", key: port, **options}}
        for number, port in enumerate(free_ports(2))
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "port": 0, "host": "127.0.0.1"}}
    with dask.config.set({"distributed.scheduler.allowed-failures": 1000}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with SpecCluster(workers=specs, scheduler=scheduler) as cluster, Client(cluster) as client:
            client.wait_for_workers(2)
            yield cluster, client


def test_a_successor_at_the_same_address_is_another_worker():
    """It is there before anybody looks, and knows of nothing: the one that had its address is lost all the same."""
    replaced = []

    def replace(step, _):
        if step.round != 3 or replaced:
            return

        async def at_once():
            old = cluster.workers[1]
            await old.close(executor_wait=False, nanny=False)
            replaced.append(
                await Worker(cluster.scheduler_address, nthreads=1, host="127.0.0.1", port=old.port)
            )

        cluster.sync(at_once)

    with at_most(120), cluster_of(Worker) as (cluster, client):
        before = sorted(client.nthreads())
        run = ab.dask.boost(client, *on_both(client), "absolute", **HOW, timeout=30.0, callbacks=[replace])
        assert len(replaced) == 1
        assert sorted(client.nthreads()) == before
        assert model_of(run) == model_of(whole("absolute"))
        assert not any(left_behind(client).values())
        cluster.sync(replaced[0].close)


class Slow(WorkerPlugin):
    """Workers that take long over each round, once they are told to."""

    name = "slow"

    def __init__(self, file, seconds):
        self.file, self.seconds = file, seconds

    def setup(self, worker):
        from anyboost.trees.journal import Journal

        remember = Journal.remember

        def slowly(journal, grown):
            remember(journal, grown)
            if self.file.exists():
                time.sleep(self.seconds)

        Journal.remember = slowly


@FULL
def test_a_worker_killed_while_the_others_are_busy_may_keep_its_address(tmp_path):
    """Its successor is back before any other worker comes to ask for anything."""
    seconds, busy, killed = 8.0, tmp_path / "busy", []

    def kill(step, _):
        if step.round == 3 and not killed:
            killed.append(pids(client))
            busy.touch()
            threading.Timer(2.0, os.kill, (killed[0][sorted(killed[0])[1]], signal.SIGKILL)).start()
            threading.Timer(seconds, busy.unlink).start()

    with at_most(120), cluster_of(Nanny, port=0) as (_, client):
        client.register_plugin(Slow(busy, seconds))
        run = ab.dask.boost(client, *on_both(client), "absolute", **HOW, timeout=60.0, callbacks=[kill])
        assert sorted(pids(client)) == sorted(killed[0])
        assert pids(client) != killed[0]
    assert model_of(run) == model_of(whole("absolute"))
