"""Probabilities learnt from raw scores of rows that a model has not seen.

    temperature   p = softmax(c s + b), a scale c >= 0 and a shift b_k of each class: for two classes Platt's sigmoid
    isotonic      of each class, the best rising function of its log odds s_k - log sum_{j != k} exp(s_j); then shared
    out

Both minimize a proper loss over those rows. One unit more, of no class, keeps them from being sure.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

TEMPERATURE, ISOTONIC = WAYS = ("temperature", "isotonic")


@dataclass(frozen=True, eq=False)
class Temperature:
    """p = softmax(scale * scores + shifts).

    Parameters
    ----------
    scale : float
        c, the inverse of the temperature.
    shifts : ndarray (classes,)
        b, the first 0.
    """

    scale: float
    shifts: np.ndarray

    @classmethod
    def fit(cls, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> "Temperature":
        """The least log loss of (n, classes) scores; convex in c and b."""
        k = scores.shape[1]
        wanted = _soft_targets(codes, weights, k)
        shares, unit = weights / weights.sum(), max(float(np.abs(scores).max(initial=0.0)), 1e-300)
        table = scores / unit

        def loss(given: np.ndarray) -> tuple[float, np.ndarray]:
            raw = given[0] * table + np.append(0.0, given[1:])
            logs = log_softmax(raw, axis=1)
            off = shares[:, None] * (np.exp(logs) - wanted)
            slopes = np.append((off * table).sum(), off.sum(axis=0)[1:])
            return -float(shares @ (wanted * logs).sum(axis=1)), slopes

        found = minimize(
            loss, np.append(unit, np.zeros(k - 1)), jac=True, bounds=[(0.0, None)] + [(None, None)] * (k - 1)
        )
        return cls(float(found.x[0]) / unit, np.append(0.0, found.x[1:]))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """(n, classes) of (n, classes) scores."""
        return softmax(self.scale * scores + self.shifts, axis=1)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Rising functions, linear between knots, of the log odds of each class.

    Parameters
    ----------
    knots : tuple of ndarray
        The log odds of each class, increasing.
    values : tuple of ndarray
        The probabilities there, not decreasing.
    """

    knots: tuple[np.ndarray, ...]
    values: tuple[np.ndarray, ...]

    @classmethod
    def fit(cls, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> "Isotonic":
        """The least squared error of each class against the others."""
        from sklearn.isotonic import IsotonicRegression

        k = scores.shape[1]
        wanted, odds = _soft_targets(codes, weights, k), _log_odds(scores)
        knots, values = [], []
        for number in range(1 if k == 2 else 0, k):  # of two classes, one is enough
            found = IsotonicRegression(out_of_bounds="clip").fit(odds[:, number], wanted[:, number], weights)
            knots.append(np.asarray(found.X_thresholds_, dtype=np.float64))
            values.append(np.asarray(found.y_thresholds_, dtype=np.float64))
        return cls(tuple(knots), tuple(values))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """(n, classes) of (n, classes) scores."""
        odds = _log_odds(scores)
        if len(self.knots) == 1:
            second = np.interp(odds[:, 1], self.knots[0], self.values[0])
            return np.column_stack([1.0 - second, second])
        raw = np.column_stack(
            [np.interp(column, x, p) for column, x, p in zip(odds.T, self.knots, self.values, strict=True)]
        )
        return raw / raw.sum(axis=1, keepdims=True)


Calibration = Temperature | Isotonic
_CLASSES: dict[str, Any] = {TEMPERATURE: Temperature, ISOTONIC: Isotonic}


def fit(way: str, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> Calibration:
    """Learn from the raw scores and the classes of some rows."""
    weights, table = np.ones(len(codes)) if weights is None else weights, by_class(scores)
    order = np.lexsort((weights, codes, *table.T))  # sums are the same whatever the order of the rows
    return _CLASSES[way].fit(table[order], codes[order], weights[order])


def by_class(scores: np.ndarray) -> np.ndarray:
    """(n, classes): one score for two classes becomes 0 and itself."""
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def _soft_targets(codes: np.ndarray, weights: np.ndarray, classes: int) -> np.ndarray:
    """One for the class of a row, less what one more unit of each class at random takes from it."""
    spare = classes / (weights.sum() + classes)
    return (1.0 - spare) * np.eye(classes)[codes] + spare / classes


def _log_odds(scores: np.ndarray) -> np.ndarray:
    """s_k - log sum_{j != k} exp(s_j), class by class."""
    found = np.empty(scores.shape)
    for number in range(scores.shape[1]):
        found[:, number] = scores[:, number] - logsumexp(np.delete(scores, number, axis=1), axis=1)
    return found
