"""How many rounds: found on rows held out, for a fit to all rows.

Each part of the rows is fitted without the rows held out, which say when to stop. Their scores, as means over the
parts, have their best round; a part that stopped earlier than others counts from there on with its last score.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from anyboost.boosting import Run
from anyboost.estimators.dials import Dials
from anyboost.estimators.held_out import FoldRun
from anyboost.estimators.rows import Labelled, Targets
from anyboost.watching import Monitor, Patience

Sets = list[tuple[str, Labelled]]


class Found(NamedTuple):
    """The rounds to fit, one at least, and what was measured up to there."""

    rounds: int
    values: dict[str, dict[str, np.ndarray]]
    scores: np.ndarray  # those that decided, more being better
    parts: list[FoldRun]


def fit_parts(
    parts: Iterable[tuple[Labelled, Targets, Sets]],
    dials: Dials,
    seed: int,
    begin: Callable[..., Any],
    earlier: Iterable[Run | None] = repeat(None),
) -> Iterator[tuple[Monitor, FoldRun]]:
    """Fit every part, as `begin` does, or go on with an earlier run on it; what followed it, and the run."""
    for (rows, targets, sets), run in zip(parts, earlier, strict=False):
        fitting, monitor = begin(dials, rows, targets, sets)
        if run is None or len(run.steps) < dials.max_iter:
            run = fitting.boost(seed, monitor, run)
            monitor.follow(run.ensemble)
        # The rows of all parts are not to be kept until the last is fitted.
        yield monitor, FoldRun(targets, replace(run, space=None, functional=None), monitor.sets[0])


def search(fitted: Iterable[tuple[Monitor, FoldRun]]) -> Found:
    """Look where the parts were best together."""
    monitors, parts = zip(*fitted, strict=True)
    first = monitors[0]
    scores = mean_curve([monitor.scores for monitor in monitors])
    rounds = max(1, Patience(None, first.patience.tol).see(scores).best_round)
    values = {
        name: {
            measure: mean_curve([monitor.history[name][measure] for monitor in monitors])[: rounds + 1]
            for measure in found
        }
        for name, found in first.history.items()
    }
    return Found(rounds, values, scores[: rounds + 1], list(parts))


def mean_curve(curves: Sequence[list[float]]) -> np.ndarray:
    """The mean of curves, of which those that end early stay where they ended."""
    most = max(len(curve) for curve in curves)
    return np.mean([[*curve, *curve[-1:] * (most - len(curve))] for curve in curves], axis=0)
