"""Whatever is silent, busy or gone ends a fit in bounded time and in a sentence, and leaves nothing behind."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import dask
import numpy as np
import pytest
import zmq
from distributed import Client

import anyboost as ab
from models import model_of
from processes import left_behind, pids, ports

FULL = pytest.mark.full
PARTS = 4
HOW = {"loss": "absolute", "learner": ab.weak.Tree(15)}


def rows(seed, seconds=0.0):
    time.sleep(seconds)
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(500, 4))
    return X, X[:, 0] * X[:, 1] + generator.normal(size=len(X)) / 10


def collections(parts=PARTS, seconds=0.0):
    made = [dask.delayed(rows)(seed, seconds) for seed in range(parts)]
    return [part[0] for part in made], [part[1] for part in made]


def on(client, *workers, again=False):
    """A part on each of some workers (others may make it `again`), which have imported the library.

    The import alone takes some seconds on a busy machine.
    """
    client.run(lambda: __import__("anyboost.dask", fromlist=["_"]).boost)
    found = [], []
    for seed, worker in enumerate(workers):
        where = {"workers": [worker], "allow_other_workers": again, "pure": False}
        for number, own in enumerate(found):
            own.append(client.submit(lambda seed=seed, k=number: rows(seed)[k], **where))
    return found


@contextmanager
def standing_still(client, pid):
    """A worker that stands still once a fit is at work."""
    over = threading.Event()

    def stop():
        while not ports(client) and not over.is_set():
            time.sleep(0.1)
        if not over.wait(0.7):
            os.kill(pid, signal.SIGSTOP)

    stopper = threading.Thread(target=stop, daemon=True)
    stopper.start()
    try:
        yield
    finally:
        over.set()
        stopper.join()
        os.kill(pid, signal.SIGCONT)


def gone(client, seconds=20.0):
    """Whether no seat and no port is left soon."""
    deadline = time.monotonic() + seconds
    while any(left_behind(client).values()) or ports(client):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("place", [0, pytest.param(1, marks=FULL)])
@pytest.mark.parametrize("heard", [True, pytest.param(False, marks=FULL)])
def test_a_worker_that_stands_still_ends_the_fit_with_its_name(processes, place, heard):
    """It is there for Dask, so nobody but us would ever notice."""
    alive = pids(processes)
    name = sorted(alive)[place]
    callbacks = [lambda step, run: None] if heard else []
    X, y = on(processes, *sorted(alive))
    sentence = f"worker {name} has not answered for 3 seconds"
    with standing_still(processes, alive[name]), pytest.raises(ab.dask.Lost, match=sentence):
        ab.dask.boost(processes, X, y, **HOW, rounds=10**5, timeout=3.0, callbacks=callbacks)
    assert gone(processes)


def test_a_worker_alone_that_stands_still_ends_the_fit_with_its_name(processes):
    alive = pids(processes)
    name = sorted(alive)[0]
    X, y = on(processes, name)
    sentence = f"worker {name} has not answered for 2 seconds"
    with standing_still(processes, alive[name]), pytest.raises(ab.dask.Lost, match=sentence):
        ab.dask.boost(processes, X, y, **HOW, rounds=10**5, timeout=2.0)
    assert gone(processes)


def test_an_interrupt_reaches_a_worker_that_is_alone(processes, monkeypatch):
    """It asks nobody, and would train to the end."""
    from anyboost.dask import fits

    began = time.monotonic()

    def interrupt(_):
        if time.monotonic() - began > 2.0:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(fits.Attempt, "_look", interrupt)
    given = on(processes, sorted(processes.nthreads())[0])
    with pytest.raises(KeyboardInterrupt):
        ab.dask.boost(processes, *given, **HOW, rounds=10**5, timeout=60.0)
    assert gone(processes, 10.0)


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=FULL)])
def test_a_worker_with_other_work_ends_the_fit_with_its_name(processes, monkeypatch, tmp_path, alone):
    from anyboost.dask import fits

    name, held, busy, over = sorted(processes.nthreads())[1], fits.hold, [], tmp_path / "over"

    def work():
        while not over.exists():
            time.sleep(0.05)

    def hold(client, *given):
        found = held(client, *given)
        busy.append(client.submit(work, workers=[name], pure=False, priority=10))
        time.sleep(0.3)
        return found

    X, y = on(processes, *([name] if alone else sorted(processes.nthreads())))
    monkeypatch.setattr(fits, "hold", hold)
    sentence = (
        "has not begun for 2 seconds: is it busy" if alone else "has not answered for 2 seconds: is it busy"
    )
    try:
        with pytest.raises(ab.dask.Lost, match=f"worker {name} {sentence}"):
            ab.dask.boost(processes, X, y, **HOW, rounds=5, timeout=2.0)
        assert not busy[0].done()
    finally:
        over.touch()
    busy[0].result()
    assert gone(processes)


def test_loading_may_take_long_where_it_goes_on(client):
    """A time limit is one of silence: a terabyte takes longer than any."""
    run = ab.dask.boost(client, *collections(6, seconds=0.8), **HOW, rounds=2, timeout=1.3)
    assert len(run.steps) == 2
    with pytest.raises(
        ab.dask.Lost, match=r"partitions are not in memory, and nothing has moved for 0.5 seconds"
    ):
        ab.dask.DaskBoostingRegressor(timeout=0.5, client=client).fit(*collections(6, seconds=2.0))


def test_callbacks_that_take_too_long_are_blamed_and_no_worker(client):
    slow = [lambda step, run: time.sleep(7.0)]
    sentence = "callbacks at the client have not answered for 4 seconds, in round 1: have them do less"
    with pytest.raises(ab.dask.Lost, match=sentence):
        ab.dask.boost(client, *collections(), **HOW, rounds=5, timeout=4.0, callbacks=slow)


FIT = """
import anyboost as ab
import dask.array as da
from distributed import Client
client = Client({address!r})
X = da.random.default_rng(0).random((2000, 4), chunks=(500, 4))
ab.dask.boost(client, X, X[:, 0] * X[:, 1], "absolute", rounds=10**6, timeout=60.0, callbacks={callbacks})
"""


@pytest.mark.parametrize(
    "callbacks",
    [
        pytest.param("[]", marks=FULL, id="unheard"),
        pytest.param("[lambda step, run: None]", id="heard"),
    ],
)
def test_a_client_that_is_killed_leaves_no_work_and_no_port(processes, callbacks):
    """Else workers would train for nobody, or keep their ports until they are restarted."""
    code = FIT.format(address=processes.scheduler.address, callbacks=callbacks)
    client = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 60
        while not ports(processes) and client.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        assert ports(processes)
        time.sleep(1.0)
    finally:
        client.kill()
        client.wait()
    assert gone(processes, 10.0)
    assert not any(processes.processing().values())


def test_a_stop_outlives_the_worker_that_was_told_to(processes):
    """Else a fit that early stopping or a user has ended goes on to its last round."""
    alive = pids(processes)

    def stop(step, _):
        if step.round == 5:
            os.kill(alive[sorted(alive)[0]], signal.SIGKILL)
        return step.round == 5

    X, y = on(processes, *sorted(alive) * 2, again=True)
    run = ab.dask.boost(processes, X, y, **HOW, rounds=40, timeout=60.0, callbacks=[stop])
    made = [rows(seed) for seed in range(PARTS)]
    whole = [np.concatenate([part[k] for part in made]) for k in (0, 1)]
    assert model_of(run) == model_of(ab.boost(*whole, **HOW, rounds=5))
    assert gone(processes)


def test_why_a_worker_cannot_listen_is_told_and_the_key_is_not(client, monkeypatch, caplog):
    from anyboost.dask import mesh, workers

    def refuse(_, __):
        raise zmq.ZMQError(98)

    monkeypatch.setattr(workers.Door, "_bind", refuse)
    with caplog.at_level(logging.DEBUG), pytest.raises(ab.dask.Lost) as told:
        ab.dask.boost(client, *collections(), **HOW, rounds=2, timeout=20.0)
    assert "cannot take part, as it cannot listen: " in str(told.value)
    assert "Address already in use" in str(told.value)
    assert "bytes" not in repr(mesh.Keys(b"public", b"secret"))
    assert "secret" not in repr(mesh.Keys(b"public", b"secret"))


def test_a_member_that_cannot_begin_gives_its_port_back(client, monkeypatch):
    """Else each attempt at such a fit would keep a port, threads and a seat until the worker is restarted."""
    from anyboost.dask import workers

    def fail(*_):
        raise OSError("too many open files")

    before = ports(client)  # of three workers in one process each sees those of the others
    monkeypatch.setattr(workers, "Mesh", fail)
    with pytest.raises(OSError, match="too many open files"):
        ab.dask.boost(client, *collections(), **HOW, rounds=2, timeout=20.0)
    deadline = time.monotonic() + 10
    while (any(left_behind(client).values()) or ports(client) != before) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(left_behind(client).values())
    assert ports(client) == before


def test_an_address_of_the_outside_is_listened_for_at_all():
    """Behind address translation the address that others use is none of the machine."""
    from anyboost.dask.mesh import Door, Keys

    door = Door("203.0.113.7", Keys(*zmq.curve_keypair()))
    port = door.address.rpartition(":")[2]
    assert door.address == f"tcp://203.0.113.7:{port}"
    assert door.socket.last_endpoint.decode().endswith(f":{port}")
    door.close()


def test_a_member_knocks_at_more_doors_than_a_context_has_by_itself():
    from anyboost.dask.mesh import Door, Keys

    door = Door("127.0.0.1", Keys(*zmq.curve_keypair()), members=3000)
    assert door.context.get(zmq.MAX_SOCKETS) > 3000
    door.close()


def test_a_client_that_cannot_be_waited_for_is_refused(client):
    X, y = collections()
    for fit in (
        lambda given: ab.dask.boost(given, X, y),
        lambda given: ab.dask.DaskBoostingRegressor(client=given).fit(X, y),
    ):
        with pytest.raises(
            TypeError, match=r"client must be a distributed.Client, .*got str: .*Client\(address\)"
        ):
            fit("tcp://127.0.0.1:8786")

    async def within():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            ab.dask.boost(other, X, y)

    with pytest.raises(TypeError, match="client is asynchronous"):
        asyncio.run(within())


@pytest.mark.parametrize("timeout", [0, -1.0, None])
def test_a_bad_timeout_is_refused_before_any_work(client, timeout):
    with pytest.raises((ValueError, TypeError), match="timeout must be"):
        ab.dask.DaskBoostingRegressor(client=client, timeout=timeout).fit(*collections())
