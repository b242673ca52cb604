"""Raw scores of rows by models that were not fitted to them: what intervals and probabilities are calibrated by.

"cv" holds every unit out once, in one of some folds, whose models take as many rounds as the model of all rows; where
folds have found that number, those that stopped before it go on to it: a model of fewer rounds would be less sure of
itself than the one that is calibrated. "split" sets some units apart from all fitting.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.arrays import as_scores
from anyboost.boosting import Run
from anyboost.ensemble import Ensemble
from anyboost.estimators.rows import Targets
from anyboost.trees.parts import circle
from anyboost.watching import Watch

CV, SPLIT = "cv", "split"
SHARE = 0.2  # of the units that "split" sets apart


class FoldRun(NamedTuple):
    """A run on some rows, their targets, and a set of other rows."""

    targets: Targets
    run: Run
    watched: Any


class HeldOut(NamedTuple):
    """Rows, as the loss takes them, with the raw scores of models that have not seen them."""

    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None


def held_out(parts: Iterable[FoldRun], rounds: int, n_threads: int) -> HeldOut:
    """The rows of all parts, each by the model of its part after so many rounds."""
    found = []
    for targets, run, watched in parts:
        y = targets.encode(watched.labels)
        weights = targets.weigh(y, watched.sample_weight)
        found.append((y, _scores(watched, run.ensemble.truncate(rounds), n_threads), weights, watched.groups))
    return HeldOut(*(_joined(values) for values in zip(*found, strict=True)))


def _scores(watched: Watch, kept: Ensemble, n_threads: int) -> np.ndarray:
    began = None
    if watched.start is not None:
        began = as_scores(watched.start.reshape(-1, kept.outputs) - kept.start)
    return kept.predict(watched.X, began, n_threads)


def _joined(values: Sequence[Any]) -> Any:
    return None if values[0] is None else circle().gather(np.concatenate(values))
