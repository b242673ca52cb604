"""Shapley values of linear functions, in closed form: a column is worth what it adds beside its mean.

    phi_j = w_j (x_j - mean_j),     base = constant + <w, mean>

exact against rows of which these are the means, whether columns depend on each other or not: the game is additive.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.weak.dictionary import ColumnFunction
from anyboost.weak.linear import LinearFunction


class Line(NamedTuple):
    """x -> weight x + constant, with weight (k, d)."""

    weight: np.ndarray
    constant: np.ndarray


def is_linear(term: Any) -> bool:
    """Whether a term of a sum is a linear function of the columns."""
    return isinstance(term, LinearFunction) or (isinstance(term, ColumnFunction) and term.functions is None)


def line_of(terms: Iterable[tuple[float, Any]], outputs: int, n_features: int) -> Line:
    """The sum of coefficient times linear function."""
    weight, constant = np.zeros((outputs, n_features)), np.zeros(outputs)
    for coefficient, term in terms:
        if isinstance(term, LinearFunction):
            weight += coefficient * term.weight
            constant += coefficient * term.constant
        else:
            weight[:, term.column] += coefficient * term.vector
    return Line(weight, constant)


def values(line: Line, X: Any, means: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Shapley values (n, players, k), in which column c is of the player source[c]; X may be sparse."""
    checks.finite_table(X, "X")
    away = (X.toarray() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)) - means
    found = np.zeros((len(away), int(source.max(initial=-1)) + 1, len(line.constant)))
    for column, player in enumerate(source.tolist()):
        found[:, player] += away[:, column, None] * line.weight[:, column]
    return found


def base(line: Line, means: np.ndarray) -> np.ndarray:
    """The value (k,) that no column has been added to."""
    return line.constant + line.weight @ means


def means_of(X: Any, weights: np.ndarray | None = None) -> np.ndarray:
    """The means of the columns, under weights of rows; X may be sparse."""
    n = X.shape[0]
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    return np.asarray(X.T @ shares, dtype=np.float64)
