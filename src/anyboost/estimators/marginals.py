"""How a fit's training rows are distributed over the cells of its columns, and those cells as axes of shapes."""

from typing import Any

import numpy as np

from anyboost.backends.taken import written_out
from anyboost.ensemble import Ensemble
from anyboost.estimators.fitting import Fitting
from anyboost.explain import linear
from anyboost.explain.marginals import Marginal, Marginals, edges_of, trees_with_shapes
from anyboost.explain.shapes import Axis
from anyboost.tables import Columns, Levels


def measured(fitting: Fitting, columns: Columns, ensemble: Ensemble) -> Marginals:
    """What explanations need to know of the training rows; nothing where they would not ask."""
    source, rows = fitting.encoding.sources, fitting.given
    means = None
    if any(linear.is_linear(term) for term in ensemble.hypotheses):
        means = linear.means_of(written_out(fitting.rows.X), fitting.weights)
    try:
        trees = trees_with_shapes(ensemble.hypotheses, source)
    except TypeError:
        return Marginals({}, means)
    return Marginals(
        {
            column: Marginal.of(
                rows.X[:, column],
                fitting.given_weights,
                np.zeros(0) if column in columns.levels else edges,
                len(level_names(columns.levels[column])) if column in columns.levels else 0,
            )
            for column, edges in edges_of(trees, source).items()
        },
        means,
    )


def axes(model: Any, names: list[str]) -> dict[int, Axis]:
    """The cells of a fitted estimator's columns, by number."""
    found, encoding = {}, model._encoding
    for column, marginal in model._marginals.columns.items():
        own = np.flatnonzero(encoding.sources == column).tolist()
        if column not in model._columns.levels:
            found[column] = Axis.of_numbers(names[column], own[0], marginal)
            continue
        levels = level_names(model._columns.levels[column])
        told = encoding.values.get(column, np.arange(len(levels), dtype=np.float64)[:, None])
        points = {place: np.append(values, np.nan) for place, values in zip(own, told.T, strict=True)}
        found[column] = Axis(names[column], None, None, levels, points, marginal.mass)
    return found


def level_names(levels: Levels) -> tuple[str | float, ...]:
    """What the codes of a column stand for, in their order."""
    if levels.rest:
        return (*levels.values, "others")
    return (*levels.values, "never seen") if levels.apart else levels.values
