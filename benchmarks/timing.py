"""Seconds of work, as medians."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np


def seconds(work: Callable[[], Any]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


class Seconds(NamedTuple):
    """Of the clock, and of all processors, which other processes change less."""

    clock: float
    processors: float

    def times(self, factor: float) -> Seconds:
        """Of so many times the work."""
        return Seconds(factor * self.clock, factor * self.processors)


def timed(work: Callable[[], Any]) -> Seconds:
    clock, processors = perf_counter(), process_time()
    work()
    return Seconds(perf_counter() - clock, process_time() - processors)


def median_seconds(work: Callable[[], Any], repeats: int) -> float:
    return float(np.median([seconds(work) for _ in range(repeats)]))


def interleaved(calls: dict[str, Callable[[], Any]], turns: int, in_a_turn: int = 1) -> dict[str, float]:
    """The median seconds of each call, over turns in which they alternate; each is first called once."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(turns):
        for name, call in calls.items():
            found[name] += [seconds(call) for _ in range(in_a_turn)]
    return {name: float(np.median(times)) for name, times in found.items()}
