"""Maps and demonstrations as `boost` takes them: a row of X for each cell, and y that says which cell it is.

Everything a user can get wrong about maps and paths is refused here, in a sentence, before any work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.planning import planners
from anyboost.planning.loss import Demonstration
from anyboost.planning.planners import Planner


class Map(NamedTuple):
    """Features (rows, columns, d) and which cells can be entered."""

    features: Floats
    passable: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.passable.shape[0], self.passable.shape[1]

    def cells(self) -> Array:
        """(n, 2): the cells that can be entered, row by row."""
        return np.argwhere(self.passable)

    def rows(self) -> Floats:
        """(n, d): their features."""
        return self.features[self.passable]

    def of_cells(self, values: Floats) -> Floats:
        """Values of the cells, laid out as a map with inf for walls."""
        found = np.full(self.shape, np.inf)
        found[self.passable] = values
        return found


class Cells(NamedTuple):
    """Maps as a sample: what `boost` and `PathMargin` take.

    Attributes
    ----------
    X : ndarray (n, d)
        The features of each cell.
    y : ndarray (n, 3)
        Its map, row and column.
    demonstrations : list of Demonstration
        The paths.
    maps : list of Map
        The maps.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> sample = ab.planning.cells([np.zeros((2, 3, 1))], [[[0, 0], [0, 1]]])
    >>> sample.X.shape, sample.y[-1]
    ((6, 1), array([0, 1, 2]))
    """

    X: Floats
    y: Array
    demonstrations: list[Demonstration]
    maps: list[Map]


def check_maps(maps: Any, passable: Any, n_features: int | None, prefix: str = "") -> list[Map]:
    """Maps of finite features, all with the same number of them, and masks of the cells that can be entered."""
    listed = _listed(maps, f"{prefix}maps", "one (rows, columns, features) array a map")
    masks = [None] * len(listed) if passable is None else list(passable)
    if len(masks) != len(listed):
        raise ValueError(
            f"{prefix}passable must have one mask a map, got {len(masks)} for {len(listed)} maps"
        )
    found: list[Map] = []
    for number, (given, mask) in enumerate(zip(listed, masks, strict=True)):
        name = f"{prefix}map {number}"
        features = checks.numbers(given, name)
        if features.ndim != 3 or features.size == 0:
            raise ValueError(f"{name} must be an array (rows, columns, features), got shape {features.shape}")
        n_features = features.shape[2] if n_features is None else n_features
        if features.shape[2] != n_features:
            raise ValueError(
                f"{name} must have {n_features} features like the others, got {features.shape[2]}"
            )
        open_cells = _mask(mask, features.shape[:2], name)
        bad = ~np.isfinite(features).all(axis=2) & open_cells
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            raise ValueError(
                f"{name} must be finite, got {features[row, column].tolist()} at cell ({row}, {column}): fill it in, "
                "or mark the cell as a wall in passable"
            )
        found.append(Map(features, open_cells))
    return found


def _mask(mask: Any, shape: tuple[int, ...], name: str) -> Array:
    if mask is None:
        return np.ones(shape, dtype=bool)
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != shape:
        raise ValueError(
            f"passable of {name} must be truth values of shape {shape}, got {array.dtype} of {array.shape}"
        )
    if not array.any():
        raise ValueError(f"passable of {name} has no cell that can be entered")
    return array


def check_demonstrations(
    demonstrations: Any, maps: Sequence[Map], planner: Planner, sample_weight: Any = None, prefix: str = ""
) -> list[Demonstration]:
    """One path or several for each map, of moves that the planner can make."""
    listed = _listed(demonstrations, f"{prefix}demonstrations", "one path, or a list of paths, a map")
    if len(listed) != len(maps):
        raise ValueError(
            f"{prefix}demonstrations must have one path, or a list of paths, for each of the {len(maps)} maps, "
            f"got {len(listed)}"
        )
    found = []
    for number, (given, where) in enumerate(zip(listed, maps, strict=True)):
        for path in _paths(given, f"{prefix}demonstration of map {number}"):
            found.append(Demonstration(number, path))
            _check_path(path, where, planner, f"{prefix}demonstration of map {number}")
    if sample_weight is None:
        return found
    weights = checks.sample_weight(sample_weight, len(found), f"{prefix}sample_weight", "demonstration")
    return [
        shown._replace(weight=float(weight))
        for shown, weight in zip(found, weights, strict=True)
        if weight > 0
    ]


def _paths(given: Any, name: str) -> list[Array]:
    """One array of cells, or a list of them, as a list."""
    several = isinstance(given, list | tuple | np.ndarray) and len(given) > 0 and np.ndim(given[0]) == 2
    return [_cells(path, name) for path in (given if several else [given])]


def _cells(path: Any, name: str) -> Array:
    cells = checks.numbers(path, name)
    if cells.ndim != 2 or cells.shape[1] != 2:
        raise ValueError(f"{name} must be an array of cells (length, 2), got shape {cells.shape}")
    if not np.array_equal(cells, np.floor(cells)):
        raise ValueError(f"{name} must hold whole numbers, rows and columns of its cells")
    if len(cells) < 2:
        raise ValueError(f"{name} has {len(cells)} cells: a path needs two or more")
    return cells.astype(np.int64)


def check_cell(cell: Any, where: Map, name: str) -> planners.Cell:
    """One cell of a map that can be entered."""
    found = checks.numbers(cell, name)
    if found.shape != (2,) or not np.array_equal(found, np.floor(found)):
        raise ValueError(f"{name} must be the row and column of a cell, got {cell!r}")
    row, column = int(found[0]), int(found[1])
    _check_inside(np.array([[row, column]]), where, name)
    return row, column


def _check_inside(path: Array, where: Map, name: str) -> None:
    inside = ((path >= 0) & (path < np.array(where.shape))).all(axis=1)
    if not inside.all():
        row, column = path[int(np.argmin(inside))].tolist()
        raise ValueError(
            f"{name} leaves the map, which has {where.shape[0]} rows and {where.shape[1]} columns, "
            f"at cell ({row}, {column})"
        )
    free = where.passable[path[:, 0], path[:, 1]]
    if not free.all():
        row, column = path[int(np.argmin(free))].tolist()
        raise ValueError(f"{name} enters cell ({row}, {column}), a wall: correct the path, or passable")


def _check_path(path: Array, where: Map, planner: Planner, name: str) -> None:
    _check_inside(path, where, name)
    moves = np.asarray(planner.moves(path))
    if not moves.all():
        step = int(np.argmin(moves))
        (r0, c0), (r1, c1) = path[step].tolist(), path[step + 1].tolist()
        raise ValueError(
            f"{name} jumps from cell ({r0}, {c0}) to ({r1}, {c1}), which is no move of {planner!r}: "
            "fill in the cells between, or use another planner"
        )


def cells(
    maps: Any,
    demonstrations: Any,
    planner: str | Planner = "grid",
    *,
    passable: Any = None,
    sample_weight: Any = None,
    first: int = 0,
    n_features: int | None = None,
    prefix: str = "",
) -> Cells:
    """Maps and demonstrations, checked, as a sample for `boost(X, y, PathMargin(demonstrations, ...))`.

    Parameters
    ----------
    maps : sequence of array_like (rows, columns, features)
        The maps.
    demonstrations : sequence
        For each map an array (length, 2) of cells, or a list of such arrays.
    planner : str or Planner, default "grid"
        Whose moves the demonstrations must be.
    passable : sequence of array_like (rows, columns) or None, default None
        For each map a mask of the cells that can be entered; None: all can.
    sample_weight : array_like or None, default None
        One weight a demonstration, in their order.
    first : int, default 0
        The number of the first map, so that those of a validation set can have numbers of their own in one loss.
    n_features : int or None, default None
        How many features a cell must have; None: those of the first map.
    prefix : str, default ""
        What messages put before the names of these arguments.

    Returns
    -------
    Cells
        The sample.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> sample = ab.planning.cells([np.zeros((2, 3, 1))], [[[0, 0], [0, 1]]])
    >>> len(sample.X), sample.demonstrations[0].path.tolist()
    (6, [[0, 0], [0, 1]])
    """
    checked = check_maps(maps, passable, n_features, prefix)
    shown = check_demonstrations(demonstrations, checked, planners.get(planner), sample_weight, prefix)
    numbered = [found._replace(map=found.map + first) for found in shown]
    used = sorted({found.map for found in shown})  # the cells of a map without weight teach nothing
    return Cells(
        np.concatenate([checked[k].rows() for k in used]),
        np.concatenate([_with_number(checked[k].cells(), k + first) for k in used]),
        numbered,
        checked,
    )


def _with_number(places: Array, number: int) -> Array:
    return np.column_stack([np.full(len(places), number), places])


def _listed(values: Any, name: str, what: str) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list, {what}, got {type(values).__name__}")
    found = list(values)
    if not found:
        raise ValueError(f"{name} is empty: give {what}")
    return found


def watched_cells(valid: Any, planner: Planner, train: Cells) -> Cells:
    """The cells of maps to watch, given as a pair or by name."""
    if not isinstance(valid, Mapping):
        if not (isinstance(valid, tuple | list) and len(valid) == 2):
            raise TypeError(
                'valid must be (maps, demonstrations), or a mapping with these names and "passable"'
            )
        valid = {"maps": valid[0], "demonstrations": valid[1]}
    unknown = set(valid) - {"maps", "demonstrations", "passable"}
    if unknown or not {"maps", "demonstrations"} <= set(valid):
        raise ValueError(
            f'valid needs "maps" and "demonstrations" and may have "passable"; got {list(valid)}'
        )
    return cells(
        valid["maps"],
        valid["demonstrations"],
        planner,
        passable=valid.get("passable"),
        first=len(train.maps),
        n_features=train.X.shape[1],
        prefix="valid ",
    )


def ends_of(
    maps: Sequence[Map], starts: Any, goals: Any
) -> list[tuple[bool, list[tuple[planners.Cell, planners.Cell]]]]:
    """For each map: whether it has several ends, and its pairs of start and goal."""
    for name, given in (("starts", starts), ("goals", goals)):
        if len(given) != len(maps):
            raise ValueError(
                f"{name} must have one cell, or several, for each of the {len(maps)} maps, got {len(given)}"
            )
    found = []
    for number, (where, start, goal) in enumerate(zip(maps, starts, goals, strict=True)):
        several = np.ndim(start) == 2
        first, last = (list(start), list(goal)) if several else ([start], [goal])
        if np.ndim(start) != np.ndim(goal) or len(first) != len(last):
            raise ValueError(f"starts and goals of map {number} must be as many, got {start!r} and {goal!r}")
        pairs = [
            (check_cell(a, where, f"start of map {number}"), check_cell(b, where, f"goal of map {number}"))
            for a, b in zip(first, last, strict=True)
        ]
        found.append((several, pairs))
    return found
