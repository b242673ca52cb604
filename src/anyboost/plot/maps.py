"""Planned paths on a map, beside the costs that a planner learned."""

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def paths(
    model: Any,
    features: Any,
    demonstrations: Any,
    terrain: Any = None,
    *,
    passable: Any = None,
    name: str = "terrain",
) -> "Figure":
    """A map with the paths that were shown and those that a `MaxMarginPlanner` plans, beside the costs it learned.

    Parameters
    ----------
    model : MaxMarginPlanner
        A fitted planner.
    features : array_like (rows, columns, d)
        The map.
    demonstrations : array_like (length, 2) or list of them
        One path of cells, or several.
    terrain : array_like (rows, columns) or None, default None
        What to draw at the left; None: the first feature.
    passable : array_like (rows, columns) or None, default None
        Which cells can be entered; None: all.
    name : str, default "terrain"
        What the left side is called.

    Returns
    -------
    Figure
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> field = np.zeros((3, 4, 1))
    >>> field[1, 1:3] = 1.0
    >>> path = np.array([[1, 0], [0, 1], [0, 2], [1, 3]])
    >>> model = ab.MaxMarginPlanner("stump", planner="lattice", max_iter=20).fit([field], [path])
    >>> figure = ab.plot.paths(model, field, path)
    """
    from matplotlib.colors import LogNorm

    shown = [np.asarray(path) for path in _several(demonstrations)]
    mask = None if passable is None else [passable]
    ends = [np.array([path[side] for path in shown]) for side in (0, -1)]
    cost, planned = (part[0] for part in model.predict([features], [ends[0]], [ends[1]], passable=mask))
    ground = np.asarray(features)[:, :, 0] if terrain is None else np.asarray(terrain)
    figure = figures.new((8.6, 4.3))
    left, right = figure.subplots(1, 2)
    left.imshow(ground, cmap="gray")
    left.set_title(name, loc="left")
    finite = np.where(np.isfinite(cost), cost, np.nan)
    scale = LogNorm() if np.nanmin(finite) > 0 else None
    image = right.imshow(finite, cmap="cividis", norm=scale)
    right.set_title("learned cost", loc="left")
    figure.colorbar(image, ax=right, shrink=0.8)
    for ax in (left, right):
        for path in shown:
            _trace(ax, path, "#000000", "-", 2.4, "demonstrated")
        for path in planned:
            _trace(ax, path, figures.ORANGE, (0, (2.5, 1.2)), 1.8, "planned")
        ax.set_xticks([])
        ax.set_yticks([])
    handles = left.get_legend_handles_labels()[0]
    figure.legend(handles=[handles[0], handles[-1]], loc="outside lower left", ncols=2, frameon=False)
    return figure


def _trace(ax: "Axes", path: np.ndarray, color: str, style: Any, width: float, label: str) -> None:
    """A path over a picture, cased in white so that it shows on any ground."""
    from matplotlib import patheffects

    cased = [patheffects.withStroke(linewidth=width + 1.8, foreground="#FFFFFF")] if style == "-" else None
    ax.plot(
        path[:, 1], path[:, 0], linestyle=style, color=color, linewidth=width, label=label, path_effects=cased
    )


def _several(demonstrations: Any) -> list[Any]:
    one = np.ndim(demonstrations[0]) == 1
    return [demonstrations] if one else list(demonstrations)
