"""What people look at: a tree as text and as a figure, the losses of a fit round by round, planned paths on a map.

`model` is an estimator, a Run, or an Ensemble. Figures are those of pyplot, so that a notebook shows them and
`plt.savefig` saves them; with `ax` they are drawn there. They need matplotlib: pip install "anyboost[report]".
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.ensemble import Ensemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anyboost.tables import Columns

# Okabe and Ito's colors, which stay apart for color-blind readers.
SPLIT, LEAF = "#56B4E9", "#F0E442"
LINES = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00")
_MOST_LEVELS = 6


class _Node(NamedTuple):
    """A node of a drawn tree: its words, its depth and place from left to right, and its children."""

    words: str
    depth: int
    place: float
    children: tuple["_Node", ...] = ()


def text(model: Any, tree: int = 0, feature_names: Sequence[str] | None = None) -> str:
    """A tree as lines of text: the question of each node, its yes above its no, and what a leaf adds to the score.

    Parameters
    ----------
    model : estimator, Run or Ensemble
        A fitted sum of trees.
    tree : int, default 0
        Which of them.
    feature_names : sequence of str or None, default None
        Names of the columns; None: those of the fit, else their numbers.

    Returns
    -------
    str
        The lines.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "tree:2", ab.descent.Naive(1.0), rounds=1)
    >>> print(ab.plot.text(run))
    column 0 <= 1.5 or missing
      yes: -1
      no:  +2
    """

    def lines(node: _Node, lead: str, inner: str) -> list[str]:
        found = [lead + node.words]
        for answer, child in zip(("yes: ", "no:  "), node.children, strict=False):
            found += lines(child, f"{inner}  {answer}", inner + 7 * " ")
        return found

    return "\n".join(lines(_drawn(model, tree, feature_names), "", ""))


def tree(
    model: Any, tree: int = 0, feature_names: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """A tree as a figure: the left branch is the yes of its question.

    Parameters
    ----------
    model : estimator, Run or Ensemble
        A fitted sum of trees.
    tree : int, default 0
        Which of them.
    feature_names : sequence of str or None, default None
        Names of the columns; None: those of the fit, else their numbers.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0], rounds=1)
    >>> ax = ab.plot.tree(run, feature_names=["width"])
    """
    from matplotlib.transforms import Bbox

    root = _drawn(model, tree, feature_names)
    nodes = _walk(root)
    ax = _axes(ax, (max(4.0, 1.5 * sum(not node.children for node in nodes)), 1.4 * (1 + _depth(nodes))))
    for node in nodes:
        for answer, child in zip(("yes", "no"), node.children, strict=False):
            ax.plot([node.place, child.place], [-node.depth, -child.depth], color="#777777", zorder=1)
            middle = ((node.place + child.place) / 2, -(node.depth + child.depth) / 2)
            ax.annotate(answer, middle, ha="center", va="center", fontsize=7, color="#444444", zorder=2)
        box = {"boxstyle": "round", "facecolor": SPLIT if node.children else LEAF, "edgecolor": "#444444"}
        ax.annotate(
            node.words, (node.place, -node.depth), ha="center", va="center", fontsize=8, bbox=box, zorder=3
        )
    ax.set_axis_off()
    leaves = [node.place for node in nodes if not node.children]
    ax.update_datalim(Bbox([[min(leaves) - 0.5, -_depth(nodes) - 0.5], [max(leaves) + 0.5, 0.5]]))
    ax.autoscale_view()
    return ax


def rounds(model: Any, ax: "Axes | None" = None) -> "Axes":
    """The training loss, and every score on every validation set, round by round.

    Parameters
    ----------
    model : estimator or Run
        What was fitted.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> ab.plot.rounds(run).get_xlabel()
    'round'
    """
    steps = getattr(model, "steps_", None) or getattr(model, "steps", None)
    if not steps:
        raise TypeError(f"model must be a fitted estimator or a run with rounds, got {type(model).__name__}")
    curves = {"training loss": ([step.round for step in steps], [step.loss for step in steps])}
    for name, found in getattr(model, "validation_scores_", {}).items():
        for scoring, values in found.items():
            curves[f"{name} {scoring}"] = (list(range(1, len(values))), list(values[1:]))
    watched = [step.valid_loss for step in steps if getattr(step, "valid_loss", None) is not None]
    if watched and not getattr(
        model, "validation_scores_", None
    ):  # those have it, or what was asked for instead
        curves["validation loss"] = (list(range(1, 1 + len(watched))), watched)
    ax = _axes(ax, (6.0, 4.0))
    for number, (name, (x, y)) in enumerate(curves.items()):
        ax.plot(x, y, label=name, color=LINES[number % len(LINES)])
    best = getattr(model, "best_iteration_", None)
    if best is not None and best < len(steps):
        ax.axvline(best, color="#777777", linestyle=":", label=f"best round, {best}")
    ax.set_xlabel("round")
    ax.legend(frameon=False)
    return ax


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
    figure = _figure((8.6, 4.3))
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
            _trace(ax, path, LINES[1], (0, (2.5, 1.2)), 1.8, "planned")
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


def _figure(size: tuple[float, float]) -> "Figure":
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError('figures need matplotlib: pip install "anyboost[report]"') from None
    return pyplot.figure(figsize=size, layout="constrained")


def _axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    if ax is not None:
        return ax
    return _figure(size).add_subplot()


def _ensemble(model: Any) -> Ensemble:
    found = model if isinstance(model, Ensemble) else getattr(model, "ensemble_", None)
    found = getattr(model, "ensemble", None) if found is None else found
    if not isinstance(found, Ensemble):
        raise TypeError(f"model must be a fitted estimator, a run or an ensemble, got {type(model).__name__}")
    return found


def _drawn(model: Any, number: int, feature_names: Sequence[str] | None) -> _Node:
    ensemble = _ensemble(model)
    if len(ensemble) == 0:
        raise ValueError("model has no trees: it is a constant")
    checks.count(number, "tree", least=0, most=len(ensemble) - 1)
    part = ensemble.hypotheses[number]
    if not hasattr(part, "missing_left"):
        raise TypeError(f"model is a sum of {type(part).__name__}, and no tree")
    names = _names(model, feature_names, ensemble.n_features)
    encoding, columns = getattr(model, "_encoding", None), getattr(model, "_columns", None)
    question = _questions(part, names, columns if encoding is None else encoding.columns(columns))
    factor = float(ensemble.coefficients[number])
    leaves = iter(range(len(part.feature)))

    def draw(node: int, depth: int) -> _Node:
        if part.feature[node] < 0:
            return _Node(_leaf_words(part, node, factor, names), depth, float(next(leaves)))
        children = (draw(int(part.left[node]), depth + 1), draw(int(part.right[node]), depth + 1))
        place = (children[0].place + children[1].place) / 2
        return _Node(question(node), depth, place, children)

    return draw(0, 0)


def _leaf_words(part: Any, node: int, factor: float, names: list[str]) -> str:
    """The value of a leaf; of a linear one with its slopes, as factors of how far a column is from its mean."""
    words = _number_words(factor * part.value[node])
    if part.slopes is None:
        return words
    slopes = part.slopes
    for entry in np.flatnonzero(slopes.node == node):
        slope = _number_words(factor * slopes.slope[entry] / slopes.width[entry])
        centers = slopes.low[entry] + slopes.center[entry] * slopes.width[entry]
        center = f"{centers[0]:.4g}" if np.all(centers == centers[0]) else _number_words(centers)
        words += f" {slope} ({names[slopes.feature[entry]]} - {center})"
    return words


def _names(model: Any, given: Sequence[str] | None, n: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None) if given is None else given
    encoding = getattr(model, "_encoding", None)
    n = n if encoding is None else encoding.n
    names = [f"column {number}" for number in range(n)] if names is None else [str(name) for name in names]
    if len(names) != n:
        raise ValueError(f"feature_names must have one name for each of the {n} columns, got {len(names)}")
    return names if encoding is None else encoding.names(names)


def _questions(part: Any, names: list[str], columns: "Columns | None") -> Callable[[int], str]:
    """The question of a node, whose yes goes left."""

    def question(node: int) -> str:
        feature = int(part.feature[node])
        missing = bool(part.missing_left[node])
        if part.category_set[node] >= 0:
            codes, missing = _codes_to_the_left(part, node, feature)
            words = f"{names[feature]} in {_level_words(codes, feature, columns)}"
        elif np.isposinf(part.threshold[node]):
            return f"{names[feature]} is {'given or missing' if missing else 'given'}"
        else:
            words = f"{names[feature]} <= {part.threshold[node]:.6g}"
        return f"{words} or missing" if missing else words

    return question


def _codes_to_the_left(part: Any, node: int, feature: int) -> tuple[list[int], bool]:
    """The category codes that go left, and whether missing values do: bits by bin, the last one's that of missing."""
    words = part.category_sets[part.category_set[node]].astype("<u4")
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)
    first, size, bins = part.categories
    of_code = bins[first[feature] : first[feature] + size[feature]]
    known = of_code < len(bits) - 1
    return np.flatnonzero(known & bits[of_code]).tolist(), bool(bits[-1])


def _level_words(codes: list[int], feature: int, columns: "Columns | None") -> str:
    levels = None if columns is None else columns.levels.get(feature)
    if levels is None:
        words = [str(code) for code in codes]
    else:
        words = [str(levels.values[code]) if code < len(levels.values) else "others" for code in codes]
    return "{" + ", ".join(_few(words, f"{len(words) - _MOST_LEVELS + 1} more")) + "}"


def _few(words: list[str], rest: str) -> list[str]:
    """The words themselves, or where there are many the first few and `rest`."""
    return words if len(words) <= _MOST_LEVELS else [*words[: _MOST_LEVELS - 1], rest]


def _number_words(values: np.ndarray) -> str:
    words = [f"{value:+.4g}" for value in values]
    return words[0] if len(words) == 1 else f"({', '.join(_few(words, '...'))})"


def _walk(node: _Node) -> list[_Node]:
    return [node, *(found for child in node.children for found in _walk(child))]


def _depth(nodes: list[_Node]) -> int:
    return max(node.depth for node in nodes)
