"""The loop of `learning.learn` for a loss that compiled code does not know: the user's own."""

from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.mirror.state import AveragerState, Settings


def learn(
    loss: RowwiseLoss,
    table: Floats,
    y: np.ndarray,
    weights: Floats,
    settings: Settings,
    state: AveragerState,
) -> Floats:
    """Learn from rows in order, each row's subgradient by the loss's own method; predictions before each row."""
    scores = np.empty((len(y), *table.shape[2:]))
    for i in range(len(y)):
        row, last, scores[i] = _score(table[i], settings, state)
        left = float(weights[i])
        while left > 0:
            weight = min(left, 1.0)
            left -= weight
            slope = loss.subgradients(np.array([last]), y[i : i + 1])[0]
            _move(row, last, slope, weight, settings, state)
            if left > 0:
                row, last, _ = _score(table[i], settings, state)
    return scores


def _score(h: Floats, settings: Settings, state: AveragerState) -> tuple[Floats, Any, Any]:
    """The row with its gaps filled, and its scores by the last weights and by those that predict."""
    from anyboost.mirror import learning

    row = np.empty(h.shape)
    if h.ndim == 1:
        return learning.score_row(h, settings, state, row)
    last, mean = np.empty(h.shape[1]), np.empty(h.shape[1])
    return learning.score_outputs(h, settings, state, row, last, mean), last, mean


def _move(
    row: Floats, last: Any, slope: Any, weight: float, settings: Settings, state: AveragerState
) -> None:
    from anyboost.mirror import learning

    if row.ndim == 1:
        learning.move_row(row, last, float(slope), weight, settings, state, np.empty(len(row)))
    else:
        learning.move_outputs(row, last, np.ascontiguousarray(slope), weight, settings, state)
