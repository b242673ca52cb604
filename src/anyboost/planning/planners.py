"""Planners: the cheapest path from one cell of a map to another.

    cost(path) = sum over its cells of  weight(cell in path) * cost(cell)

A planner says what a move is and what it weighs; path and loss count alike. Cells of infinite cost are walls.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats

Cell = tuple[int, int]
AROUND = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]


class Planner(ABC):
    """The base of all planners: one of your own needs `plan`, and the rest where the defaults do not suit it.

    Attributes
    ----------
    least_cost : float
        What it needs each cell to cost at least: -inf for one that can plan with negative costs.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> class Straight(ab.planning.Planner):
    ...     def plan(self, cost, start, goal):
    ...         columns = np.arange(start[1], goal[1] + 1)
    ...         return np.column_stack([np.full(len(columns), start[0]), columns])
    >>> Straight().path(np.ones((2, 3)), (0, 0), (0, 2)).tolist()
    [[0, 0], [0, 1], [0, 2]]
    """

    least_cost: float = -math.inf

    @abstractmethod
    def plan(self, cost: Floats, start: Cell, goal: Cell) -> Array:
        """The cells of the cheapest path, both ends included, through a map of costs.

        Parameters
        ----------
        cost : ndarray (rows, columns)
            What cells cost; inf are walls.
        start : tuple of int
            The first cell.
        goal : tuple of int
            The last cell.

        Returns
        -------
        ndarray (length, 2)
            The path. A ValueError where the goal cannot be reached: see `unreachable`.
        """

    def moves(self, path: Array) -> Array:
        """Which steps from a cell of the path to its next are moves: here those to one of the eight neighbors.

        Parameters
        ----------
        path : ndarray (length, 2)
            The cells.

        Returns
        -------
        ndarray (length - 1,)
            Whether each step is a move.
        """
        return np.abs(np.diff(path, axis=0)).max(axis=1) == 1

    def weights(self, path: Array) -> Floats:
        """How often each cell of the path counts: here once, the start included.

        Parameters
        ----------
        path : ndarray (length, 2)
            The cells.

        Returns
        -------
        ndarray (length,)
            The weights.
        """
        return np.ones(len(path))

    def path(self, cost: Floats, start: Any, goal: Any) -> Array:
        """What `plan` gives between two cells, however they are written; a sentence where it is no such path.

        Parameters
        ----------
        cost : array_like (rows, columns)
            What cells cost; inf are walls.
        start : array_like (2,)
            The first cell.
        goal : array_like (2,)
            The last cell.

        Returns
        -------
        ndarray (length, 2)
            The path.
        """
        cost = np.asarray(cost, dtype=np.float64)
        first, last = (int(start[0]), int(start[1])), (int(goal[0]), int(goal[1]))
        found = np.asarray(self.plan(cost, first, last))
        who = f"planner {type(self).__name__}"
        if found.ndim != 2 or tuple(found[0].tolist()) != first or tuple(found[-1].tolist()) != last:
            raise ValueError(
                f"{who} must plan from {_spelled(first)} to {_spelled(last)}, both included, got {found.tolist()}"
            )
        if not np.issubdtype(found.dtype, np.integer):
            raise ValueError(f"{who} must give cells as whole numbers, got {found[0].tolist()}")
        inside = ((found >= 0) & (found < cost.shape)).all(axis=1)
        if not inside.all():
            raise ValueError(f"{who} went to {_spelled(found[np.argmin(inside)])}, which is off the map")
        free = np.isfinite(cost[found[:, 0], found[:, 1]])
        if not free.all():
            raise ValueError(f"{who} went through the wall at {_spelled(found[np.argmin(free)])}")
        allowed = self.moves(found) if len(found) > 1 else np.ones(1, dtype=bool)
        if not allowed.all():
            place = int(np.argmin(allowed))
            here, there = _spelled(found[place]), _spelled(found[place + 1])
            raise ValueError(f"{who} went from {here} to {there}, which its `moves` says is no move")
        return found

    def unreachable(self, start: Cell, goal: Cell) -> ValueError:
        """The error to raise where there is no path.

        Parameters
        ----------
        start : tuple of int
            The first cell.
        goal : tuple of int
            The last cell.

        Returns
        -------
        ValueError
            It names both cells.
        """
        return ValueError(
            f"goal {_spelled(goal)} cannot be reached from start {_spelled(start)}: choose ends that "
            f"{type(self).__name__} can join"
        )


class Neighbors(NamedTuple):
    """The moves of a grid as a sparse matrix: from row to `entered`, of this length."""

    entered: Array
    ends: Array
    length: Floats


@dataclass(frozen=True)
class GridPlanner(Planner):
    """Dijkstra's algorithm on a grid whose cells have eight neighbors.

    A move costs what the entered cell does, times `diagonal` where it is a diagonal one; the start counts once.
    Costs must be positive: those that are learned are raised to 1 + `least_cost`, and the loss is not convex where
    that happens (see `PathMargin`).

    Parameters
    ----------
    diagonal : float, default 1.4142135623730951
        How much longer a diagonal move is.
    least_cost : float, default 0.1
        What learned costs are at least, less 1.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> cost = np.ones((3, 3))
    >>> cost[1, 1] = np.inf
    >>> ab.planning.GridPlanner().path(cost, (1, 0), (1, 2)).shape
    (3, 2)
    """

    diagonal: float = math.sqrt(2)
    least_cost: float = 0.1

    def __post_init__(self) -> None:
        checks.positive(self.diagonal, "diagonal")
        checks.positive(self.least_cost, "least_cost")

    def plan(self, cost: Floats, start: Cell, goal: Cell) -> Array:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        rows, columns = cost.shape
        flat = cost.ravel()
        if not flat.min() > 0:
            raise ValueError(f"cost must be positive for GridPlanner, got {flat.min()}: try LatticePlanner()")
        near = _neighbors(rows, columns, self.diagonal)
        graph = csr_array((flat[near.entered] * near.length, near.entered, near.ends), shape=(flat.size,) * 2)
        first, last = start[0] * columns + start[1], goal[0] * columns + goal[1]
        before = dijkstra(graph, indices=first, return_predecessors=True)[1]
        path = [last]
        while path[-1] != first:
            if before[path[-1]] < 0:
                raise self.unreachable(start, goal)
            path.append(int(before[path[-1]]))
        return np.column_stack(divmod(np.array(path[::-1]), columns))

    def weights(self, path: Array) -> Floats:
        diagonal = np.abs(np.diff(path, axis=0)).sum(axis=1) == 2
        return np.append(1.0, np.where(diagonal, self.diagonal, 1.0))


@lru_cache(maxsize=64)
def _neighbors(rows: int, columns: int, diagonal: float) -> Neighbors:
    row, column = (place.ravel() for place in np.indices((rows, columns), dtype=np.int32))
    down, right = np.array(AROUND, dtype=np.int32).T
    to_row, to_column = row[:, None] + down, column[:, None] + right
    inside = (to_row >= 0) & (to_row < rows) & (to_column >= 0) & (to_column < columns)
    entered = (to_row * np.int32(columns) + to_column)[inside]
    ends = np.append(0, np.cumsum(inside.sum(axis=1))).astype(np.int32)
    length = np.broadcast_to(np.where(down * right != 0, diagonal, 1.0), inside.shape)[inside]
    return Neighbors(entered, ends, length)


@dataclass(frozen=True)
class LatticePlanner(Planner):
    """The exact planner of a lattice that moves one column to the right at a time, and up to `reach` rows up or down.

    Every cell counts once, so all paths between two cells are equally long, and a constant added to all costs changes
    nothing. Costs may have any sign: the loss is convex everywhere.

    Parameters
    ----------
    reach : int, default 1
        How many rows a move may go up or down.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> cost = np.array([[0.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    >>> ab.planning.LatticePlanner().path(cost, (1, 0), (1, 2)).tolist()
    [[1, 0], [0, 1], [1, 2]]
    """

    reach: int = 1

    def __post_init__(self) -> None:
        checks.count(self.reach, "reach", least=1)

    def plan(self, cost: Floats, start: Cell, goal: Cell) -> Array:
        from anyboost.backends.lattice import cheapest_rows

        if goal[1] < start[1]:
            raise self.unreachable(start, goal)
        table = np.ascontiguousarray(cost, dtype=np.float64)
        rows = cheapest_rows(table, start[0], start[1], goal[0], goal[1], self.reach)
        if len(rows) == 0:
            raise self.unreachable(start, goal)
        return np.column_stack([rows, np.arange(start[1], goal[1] + 1)])

    def moves(self, path: Array) -> Array:
        down, right = np.diff(path, axis=0).T
        return (right == 1) & (np.abs(down) <= self.reach)


def get(planner: str | Planner) -> Planner:
    """The planner itself, or the one a string names: "grid", "lattice", "lattice:2"."""
    makers: dict[str, Any] = {"grid": GridPlanner, "lattice": LatticePlanner}
    return checks.chosen(planner, "planner", Planner, makers, "LatticePlanner()")  # type: ignore[type-abstract]


def _spelled(cell: Cell) -> str:
    return f"({int(cell[0])}, {int(cell[1])})"
