"""Shapley values with what they belong to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.ensemble import Ensemble
from anyboost.explain import linear, shap
from anyboost.explain.games import Games, games_of
from anyboost.explain.linear import Line


@dataclass(frozen=True, eq=False)
class Explanation:
    """How much each column adds to the score of each row: base_values + the sum of values is the score.

    Parameters
    ----------
    values : ndarray (n, d) or (n, d, k)
        The Shapley values, for k outputs.
    base_values : ndarray (n,) or (n, k)
        The score that no column has been added to.
    data : ndarray (n, d)
        The rows.
    feature_names : list of str
        The columns.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> told = ab.BoostingRegressor(max_iter=2, min_leaf_weight=1).fit(X, y).explanation(X)
    >>> told.values.shape, told.feature_names
    ((3, 1), ['column 0'])
    """

    values: np.ndarray
    base_values: np.ndarray
    data: np.ndarray
    feature_names: list[str]

    def to_shap(self) -> Any:
        """The same as a `shap.Explanation`, which the plots of the package shap take.

        Returns
        -------
        shap.Explanation
            The explanation.
        """
        try:
            import shap as package
        except ImportError:
            raise ImportError("to_shap needs the package shap: pip install shap") from None
        return package.Explanation(
            self.values, self.base_values, data=self.data, feature_names=self.feature_names
        )


def explain(
    ensemble: Ensemble,
    X: Any,
    source: np.ndarray,
    background: Any,
    means: np.ndarray | None,
    n_threads: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values (n, players, k) and the base (k,); column c is of the player source[c].

    `means` are those of the training rows, which linear functions are explained against where there is no background.
    """
    games, line = _parts(ensemble, source, background is None)
    players = int(source.max(initial=-1)) + 1
    values, base = np.zeros((X.shape[0], players, ensemble.outputs)), games.constant
    if line is not None:
        means = _means(background, means)
        values += linear.values(line, X, means, source)
        base = base + linear.base(line, means)
    if games.most_players == 0:
        return values, base
    if background is None:
        return values + shap.values(games, X, players, n_threads), base
    base = ensemble.predict(background).reshape(len(background), -1).mean(axis=0)
    return values + shap.values_by_background(games, X, background, players, n_threads), base


def interact(
    ensemble: Ensemble, X: Any, source: np.ndarray, means: np.ndarray | None, n_threads: int
) -> np.ndarray:
    """Shapley interactions (n, players, players, k); those of linear functions are their values, on the diagonal."""
    games, line = _parts(ensemble, source, True)
    players = int(source.max(initial=-1)) + 1
    found = np.zeros((X.shape[0], players, players, ensemble.outputs))
    if games.most_players > 0:
        found += shap.interactions(games, X, players, n_threads)
    if line is not None:
        own = np.arange(players)
        found[:, own, own] += linear.values(line, X, _means(None, means), source)
    return found


def _parts(ensemble: Ensemble, source: np.ndarray, by_cover: bool) -> tuple[Games, Line | None]:
    """The game of the trees and the start, and the linear functions as one: the games of a sum add up."""
    terms = list(zip(ensemble.coefficients, ensemble.hypotheses, strict=True))
    lines = [term for term in terms if linear.is_linear(term[1])]
    others = [term for term in terms if not linear.is_linear(term[1])]
    line = linear.line_of(lines, ensemble.outputs, ensemble.n_features) if lines else None
    return games_of(others, ensemble.start, source, by_cover), line


def _means(background: Any, kept: np.ndarray | None) -> np.ndarray:
    if background is not None:
        checks.finite_table(background, "background")
        return linear.means_of(background)
    if kept is None:
        raise ValueError(
            "model comes from a file of an older version, which does not know the means of the training rows: "
            "fit it anew, or give background rows"
        )
    return kept
