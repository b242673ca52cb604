"""A fit on a cluster, from the client's side: seats for workers that hold partitions, and attempts until one ends.

Every worker that holds rows runs the same work on them, as a member of a circle. Where a worker is lost, the others are
called off; Dask brings its partitions back on other workers, and the next attempt goes on from the journal of the last.

Nothing is waited for without a limit: members notice one that is silent, and the client looks after the first of them.
"""

import math
import pickle
import time
import uuid
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import zmq
from distributed import Client, Future, default_client, wait
from distributed.scheduler import KilledWorker

from anyboost.dask import workers
from anyboost.dask.calls import AWAY, Calls, Lost
from anyboost.dask.collections import Partition
from anyboost.dask.mesh import Keys, silence
from anyboost.dask.reports import Audience
from anyboost.dask.workers import Answer, Fit, Work
from anyboost.trees.journal import KeptTree

LOOK = 0.5  # seconds between looks at whether all workers are there
SIGN = 5.0  # and between signs of life of the first member
GRACE = 30.0  # that members have to come back once they are called off
MOST_ATTEMPTS = 1000
MOST_DOUBTS = 10  # attempts in a row that end as if a worker were lost, and all are there


_GONE = (
    "a partition is lost with its worker, and Dask cannot compute it again: data scattered from the client die with "
    "their worker, so use collections that read files"
)


# By worker and set: the partitions
Shares = dict[str, dict[str, list[Future]]]


class Held(NamedTuple):
    """The partitions of a fit as futures, by the name of their set, and what one without rows would be."""

    sets: dict[str, list[Future]]
    empty: dict[str, Partition]


def client_of(client: Any) -> Client:
    """The client that is given, else the current one; refused where it cannot be waited for."""
    if client is None:
        return default_client()
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, or None for the current one, got {type(client).__name__}: for an "
            "address, Client(address)"
        )
    if client.asynchronous:
        raise TypeError("client is asynchronous: give a fit one of its own, Client(address), in a thread")
    return client


def hold(client: Client, sets: Mapping[str, Sequence[Any]], timeout: float) -> Held:
    """Have the partitions computed, and kept where they are."""
    calls = Calls(client, timeout)
    calls.connected()
    found = {name: client.compute(list(parts)) for name, parts in sets.items()}
    _bring([future for futures in found.values() for future in futures], calls)
    first = {
        name: client.submit(workers.without_rows, futures[0], pure=False) for name, futures in found.items()
    }
    _bring(list(first.values()), calls)
    try:
        return Held(found, {name: future.result(timeout) for name, future in first.items()})
    except (CancelledError, TimeoutError) as error:
        raise _lost(calls, error) from None


def _lost(calls: Calls, error: BaseException) -> Lost:
    """Why partitions are cancelled: a scheduler that has come back meanwhile knows them no longer."""
    calls.connected()
    return Lost(AWAY if "scheduler-" in str(error) else _GONE)


def run(client: Client, work: Work, held: Held, timeout: float, audience: Audience | None = None) -> Any:
    """What the work gives at the first place, done by all workers that hold partitions."""
    futures = [future for own in held.sets.values() for future in own]
    calls = Calls(client, timeout)
    journal: tuple[KeptTree, ...] = ()
    doubts, told = 0, set[str]()
    for _ in range(MOST_ATTEMPTS):
        _bring(futures, calls)
        shares = _shares(calls, held)
        if shares is None:
            time.sleep(LOOK)  # a partition was lost since: it is waited for again
            continue
        attempt = Attempt(calls, shares, audience)
        try:
            answers = attempt.run(work, journal)
            for answer in answers.values():
                if answer.failure is not None:
                    raise answer.failure.error()
            _tell(answers, told)
            # What the first member has, all have agreed on: that another is lost since does not matter.
            if 0 in answers and answers[0].stopped is None:
                return answers[0].result
            journal = attempt.journal(journal, answers)
        finally:
            attempt.end()
        doubts = 0 if attempt.has_lost() else doubts + 1
        if doubts and not (attempt.doubtful and doubts < MOST_DOUBTS):
            raise Lost(attempt.reason or "the fit has ended without a result on some workers")
        if doubts:
            time.sleep(LOOK)  # the scheduler may not have noticed yet
    raise Lost(f"workers were lost in {MOST_ATTEMPTS} attempts")


def _tell(answers: Mapping[int, Answer], told: set[str]) -> None:
    """Warn here of what members have warned of, each once in a fit."""
    for sentence in [sentence for place in sorted(answers) for sentence in answers[place].notices]:
        if sentence not in told:
            told.add(sentence)
            warnings.warn(sentence, UserWarning, stacklevel=4)


def _bring(futures: Sequence[Future], calls: Calls) -> None:
    """Wait until all partitions are in memory; a sentence where one cannot be, or nothing moves for too long."""
    client, timeout = calls.client, calls.timeout
    moved = looked = time.monotonic()
    before: Any = None
    while any(future.status != "finished" for future in futures):
        try:
            wait(futures, min(LOOK, timeout))
        except CancelledError as error:
            raise _lost(calls, error) from None
        except TimeoutError:
            pass
        calls.connected()
        for future in futures:
            if future.status == "error":
                raise future.exception()
            if future.status == "cancelled":
                raise Lost(_GONE)
        now = time.monotonic()
        if now - looked > min(SIGN, timeout / 4):
            # What partitions are made of comes first, files that are read, say: that is a sign of life, too.
            at_work = {worker: tasks for worker, tasks in calls.scheduler(client.processing).items() if tasks}
            came = sum(future.status == "finished" for future in futures)
            looked, moved = now, now if (came, at_work) != before else moved
            before = came, at_work
        if now - moved > timeout:
            raise Lost(
                f"{len(futures) - before[0]} of {len(futures)} partitions are not in memory, and nothing has moved for "
                f"{timeout:g} seconds (at work: {', '.join(before[1]) or 'no worker'}): is a worker left that "
                "is neither paused nor stopped? Give the fit a longer timeout where a partition takes longer; data "
                "scattered from the client do not come back"
            )
        time.sleep(0.02)  # one that is lost with its worker is computed again, and waited for again


class Attempt:
    """One attempt: who takes part, and with what."""

    def __init__(self, calls: Calls, shares: Shares, audience: Audience | None) -> None:
        self.client, self.name, self.timeout = (
            calls.client,
            f"anyboost-{uuid.uuid4().hex[:12]}",
            calls.timeout,
        )
        self.shares, self.workers = shares, tuple(sorted(shares))
        self.reason: str | None = None  # why it has ended without a result
        self.doubtful = False  # whether it has ended as if a worker were lost
        self._calls, self._brief, self._each = calls, calls.brief, calls.each
        self._tasks: list[Future] = []
        self._audience = audience
        self._heard = 0
        self._answer: tuple[int, bool] | None = None
        self._silent: set[str] = set()
        self._lost: set[str] = set()  # for good: at the same address another may be by now
        self._ids: dict[str, str] = {}  # of the workers that have opened a door
        self._looked = self._listened = 0.0

    def run(self, work: Work, journal: tuple[KeptTree, ...]) -> dict[int, Answer]:
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
        """The doors of all members; None where one of these cannot open its own."""
        keys, doors = Keys(*zmq.curve_keypair()), []
        given = (self.name, keys, len(self.workers), self.timeout)
        for worker, found in self._each(self.workers, self.timeout, workers.open_door, *given).items():
            if isinstance(found, TimeoutError):
                self.lost()  # it may be the scheduler that does not answer
                self.reason = silence(worker, self.timeout)
                return None
            if not isinstance(found, workers.Opened):
                self.doubtful, self.reason = True, f"the worker {worker} cannot be reached: {found}"
                return None
            if found.refusal is not None:
                self.reason = f"the worker {worker} cannot take part, as it cannot listen: {found.refusal}"
                return None
            doors.append(found.address)
            self._ids[worker] = found.worker
        return tuple(doors)

    def _answers(self) -> dict[int, Answer]:
        found: dict[int, Answer] = {}
        waiting, deadline = set(range(len(self._tasks))), math.inf
        self._began = self._sign = time.monotonic()
        while waiting and time.monotonic() < deadline:
            done = [place for place in waiting if self._tasks[place].done()]
            waiting -= set(done)
            taken = {place: self._fetch(self._tasks[place], self.timeout) for place in done}
            found |= {place: answer for place, answer in taken.items() if answer is not None}
            self._lost.update(self.workers[place] for place in found if found[place].replaces)
            if self.reason is None:
                self.reason = self._ended(taken, waiting)
                if waiting and self.reason is not None:
                    self.call_off(self.reason)
                if self.reason is not None or 0 in found:  # the others come back now, or are not needed
                    deadline = min(deadline, time.monotonic() + min(self.timeout, GRACE))
            elif self._looks_again():
                out = self._silent.union(self.lost())
                waiting = {place for place in waiting if self.workers[place] not in out}
            if waiting and not done:
                self._rest(listens=0 in waiting and self.reason is None)
        return found

    def _ended(self, taken: Mapping[int, Answer | None], waiting: set[int]) -> str | None:
        """Why those who are still at work need not go on; None where they shall."""
        for place, answer in taken.items():
            if answer is None:
                self.doubtful = True
                return f"the worker {self.workers[place]} is lost"
            if answer.failure is not None:
                return f"the worker {self.workers[place]} has failed: {answer.failure.text}"
            if answer.stopped is not None:
                return answer.stopped
        if waiting and self._look():
            return f"the worker {', '.join(sorted(self._lost))} is lost"
        return self._silence_of_the_first() if 0 in waiting else None

    def _silence_of_the_first(self) -> str | None:
        """Why nothing is to be expected of the first member. It looks after the others, and nobody after it alone."""
        now, first = time.monotonic(), self.workers[0]
        if now - self._listened < min(SIGN, self.timeout / 4):
            return None
        found = self._each([first], self._brief, workers.has_begun, self.name)[first]
        self._listened = now = time.monotonic()
        if found is True:
            self._began = math.inf
        if not isinstance(found, BaseException):
            self._sign = now
        if now - self._sign > self.timeout:
            return silence(first, self.timeout)
        if now - self._began > self.timeout:
            return (
                f"the worker {first} has not begun for {self.timeout:g} seconds: is it busy with other tasks, or "
                "paused for want of memory? Free it, or give the fit a longer timeout"
            )
        return None

    def journal(self, known: tuple[KeptTree, ...], answers: Mapping[int, Answer]) -> tuple[KeptTree, ...]:
        """The trees that are known now: members bring theirs, and those that are still busy are asked."""
        longest = max((known, *(answer.journal for answer in answers.values())), key=len)
        out, seconds = self._silent.union(self.lost()), min(self.timeout, GRACE)
        late = {
            self.workers[place]: task
            for place, task in enumerate(self._tasks)
            if place not in answers and self.workers[place] not in out
        }
        counts = self._each(list(late), seconds, workers.count_trees, self.name)
        self._silent.update(worker for worker, count in counts.items() if isinstance(count, TimeoutError))
        for worker in (worker for worker, count in counts.items() if count is None):  # it has come back since
            answer = self._fetch(late[worker], self._brief)
            longest = max(longest, () if answer is None else answer.journal, key=len)
        able = {worker: count for worker, count in counts.items() if isinstance(count, int)}
        for worker in sorted(able, key=lambda worker: able[worker], reverse=True):
            if able[worker] <= len(longest):
                break
            found = self._each([worker], seconds, workers.trees, self.name)[worker]
            longest = max(longest, found if isinstance(found, tuple) else (), key=len)
        return longest

    def _fetch(self, task: Future, seconds: float) -> Answer | None:
        """What a member has come back with; None where it is lost with its worker."""
        try:
            answer: Answer = task.result(timeout=seconds)
        except (OSError, TimeoutError, CancelledError, KilledWorker):
            return None
        return answer

    def _rest(self, listens: bool) -> None:
        """Let some time pass: with what the audience is told, where there is one."""
        if self._audience is None or not listens:
            time.sleep(0.02)
            return
        first = self.workers[0]
        told = self._each([first], self._brief, workers.news, self.name, self._heard, self._answer)[first]
        if isinstance(told, BaseException):
            time.sleep(0.02)
            return
        self._answer = None
        for one in told:
            self._answer = (self._heard, self._audience.hear(one))
            self._heard += 1

    def _look(self) -> bool:
        """Whether a worker is lost, as far as was looked at lately."""
        return self._looks_again() and bool(self.lost())

    def _looks_again(self) -> bool:
        now = time.monotonic()
        if now - self._looked < LOOK:
            return False
        self._looked = now
        return True

    def lost(self) -> list[str]:
        """The members that are not there any more, or were not when that was looked at."""
        alive = self._calls.scheduler(self.client.nthreads)
        self._lost.update(worker for worker in self.workers if worker not in alive)
        return sorted(self._lost)

    def has_lost(self) -> bool:
        """Whether a member is lost, also one whose successor has its address."""
        if not self.lost():
            able = [worker for worker in self._ids if worker not in self._silent]
            found = self._each(able, self._brief, workers.name_of)
            others = [
                name for name in found if isinstance(found[name], str) and found[name] != self._ids[name]
            ]
            self._lost.update(others)
        return bool(self._lost)

    def call_off(self, reason: str) -> None:
        """Have members that wait for others wait no longer."""
        self._tell(workers.call_off, self.name, reason)

    def end(self) -> None:
        """Leave nothing behind: no task, no seat."""
        unfinished = [task for task in self._tasks if not task.done()]
        with suppress(Lost):  # the scheduler is: that is known, or will be
            if unfinished:
                self.call_off(self.reason or "the fit was interrupted at the client")
        if unfinished:
            self._calls.cancel(unfinished)
        with suppress(Lost):
            self._tell(workers.close_door, self.name)

    def _tell(self, what: Any, *given: Any) -> None:
        lost = self.lost()
        able = [worker for worker in self.workers if worker not in lost and worker not in self._silent]
        for worker, found in self._each(able, self._brief, what, *given).items():
            if isinstance(found, TimeoutError):  # it is not waited for twice
                self._silent.add(worker)


def _shares(calls: Calls, held: Held) -> Shares | None:
    """The partitions of each set that each worker takes: those it holds; of several holders, who has fewest.

    None where a partition is held by nobody.
    """
    shares: dict[str, dict[str, list[Future]]] = {}
    for name, futures in held.sets.items():
        holders = calls.scheduler(partial(calls.client.who_has, futures))
        taken: dict[str, int] = {}
        for future in futures:
            able = holders.get(future.key, ())
            if not able:
                return None
            worker = min(able, key=lambda address: (taken.get(address, 0), address))
            taken[worker] = taken.get(worker, 0) + 1
            shares.setdefault(worker, {}).setdefault(name, []).append(future)
    return {worker: {name: own.get(name, []) for name in held.sets} for worker, own in shares.items()}
