"""Grids of partial dependence: values of some columns of a table, chosen as scikit-learn chooses them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anyboost import checks, tables
from anyboost.tables.column import ArrayColumn


def columns_named(features: Any, names: Sequence[str] | None, n: int) -> tuple[int, ...]:
    """The numbers of one column or several that go together, in the order given."""
    several = [features] if isinstance(features, str) or np.ndim(features) == 0 else list(features)
    if not several:
        raise ValueError("features is empty: name a column, or two for a pair")
    found = tuple(tables.column_number(part, names, n, "features") for part in several)
    if len(set(found)) < len(found):
        raise ValueError(f"features names a column twice, got {features!r}")
    return found


def column_of(X: Any, number: int) -> tables.Column:
    """One column of a table."""
    if tables.frame_of(X) is not None:
        return list(tables.columns_of(X, "X").values())[number]
    return as_column(np.asarray(X)[:, number], f"column {number} of X")


def as_column(values: np.ndarray, title: str) -> tables.Column:
    return (tables.Column if values.dtype.kind in "biuf" else ArrayColumn)(values, title)


def axis(
    column: tables.Column, categorical: bool, percentiles: tuple[float, float], resolution: int
) -> np.ndarray:
    """The values on an axis: all that the column has, or where these are many evenly spaced numbers."""
    if column.holds_words:
        return np.array(sorted(column.coded[0]), dtype=object)
    values = np.asarray(column.numbers(), dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        raise ValueError(f"{column.title} has missing values only: give its points as custom_values")
    found = np.unique(values)
    if categorical or len(found) < resolution:
        return found
    from scipy.stats.mstats import mquantiles

    low, high = mquantiles(values, prob=percentiles)
    if np.allclose(low, high):
        raise ValueError(
            f"{column.title} has the percentiles {low:g} and {high:g}, too close for a grid: give percentiles that are "
            "further apart, or its points as custom_values"
        )
    return np.linspace(low, high, num=resolution, endpoint=True)


def check_percentiles(percentiles: Any) -> tuple[float, float]:
    if not isinstance(percentiles, Sequence) or len(percentiles) != 2:
        raise ValueError(f"percentiles must be two numbers such as (0.05, 0.95), got {percentiles!r}")
    low, high = (float(part) for part in percentiles)
    if not 0 <= low < high <= 1:
        raise ValueError(f"percentiles must rise and lie between 0 and 1, got {percentiles!r}")
    return low, high


def given_values(
    custom_values: Any, columns: Sequence[int], names: Sequence[str] | None, n: int
) -> dict[int, np.ndarray]:
    """By number of the column, the values that the user chose for it."""
    if custom_values is None:
        return {}
    if not isinstance(custom_values, Mapping):
        raise ValueError(f"custom_values must be a mapping from columns to values, got {custom_values!r}")
    found = {}
    for part, values in custom_values.items():
        number = tables.column_number(part, names, n, "custom_values")
        if number not in columns:
            raise ValueError(f"custom_values has the column {part!r}, which features has not: leave it out")
        words = any(isinstance(value, str) for value in values)
        found[number] = np.asarray(values, dtype=object if words else None)
        if found[number].ndim != 1 or not len(found[number]):
            raise ValueError(f"custom_values of {part!r} must be a list of one value or more")
    return found


def check(method: Any, kind: Any, resolution: Any) -> None:
    """Refuse bad choices."""
    checks.choice(method, "method", ("brute", "recursion"))
    checks.choice(kind, "kind", ("average", "individual", "both"))
    checks.count(resolution, "grid_resolution", least=2)
