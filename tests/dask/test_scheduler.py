"""A scheduler that is gone, or stands still, ends a fit in bounded time and a sentence, and the work of its workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import dask
import numpy as np
import pytest
from distributed import Client, Worker

import anyboost as ab
from anyboost.dask import workers
from processes import at_most

FULL = pytest.mark.full
ENDLESS = {"loss": "absolute", "learner": "stump", "rounds": 10**6}


def rows(seed, seconds=0.0):
    time.sleep(seconds)
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(300, 4))
    return X, X[:, 0] + generator.normal(size=len(X)) / 10


def collections(seconds=0.0):
    made = [dask.delayed(rows)(seed, seconds) for seed in range(4)]
    return [part[0] for part in made], [part[1] for part in made]


@contextmanager
def scheduled():
    """A scheduler in a process of its own, which may be stopped, and two workers in this one."""
    file = "import sys; from distributed.cli.dask_scheduler import main; sys.exit(main(sys.argv[1:]))"
    given = ["--host", "tcp://127.0.0.1:0", "--no-dashboard", "--no-show"]
    known = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    scheduler = subprocess.Popen(
        [sys.executable, "-c", file, *given], stderr=subprocess.PIPE, text=True, env=known
    )
    lines = iter(scheduler.stderr.readline, "")
    address = next(line.split()[-1] for line in lines if "Scheduler at:" in line)
    reader = threading.Thread(target=scheduler.stderr.read, daemon=True)
    reader.start()
    client, own = Client(address), []

    async def start():
        for _ in range(2):
            own.append(await Worker(address, nthreads=1, host="127.0.0.1"))

    async def end():
        for worker in own:
            with suppress(Exception):
                await worker.close(timeout=2, executor_wait=False, nanny=False)

    try:
        client.sync(start)
        client.wait_for_workers(2)
        yield client, scheduler.pid
    finally:
        scheduler.kill()
        scheduler.wait()
        reader.join()
        scheduler.stderr.close()
        client.sync(end)
        client.close(timeout=1)


def work_ends(seconds):
    """Whether all members leave their seats soon."""
    deadline = time.monotonic() + seconds
    while workers._seats and time.monotonic() < deadline:
        time.sleep(0.1)
    return not workers._seats


@pytest.mark.parametrize("moment", ["at work", pytest.param("loading", marks=FULL)])
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (signal.SIGSTOP, r"the scheduler tcp://127.0.0.1:\d+ has not answered for 4 seconds"),
        (signal.SIGKILL, r"the connection to the scheduler tcp://127.0.0.1:\d+ is lost"),
    ],
    ids=["stopped", "killed"],
)
def test_a_scheduler_that_is_gone_ends_the_fit_and_the_work(how, sentence, moment):
    """Else the client waits for ever, and workers train for nobody."""
    with at_most(100), scheduled() as (client, scheduler):
        ab.dask.boost(client, *collections(), **ENDLESS | {"rounds": 1}, timeout=60.0)
        given = collections(seconds=3.0 if moment == "loading" else 0.0)
        threading.Timer(2.0, os.kill, (scheduler, how)).start()
        with pytest.raises(ab.dask.Lost, match=sentence):
            ab.dask.boost(client, *given, **ENDLESS, timeout=4.0)
        assert work_ends(20.0)
