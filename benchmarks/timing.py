"""Seconds of work, as medians."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np


def seconds(work: Callable[[], Any]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


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
