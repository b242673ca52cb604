"""Regret, exactly and on request: how much less others would have lost on the same rows, seen in hindsight.

    sum_t w_t l(prediction_t, y_t)  -  min over a class of predictors of the same sum

The class: one expert throughout; one point of the weights' set throughout (see `combination`); or a sequence of
experts with at most k switches (dynamic programming).
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses import Loss, RowwiseLoss
from anyboost.mirror import slopes
from anyboost.mirror.combination import Combination, best_combination, check_forecasts
from anyboost.mirror.domains import Domain

__all__ = ["Combination", "Regret", "best_combination", "best_switching", "expert_losses", "regret"]


class Regret(NamedTuple):
    """Sums over rows: the loss of predictions, and by how much it exceeds that of simpler answers.

    A regret may be negative.

    Attributes
    ----------
    loss : float
        Of the predictions.
    single : float
        Against the best expert.
    best_expert : int
        Its number.
    combination : float
        Against the best fixed weights of the set.
    combination_weights : ndarray (M,)
        Those weights.
    combination_gap : float
        No weights of the set are better by more, in all.
    switching : dict of int to float
        Against the best sequence of experts, by the number of its switches.

    Examples
    --------
    >>> from anyboost.mirror import regret
    >>> found = regret.regret([0.0, 0.0], [[0.0, 1.0], [0.0, 1.0]], [1.0, 1.0], switches=[1])
    >>> found.loss, found.best_expert, found.single, found.switching
    (1.0, 1, 1.0, {1: 1.0})
    """

    loss: float
    single: float
    best_expert: int
    combination: float
    combination_weights: Floats
    combination_gap: float
    switching: dict[int, float]


def regret(
    predictions: Any,
    forecasts: Any,
    y: Any,
    loss: str | Loss = "squared",
    domain: str | Domain = "simplex",
    switches: Iterable[int] = (),
    sample_weight: Any = None,
) -> Regret:
    """Regret of predictions (raw scores) against the experts whose forecasts they combined.

    An expert that slept (NaN) is compared on the rows it was awake; the other regrets are then NaN.

    Parameters
    ----------
    predictions : array_like (n,)
        Raw scores.
    forecasts : array_like (n, M)
        What each expert said of each row.
    y : array_like (n,)
        Targets.
    loss : str or Loss, default "squared"
        A row-wise loss or its name.
    domain : str or Domain, default "simplex"
        The set of weights to compare with.
    switches : iterable of int, default ()
        Numbers of switches to compare with.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows.

    Returns
    -------
    Regret
        Sums over rows.

    Examples
    --------
    >>> from anyboost.mirror import regret
    >>> found = regret.regret([0.5, 0.5], [[0.0, 1.0], [0.0, 1.0]], [1.0, 1.0])
    >>> found.single
    0.25
    """
    chosen = slopes.get(loss)
    targets = chosen.check(y)
    H = check_forecasts(forecasts, len(targets), chosen)
    own = chosen.values(_shaped(predictions, len(targets), chosen), targets)
    weights = checks.sample_weight(sample_weight, len(targets))
    table = expert_losses(H, targets, chosen)
    behind = np.nansum(weights[:, None] * (own[:, None] - table), axis=0)
    total = float(weights @ own)
    if np.isnan(table).any():
        nothing = np.full(H.shape[1], np.nan)
        best = Combination(nothing, np.nan, np.nan)
        wanted = dict.fromkeys(switches, np.nan)
    else:
        best = best_combination(H, targets, chosen, domain, sample_weight)
        wanted = {k: total - best_switching(table, k, weights)[0] for k in switches}
    return Regret(
        loss=total,
        single=float(behind.max()),
        best_expert=int(behind.argmax()),
        combination=total - float(weights.sum()) * best.loss,
        combination_weights=best.weights,
        combination_gap=float(weights.sum()) * best.gap,
        switching=wanted,
    )


def expert_losses(forecasts: Floats, y: np.ndarray, loss: RowwiseLoss) -> Floats:
    """(n, M): the loss of every expert's own forecast, NaN where it slept."""
    columns = []
    for j in range(forecasts.shape[1]):
        awake = ~np.isnan(forecasts[:, j]).reshape(len(y), -1).any(axis=1)
        column = np.full(len(y), np.nan)
        column[awake] = loss.values(np.ascontiguousarray(forecasts[awake, j]), y[awake])
        columns.append(column)
    return np.stack(columns, axis=1)


def best_switching(table: Any, switches: int, sample_weight: Any = None) -> tuple[float, np.ndarray]:
    """The least sum of losses of a sequence of experts with at most so many switches, and the sequence.

    Parameters
    ----------
    table : array_like (n, M)
        The loss of each expert in each row.
    switches : int
        How many switches there may be.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows.

    Returns
    -------
    tuple of (float, ndarray)
        The sum, and the expert of each row.

    Examples
    --------
    >>> from anyboost.mirror import regret
    >>> regret.best_switching([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], switches=1)
    (0.0, array([0, 0, 1]))
    """
    values = checks.finite(checks.numbers(table, "losses"), "losses")
    most = checks.count(switches, "switches", least=0)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"losses must have the shape (n, M), got {values.shape}")
    values = values * checks.sample_weight(sample_weight, len(values))[:, None]
    n, count = values.shape
    most = min(most, n - 1)
    best = np.tile(values[0], (most + 1, 1))  # with at most s switches so far, ending with expert j
    came = np.empty((n, most + 1), dtype=np.int64)  # from where a switch into row t comes, for each s
    switched = np.zeros((n, most + 1, count), dtype=bool)
    for t in range(1, n):
        came[t] = best.argmin(axis=1)
        cheapest = best.min(axis=1)
        switched[t, 1:] = cheapest[:-1, None] < best[1:]
        best[1:] = np.where(switched[t, 1:], cheapest[:-1, None], best[1:])
        best += values[t]
    path = np.empty(n, dtype=np.int64)
    s, j = most, int(best[most].argmin())
    total = float(best[most, j])
    for t in range(n - 1, -1, -1):
        path[t] = j
        if t and switched[t, s, j]:
            s -= 1
            j = int(came[t, s])
    return total, path


def _shaped(predictions: Any, n: int, loss: RowwiseLoss) -> Floats:
    scores = checks.finite(checks.numbers(predictions, "predictions"), "predictions")
    if scores.ndim != 1 + loss.vector or len(scores) != n:
        raise ValueError(
            f"predictions must have one raw score (or K of them) for {n} rows, got {scores.shape}"
        )
    return scores
