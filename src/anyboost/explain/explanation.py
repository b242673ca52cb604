"""Shapley values with what they belong to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.explain import shap
from anyboost.explain.games import games_of


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
    ensemble: Ensemble, X: np.ndarray, source: np.ndarray, background: np.ndarray | None, n_threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values (n, players, k) and the base (k,); column c is of the player source[c]."""
    games, players = _games(ensemble, source), int(source.max(initial=-1)) + 1
    if background is None:
        return shap.values(games, X, players, n_threads), games.constant
    base = np.atleast_2d(ensemble.predict(background).reshape(len(background), -1)).mean(axis=0)
    return shap.values_by_background(games, X, background, players, n_threads), base


def interact(ensemble: Ensemble, X: np.ndarray, source: np.ndarray, n_threads: int) -> np.ndarray:
    """Shapley interactions (n, players, players, k)."""
    return shap.interactions(_games(ensemble, source), X, int(source.max(initial=-1)) + 1, n_threads)


def _games(ensemble: Ensemble, source: np.ndarray) -> Any:
    terms = list(zip(ensemble.coefficients, ensemble.hypotheses, strict=True))
    return games_of(terms, ensemble.start, source)
