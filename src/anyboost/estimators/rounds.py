"""How many rounds: found on rows held out, for a fit to all rows.

Each part of the rows is fitted without the rows held out, which say when to stop. Their scores, as means over the
parts, have their best round; a part that stopped earlier than others counts from there on with its last score.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from anyboost.estimators.dials import Dials
from anyboost.estimators.rows import Labelled, Targets
from anyboost.watching import Patience

Sets = list[tuple[str, Labelled]]


class Found(NamedTuple):
    """The rounds to fit, one at least, and what was measured up to there."""

    rounds: int
    values: dict[str, dict[str, np.ndarray]]
    scores: np.ndarray  # those that decided, more being better


def search(
    parts: Iterable[tuple[Labelled, Targets, Sets]], dials: Dials, seed: int, begin: Callable[..., Any]
) -> Found:
    """Fit every part, as `begin` does, and look where they were best together."""
    monitors = []
    for rows, targets, sets in parts:
        fitting, monitor = begin(dials, rows, targets, sets)
        monitor.follow(fitting.boost(seed, monitor).ensemble)
        monitors.append(monitor)
    first = monitors[0]
    scores = _mean([monitor.scores for monitor in monitors])
    rounds = max(1, Patience(None, first.patience.tol).see(scores).best_round)
    values = {
        name: {
            measure: _mean([monitor.history[name][measure] for monitor in monitors])[: rounds + 1]
            for measure in found
        }
        for name, found in first.history.items()
    }
    return Found(rounds, values, scores[: rounds + 1])


def _mean(curves: list[list[float]]) -> np.ndarray:
    most = max(len(curve) for curve in curves)
    return np.mean([[*curve, *curve[-1:] * (most - len(curve))] for curve in curves], axis=0)
