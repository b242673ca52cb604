"""Cuts of categories by enumeration: every way to part the categories present, missing values being one of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .weak import _matrix


def partings(column, weights=None) -> list[np.ndarray]:
    """The left sides, as masks, of all partings of the categories among rows of positive weight."""
    column = np.asarray(column, dtype=float)
    present = np.ones(len(column), bool) if weights is None else np.asarray(weights) > 0
    kinds = [column == value for value in np.unique(column[present & ~np.isnan(column)])]
    if np.any(np.isnan(column) & present):
        kinds.append(np.isnan(column))
    found = []
    for size in range(1, len(kinds)):
        for chosen in combinations(kinds, size):
            found.append(np.logical_or.reduce(chosen))
    return found


def fit_score(left, weights, D, l2: float = 0.0, min_leaf_weight: float = 0.0) -> float:
    """||S||^2 / (W + l2) over both sides; -inf where one is too light."""
    w, T = np.asarray(weights, dtype=float), _matrix(D)
    total = 0.0
    for rows in (left, ~left):
        W = w[rows].sum()
        if W <= 0 or min_leaf_weight > W:
            return -np.inf
        S = (w[rows, None] * T[rows]).sum(axis=0)
        total += float(S @ S) / (W + l2)
    return total


def reach(left, weights, G) -> float:
    """||S||_1 over both sides: how far an atom |h| <= 1 with this cut reaches."""
    w, T = np.asarray(weights, dtype=float), _matrix(G)
    return float(sum(np.abs((w[rows, None] * T[rows]).sum(axis=0)).sum() for rows in (left, ~left)))
