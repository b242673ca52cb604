"""A tree as text and as a figure: the question of each node, and what a leaf adds to the score."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.ensemble import Ensemble
from anyboost.plot import figures
from anyboost.trees.table import MISSING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anyboost.tables import Columns

SPLIT, LEAF = "#56B4E9", "#F0E442"
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
    ax = figures.axes(
        ax, (max(4.0, 1.5 * sum(not node.children for node in nodes)), 1.4 * (1 + _depth(nodes)))
    )
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
            left, bins = part.bins_to_the_left(node), part.bins_of_codes(node)
            codes, missing = np.flatnonzero((bins < MISSING) & left[bins]).tolist(), bool(left[MISSING])
            words = f"{names[feature]} in {_level_words(codes, feature, columns)}"
        elif np.isposinf(part.threshold[node]):
            return f"{names[feature]} is {'given or missing' if missing else 'given'}"
        else:
            words = f"{names[feature]} <= {part.threshold[node]:.6g}"
        return f"{words} or missing" if missing else words

    return question


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
