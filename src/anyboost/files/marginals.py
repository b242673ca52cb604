"""The part of a file that says how the training rows of an estimator were distributed, for its explanations."""

import numpy as np

from anyboost.estimators.marginals import level_names
from anyboost.explain.marginals import Marginal, Marginals
from anyboost.files import fields
from anyboost.files.fields import Fault, Fields
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.tables import Columns

_ROUNDING = 1e-9  # by which shares may miss one


def pack(marginals: Marginals) -> Packed:
    """Header and tensors of what is known of training rows."""
    tensors: dict[str, np.ndarray] = {}
    for column, own in marginals.columns.items():
        tensors[f"marginal.{column}.edges"] = finite(own.edges, "thresholds")
        tensors[f"marginal.{column}.bounds"] = finite(own.bounds, "bounds")
        tensors[f"marginal.{column}.mass"] = finite(own.mass, "shares of rows")
    if marginals.means is not None:
        tensors["marginal.means"] = finite(marginals.means, "means")
    return {"columns": sorted(marginals.columns), "means": marginals.means is not None}, tensors


def unpack(header: Fields, tensors: Tensors, columns: Columns, n_features: int) -> Marginals:
    """What was packed; a Fault unless it fits the columns of the table, and those that the sum takes."""
    number = fields.count(0, columns.n - 1)
    numbers, has_means = header.take_all(columns=fields.items(columns.n, number), means=fields.flag).values()
    if len(set(numbers)) < len(numbers):
        raise Fault("it names a column's distribution twice")
    found = {column: _unpack_one(column, tensors, columns) for column in numbers}
    return Marginals(found, tensors.floats("marginal.means", (n_features,)) if has_means else None)


def _unpack_one(column: int, tensors: Tensors, columns: Columns) -> Marginal:
    own, levels = tensors.under(f"marginal.{column}."), columns.levels.get(column)
    edges = own.floats("edges", (None if levels is None else 0,))
    n_cells = len(edges) + 1 if levels is None else len(level_names(levels))
    mass = own.floats("mass", (n_cells + 1,))
    if (np.diff(edges) <= 0).any():
        raise Fault("its cells are not in order")
    if (mass < 0).any() or abs(mass.sum() - 1) > _ROUNDING:
        raise Fault("its shares of rows are none")
    low, high = own.floats("bounds", (2,)).tolist()
    if low > high:
        raise Fault("its bounds are not in order")
    return Marginal(edges, mass, (low, high))
