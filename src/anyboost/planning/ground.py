"""Real ground to plan on: the Jacksboro fault in Tennessee, elevations that ship with matplotlib.

The strip of 344 x 403 heights (a cell is about 93 m north and 75 m east) is cut into square maps. Bands of maps are
apart: no cell, and no cell that a feature was computed from, is in two of them.

A map's `features` are what a robot might know; its paths follow the least `hidden_cost`, which is not linear in them
and also uses what is not among them: how much water drains through a cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.planning import planners
from anyboost.planning.planners import AROUND, Planner

N_BANDS = 5
NORTH, EAST = 92.6, 74.5  # meters a cell
FEATURES = (
    "height",
    "slope",
    "roughness",
    "slope around",
    "relief",
    "curvature",
    "distance to valley",
    "faces north",
    "faces east",
)


class Maps(NamedTuple):
    """Maps, the paths demonstrated on them, and what lies behind.

    Attributes
    ----------
    maps : list of ndarray (rows, columns, features)
        The maps.
    demonstrations : list of list of ndarray (length, 2)
        The paths of each map.
    costs : list of ndarray (rows, columns)
        The hidden costs.
    heights : list of ndarray (rows, columns)
        Heights in meters.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.planning.Maps(maps=[], demonstrations=[], costs=[], heights=[]).maps
    []
    """

    maps: list[Floats]
    demonstrations: list[list[Array]]
    costs: list[Floats]
    heights: list[Floats]


class Terrain(NamedTuple):
    """Maps to train on, to choose with and to test on, of areas apart.

    Attributes
    ----------
    train : Maps
        To train on.
    valid : Maps
        To choose with.
    test : Maps
        To test on.

    Examples
    --------
    >>> import anyboost as ab
    >>> nothing = ab.planning.Maps([], [], [], [])
    >>> train, valid, test = ab.planning.Terrain(nothing, nothing, nothing)
    """

    train: Maps
    valid: Maps
    test: Maps


def terrain(
    fold: int = 0,
    *,
    size: int = 40,
    paths: int = 1,
    planner: str | Planner = "lattice",
    random_state: int = 0,
) -> Terrain:
    """The Jacksboro fault as a planning problem.

    It has five bands, of which one is for validation and three for training. Paths go from a random cell of a map's
    western edge to one of its eastern edge, cheapest for the planner under the hidden cost. Needs matplotlib, which
    ships the heights.

    Parameters
    ----------
    fold : int, default 0
        Which band is the test area; the next one is for validation.
    size : int, default 40
        Maps are `size` x `size`.
    paths : int, default 1
        How many paths each has.
    planner : str or Planner, default "lattice"
        Who shows the way.
    random_state : int, default 0
        Seed of the ends of paths.

    Returns
    -------
    Terrain
        Maps to train on, to choose with and to test on.

    Examples
    --------
    >>> import anyboost as ab
    >>> train, valid, test = ab.planning.terrain(size=60)
    >>> len(train.maps), train.maps[0].shape
    (15, (60, 60, 9))
    """
    checks.count(fold, "fold", least=0, most=N_BANDS - 1)
    checks.count(paths, "paths", least=1)
    random = np.random.default_rng(checks.seed(random_state))
    finder = planners.get(planner)
    heights = elevation()
    checks.count(size, "size", least=8, most=heights.shape[1] // N_BANDS)
    bands = [_band(heights, number, size, paths, finder, random) for number in range(N_BANDS)]
    turned = bands[fold:] + bands[:fold]
    return Terrain(_together(turned[2:]), turned[1], turned[0])


def _together(bands: Sequence[Maps]) -> Maps:
    fields = zip(*bands, strict=True)
    return Maps(*([one for part in parts for one in part] for parts in fields))


def elevation() -> Floats:
    """Heights in meters, north up."""
    try:
        from matplotlib.cbook import get_sample_data
    except ImportError:
        raise ImportError('the elevations ship with matplotlib: pip install "anyboost[report]"') from None
    data: Any = get_sample_data("jacksboro_fault_dem.npz")
    with data:
        return data["elevation"].astype(np.float64)


def _band(
    heights: Floats, number: int, size: int, paths: int, planner: Planner, random: np.random.Generator
) -> Maps:
    """The maps that fit into one of five bands from west to east."""
    width = heights.shape[1] // N_BANDS
    corners = [
        (row, number * width + column)
        for row in range(0, heights.shape[0] - size + 1, size)
        for column in range(0, width - size + 1, size)
    ]
    found = Maps([], [], [], [])
    for row, column in corners:
        height = heights[row : row + size, column : column + size]
        cost = hidden_cost(height)
        ends = random.integers(size, size=(paths, 2))
        found.maps.append(features(height))
        found.demonstrations.append([planner.plan(cost, (int(a), 0), (int(b), size - 1)) for a, b in ends])
        found.costs.append(cost)
        found.heights.append(height)
    return found


class _Slopes(NamedTuple):
    """Meters up a meter east and a meter north, and the angle in degrees."""

    east: Floats
    north: Floats
    angle: Floats


def _slopes(height: Floats) -> _Slopes:
    south, east = (np.asarray(part) for part in np.gradient(height, NORTH, EAST))
    return _Slopes(east, -south, np.degrees(np.arctan(np.hypot(east, south))))


def features(height: Floats) -> Floats:
    """(rows, columns, 9) from a map's heights alone; see FEATURES. Nothing beyond its edges is used."""
    from scipy import ndimage

    slopes = _slopes(height)
    smooth = ndimage.uniform_filter(height, 3, mode="nearest")
    rough = np.sqrt(np.maximum(ndimage.uniform_filter((height - smooth) ** 2, 3, mode="nearest"), 0.0))
    above = height - ndimage.minimum_filter(height, 9, mode="nearest")
    valley = above <= np.quantile(above, 0.15)
    steep = np.maximum(np.hypot(slopes.east, slopes.north), 1e-9)
    found = (
        height / 100.0,
        slopes.angle,
        rough,
        ndimage.uniform_filter(slopes.angle, 5, mode="nearest"),
        (
            ndimage.maximum_filter(height, 5, mode="nearest")
            - ndimage.minimum_filter(height, 5, mode="nearest")
        )
        / 10.0,
        ndimage.laplace(smooth, mode="nearest"),
        ndimage.distance_transform_edt(~valley),
        -slopes.north / steep,
        -slopes.east / steep,
    )
    return np.stack(found, axis=2)


def hidden_cost(height: Floats) -> Floats:
    """What a cell costs those who show the way, per meter and up to a factor.

    0.3 for the way itself; steep ground, past about 12 degrees; wet ground, where much drains through and it is flat;
    cold ground, slopes that face north-east and have no sun; and on high ground, past about 600 m, all but the first at
    0.6 of that: the forest is thinner.
    """
    slopes = _slopes(height)
    steep = 3.0 / (1.0 + np.exp(-(slopes.angle - 12.0) / 1.5))
    wet = 2.0 * np.clip(np.log2(drainage(height)) - 2.0, 0.0, 4.0) / 4.0 * np.exp(-slopes.angle / 6.0)
    cold = 4.0 * np.maximum(-(slopes.north + slopes.east) / np.sqrt(2.0), 0.0)
    thinner = 1.0 - 0.4 / (1.0 + np.exp(-(height - 600.0) / 40.0))
    return 0.3 + thinner * (steep + wet + cold)


def drainage(height: Floats) -> Floats:
    """How many cells drain through each: every cell passes its water to its lowest neighbor, if that is lower."""
    rows, columns = height.shape
    padded = np.pad(height, 1, constant_values=np.inf)
    around = np.stack(
        [padded[1 + down : 1 + down + rows, 1 + right : 1 + right + columns] for down, right in AROUND]
    )
    lowest = around.argmin(axis=0)
    down, right = np.array(AROUND).T
    to = (np.arange(rows)[:, None] + down[lowest]) * columns + np.arange(columns) + right[lowest]
    drains = (around.min(axis=0) < height).ravel()
    water = np.ones(rows * columns)
    for cell in np.argsort(-height, axis=None, kind="stable"):
        if drains[cell]:
            water[to.ravel()[cell]] += water[cell]
    return water.reshape(rows, columns)
