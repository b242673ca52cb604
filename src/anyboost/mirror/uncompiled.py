"""The loop of `learning.learn` for a loss that compiled code does not know: the user's own."""

from collections.abc import Callable
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.mirror.state import AveragerSettings, AveragerState


def learn(
    loss: RowwiseLoss,
    table: Floats,
    y: np.ndarray,
    weights: Floats,
    settings: AveragerSettings,
    state: AveragerState,
) -> Floats:
    """Learn from rows in order, each row's subgradient by the loss's own method; predictions before each row."""
    from anyboost.mirror.learning import watch

    scores = np.empty((len(y), *table.shape[2:]))
    score, move = (_one_output if table.ndim == 2 else _several_outputs)(
        table.shape[1:], tuple(settings), tuple(state)
    )
    for i in range(len(y)):
        row, last, scores[i] = score(table[i])
        left = float(weights[i])
        if left > 0:
            watch(tuple(settings), tuple(state), np.ravel(row), float(y[i]), left)
        while left > 0:
            weight = min(left, 1.0)
            left -= weight
            move(row, last, loss.subgradients(np.array([last]), y[i : i + 1])[0], weight)
            if left > 0:
                row, last, _ = score(table[i])
    return scores


# Two functions: of a row, to the row with its gaps filled and its scores by the last weights and by those that predict;
# and the step by the loss's subgradient at the first of these scores.
Pair = tuple[Callable[..., Any], Callable[..., None]]


def _one_output(shape: tuple[int, ...], settings: tuple[Any, ...], state: tuple[Any, ...]) -> Pair:
    from anyboost.mirror import learning

    filled, u = np.empty(shape), np.empty(shape)
    return (
        lambda h: learning.score_row(h, settings, state, filled),
        lambda row, last, g, weight: learning.move_row(row, last, float(g), weight, settings, state, u),
    )


def _several_outputs(shape: tuple[int, ...], settings: tuple[Any, ...], state: tuple[Any, ...]) -> Pair:
    from anyboost.mirror import learning

    filled, last, mean = np.empty(shape), np.empty(shape[1]), np.empty(shape[1])
    return (
        lambda h: (learning.score_outputs(h, settings, state, filled, last, mean), last, mean),
        lambda row, last, g, weight: learning.move_outputs(
            row, last, np.ascontiguousarray(g), weight, settings, state
        ),
    )
