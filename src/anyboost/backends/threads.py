"""A thread pool of our own for kernels that release the GIL.

Numba's `parallel=True` aborts the process when two Python threads enter it at once and hangs after a
fork; plain threads over independent tasks do neither. Work is handed over by a bare queue, which costs half of
what futures do. A thread that sleeps takes a tenth of a millisecond or two to wake, so one that has nothing to do stays
awake for as long as the next work usually takes to come.
"""

import os
import threading
from collections.abc import Callable
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")


class _Letters(Generic[T]):
    """A queue whose reader stays awake for a while."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[T] = SimpleQueue()
        self._bell = np.zeros(1, dtype=np.int64)

    def put(self, letter: T) -> None:
        self._queue.put(letter)
        self._bell[0] += 1  # should two ring at once, and one not be heard, its reader sleeps until it reads

    def get(self) -> T:
        from anyboost.backends.shared_work import linger

        heard = int(self._bell[0])
        try:
            return self._queue.get_nowait()
        except Empty:
            linger(self._bell, heard)
        return self._queue.get()


_jobs: _Letters[Callable[[], Any]] | None = None
_starting = threading.Lock()
_this = threading.local()  # has `works` in a thread of the pool


def available() -> int:
    """The number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def _forget_workers() -> None:
    # A forked child inherits the queue but none of the threads that read it, and perhaps a lock that is held.
    global _jobs, _starting
    _jobs = None
    _starting = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


def _work(jobs: _Letters[Callable[[], Any]]) -> None:
    _this.works = True
    while True:
        jobs.get()()


def _queue() -> _Letters[Callable[[], Any]]:
    """The queue that the workers read; they are started on first use, and die with the process."""
    global _jobs
    with _starting:
        if _jobs is None:
            _jobs = _Letters()
            for number in range(max(available(), 2)):
                threading.Thread(target=_work, args=(_jobs,), name=f"anyboost-{number}", daemon=True).start()
        return _jobs


def each(task: Callable[[int], object], count: int, n_threads: int) -> None:
    """Call `task(0) ... task(count - 1)`, at most `n_threads` at a time; the caller's thread works too.

    Tasks must be independent: the order in which they run is not defined. A task that calls `each` itself does so
    alone: were workers to wait for workers, all might.
    """
    helpers = 0 if hasattr(_this, "works") else min(n_threads, count) - 1
    if helpers < 1:
        for index in range(count):
            task(index)
        return
    indices = iter(range(count))  # next() on a range iterator is atomic under the GIL
    ended: _Letters[BaseException | None] = _Letters()

    def work() -> None:
        failure: BaseException | None = None
        try:
            for index in indices:
                task(index)
        except BaseException as error:
            failure = error
        ended.put(failure)

    jobs = _queue()
    for _ in range(helpers):
        jobs.put(work)
    work()
    failures = [ended.get() for _ in range(helpers + 1)]
    for failure in failures:
        if failure is not None:
            raise failure


def invite(task: Callable[[], Any], count: int) -> None:
    """Have `task` called by up to `count` other threads, as they find time; nobody waits for them."""
    for _ in range(count):  # none: no thread is started
        _queue().put(task)


SMALLEST = 150_000  # rows, of some nanoseconds' work each, under which handing over costs more than it saves


def over_blocks(
    function: Callable[[int, int], T], n_rows: int, n_threads: int, smallest: int = SMALLEST
) -> list[T]:
    """What `function(start, stop)` gives for each of a few ranges that make up all rows."""
    if n_threads == 1 or n_rows < 2 * smallest:
        return [function(0, n_rows)]
    ranges = blocks(n_rows, n_threads, smallest)
    results: dict[int, T] = {}

    def task(index: int) -> None:
        results[index] = function(*ranges[index])

    each(task, len(ranges), n_threads)
    return [results[index] for index in range(len(ranges))]


def blocks(n_rows: int, n_threads: int, smallest: int) -> list[tuple[int, int]]:
    """Split rows into at most `n_threads` ranges, none much under `smallest`: small work stays whole."""
    count = max(1, min(n_threads, n_rows // smallest))
    edges = [n_rows * index // count for index in range(count + 1)]
    return list(pairwise(edges))
