"""Stages that begin again where the world has changed, as told by one of River's drift detectors a stage.

Stage i's detector is fed the loss of the chain's first i learners. Where it reports a change, and the loss has risen,
learner i is reset; the losses by which the best prefix is chosen are then counted afresh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.losses import domains
from anyboost.online import rows
from anyboost.online.rows import Table

if TYPE_CHECKING:
    from anyboost.online.booster import OnlineBooster

RECENT = 32.0  # examples over which a loss counts as recent


class Guard:
    """A booster, and a detector for each of its learners."""

    def __init__(self, booster: OnlineBooster, detector: Any) -> None:
        for method in ("update", "clone", "drift_detected"):
            if not hasattr(detector, method):
                raise ValueError(
                    f"drift must be a River drift detector, got {type(detector).__name__}: "
                    "try river.drift.ADWIN()"
                )
        self.booster = booster
        self.detector = detector
        self.detectors = [detector.clone() for _ in range(booster.n_learners)]
        self.means = np.zeros((2, booster.n_learners))  # of the loss: recently, and since the stage began
        self.counts = np.zeros(booster.n_learners)
        self.resets = 0
        self.wrong_above = _wrong_above(booster, detector)

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        """Learn one encoded row, and then look for drift; returns the row's score from before."""
        state = self.booster.state
        before = None if state is None else state.lines.loss[1:].copy()
        score = self.booster._learn_row(columns, values, width, y, w)
        if w > 0:
            state = self.booster.state
            assert state is not None
            now = state.lines.loss[1:]
            self._look((now if before is None else now - before) / w)
        return score

    def _learn_rows(self, table: Table, y: np.ndarray, w: Any) -> np.ndarray:
        """Learn rows one by one; all are checked before the first is learnt."""
        self.booster.loss.check(y)
        weights = rows.weights(w, rows.check_finite(table).n)
        return np.array(
            [self._learn_row(*table.row(i), table.width, y[i], weights[i]) for i in range(table.n)]
        )

    def _look(self, losses: np.ndarray) -> None:
        self.counts += 1
        rates = np.array([1.0 / np.minimum(self.counts, RECENT), 1.0 / self.counts])
        self.means += rates * (losses - self.means)
        found = []
        for stage, (detector, loss) in enumerate(zip(self.detectors, losses.tolist(), strict=True)):
            detector.update(loss if self.wrong_above is None else loss > self.wrong_above)
            if detector.drift_detected and self.means[0, stage] > self.means[1, stage]:
                found.append(stage)
        for stage in found:
            self.booster.reset_stage(stage)
            self.detectors[stage] = self.detector.clone()
            self.means[:, stage], self.counts[stage] = 0.0, 0.0
        state = self.booster.state
        if found and state is not None:
            state.lines.score[:] = 0.0
            self.resets += len(found)


def _wrong_above(booster: OnlineBooster, detector: Any) -> float | None:
    """The loss above which an answer counts as wrong, for detectors that are told right and wrong."""
    kinds = {kind.__name__ for kind in type(detector).__mro__}
    if not kinds & {"BinaryDriftDetector", "BinaryDriftAndWarningDetector"}:
        return None
    if booster.loss.domain is not domains.SIGNS:
        raise ValueError(
            f"drift: {type(detector).__name__} is told right from wrong, which the loss {booster.loss} does not: "
            "use river.drift.ADWIN()"
        )
    return float(booster.loss.values(np.zeros(1), np.ones(1))[0])
