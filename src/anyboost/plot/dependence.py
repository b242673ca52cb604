"""Partial dependence as scikit-learn draws it, from what our models compute."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.estimators import grids
from anyboost.plot import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.inspection import PartialDependenceDisplay


def partial_dependence(
    model: Any,
    X: Any,
    features: Sequence[Any],
    *,
    target: int = 0,
    ax: "Axes | None" = None,
    **given: Any,
) -> "PartialDependenceDisplay":
    """The mean prediction against columns, and against pairs of them, by scikit-learn's `PartialDependenceDisplay`.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : table (n, n_features)
        The rows.
    features : sequence of int, str or pairs
        What to draw: columns by number or name, and pairs of numbers or of categories.
    target : int, default 0
        Which of several classes or outputs.
    ax : Axes or None, default None
        Where to draw; None: a new figure.
    **given : Any
        Further arguments of the model's `partial_dependence`: `kind`, `grid_resolution`, `sample_weight`, ...

    Returns
    -------
    PartialDependenceDisplay
        The drawing, with its `figure_` and `axes_`.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0.0, 1.0, 3.0]
    >>> model = ab.BoostingRegressor(max_iter=2, min_leaf_weight=1).fit(X, y)
    >>> display = ab.plot.partial_dependence(model, X, [0, 1, (0, 1)])
    """
    if not hasattr(model, "partial_dependence"):
        raise TypeError(f"model must be a fitted boosting estimator, got {type(model).__name__}")
    if isinstance(features, str) or not isinstance(features, Sequence):
        raise ValueError(
            f"features must be a list of columns and pairs, got {features!r}: use [{features!r}]"
        )
    check_is_fitted(model)
    known = getattr(model, "feature_names_in_", None)
    columns = [grids.columns_named(part, known, model.n_features_in_) for part in features]
    names = model._feature_names()
    categorical = [tuple(number in model._columns.levels for number in part) for part in columns]
    for part, kinds in zip(columns, categorical, strict=True):
        if len(part) > 2 or len(set(kinds)) > 1:
            shown = " and ".join(repr(names[number]) for number in part)
            raise ValueError(
                f"features has {shown} together: figures show one column, two of numbers, or two of categories"
            )
    results = [model.partial_dependence(X, list(part), **given) for part in columns]
    outputs = len(results[0]["individual" if given.get("kind") == "individual" else "average"])
    checks.count(target, "target", least=0, most=outputs - 1)
    figure_ax = figures.axes(ax, (0.6 + 3.2 * min(3, len(columns)), 2.9 * -(-len(columns) // 3)))
    from sklearn.inspection import PartialDependenceDisplay

    numbers = {number for part in columns for number in part if number not in model._columns.levels}
    deciles = {
        number: np.nanquantile(grids.column_of(X, number).numbers(), np.arange(0.1, 1.0, 0.1))
        for number in numbers
    }
    display = PartialDependenceDisplay(
        results,
        features=columns,
        feature_names=names,
        target_idx=target,
        deciles=deciles,
        kind=given.get("kind", "average"),
        is_categorical=categorical,
    )
    return display.plot(ax=figure_ax)
