"""Workers in processes of their own, which may be killed, and what is left of a fit in them."""

import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress

import dask
import psutil


class Processes:
    """Two workers in processes of their own, which a nanny starts again when they die."""

    def __init__(self):
        self.stack, self.client = ExitStack(), None

    def ready(self):
        """A client of two workers: of a new cluster, where the nanny has given up on one that was slow to start."""
        from distributed import Client, LocalCluster

        if self.client is not None:
            with suppress(OSError):
                if settled(self.client):
                    return self.client
            self.close()
        settings = {
            "distributed.scheduler.allowed-failures": 1000,
            "distributed.comm.timeouts.connect": "30s",
            "distributed.scheduler.work-stealing": False,  # tests say which worker holds which rows
        }
        self.stack.enter_context(dask.config.set(settings))
        workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
        cluster = self.stack.enter_context(LocalCluster(**workers, dashboard_address=":0"))
        self.client = self.stack.enter_context(Client(cluster))
        settled(self.client)
        return self.client

    def close(self):
        """Leave the cluster; one that does not end in time is left behind, so that the next test has a new one."""
        stack, self.stack, self.client = self.stack, ExitStack(), None
        with suppress(TimeoutError, OSError):
            stack.close()


def settled(client, seconds=60.0, calm=10.0):
    """Whether both workers are up soon, and nannies know: one whose worker dies before gives up without a word."""
    began = moved = time.monotonic()
    while time.monotonic() < min(began + seconds, moved + calm):
        nannies = [nanny.process and nanny.process.status.name for nanny in client.cluster.workers.values()]
        if nannies == ["running"] * 2 and len(client.nthreads()) == 2:
            return True
        if all(state in ("running", "starting") for state in nannies):
            moved = time.monotonic()
        time.sleep(0.05)
    return False


@contextmanager
def at_most(seconds):
    """Ends what takes longer with an error, wherever it waits."""

    def end(*_):
        raise TimeoutError(f"this has taken more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pids(client):
    return client.run(os.getpid)


def left_behind(client):
    """Seats that were not given up, by worker."""
    count = lambda: len(__import__("anyboost.dask.workers", fromlist=["_"])._seats)  # noqa: E731
    return client.run(count, on_error="ignore")  # one may be dying


def ports(client):
    """Ports on which a worker listens that are not those of Dask."""

    def strange(dask_worker):
        known = {dask_worker.port, dask_worker.http_server.port}
        lines = psutil.Process().net_connections(kind="inet")
        return {line.laddr.port for line in lines if line.status == psutil.CONN_LISTEN} - known

    return {worker: found for worker, found in client.run(strange, on_error="ignore").items() if found}


def children():
    """The processes under this one."""
    return {process.pid for process in psutil.Process().children(recursive=True)}


def strays(client, before):
    """Processes that were not there before and are neither a worker nor what Python starts for one."""
    found = {}
    for pid in children() - before - set(pids(client).values()):
        try:
            found[pid] = " ".join(psutil.Process(pid).cmdline())
        except psutil.NoSuchProcess:
            continue
    return {pid: command for pid, command in found.items() if "resource_tracker" not in command}


def nothing_left(client, before, seconds=20.0):
    """Whether seats, ports and processes of fits are gone soon."""
    settled(client)  # or the nanny has given up on one that was slow to start
    deadline = time.monotonic() + seconds
    while any(left_behind(client).values()) or ports(client) or strays(client, before):
        if time.monotonic() > deadline:
            print(left_behind(client), ports(client), strays(client, before))
            return False
        time.sleep(0.1)
    return True
