"""Validation sets that follow a fit, the scores on them, and when to stop.

Each set keeps its scores and adds one round at a time, so a round costs one tree and not the whole sum. The first
score on the first set decides: the best round is the one where it is best, and a fit stops early where it has not
become better by more than `tol` for so many rounds.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anyboost import metrics
from anyboost.boosting import Run
from anyboost.descent import Step
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional, Loss
from anyboost.space import Space


class Scoring(NamedTuple):
    """One thing to measure on a validation set; `sign` is -1 where less is better."""

    name: str
    value: Callable[["WatchedSet"], float]
    sign: float


@dataclass(eq=False)
class WatchedSet:
    """A validation set as `boost` sees it (X, y, weights), and as a scorer does (given, labels, sample_weight)."""

    name: str
    given: Any  # the table as the user gave it; None where no scorer asks for it
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None  # class weights included
    labels: Any
    sample_weight: np.ndarray | None
    groups: np.ndarray | None
    start: np.ndarray | None  # scores row by row to start at; None: the model's constant
    functional: Functional | None = None
    begin: np.ndarray = field(init=False)
    scores: np.ndarray = field(init=False)
    ensemble: Ensemble = field(init=False)
    rounds: int = 0  # of the ensemble that the scores have

    def open(self, ensemble: Ensemble) -> None:
        """Put the scores to where the run began."""
        self.ensemble, n = ensemble, self.X.shape[0]
        self.begin = np.empty((n, ensemble.outputs))
        self.begin[:] = ensemble.start if self.start is None else self.start.reshape(n, -1)
        self.scores = self.begin.copy()

    def advance(self, ensemble: Ensemble, n_threads: int) -> None:
        """Take in one more round."""
        self.ensemble, self.rounds = ensemble, self.rounds + 1
        ensemble.advance(self.rounds, self.X, self.begin, self.scores, n_threads)

    def shaped(self) -> np.ndarray:
        return self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores


def loss_scoring(loss: Loss, sets: Sequence[WatchedSet], outputs: int, n_threads: int) -> Scoring:
    """The loss itself."""
    for watched in sets:
        space = Space(watched.X, watched.weights, n_threads=n_threads)
        try:
            watched.functional = loss.on(watched.y, space, watched.groups, outputs=outputs)
        except ValueError as error:
            raise ValueError(f"validation set {watched.name!r}: {error}") from None

    def value(watched: WatchedSet) -> float:
        assert watched.functional is not None
        return watched.functional.value(watched.shaped())

    return Scoring("loss", value, -1.0)


def metric_scoring(name: str, metric: metrics.Metric) -> Scoring:
    """A metric of `anyboost.metrics`."""

    def value(watched: WatchedSet) -> float:
        return metric.value(watched.labels, watched.shaped(), watched.groups)

    return Scoring(name, value, 1.0 if metric.greater_is_better else -1.0)


def scorer_scoring(
    name: str,
    scorer: Any,
    sets: Sequence[WatchedSet],
    stage: Callable[[WatchedSet], Any],
    queries: str | None = None,
) -> Scoring:
    """A scorer of scikit-learn: a function of (estimator, X, y), more is better; `queries` is what it calls groups."""
    if any(watched.sample_weight is not None for watched in sets) and not _takes_weights(scorer):
        raise ValueError(
            f"scoring {name} takes no sample_weight, which a validation set has: leave out one of them"
        )

    def value(watched: WatchedSet) -> float:
        given: dict[str, Any] = {}
        if watched.sample_weight is not None:
            given["sample_weight"] = watched.sample_weight
        if queries is not None:  # a set without any is one query, as in a fit
            given[queries] = np.zeros(len(watched.y)) if watched.groups is None else watched.groups
        return float(scorer(stage(watched), watched.given, watched.labels, **given))

    return Scoring(name, value, 1.0)


def _takes_weights(scorer: Any) -> bool:
    parameters = inspect.signature(scorer).parameters.values()
    return any(p.kind == p.VAR_KEYWORD or p.name in ("sample_weight", "kwargs") for p in parameters)


def check_scoring(scoring: Any) -> list[Any]:
    """A list of what to measure, each "loss", a Metric, None (the estimator's own score) or a scorer, with its name."""
    several = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
    if not several:
        raise ValueError('scoring is an empty list: name at least one score, or use "loss"')
    found = [_one_scoring(part) for part in several]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError(f"scoring names {names} hold one twice: name each once")
    return found


def any_scorer(scoring: Any) -> bool:
    """Whether any of these is a function of (estimator, X, y), which is shown the table."""
    return any(what is None or callable(what) for _, what in check_scoring(scoring))


def _one_scoring(part: Any) -> tuple[str, Any]:
    from sklearn.metrics import get_scorer, get_scorer_names

    if part is None:
        return "score", None
    if isinstance(part, str):
        if part == "loss":
            return part, part
        metric = metrics.get(part)
        if metric is not None:
            return part, metric
        if part not in get_scorer_names():
            raise ValueError(
                f'scoring {part!r} is not known: use "loss", "ndcg", "map", "disagreement", "concordance", '
                "or a scorer of scikit-learn"
            )
        return part, get_scorer(part)
    if callable(part) and not isinstance(part, type):
        return getattr(part, "__name__", type(part).__name__), part
    raise ValueError(
        f"scoring must be a name, a function of (estimator, X, y) or a list of them, got {part!r}"
    )


@dataclass(eq=False)
class Monitor:
    """A callback of `boost`: follows the sets, and stops the fit after `patience` rounds without a better score."""

    sets: Sequence[WatchedSet]
    scorings: Sequence[Scoring]
    loss: Scoring  # on the first set, for the Steps; one of `scorings` or not
    patience: int | None
    tol: float
    n_threads: int
    history: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    best_round: int = 0
    best_score: float = -math.inf
    rounds: int = -1  # seen so far; -1: not even the start

    def __call__(self, step: Step, run: Run) -> bool:
        self.catch_up(run.ensemble)
        return self.patience is not None and self.rounds - self.best_round >= self.patience

    def catch_up(self, ensemble: Ensemble) -> None:
        """Take in all rounds that the ensemble has and the sets have not."""
        if self.rounds < 0:
            for watched in self.sets:
                watched.open(ensemble)
                self.history[watched.name] = {scoring.name: [] for scoring in self.scorings}
            self._record()
        while self.rounds < ensemble.n_rounds:
            for watched in self.sets:
                watched.advance(ensemble, self.n_threads)
            self._record()

    def _record(self) -> None:
        self.rounds += 1
        for watched in self.sets:
            for scoring in self.scorings:
                self.history[watched.name][scoring.name].append(scoring.value(watched))
        first = self.sets[0]
        known = any(scoring is self.loss for scoring in self.scorings)
        self.losses.append(self.history[first.name]["loss"][-1] if known else self.loss.value(first))
        score = self.scores[-1]
        if score > self.best_score + (self.tol if self.rounds else 0.0):
            self.best_round, self.best_score = self.rounds, score

    @property
    def scores(self) -> list[float]:
        """What decides, so that more is better: the first score on the first set, at the start and after each round."""
        first, scoring = self.sets[0].name, self.scorings[0]
        return [scoring.sign * value for value in self.history[first][scoring.name]]

    def line(self) -> str:
        """The latest scores, for people."""
        parts = [
            f", {name} {scoring} {values[-1]:.6g}"
            for name, found in self.history.items()
            for scoring, values in found.items()
        ]
        return "".join(parts)
