"""Planned paths beside demonstrated ones: how much of them is elsewhere, and what they cost."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.planning.loss import Demonstration, off_path
from anyboost.planning.planners import Planner
from anyboost.planning.samples import Map


class Comparison(NamedTuple):
    """Planned against demonstrated paths, means over the demonstrations.

    Attributes
    ----------
    loss : float
        The margin loss R, in costs.
    off_path : float
        The share of the planned path's cells off the demonstration.
    cost_ratio : float
        What the planned path costs, over what the demonstration does.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> field, path = np.zeros((2, 3, 1)), [[0, 0], [0, 1], [0, 2]]
    >>> field[1] = 1.0
    >>> model = ab.MaxMarginPlanner("stump", planner="lattice", max_iter=10).fit([field], [path])
    >>> model.compare([field], [path], costs=[1.0 + field[:, :, 0]]).cost_ratio
    1.0
    """

    loss: float
    off_path: float
    cost_ratio: float


def compare(
    planner: Planner,
    own: Sequence[Floats],
    true: Sequence[Floats],
    shown: Sequence[Demonstration],
    tolerance: int,
) -> tuple[float, float]:
    """The means over demonstrations of `path_errors`, of paths planned under a model's own cost maps."""
    errors = [path_errors(planner, own[found.map], found.path, true[found.map], tolerance) for found in shown]
    off, ratio = np.mean(errors, axis=0).tolist()
    return off, ratio


def path_errors(
    planner: Planner, cost: Floats, shown: Array, true: Floats, tolerance: int
) -> tuple[float, float]:
    """The share of the path planned under `cost` that is off the one shown, and their ratio of true costs."""
    plan = planner.path(cost, shown[0], shown[-1])
    strays = off_path(true.shape, shown, tolerance)
    spent, least = (planner.weights(path) @ true[path[:, 0], path[:, 1]] for path in (plan, shown))
    return float(strays[plan[:, 0], plan[:, 1]].mean()), float(spent / least) if least else math.nan


def true_costs(costs: Any, maps: Sequence[Map]) -> list[Floats]:
    found = [checks.numbers(cost, "costs") for cost in costs]
    shapes = [cost.shape for cost in found]
    if shapes != [where.shape for where in maps]:
        raise ValueError(
            f"costs must have a map of costs for each map, of its rows and columns, got shapes {shapes}"
        )
    for number, (cost, where) in enumerate(zip(found, maps, strict=True)):
        open_cells = cost[where.passable]  # what walls cost does not matter
        if not (open_cells > 0).all():
            raise ValueError(
                f"costs of map {number} must be positive to take a ratio of, got {open_cells.min()}"
            )
    return found
