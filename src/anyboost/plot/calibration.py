"""Whether a model's probabilities and intervals come true, and for whom they do not."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = np.linspace(0.05, 0.95, 19)


def calibration(model: Any, X: Any, y: Any, bins: int = 10, ax: "Axes | None" = None) -> "Axes":
    """How often what a model says comes true: on the diagonal, as often as it says.

    Of classes: rows in bins of as many by the probability of a class, the mean of it against the share of rows of the
    class; of two classes the second, of several all together. Of numbers: the share of targets between the ends of
    intervals, against the share asked for.

    Parameters
    ----------
    model : BoostingClassifier or BoostingRegressor
        A fitted estimator with probabilities, or with intervals.
    X : table (n, d)
        Rows that it was not fitted to.
    y : array_like (n,)
        Their targets.
    bins : int, default 10
        How many bins of probabilities.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ab.BoostingClassifier(max_iter=20).fit(X[:300], y[:300])
    >>> ax = ab.plot.calibration(model, X[300:], y[300:])
    """
    check_is_fitted(model)
    checks.count(bins, "bins", least=2)
    labels = np.asarray(y)
    if hasattr(model, "classes_"):
        said, came = _of_classes(model, X, labels, bins)
        words = ("what the model says", "share of rows of the class")
    elif hasattr(model, "predict_quantiles"):
        said, came = _of_intervals(model, X, labels)
        words = ("share asked for", "share of targets inside")
    else:
        raise TypeError(f"model must give probabilities or intervals, got {type(model).__name__}")
    ax = figures.axes(ax, (4.5, 4.5))
    ax.plot([0, 1], [0, 1], color="#999999", linewidth=1, label="as it says")
    ax.plot(said, came, color=figures.BLUE, marker="o", markersize=4, label="as it came")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel=words[0], ylabel=words[1])
    ax.legend(frameon=False, loc="upper left")
    return ax


def by_group(found: Any, column: str = "loss", ax: "Axes | None" = None) -> "Axes":
    """A column of a model's `by_group`, a bar a group, with the mean over all rows.

    Parameters
    ----------
    found : data frame
        What `model.by_group(X, y, groups)` gave.
    column : str, default "loss"
        Which of its columns.
    ax : Axes or None, default None
        Where to draw; None: a new figure.

    Returns
    -------
    Axes
        The drawing.

    Examples
    --------
    >>> import anyboost as ab
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ab.BoostingRegressor(max_iter=20).fit(X, y)
    >>> ax = ab.plot.by_group(model.by_group(X, y, groups=X[:, 1] > 0))
    """
    names = [str(name) for name in getattr(found, "columns", ())]
    if "group" not in names or column not in names:
        raise ValueError(f"found must be what by_group gave, with a column {column!r}, got columns {names}")
    values = np.asarray(found[column], dtype=np.float64)
    labels = [str(label) for label in np.asarray(found["group"])]
    ax = figures.axes(ax, (6.0, 1.2 + 0.3 * len(values)))
    places = np.arange(len(values))[::-1]
    ax.barh(places, values, color=figures.BLUE)
    mean = float(np.average(values, weights=np.asarray(found["weight"], dtype=np.float64)))
    ax.axvline(mean, color=figures.ORANGE, linewidth=1, label=f"all rows, {mean:.3g}")
    ax.set_yticks(places, labels)
    ax.set_xlabel(column)
    ax.legend(frameon=False)
    return ax


def _of_classes(model: Any, X: Any, labels: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    chances = model.predict_proba(X)
    checks.as_many(labels, len(chances), "y")
    first = 1 if chances.shape[1] == 2 else 0
    said = chances[:, first:].ravel()
    came = (labels[:, None] == model.classes_[None, first:]).ravel()
    parts = [part for part in np.array_split(np.argsort(said, kind="stable"), bins) if len(part)]
    return np.array([said[part].mean() for part in parts]), np.array([came[part].mean() for part in parts])


def _of_intervals(model: Any, X: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    levels = [*((1 - SHARES) / 2), *((1 + SHARES) / 2)]
    low, high = np.split(model.predict_quantiles(X, levels), 2, axis=1)
    checks.as_many(labels, len(low), "y")
    inside = (low <= labels[:, None]) & (labels[:, None] <= high)
    return SHARES, inside.mean(axis=0)
