"""What a model uses, and why it says what it says of one row."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks, tables
from anyboost.estimators.explained import Explained
from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN = figures.ORANGE, figures.BLUE
_WORDS = {
    "gain": "share of what the cuts gained",
    "split": "share of the cuts",
    "shap": "mean size of Shapley values",
    "permutation": "what the score loses where the column is mixed up",
}


def importances(
    model: Any, kind: str = "gain", X: Any = None, y: Any = None, top: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """How much a model uses each column, as bars, the largest first.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    kind : str, default "gain"
        "gain", "split", "shap" or "permutation", as for its `importances`.
    X : array_like or None, default None
        The rows, for "shap" and "permutation".
    y : array_like or None, default None
        Their targets, for "permutation".
    top : int, default 20
        How many columns to show.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, 1.0, 3.0]
    >>> model = ab.BoostingRegressor(max_iter=2, min_leaf_weight=1).fit(X, y)
    >>> ax = ab.plot.importances(model)
    """
    _check(model)
    checks.count(top, "top", least=1)
    found = model.importances(kind, X, y)
    shown = np.argsort(-found, kind="stable")[:top]
    ax = figures.axes(ax, (6.0, 1.0 + 0.28 * len(shown)))
    ax.barh(range(len(shown)), found[shown], color=figures.BLUE)
    names = model._feature_names()
    ax.set_yticks(range(len(shown)), [names[number] for number in shown])
    ax.invert_yaxis()
    ax.set_xlabel(_WORDS[kind])
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def why(
    model: Any,
    row: Any,
    background: Any = None,
    top: int = 10,
    output: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """What made the score of a row: the Shapley values of its columns, the largest first, from the base to the score.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    row : table of one row, or array_like (d,)
        The row.
    background : array_like or None, default None
        Rows to compare with, as for `shap_values`.
    top : int, default 10
        How many columns have a bar of their own; the rest share one.
    output : int or None, default None
        Which of several outputs. None: of several classes the one with the highest score.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> model = ab.BoostingRegressor(max_iter=1, min_leaf_weight=1).fit(X, y)
    >>> ax = ab.plot.why(model, X[2])
    """
    _check(model)
    checks.count(top, "top", least=1)
    told = model.explanation(_one_row(row, model.n_features_in_), background)
    values, base = told.values[0].reshape(len(told.feature_names), -1), np.ravel(told.base_values[0])
    number = _output(model, output, base + values.sum(axis=0))
    words = [f"{name} = {_said(x)}" for name, x in zip(told.feature_names, told.data[0], strict=True)]
    labels, steps = _steps(words, values[:, number], top)
    ax = figures.axes(ax, (6.4, 1.6 + 0.34 * len(steps)))
    _waterfall(ax, labels, steps, float(base[number]))
    ax.set_xlabel(_title(model, number, values.shape[1]))
    return ax


def _check(model: Any) -> None:
    if not isinstance(model, Explained):
        raise TypeError(f"model must be a fitted boosting estimator, got {type(model).__name__}")
    check_is_fitted(model)


def _one_row(row: Any, n_features: int) -> Any:
    """A row as a table of one; of a data frame's row, which is a column of its library, a frame again."""
    if hasattr(row, "to_frame") and np.ndim(row) == 1:
        row = row.to_frame().T
    shape = np.shape(row)
    if shape == (n_features,):
        return np.asarray(row)[None]
    if len(shape) != 2 or shape[0] != 1:
        raise ValueError(f"row must be one row of {n_features} columns, e.g. X[:1], got shape {shape}")
    return row


def _output(model: Any, output: int | None, scores: np.ndarray) -> int:
    if output is not None:
        return checks.count(output, "output", least=0, most=len(scores) - 1)
    if len(scores) > 1 and not hasattr(model, "classes_"):
        raise ValueError(
            f"model has {len(scores)} outputs: say which one to explain, output=0 to {len(scores) - 1}"
        )
    return int(np.argmax(scores))


def _title(model: Any, number: int, outputs: int) -> str:
    classes = getattr(model, "classes_", None)
    if classes is not None:
        return f"raw score of {classes[number if outputs > 1 else 1]}"
    return "raw score" if outputs == 1 else f"raw score, output {number}"


def _said(x: Any) -> str:
    if tables.is_missing(x):
        return "missing"
    return f"{x:.4g}" if isinstance(x, float | np.floating) else str(x)


def _steps(words: list[str], values: np.ndarray, top: int) -> tuple[list[str], np.ndarray]:
    """Labels and values of the bars: the largest, and what the rest add up to."""
    order = np.argsort(-np.abs(values), kind="stable")
    if len(order) <= top:
        return [words[place] for place in order], values[order]
    shown, rest = order[:top], order[top:]
    labels = [*(words[place] for place in shown), f"{len(rest)} others"]
    return labels, np.append(values[shown], values[rest].sum())


def _waterfall(ax: "Axes", labels: list[str], steps: np.ndarray, base: float) -> None:
    """Bars from the base to the score, each from where the one above it ends."""
    ends = base + np.cumsum(steps)
    starts = ends - steps
    places = np.arange(len(steps))
    ax.barh(places, steps, left=starts, color=[UP if step > 0 else DOWN for step in steps], height=0.7)
    ax.vlines(ends[:-1], places[:-1], places[:-1] + 1, color="#777777", linewidth=0.8)
    for place, step in enumerate(steps):
        side = 1 if step >= 0 else -1
        ax.annotate(
            f"{step:+.4g}",
            (ends[place], place),
            (4 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=8,
        )
    first, last = (base, -0.8, f"base {base:.4g}"), (ends[-1], len(steps) - 0.2, f"score {ends[-1]:.4g}")
    for x, height, words in (first, last):
        ax.axvline(x, color="#777777", linestyle=":", linewidth=1.0, zorder=0)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        ax.annotate(words, (x, height), ha="center", va="center", fontsize=9, fontweight="bold", bbox=box)
    ax.set_yticks(places, labels)
    ax.set_ylim(len(steps) + 0.2, -1.2)
    ax.use_sticky_edges = False  # room for the numbers beside the bars
    ax.margins(x=0.15)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
