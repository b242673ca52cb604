"""Validation sets that follow a run, what is measured on them after each round, and when to stop.

`boost(valid=, patience=)`, `cv` and the estimators all watch through here. A set keeps its scores and adds one round at
a time, so a round costs one hypothesis and not the whole sum. The first measure on the first set decides: the best
round is the one where it is best, and a run stops where it has not become better by more than `tol` for so many rounds.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.arrays import as_scores, by_row
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional


@dataclass(eq=False)
class Watch:
    """A validation set that follows a run: its scores, and, where it has a functional, its losses from the start on.

    In a run from a file the set itself is missing until `resume` is given it again.
    """

    functional: Functional | None
    X: np.ndarray | None
    start: np.ndarray | None = None  # scores to start at, (n, k) once it follows; None: the run's constant
    scores: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (n, k)
    losses: list[float] = field(default_factory=list)
    name: str = "valid"
    rounds: int = -1  # that the scores have; -1: not even the start

    def follow(self, ensemble: Ensemble, n_threads: int) -> None:
        """Take in the start of a run, or its next round."""
        assert self.X is not None
        self.rounds += 1
        if self.rounds == 0:
            n = self.X.shape[0]
            start = np.empty((n, ensemble.outputs))
            start[:] = ensemble.start if self.start is None else by_row(self.start)
            self.start, self.scores = start, start.copy()
        else:
            assert self.start is not None
            ensemble.advance(self.rounds, self.X, self.start, self.scores, n_threads)
        if self.functional is not None:
            self.losses.append(self._loss())

    def go_on_from(self, earlier: "Watch") -> None:
        """Stand, from the start of a run, where the watch of the same run stood earlier."""
        same = earlier.scores.shape == self.scores.shape
        self.scores, self.losses = earlier.scores.copy(), earlier.losses[:]
        self.rounds = len(self.losses) - 1
        if not same or not np.array_equal(self._loss(), self.losses[-1], equal_nan=True):
            raise ValueError("valid is not the set that the run to resume watched: pass that one")

    def _loss(self) -> float:
        assert self.functional is not None
        return self.functional.value(self.shaped())

    def shaped(self) -> np.ndarray:
        """The scores, (n,) or (n, k)."""
        return as_scores(self.scores)


@dataclass
class Patience:
    """Which round was the best, 0 being the start, and whether to stop: after `rounds` that were not better."""

    rounds: int | None = None  # None: for ever
    tol: float = 0.0  # by how much a round has to be better than the best before it
    relative: float = 0.0  # or by this share of the score at the start
    best_round: int = 0
    best_score: float = -math.inf
    seen: int = -1  # rounds so far

    def see(self, scores: Iterable[float]) -> "Patience":
        """Take in the scores of the next rounds, more being better."""
        for score in scores:
            self.seen += 1
            if self.seen == 0 and math.isfinite(score):
                self.tol = max(self.tol, self.relative * abs(score))
            if score > self.best_score + (self.tol if self.seen else 0.0):
                self.best_round, self.best_score = self.seen, score
        return self

    @property
    def over(self) -> bool:
        return self.rounds is not None and self.seen - self.best_round >= self.rounds


def best_round(losses: Iterable[float]) -> int:
    """The round of the lowest loss, 0 being the start."""
    return Patience().see(-loss for loss in losses).best_round


class WatchedMeasure(NamedTuple):
    """What is measured on a set after each round, and whether more (1) or less (-1) of it is better."""

    name: str
    value: Callable[[Any, Ensemble], float]  # of a Watch, and the sum as it stands
    sign: float


LOSS = WatchedMeasure("loss", lambda watch, _: watch.losses[-1], -1.0)


@dataclass(eq=False)
class Monitor:
    """Sets that follow a run together. The first has a functional: its losses are those of the Steps."""

    sets: Sequence[Watch]
    n_threads: int
    patience: Patience = field(default_factory=Patience)
    measures: Sequence[WatchedMeasure] = (LOSS,)
    history: dict[str, dict[str, list[float]]] = field(init=False)

    def __post_init__(self) -> None:
        self.history = {watch.name: {measure.name: [] for measure in self.measures} for watch in self.sets}

    def follow(self, ensemble: Ensemble) -> float:
        """Take in all rounds that the ensemble has and the sets have not; the first set's loss after the last."""
        first, decides = self.sets[0], self.measures[0]
        while first.rounds < ensemble.n_rounds:
            for watch in self.sets:
                watch.follow(ensemble, self.n_threads)
                for measure in self.measures:
                    self.history[watch.name][measure.name].append(measure.value(watch, ensemble))
            self.patience.see([decides.sign * self.history[first.name][decides.name][-1]])
        return first.losses[-1]

    @property
    def scores(self) -> list[float]:
        """What decides, so that more is better: the first measure on the first set, from the start on."""
        decides = self.measures[0]
        return [decides.sign * value for value in self.history[self.sets[0].name][decides.name]]

    def line(self) -> str:
        """The latest values, for people."""
        return "".join(
            f"  {name} {measured} {values[-1]:.6g}"
            for name, found in self.history.items()
            for measured, values in found.items()
        )
