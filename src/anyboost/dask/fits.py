"""A fit on a cluster, from the client's side: seats for workers that hold partitions, and attempts until one ends.

Every worker that holds rows runs the same work on them, as a member of a circle. Where a worker is lost, the others are
called off; Dask brings its partitions back on other workers, and the next attempt goes on from the journal of the last.
"""

import math
import pickle
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

import zmq
from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from anyboost.dask import workers
from anyboost.dask.collections import Partition
from anyboost.dask.reports import Audience
from anyboost.dask.workers import Answer, Fit, Work

LOOK = 0.5  # seconds between looks at whether all workers are there
MOST_ATTEMPTS = 1000


_GONE = (
    "a partition is lost with its worker, and Dask cannot compute it again: data scattered from the client die with "
    "their worker, so use collections that read files"
)


class Lost(RuntimeError):
    """A fit that could not go on: no worker is left, or partitions cannot be brought back.

    Examples
    --------
    >>> import anyboost as ab
    >>> issubclass(ab.dask.Lost, RuntimeError)
    True
    """


# By worker and set: the partitions
Shares = dict[str, dict[str, list[Future]]]


class Held(NamedTuple):
    """The partitions of a fit as futures, by the name of their set, and what one without rows would be."""

    sets: dict[str, list[Future]]
    empty: dict[str, Partition]


def hold(client: Client, sets: Mapping[str, Sequence[Any]], timeout: float) -> Held:
    """Have the partitions computed, and kept where they are."""
    found = {name: client.compute(list(parts)) for name, parts in sets.items()}
    _bring([future for futures in found.values() for future in futures], timeout)
    empty = {
        name: client.submit(workers.without_rows, futures[0], pure=False).result()
        for name, futures in found.items()
    }
    return Held(found, empty)


def run(client: Client, work: Work, held: Held, timeout: float, audience: Audience | None = None) -> Any:
    """What the work gives at the first place, done by all workers that hold partitions."""
    futures = [future for own in held.sets.values() for future in own]
    journal: tuple[Any, ...] = ()
    for _ in range(MOST_ATTEMPTS):
        _bring(futures, timeout)
        shares = _shares(client, held)
        if shares is None:
            continue  # a partition was lost since: it is waited for again
        attempt = Attempt(client, shares, timeout, audience)
        try:
            answers = attempt.run(work, journal)
        finally:
            attempt.end()
        for answer in answers.values():
            if answer.error is not None:
                raise answer.error
        # What the first member has, all have agreed on: that another is lost since does not matter.
        if 0 in answers and answers[0].stopped is None:
            return answers[0].result
        journal = max((journal, *(answer.journal for answer in answers.values())), key=len)
        if not attempt.lost():
            reasons = [answer.stopped for answer in answers.values() if answer.stopped]
            raise Lost(reasons[0] if reasons else "the fit has ended without a result on some workers")
    raise Lost(f"workers were lost in {MOST_ATTEMPTS} attempts")


def _bring(futures: Sequence[Future], timeout: float) -> None:
    """Wait until all partitions are in memory; a sentence where one cannot be."""
    deadline = time.monotonic() + timeout
    while any(future.status != "finished" for future in futures):
        try:
            wait(futures, max(0.1, deadline - time.monotonic()))
        except CancelledError:
            raise Lost(_GONE) from None
        except TimeoutError:
            pass
        for future in futures:
            if future.status == "error":
                raise future.exception()
            if future.status == "cancelled":
                raise Lost(_GONE)
        if time.monotonic() > deadline:
            raise Lost(
                f"partitions are not in memory after {timeout:g} seconds: is a worker left, and can Dask compute them? "
                "Data scattered from the client die with their worker: use collections that read files"
            )
        time.sleep(0.02)  # one that is lost with its worker is computed again, and waited for again


class Attempt:
    """One attempt: who takes part, and with what."""

    def __init__(self, client: Client, shares: Shares, timeout: float, audience: Audience | None) -> None:
        self.client, self.name, self.timeout = client, f"anyboost-{uuid.uuid4().hex[:12]}", timeout
        self.shares, self.workers = shares, tuple(sorted(shares))
        self._tasks: list[Future] = []
        self._audience = audience
        self._heard = 0
        self._answer: tuple[int, bool] | None = None

    def run(self, work: Work, journal: tuple[Any, ...]) -> dict[int, Answer]:
        """The answers of those who gave one, by place."""
        doors = self._open()
        if doors is None:
            return {}
        fit = Fit(self.name, doors, self.workers, self.timeout, self._audience is not None)
        known = pickle.dumps(journal)  # with the task: what is scattered may die with its worker
        self._tasks = [
            self.client.submit(
                workers.take_part,
                fit,
                place,
                known,
                work,
                self.shares[worker],
                workers=[worker],
                allow_other_workers=False,
                pure=False,
                retries=0,
                key=f"{self.name}-{place}",
            )
            for place, worker in enumerate(self.workers)
        ]
        return self._answers()

    def _open(self) -> tuple[str, ...] | None:
        """The doors of all members; None where one of these is lost."""
        keys = zmq.curve_keypair()
        try:
            found = self.client.run(
                workers.open_door, self.name, keys, workers=list(self.workers), on_error="return"
            )
        except (OSError, TimeoutError, ValueError, KeyError):
            return None
        if set(found) != set(self.workers) or any(not isinstance(door, str) for door in found.values()):
            return None
        return tuple(found[worker] for worker in self.workers)

    def _answers(self) -> dict[int, Answer]:
        found: dict[int, Answer] = {}
        waiting, deadline = set(range(len(self._tasks))), math.inf
        while waiting and time.monotonic() < deadline:
            done = [place for place in waiting if self._tasks[place].done()]
            waiting -= set(done)
            taken = {place: self._fetch(self._tasks[place]) for place in done}
            found |= {place: answer for place, answer in taken.items() if answer is not None}
            called_off = math.isfinite(deadline)
            if waiting and not done:
                self._rest(called_off)
            if waiting and not called_off and (None in taken.values() or self._look()):
                self.call_off(f"the worker {', '.join(self.lost()) or 'of another part'} is lost")
                deadline = time.monotonic() + self.timeout
            if called_off:
                alive = self._alive()
                waiting = {place for place in waiting if self.workers[place] in alive}
        return found

    def _fetch(self, task: Future) -> Answer | None:
        """What a member has come back with; None where it is lost with its worker."""
        try:
            answer: Answer = task.result(timeout=self.timeout)
        except (OSError, TimeoutError, CancelledError, KilledWorker):
            return None
        return answer

    def _rest(self, called_off: bool) -> None:
        """Let some time pass: with what the audience is told, where there is one."""
        if self._audience is None or called_off:
            time.sleep(0.02)
            return
        given = (self.name, self._heard, self._answer)
        try:
            found = self.client.run(workers.news, *given, workers=[self.workers[0]], on_error="ignore")
        except (OSError, ValueError, KeyError, TimeoutError):
            found = {}
        told = found.get(self.workers[0])
        if told is None:
            time.sleep(0.02)
            return
        self._answer = None
        for one in told:
            self._answer = (self._heard, self._audience.hear(one))
            self._heard += 1

    _looked = 0.0

    def _look(self) -> bool:
        """Whether a worker is lost, as far as was looked at lately."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return False
        self._looked = now
        return bool(self.lost())

    def _alive(self) -> set[str]:
        return set(self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"])

    def lost(self) -> list[str]:
        """The members that are not there any more."""
        alive = self._alive()
        return [worker for worker in self.workers if worker not in alive]

    def call_off(self, reason: str) -> None:
        """Have members that wait for others wait no longer."""
        self._tell(workers.call_off, self.name, reason)

    def end(self) -> None:
        """Leave nothing behind: no task, no seat."""
        unfinished = [task for task in self._tasks if not task.done()]
        if unfinished:
            self.call_off("the fit was interrupted at the client")
            self.client.cancel(unfinished, force=True)
        self._tell(workers.close_door, self.name)

    def _tell(self, what: Any, *given: Any) -> None:
        alive = [worker for worker in self.workers if worker in self._alive()]
        if alive:
            self.client.run(what, *given, workers=alive, on_error="ignore")


def _shares(client: Client, held: Held) -> Shares | None:
    """The partitions of each set that each worker takes: those it holds; of several holders, who has fewest.

    None where a partition is held by nobody.
    """
    shares: dict[str, dict[str, list[Future]]] = {}
    for name, futures in held.sets.items():
        holders = client.who_has(futures)
        taken: dict[str, int] = {}
        for future in futures:
            able = holders.get(future.key, ())
            if not able:
                return None
            worker = min(able, key=lambda address: (taken.get(address, 0), address))
            taken[worker] = taken.get(worker, 0) + 1
            shares.setdefault(worker, {}).setdefault(name, []).append(future)
    return {worker: {name: own.get(name, []) for name in held.sets} for worker, own in shares.items()}
