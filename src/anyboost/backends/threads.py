"""A thread pool of our own for kernels that release the GIL.

Numba's `parallel=True` aborts the process when two Python threads enter it at once and hangs after a
fork; plain threads over independent tasks do neither.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")
_pool: ThreadPoolExecutor | None = None


def available() -> int:
    """The number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def _forget_pool() -> None:
    # A forked child inherits the pool object but none of its threads.
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=max(available(), 2), thread_name_prefix="anyboost")
    return _pool


def each(task: Callable[[int], object], count: int, n_threads: int) -> None:
    """Call `task(0) ... task(count - 1)`, at most `n_threads` at a time; the caller's thread works too.

    Tasks must be independent: the order in which they run is not defined. A task never calls `each`
    itself, so the pool cannot wait for itself.
    """
    workers = min(n_threads, count) - 1
    if workers < 1:
        for index in range(count):
            task(index)
        return
    indices = iter(range(count))  # next() on a range iterator is atomic under the GIL

    def work() -> None:
        for index in indices:
            task(index)

    pool = _shared_pool()
    helpers = [pool.submit(work) for _ in range(workers)]
    try:
        work()
    finally:
        wait(helpers)
    for helper in helpers:
        helper.result()


def over_blocks(function: Callable[[int, int], T], n_rows: int, n_threads: int) -> list[T]:
    """What `function(start, stop)` gives for each of a few ranges that make up all rows."""
    ranges = blocks(n_rows, n_threads)
    if len(ranges) == 1:
        return [function(*ranges[0])]
    results: dict[int, T] = {}

    def task(index: int) -> None:
        results[index] = function(*ranges[index])

    each(task, len(ranges), n_threads)
    return [results[index] for index in range(len(ranges))]


def blocks(n_rows: int, n_threads: int, smallest: int = 50_000) -> list[tuple[int, int]]:
    """Split rows into at most `n_threads` ranges, none much under `smallest`: small work stays whole."""
    count = max(1, min(n_threads, n_rows // smallest))
    edges = [n_rows * index // count for index in range(count + 1)]
    return list(pairwise(edges))
