"""The maximum-margin planning loss: convex in the costs of all cells of all maps (Ratliff, Silver and Bagnell 2009).

    R(f) = mean over demonstrations i of  [ f(path_i) - min over paths of (f - l_i)(path) ],   f(path) = sum of f(cell)

l_i is 1 off the demonstration and 0 within a tolerance of it: R is 0 where every demonstrated path is cheaper than any
other, by as much as that one strays. Its subgradient: demonstrated visits minus those of the loss-augmented plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses.base import Loss
from anyboost.losses.functionals import Functional, Measure
from anyboost.planning import planners
from anyboost.planning.planners import Planner

_EQUAL = 1e-12  # costs of paths this close, relatively, are equal
_FLAT = 1e-9  # a slope this small is none
_PROBES = 40


class Demonstration(NamedTuple):
    """A path through a map, and how much it counts.

    Parameters
    ----------
    map : int
        The number of the map.
    path : ndarray (length, 2)
        Its cells.
    weight : float, default 1.0
        How much it counts.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.planning.Demonstration(0, np.array([[0, 0], [0, 1]])).weight
    1.0
    """

    map: int
    path: Array
    weight: float = 1.0


def off_path(shape: tuple[int, int], path: Array, tolerance: int) -> Array:
    """The Hamming loss of a map's cells: true where a cell is more than `tolerance` king's moves off the path.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the map.
    path : ndarray (length, 2)
        The cells of the path.
    tolerance : int
        How far off is still on it.

    Returns
    -------
    ndarray (rows, columns)
        The mask.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.planning.off_path((2, 3), np.array([[0, 0], [0, 1]]), 0).astype(int)
    array([[0, 0, 1],
           [1, 1, 1]])
    """
    from scipy.ndimage import binary_dilation

    on = np.zeros(shape, dtype=bool)
    on[path[:, 0], path[:, 1]] = True
    square = np.ones((3, 3), dtype=bool)
    return ~(binary_dilation(on, square, iterations=tolerance) if tolerance else on)


class PathMargin(Loss):
    """The margin loss of paths, for `boost`: X has a row for each cell, and y (n, 3) says which: map, row and column.

    A sample has the demonstrations of those maps that it has cells of. A cell without a row is a wall; one with several
    costs their mean. Row weights are the measure that gradients live in: R is a mean over demonstrations.

    With a planner of least cost e > 0 the costs are max(f, 1 + e), so that those minus l are at least e. R is convex
    where f >= 1 + e, but not beyond: there the subgradient lowers nothing that is below the floor already, and still
    lifts what the plan visits. Certificates of a run that went beyond do not hold.

    Parameters
    ----------
    demonstrations : sequence of Demonstration
        The paths.
    planner : str or Planner, default "grid"
        What finds the cheapest path.
    tolerance : int, default 0
        Cells at most this many king's moves off a demonstration count as on it.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> field, path = np.zeros((3, 4, 1)), [[1, 0], [0, 1], [0, 2], [1, 3]]
    >>> field[1, 1:3] = 1.0
    >>> sample = ab.planning.cells([field], [path], "lattice")
    >>> loss = ab.planning.PathMargin(sample.demonstrations, "lattice")
    >>> run = ab.boost(sample.X, sample.y, loss, "stump", rounds=20)
    >>> run.steps[-1].loss < run.start_loss
    True
    """

    name = "path_margin"

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        planner: str | Planner = "grid",
        tolerance: int = 0,
    ) -> None:
        self.demonstrations = tuple(demonstrations)
        self.planner = planners.get(planner)
        self.tolerance = checks.count(tolerance, "tolerance", least=0)

    @property
    def floor(self) -> float:
        """The least cost of a cell: what is left of it, where the loss takes off 1, is enough for the planner."""
        return 1.0 + self.planner.least_cost

    def __repr__(self) -> str:
        return f"PathMargin({len(self.demonstrations)} demonstrations, {self.planner!r}, tolerance={self.tolerance})"

    def __str__(self) -> str:
        return self.name

    def check(self, y: Any) -> Array:
        cells = checks.finite(checks.numbers(y, "y"), "y")
        if cells.ndim != 2 or cells.shape[1] != 3 or len(cells) == 0:
            raise ValueError(
                f"y must be (n, 3), the map, row and column of each cell, got shape {cells.shape}"
            )
        if (cells < 0).any() or (cells != np.floor(cells)).any():
            bad = int(np.argmax(((cells < 0) | (cells != np.floor(cells))).any(axis=1)))
            raise ValueError(f"y must hold whole numbers from 0 on, got {cells[bad].tolist()} at row {bad}")
        return cells.astype(np.int64)

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        self._check_groups(groups)
        return PathFunctional(self, self.check(y), space)


class _Task(NamedTuple):
    """A demonstration in a sample: where its map lies among the cells, and its loss there."""

    first: int
    shape: tuple[int, int]
    path: Array
    visits: Floats
    off: Floats
    share: float


class PathFunctional(Functional):
    """R on one sample. Cells of all its maps lie one after the other; `_place` is where each row's is."""

    outputs = 1

    def __init__(self, loss: PathMargin, y: Array, space: Measure) -> None:
        self.loss, self.y, self.space = loss, y, space
        numbers, which = np.unique(y[:, 0], return_inverse=True)
        shapes = np.zeros((len(numbers), 2), dtype=np.int64)
        np.maximum.at(shapes, which.ravel(), y[:, 1:] + 1)
        firsts = np.append(0, np.cumsum(shapes.prod(axis=1)))
        self._place = firsts[which.ravel()] + y[:, 1] * shapes[which.ravel(), 1] + y[:, 2]
        mass = np.ones(len(y)) if space.mass is None else space.mass
        self._mass = np.bincount(self._place, mass, minlength=firsts[-1])
        self._row_share = mass / self._mass[self._place]
        maps = {int(number): place for place, number in enumerate(numbers)}
        mine = [shown for shown in loss.demonstrations if shown.map in maps]
        if not mine:
            raise ValueError("y has no cell of a map with a demonstration: there is nothing to imitate")
        total = math.fsum(shown.weight for shown in mine)
        self.tasks = [
            self._task(shown, int(firsts[place]), (int(shapes[place, 0]), int(shapes[place, 1])), total)
            for shown in mine
            for place in [maps[shown.map]]
        ]

    def _task(self, shown: Demonstration, first: int, shape: tuple[int, int], total: float) -> _Task:
        path, planner = shown.path, self.loss.planner
        inside = np.logical_and.reduce(path < np.array(shape), axis=1)
        place = np.where(inside, first + path[:, 0] * shape[1] + path[:, 1], first)
        inside &= self._mass[place] > 0
        if not inside.all():
            cell = path[int(np.argmin(inside))].tolist()
            raise ValueError(f"y has no row for cell {cell} of map {shown.map}, which a demonstration visits")
        off = off_path(shape, path, self.loss.tolerance).astype(np.float64)
        return _Task(first, shape, path, planner.weights(path), off, shown.weight / total)

    def costs(self, scores: Floats) -> Floats:
        """The mean score of each cell, inf for walls."""
        found = np.full(len(self._mass), np.inf)
        sums = np.bincount(self._place, self._row_share * scores, minlength=len(found))
        np.copyto(found, sums, where=self._mass > 0)
        return found

    @property
    def infimum(self) -> float:
        return 0.0  # the path taken is one of those that the planner may choose, at no loss

    def value(self, scores: Floats) -> float:
        return self.at(scores)[0]

    def subgradient(self, scores: Floats) -> Floats:
        return self.at(scores)[1]

    def at(self, scores: Floats) -> tuple[float, Floats]:
        costs = self.costs(scores)
        free = costs >= self.loss.floor  # at the floor the subgradient is that of the side where R is convex
        np.maximum(costs, self.loss.floor, out=costs)
        slopes = np.zeros(len(costs))
        margins = [task.share * self._margin(task, costs, free, slopes) for task in self.tasks]
        # In L2(P) a cell's share of dR is divided by its weight.
        gradient = slopes[self._place] * (self.space.total / self._mass[self._place])
        return math.fsum(margins), gradient

    def _margin(self, task: _Task, costs: Floats, free: Array, slopes: Floats) -> float:
        """One demonstration's margin loss; adds its visits to `slopes`."""
        part = slice(task.first, task.first + task.off.size)
        cost = costs[part].reshape(task.shape)
        augmented = cost - task.off
        planner = self.loss.planner
        plan = planner.path(augmented, task.path[0], task.path[-1])
        visits = planner.weights(plan)
        shown_cells, plan_cells = (path[:, 0] * task.shape[1] + path[:, 1] for path in (task.path, plan))
        shown_costs = augmented.ravel()[shown_cells]  # off is 0 there
        paid, least_paid = float(task.visits @ shown_costs), float(visits @ augmented.ravel()[plan_cells])
        if paid - least_paid <= _EQUAL * (np.abs(shown_costs) @ task.visits):
            return 0.0  # the demonstration is a cheapest path itself, or the planner, not exact, missed it
        here, can_fall = slopes[part], free[part]
        lifted = can_fall | (task.off.ravel() > 0)  # below the floor, on the demonstration, neither has a say
        np.add.at(here, shown_cells, task.share * task.visits * can_fall[shown_cells])
        np.add.at(here, plan_cells, -task.share * visits * lifted[plan_cells])
        return paid - least_paid

    def best_constant(self) -> float:
        """0 where constants change nothing, else the best of those that the floor leaves alone."""
        n, low = self.space.n, self.loss.floor

        def slope(constant: float) -> float:
            return float(self.space.mean(self.subgradient(np.full(n, constant))))

        if math.isinf(low):
            return 0.0 if abs(slope(0.0)) <= _FLAT else float(super().best_constant())
        if slope(low) >= -_FLAT:
            return low
        high = 2 * low
        while slope(high) < 0 and high < 2**20:
            low, high = high, 2 * high
        for _ in range(_PROBES):
            if high - low <= 1e-6 * high:
                break
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return high
