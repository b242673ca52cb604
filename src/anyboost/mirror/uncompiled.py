"""The averager's memory, and its loop for a loss that compiled code does not know: the user's own."""

from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss


class State:
    """What an averager remembers: the rule's arrays, theta, the sum of earlier thetas, and a few numbers."""

    def __init__(self, memory: Floats, theta: Floats, total: Floats, numbers: Floats) -> None:
        self.memory, self.theta, self.total, self.numbers = memory, theta, total, numbers

    def copy(self) -> "State":
        return State(self.memory.copy(), self.theta.copy(), self.total.copy(), self.numbers.copy())


def walk(
    loss: RowwiseLoss,
    table: Floats,
    y: np.ndarray,
    weights: Floats,
    codes: np.ndarray,
    dials: Floats,
    state: State,
) -> Floats:
    """`backends.mirror_walk.walk` with each row's subgradient from the loss's own method."""
    scores = np.empty((len(y), *table.shape[2:]))
    for i in range(len(y)):
        row, last, scores[i] = _score(table[i], codes, dials, state)
        left = float(weights[i])
        while left > 0:
            weight = min(left, 1.0)
            left -= weight
            _move(
                row, last, loss.subgradients(np.array([last]), y[i : i + 1])[0], weight, codes, dials, state
            )
            if left > 0:
                row, last, _ = _score(table[i], codes, dials, state)
    return scores


def _score(h: Floats, codes: np.ndarray, dials: Floats, state: State) -> tuple[Floats, Any, Any]:
    """The row with its gaps filled, and its scores by the last weights and by those that predict."""
    from anyboost.backends import mirror_walk

    row = np.empty(h.shape)
    parts = (h, codes, dials, state.numbers, state.theta, state.total, row)
    if h.ndim == 1:
        return row, *mirror_walk.score_row(*parts)
    last, mean = np.empty(h.shape[1]), np.empty(h.shape[1])
    mirror_walk.score_outputs(*parts, last, mean)
    return row, last, mean


def _move(
    row: Floats, last: Any, g: Any, weight: float, codes: np.ndarray, dials: Floats, state: State
) -> None:
    from anyboost.backends import mirror_walk

    parts = (weight, codes, dials, state.numbers, state.memory, state.theta, state.total)
    if row.ndim == 1:
        mirror_walk.move_row(row, last, float(g), *parts)
    else:
        mirror_walk.move_outputs(row, last, np.ascontiguousarray(g), *parts)
