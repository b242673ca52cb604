"""The choice of a step: a grid that grows until the best of it lies inside.

A choice at the end of a grid shows that the grid is too short. `search` measures all points of the grid, and then every
neighbor of the best point that was not measured, beyond the ends of the grid where necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

GROWTH = 8  # values that a search may add
FLAT = 1e-3  # relative: the grid does not grow where its last value gains less than this

Point = tuple[float, ...]


class Choice(NamedTuple):
    """The best point, all measured points in their order, and why the best lies at an end (None: it does not)."""

    point: dict[str, float]
    tried: list[dict[str, Any]]
    at_end: str | None


def search(
    axes: Mapping[str, Sequence[float]],
    measure: Callable[..., dict[str, Any]],
    losses: Sequence[str] = ("loss",),
    limits: Mapping[str, tuple[float, float]] | None = None,
    growth: int = GROWTH,
) -> Choice:
    """The point of least loss.

    axes : a grid of values by name, in geometric progression; the grid is their product.
    measure : takes one value of each axis, by name, and returns a dict.
    losses : keys of this dict. The later ones decide ties of the earlier ones. None is a run that diverged.
    limits : the least and the largest value that an axis may have.
    growth : how many values may be added to the axes.
    """
    grid = {name: sorted(values) for name, values in axes.items()}
    tried: dict[Point, dict[str, Any]] = {}

    def attempt(point: Point) -> None:
        tried[point] = measure(**dict(zip(axes, point, strict=True)))

    def rank(point: Point) -> list[float]:
        values = [tried[point][name] for name in losses]
        return [np.inf if value is None else value for value in values]

    for point in product(*grid.values()):
        attempt(point)
    while True:
        best, reasons, missing = min(tried, key=rank), [], []
        for place, (name, values) in enumerate(grid.items()):
            least, largest = (limits or {}).get(name, (0.0, np.inf))
            for up in (False, True):
                end = values[-1 if up else 0]
                if best[place] == end:
                    inner = with_value(best, place, values[-2 if up else 1])
                    reason = None
                    if end == (largest if up else least):
                        reason = f"{name} is the {'largest' if up else 'least'} allowed"
                    elif inner in tried and rank(inner)[0] <= rank(best)[0] * (1 + FLAT):
                        reason = f"the loss is flat in {name}: {rank(inner)[0]:.5g} at {inner[place]:g}"
                    elif not growth:
                        reason = f"the grid of {name} may not grow"
                    if reason:
                        reasons.append(reason)
                        continue
                    growth -= 1
                    value = min(max(beyond(values, up), least), largest)
                    values.insert(len(values) if up else 0, value)
                neighbor = with_value(best, place, values[values.index(best[place]) + (1 if up else -1)])
                if neighbor not in tried:
                    missing.append(neighbor)
        if not missing:
            break
        for point in missing:
            attempt(point)
    return Choice(
        dict(zip(axes, best, strict=True)),
        [{**dict(zip(axes, point, strict=True)), **tried[point]} for point in sorted(tried)],
        "; ".join(reasons) or None,
    )


def with_value(point: Point, place: int, value: float) -> Point:
    """The point with another value on one axis."""
    return (*point[:place], value, *point[place + 1 :])


def beyond(values: Sequence[float], up: bool) -> float:
    """The next value of a geometric progression; 0.1, 0.3, 1, 3 goes on with 10, for the ratios may alternate."""
    last = values[::-1] if up else values
    ratio = last[1] / last[2] if len(last) > 2 else last[0] / last[1]
    return float(f"{last[0] * ratio:.3g}")
