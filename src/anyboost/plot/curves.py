"""Additive models as people know them: a step curve for each column with its rows below, pairs as heat maps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.explain.shapes import Shape, Shapes
from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = "#BBBBBB"
_ACROSS = 3  # panels
_LONG = 30  # letters of a title in one line
_BARS = 30  # of rows under a curve of numbers, at most
_MOST_LEVELS = 15  # of a column, the heaviest
_GAP = 0.06  # between numbers and missing values, of the range


class Scale(NamedTuple):
    """Where the cells of a column are drawn: those shown, their ends, and the ticks that need words."""

    cells: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    words: dict[float, str]

    @property
    def centers(self) -> np.ndarray:
        return (self.starts + self.stops) / 2


def shapes(
    model: Any,
    features: Sequence[str | tuple[str, str]] | None = None,
    top: int = 9,
    output: int | None = None,
) -> "Figure":
    """The curves of an additive model, and its pairs: what each adds to the raw score, above the rows of the training.

    Step curves for numbers, bars for categories, heat maps for pairs, missing values apart where training had some; all
    curves have one scale. In the titles: shares of the variance.

    Parameters
    ----------
    model : estimator or Shapes
        A fitted estimator whose `shapes()` can be had, or those.
    features : sequence of str or (str, str), or None, default None
        Columns, and pairs of them, to draw. None: those of the largest shares.
    top : int, default 9
        How many to draw where `features` is None.
    output : int or None, default None
        Which of several outputs. None: a line for each, and of a pair the output in which it varies most.

    Returns
    -------
    Figure
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> model = ab.BoostingRegressor(max_iter=1, min_leaf_weight=1).fit(X, y)
    >>> figure = ab.plot.shapes(model)
    """
    checks.count(top, "top", least=1)
    found = model if isinstance(model, Shapes) else _shapes_of(model)
    shown = list(found)[:top] if features is None else _named(found, features)
    if not shown:
        raise ValueError("model is a constant, and has no curves to draw")
    n_outputs = np.size(found.intercept)
    if output is not None:
        checks.count(output, "output", least=0, most=n_outputs - 1)
    outputs = range(n_outputs) if output is None else [output]
    names = _output_names(model, n_outputs)
    across = 2 if len(shown) == 4 else min(_ACROSS, len(shown))
    down = -(-len(shown) // across)
    figure = figures.new((0.6 + 3.2 * across, 2.9 * down))
    grid = figure.add_gridspec(down, across)
    curves: list[Axes] = []
    for place, shape in enumerate(shown):
        title = _title(shape)
        part = grid[place // across, place % across]
        if len(shape.features) == 2:
            _pair(figure.add_subplot(part), shape, title, outputs, names)
            continue
        halves = part.subgridspec(2, 1, height_ratios=(4, 1), hspace=0.0)
        above, below = figure.add_subplot(halves[0]), figure.add_subplot(halves[1])
        above.set_title(title, fontsize=9)
        _curve(above, below, shape, outputs, names)
        curves.append(above)
    _one_scale(curves)
    if curves and len(outputs) > 1:
        curves[0].legend(frameon=False, fontsize=8)
    figure.supylabel("added to the raw score", fontsize=9)
    return figure


def _title(shape: Shape) -> str:
    name = " x ".join(shape.features)
    between = "\n" if len(name) > _LONG else " "
    return f"{between.join([shape.features[0], *(f'x {other}' for other in shape.features[1:])])}, {shape.share:.1%}"


def _one_scale(curves: "list[Axes]") -> None:
    """The same limits for all, so that what adds little looks so."""
    if curves:
        low, high = (pick(ax.get_ylim()[side] for ax in curves) for side, pick in ((0, min), (1, max)))
        for ax in curves:
            ax.set_ylim(low, high)


def _shapes_of(model: Any) -> Shapes:
    if not hasattr(model, "shapes"):
        raise TypeError(f"model must be a fitted boosting estimator, got {type(model).__name__}")
    return model.shapes()


def _named(found: Shapes, features: Sequence[str | tuple[str, str]]) -> list[Shape]:
    if isinstance(features, str):
        raise ValueError(
            f"features must be a list of columns and pairs, got {features!r}: use [{features!r}]"
        )
    try:
        return [found[name] for name in features]
    except (KeyError, TypeError):
        known = ", ".join(" x ".join(shape.features) for shape in found)
        raise ValueError(
            f"features must be columns and pairs that the model uses, got {list(features)!r}; it uses: {known}"
        ) from None


def _output_names(model: Any, n_outputs: int) -> list[str]:
    classes = getattr(model, "classes_", None)
    if classes is None or n_outputs == 1:
        return [f"output {number}" for number in range(n_outputs)]
    return [str(label) for label in classes]


def _scale(shape: Shape, axis: int) -> Scale:
    """Cells of numbers between their edges, those of levels in a row; missing values apart, where there are any."""
    mass, levels = shape.mass[axis], shape.levels[axis]
    if levels is None:
        ends = _ends(shape, axis)
        cells, starts, stops, words = np.arange(len(ends) - 1), ends[:-1], ends[1:], {}
    else:
        present = np.flatnonzero(mass[:-1] > 0)
        cells = np.sort(present[np.argsort(-mass[present], kind="stable")[:_MOST_LEVELS]])
        starts, stops = np.arange(len(cells)) - 0.5, np.arange(len(cells)) + 0.5
        words = {float(place): _level(levels[cell]) for place, cell in enumerate(cells.tolist())}
    if mass[-1] > 0:
        width = 1.0 if levels is not None else _GAP * (stops[-1] - starts[0])
        start = stops[-1] + width
        words[float(start + width / 2)] = "missing"
        cells, starts, stops = (
            np.append(cells, len(mass) - 1),
            np.append(starts, start),
            np.append(stops, start + width),
        )
    return Scale(cells, starts, stops, words)


def _level(level: str | float) -> str:
    return level if isinstance(level, str) else f"{level:g}"


def _ends(shape: Shape, axis: int) -> np.ndarray:
    """The ends of cells of numbers; the outermost reach as far as the training rows did."""
    edges, bounds = shape.edges[axis], shape.bounds[axis]
    assert edges is not None
    assert bounds is not None
    low, high = bounds
    if len(edges) == 0:
        return np.array([low, max(high, low + 1.0)])
    return np.array([min(low, edges[0]), *edges, max(high, edges[-1])])


def _curve(above: "Axes", below: "Axes", shape: Shape, outputs: Sequence[int], names: list[str]) -> None:
    scale = _scale(shape, 0)
    values = shape.values.reshape(len(shape.values), -1)
    below.sharex(above)
    numbers = shape.levels[0] is None
    for place, number in enumerate(outputs):
        color = figures.LINES[(place + 2) % len(figures.LINES)]
        heights = values[scale.cells, number]
        if numbers:
            _steps(above, scale, heights, color, names[number])
        else:
            width = 0.8 / len(outputs)
            shift = (place - (len(outputs) - 1) / 2) * width
            above.bar(scale.centers + shift, heights, width, color=color, label=names[number])
    starts, stops, mass = _rows(scale, shape.mass[0], numbers)
    below.bar(starts, mass, stops - starts, align="edge", color=ROWS, edgecolor="white", linewidth=0.3)
    above.axhline(0.0, color="#777777", linewidth=0.6, zorder=0)
    above.tick_params(labelbottom=False)
    below.set_yticks([])
    below.set_ylabel("rows", fontsize=7)
    below.tick_params(labelsize=8)
    _ticks(below.xaxis, scale, numbers)
    if not numbers and np.count_nonzero(shape.mass[0][:-1]) > _MOST_LEVELS:
        below.set_xlabel(f"the {_MOST_LEVELS} levels of most rows", fontsize=7)
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)


def _rows(scale: Scale, mass: np.ndarray, numbers: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bars of rows: where they start and stop, and their shares. Many cells of numbers become few of equal width."""
    apart = int("missing" in scale.words.values())
    n, shares = len(scale.cells) - apart, mass[scale.cells]
    if not numbers or n <= _BARS:
        return scale.starts, scale.stops, shares
    ends = np.linspace(scale.starts[0], scale.stops[n - 1], _BARS + 1)
    up_to = np.interp(ends, [scale.starts[0], *scale.stops[:n]], np.append(0.0, np.cumsum(shares[:n])))
    return (
        np.append(ends[:-1], scale.starts[n:]),
        np.append(ends[1:], scale.stops[n:]),
        np.append(np.diff(up_to), shares[n:]),
    )


def _steps(ax: "Axes", scale: Scale, heights: np.ndarray, color: str, name: str) -> None:
    """The curve over the numbers, and what missing values add as a short bar beside it."""
    apart = "missing" in scale.words.values()
    n = len(heights) - apart
    ax.stairs(
        heights[:n],
        [*scale.starts[:n], scale.stops[n - 1]],
        baseline=None,
        color=color,
        linewidth=1.6,
        label=name,
    )
    if apart:
        ax.hlines(heights[-1], scale.starts[-1], scale.stops[-1], color=color, linewidth=3.0)


def _pair(ax: "Axes", shape: Shape, title: str, outputs: Sequence[int], names: list[str]) -> None:
    values = shape.values.reshape(*shape.values.shape[:2], -1)
    number = outputs[0]
    if len(outputs) > 1:
        spread = np.einsum("abk,a,b->k", values**2, *shape.mass)
        number = int(np.argmax(spread))
    first, second = _scale(shape, 0), _scale(shape, 1)
    table = values[np.ix_(first.cells, second.cells)][:, :, number]
    xs, table = _with_gaps(first, table)
    ys, table = _with_gaps(second, table.T)
    most = float(np.nanmax(np.abs(table))) or 1.0
    image = ax.pcolormesh(xs, ys, np.ma.masked_invalid(table), cmap="RdBu_r", vmin=-most, vmax=most)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9)
    bar.ax.tick_params(labelsize=7)
    if len(names) > 1:
        bar.set_label(names[number], fontsize=8)
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(shape.features[0], fontsize=8)
    ax.set_ylabel(shape.features[1], fontsize=8)
    ax.tick_params(labelsize=8)
    _ticks(ax.xaxis, first, shape.levels[0] is None)
    _ticks(ax.yaxis, second, shape.levels[1] is None)


def _with_gaps(scale: Scale, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All ends along the first axis, and the table with a row of NaN where cells do not touch."""
    ends, rows = [scale.starts[0]], []
    for start, stop, row in zip(scale.starts, scale.stops, table, strict=True):
        if start > ends[-1]:
            ends.append(start)
            rows.append(np.full_like(row, np.nan))
        ends.append(stop)
        rows.append(row)
    return np.array(ends), np.array(rows)


def _ticks(axis: Any, scale: Scale, numbers: bool) -> None:
    """Words where cells have some; of numbers, round ones within their range."""
    places = dict(scale.words)
    if numbers:
        from matplotlib.ticker import MaxNLocator

        apart = "missing" in scale.words.values()
        last = scale.stops[-2] if apart else scale.stops[-1]
        found = MaxNLocator(4).tick_values(scale.starts[0], last)
        places |= {float(x): f"{x:g}" for x in found if scale.starts[0] <= x <= last}
    elif len(places) > 5 and axis.axis_name == "x":
        axis.set_tick_params(rotation=45)
    axis.set_ticks(sorted(places), [places[place] for place in sorted(places)])
