"""How much a sum of trees uses each of its columns."""

from typing import Any

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction


def by_splits(ensemble: Ensemble, source: np.ndarray, *, gains: bool) -> np.ndarray:
    """What the cuts of each column gained, or their number, with column c counted for source[c]; not normalized."""
    found = np.zeros(int(source.max(initial=-1)) + 1)
    for tree in (tree for term in ensemble.hypotheses for tree in _cut_trees(term)):
        inner = tree.feature >= 0
        weights = np.ones(np.count_nonzero(inner))
        if gains:
            if tree.gain is None:
                raise ValueError(
                    "model comes from a file of an older version, whose trees do not know what their cuts gained: fit "
                    'it anew, or use kind="split"'
                )
            weights = tree.gain[inner]
        found += np.bincount(source[tree.feature[inner]], weights, minlength=len(found))
    return found


def trees_of(term: Any) -> tuple[TreeFunction, ...] | None:
    """The trees of a term of a sum; None where it is something else."""
    if isinstance(term, EachFunction):
        return term.trees
    return (term,) if isinstance(term, TreeFunction) else None


def _cut_trees(term: Any) -> tuple[TreeFunction, ...]:
    trees = trees_of(term)
    if trees is None:
        raise TypeError(
            f'model is a sum of {type(term).__name__}, which has no cuts: use importances("permutation", X, y)'
        )
    return trees


def shares(values: np.ndarray) -> np.ndarray:
    """Values that add up to one; all zero where nothing was used."""
    total = values.sum()
    return values / total if total > 0 else values
