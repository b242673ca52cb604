"""Five ideas for the engine, each against the estimators' defaults as they are: is there anything to be had?

    ANYBOOST_DATA=... python -m benchmarks.trials --out trials.jsonl
    python -m benchmarks.trials --report trials.jsonl

1. Rows drawn by their gradients (GOSS) or with least variance (MVS), in place of all of them or a uniform share.
2. The mean of the last models of a fit in place of its last one, at the rounds found and at 1.3 times as many.
3. Nesterov's momentum (Biau, Cadre and Rouvière 2019) in place of memory; targets from the Moreau envelope of a loss
   with kinks, leaf values still being exact.
4. Replay: the trees of the fit that found the rounds, with leaf values for all rows, in place of a second fit.
5. Several projections a round.

Rows of the tuning sets alone, held out of their training parts (docs/accuracy.md): no test part is looked at. The file
goes on where it stopped, a line a fit. In the report, a cell is the loss over that of the defaults, on how many sets it
is lower, and the processor's time over theirs: geometric means over sets.
"""

import contextlib
import copy
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from anyboost import boosting, weak
from anyboost.boosting import loop
from anyboost.descent import Descent, State, Step, descend
from anyboost.draws import mix
from anyboost.ensemble import Ensemble
from anyboost.estimators import base, parameters
from anyboost.estimators.fitting import Fitting
from anyboost.estimators.rounds import Found, search
from anyboost.losses import Functional
from anyboost.space import Masses, Space
from anyboost.weak.projections import LeafProjection
from benchmarks import accuracy, accuracy_libraries, accuracy_sets, changes
from benchmarks.accuracy_libraries import CLASSES, Work
from benchmarks.changes import AS_IT_IS, Line

TWO, SEVERAL, SQUARED, MEDIAN, TAIL = "two classes", "several classes", "squared", "absolute", "quantile:0.9"
FITS = (CLASSES, SQUARED, MEDIAN, TAIL)
SHARES = (0.1, 0.25, 0.5)  # of the rounds, whose models are averaged
STRETCH = 1.3

# --- 1. rows drawn by what they say

# Masses of rows, zero for those not drawn, from the sizes of their targets and their curvatures
Draw = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def goss(top: float, rest: float) -> Draw:
    """The rows of the largest targets, a share `top`, and a share `rest` of all from the others, made to weigh as much
    as these."""

    def draw(size: np.ndarray, _: np.ndarray, random: np.random.Generator) -> np.ndarray:
        n, order = len(size), np.argsort(-size, kind="stable")
        first = round(top * n)
        drawn = random.permutation(order[first:])[: max(1, round(rest * n))]
        mass = np.zeros(n)
        mass[order[:first]] = 1.0
        mass[drawn] = (n - first) / len(drawn)
        return mass

    return draw


def mvs(share: float) -> Draw:
    """A row with probability p like sqrt(g^2 + lambda k^2), 1 at most, and of mass 1 / p; both terms alike in size."""

    def draw(size: np.ndarray, curvature: np.ndarray, random: np.random.Generator) -> np.ndarray:
        wanted = np.hypot(size, size.mean() / max(curvature.mean(), 1e-300) * curvature)
        p = _probabilities(np.maximum(wanted, 1e-9 * wanted.max()), share * len(size))
        return np.where(random.random(len(p)) < p, 1.0 / p, 0.0)

    return draw


def uniform(share: float) -> Draw:
    return lambda size, _, random: (random.random(len(size)) < share) / share


def _probabilities(wanted: np.ndarray, count: float) -> np.ndarray:
    """min(1, wanted / mu) with that sum."""
    ascending = np.sort(wanted)
    below, n = np.cumsum(ascending), len(wanted)
    certain = np.arange(
        n
    )  # how many have probability 1: then mu is what the others add up to, by what is left
    mu = below[::-1] / np.maximum(count - certain, 1e-9)
    fits = (mu >= ascending[::-1]) & (certain < count)
    return np.minimum(1.0, wanted / mu[np.argmax(fits)])


class Drawn:
    """What a projection sees of the rows: those that a `Draw` gives it, by the target it is to project."""

    def __init__(self, run: boosting.Run, draw: Draw) -> None:
        self.run, self.draw = run, draw

    def __call__(self, t: int, k: int) -> Space:
        run, state = self.run, self.run.state
        assert run.space is not None
        assert run.functional is not None
        assert state.gradient is not None
        space, salt = run.space, mix(run.seed, t, k)
        target = run.descent.target(run.functional, space, state, state.gradient)
        curvature = np.ones_like(target) if state.curvature is None else state.curvature
        mass = self.draw(_lengths(target), _lengths(curvature), np.random.default_rng(salt))
        rows = np.flatnonzero(mass).astype(np.uint32)
        mean = float(mass.mean())
        measure = Masses(mass / mean, False, float(space.n), mean, rows if len(rows) < space.n else None)
        return space.lent(measure, None, salt)


def _lengths(f: np.ndarray) -> np.ndarray:
    return np.sqrt((f.reshape(len(f), -1) ** 2).sum(axis=1))


def drawing(draw: Draw) -> Any:
    def rounds(run: boosting.Run, _: Any) -> Iterator[Step]:
        assert run.space is not None
        assert run.functional is not None
        return descend(run.functional, run.learner, run.space, run.descent, run.state, Drawn(run, draw))

    return rounds


# --- 2. the mean of the last models


def averaged(ensemble: Ensemble, share: float) -> Ensemble:
    """The mean of the models after the last rounds, this share of all."""
    last = ensemble.n_rounds
    window = max(1, round(share * last))
    kept = np.minimum(1.0, (last + 1 - np.asarray(ensemble.rounds)) / window)
    return replace(ensemble, added=(np.asarray(ensemble.added) * kept).tolist(), _joined=None)


# --- 3. momentum, and envelopes


def momentum(t: int) -> float:
    """The share of round t's change by which the next round starts ahead."""
    return (t - 1) / (t + 2)


class Carried(Ensemble):
    """A sum whose rounds go on, by their momentum, as the ones before went."""

    def advance(
        self, t: int, X: np.ndarray, start: np.ndarray, scores: np.ndarray, n_threads: int | None = None
    ) -> None:
        change = np.zeros_like(scores)
        super().advance(t, X, start, change, n_threads)
        velocities = self.__dict__.setdefault("velocities", {})
        if t > 1:
            change += momentum(t - 1) * velocities[id(X)]
        velocities[id(X)] = change
        scores += change

    def truncate(self, n_rounds: int) -> Ensemble:
        """A plain sum, in which a round counts by all that was carried on from it."""
        kept = super().truncate(n_rounds)
        carried = np.ones(n_rounds + 2)
        for t in range(n_rounds - 1, 0, -1):
            carried[t] = 1.0 + momentum(t) * carried[t + 1]
        return replace(kept, added=[c * carried[t] for c, t in zip(kept.added, kept.rounds, strict=True)])


def accelerated(run: boosting.Run, sample: Any) -> Iterator[Step]:
    """The rounds of a run, each from a point ahead of where the one before ended."""
    state, R = run.state, run.functional
    assert R is not None
    begun = state.ensemble
    state.ensemble = Carried(begun.start, begun.n_features, begun.needs_offset)
    before = state.scores
    for step in _ROUNDS(run, sample):
        yield step
        now = state.scores
        state.scores, before = now + momentum(step.round) * (now - before), now
        state.loss, state.gradient, state.curvature = R.expand(state.scores, run.descent.curved)


_ROUNDS = loop._descend


class Envelope(Descent):
    """Targets are gradients of the Moreau envelope, mu falling with the rounds or with the loss."""

    scale = 1.0
    by_loss = False

    def target(self, R: Functional, L2: Space, state: State, g: np.ndarray) -> np.ndarray:
        level = state.loss if self.by_loss else state.start_loss / math.sqrt(state.round + 1)
        smooth = R.envelope_gradient(state.scores, max(self.scale * level, 1e-12))
        return super().target(R, L2, state, smooth)


def envelope(scale: float, by_loss: bool = False) -> Callable[[Descent], Descent]:
    return lambda descent: Envelope(
        descent.step, descent.memory, descent.projections, None, descent.curvature
    ).having(scale=scale, by_loss=by_loss)


# --- 4. the same trees again


class Replayed(weak.Tree):
    """Trees grown before, one after another, with leaf values for all rows of now."""

    def project(self, space: Space, target: np.ndarray) -> LeafProjection:
        tree = next(self.__dict__["trees"])
        number = np.cumsum(tree.feature < 0, dtype=np.int32) - 1
        leaf = number[tree.apply(space.X)].astype(np.int32)
        n_leaves, kappa = tree.n_leaves, space.kappa
        sums = _by_leaf(leaf, target, n_leaves)
        weights = _by_leaf(leaf, np.ones(space.n) if kappa is None else kappa, n_leaves)
        values = sums / np.maximum(weights + self.l2, 1e-300)
        share = weights / np.maximum(weights + self.l2, 1e-300)
        found = LeafProjection(tree.with_leaf_values(values), leaf, values, target.shape)
        return replace(found, most=1.0, amend=lambda wanted: wanted * share) if self.l2 else found


def _by_leaf(leaf: np.ndarray, f: np.ndarray, n_leaves: int) -> np.ndarray:
    columns = f.reshape(len(leaf), -1).T
    return np.column_stack([np.bincount(leaf, column, minlength=n_leaves) for column in columns])


def replaying(trees: list[Any]) -> Callable[[weak.Tree], weak.Tree]:
    def learner(tree: weak.Tree) -> weak.Tree:
        again = Replayed(**{field.name: getattr(tree, field.name) for field in fields(tree)})
        object.__setattr__(again, "trees", iter(trees))
        return again

    return learner


# --- what is fitted


class Trial(NamedTuple):
    """A change of the engine, where it is tried, and by how much it multiplies the rate."""

    families: tuple[str, ...]
    descent: Callable[[Descent], Descent] | None = None
    rounds: Callable[[boosting.Run, Any], Iterator[Step]] | None = None
    learner: Callable[[weak.Tree], weak.Tree] | None = None
    times: float = 1.0


def projections(count: int) -> Callable[[Descent], Descent]:
    return lambda descent: descent.having(projections=count)


def forgetful(descent: Descent) -> Descent:
    return descent.having(memory=0.0)


SAMPLED = (TWO, SEVERAL, SQUARED)
CARRIED = (TWO, SQUARED, MEDIAN)
ALL = (TWO, SEVERAL, SQUARED, MEDIAN, TAIL)
TRIALS = {
    "1 uniform 40 %": Trial(SAMPLED, rounds=drawing(uniform(0.4))),
    "1 GOSS 20 + 10 %": Trial(SAMPLED, rounds=drawing(goss(0.2, 0.1))),
    "1 GOSS 20 + 20 %": Trial(SAMPLED, rounds=drawing(goss(0.2, 0.2))),
    "1 MVS 40 %": Trial(SAMPLED, rounds=drawing(mvs(0.4))),
    "1 MVS 80 %": Trial(SAMPLED, rounds=drawing(mvs(0.8))),
    "3 momentum": Trial(CARRIED, forgetful, accelerated),
    "3 momentum, rate / 4": Trial(CARRIED, forgetful, accelerated, times=0.25),
    "3 momentum, rate / 16": Trial(CARRIED, forgetful, accelerated, times=1 / 16),
    "3 envelope, mu 3 / sqrt(t)": Trial((MEDIAN, TAIL), envelope(3.0)),
    "3 envelope, mu 1 / sqrt(t)": Trial((MEDIAN, TAIL), envelope(1.0)),
    "3 envelope, mu 0.3 / sqrt(t)": Trial((MEDIAN, TAIL), envelope(0.3)),
    "3 envelope, mu as the loss": Trial((MEDIAN, TAIL), envelope(1.0, by_loss=True)),
    "3 envelope, mu 5 times the loss": Trial((MEDIAN, TAIL), envelope(5.0, by_loss=True)),
    "3 envelope, mu as the loss, no memory": Trial(
        (MEDIAN,), lambda descent: envelope(1.0, by_loss=True)(forgetful(descent))
    ),
    "5 one projection, rate / 2": Trial(ALL, times=0.5),
    "5 two projections": Trial(ALL, projections(2)),
    "5 two projections, rate / 2": Trial(ALL, projections(2), times=0.5),
    "5 three projections": Trial(ALL, projections(3)),
    "5 three projections, rate / 2": Trial(ALL, projections(3), times=0.5),
}
# Those that share a search for their rounds with the defaults
SHARED = [
    AS_IT_IS,
    *(f"2 mean of the last {share:.0%}" for share in SHARES),
    f"2 rounds x {STRETCH}",
    *(f"2 rounds x {STRETCH}, mean of the last {share:.0%}" for share in SHARES),
    "4 no refit",
    "4 replay",
]


class Fit(NamedTuple):
    """A fitted model, the processor's seconds, those of the search among them, what that found, and its trees."""

    model: Any
    seconds: float
    search: float
    found: Found
    trees: Ensemble


@contextlib.contextmanager
def engine(trial: Trial) -> Iterator[None]:
    """Estimators fit by the trial meanwhile."""
    method = parameters.method

    def changed(estimator: Any, dials: Any, *given: Any) -> tuple[Any, Descent]:
        dials = dials._replace(learning_rate=trial.times * dials.learning_rate)
        learner, descent = method(estimator, dials, *given)
        learner = learner if trial.learner is None else trial.learner(learner)  # type: ignore[arg-type]
        return learner, descent if trial.descent is None else trial.descent(descent)

    with (
        mock.patch.object(parameters, "method", changed),
        mock.patch.object(loop, "_descend", trial.rounds or _ROUNDS),
    ):
        yield


def learn(problem: Any, fit: str, trial: Trial, found: Found | None = None) -> Fit:
    """Fit with the defaults, changed by a trial; where its rounds are found already, without a search."""
    from numba.core import event
    from threadpoolctl import threadpool_limits

    boost, runs, searches = Fitting.boost, [], []

    def searched(*given: Any) -> Found:
        began = process_time()
        result = search(*given) if found is None else found
        searches.append((result, process_time() - began))
        return result

    def boosted(self: Fitting, *given: Any) -> Any:
        runs.append(boost(self, *given))
        return runs[-1]

    work = Work(fit, tuple(problem.categorical), 1, problem.seed, problem.classes)
    model = accuracy_libraries.LIBRARIES["anyboost"].make(work, {})
    with (
        warnings.catch_warnings(),
        threadpool_limits(1),
        engine(trial),
        mock.patch.object(base, "search", searched),
        mock.patch.object(Fitting, "boost", boosted),
        event.install_recorder("numba:compile") as recorder,
    ):
        warnings.simplefilter("ignore")
        began = process_time()
        model.fit(problem.train.X, problem.train.y)
        took = process_time() - began
    if recorder.buffer:  # it compiled something: again, for its seconds
        return learn(problem, fit, trial, found)
    result, seconds = searches[-1]
    return Fit(model, took, seconds, result, runs[0].ensemble)


def _with(model: Any, ensemble: Ensemble) -> Any:
    other = copy.copy(model)
    other.ensemble_ = ensemble
    return other


def shared(problem: Any, fit: str) -> Iterator[tuple[str, Any, float, int]]:
    """The defaults, and what needs no search of its own: names, models, seconds and rounds."""
    plain = learn(problem, fit, Trial(ALL))
    rounds = plain.found.rounds
    yield AS_IT_IS, plain.model, plain.seconds, rounds
    for share in SHARES:
        mean = averaged(plain.model.ensemble_, share)
        yield f"2 mean of the last {share:.0%}", _with(plain.model, mean), plain.seconds, rounds
    longer = plain.found._replace(rounds=math.ceil(STRETCH * rounds))
    stretched = learn(problem, fit, Trial(ALL), longer)
    seconds, name = plain.search + stretched.seconds, f"2 rounds x {STRETCH}"
    yield name, stretched.model, seconds, longer.rounds
    for share in SHARES:
        mean = averaged(stretched.model.ensemble_, share)
        yield f"{name}, mean of the last {share:.0%}", _with(stretched.model, mean), seconds, longer.rounds
    first = plain.trees.truncate(rounds)
    yield "4 no refit", _with(plain.model, first), plain.search, rounds
    again = learn(problem, fit, Trial(ALL, learner=replaying(first.hypotheses)), plain.found)
    yield "4 replay", again.model, plain.search + again.seconds, rounds


def study(
    out: Path,
    sets: tuple[str, ...],
    seeds: range,
    rows: int,
    only: str = "",
    fits: tuple[str, ...] = FITS,
) -> None:
    """Fit every trial whose name begins as asked on every set, but for those that the file has."""
    done = changes.done(out)
    for seed in seeds:
        for name in sets:
            problem = accuracy_sets.problem(name, seed, rows, held_out=True)
            for fit in accuracy_libraries.fits_of(problem.task):
                if fit in fits:
                    _study_one(out, problem, fit, done, only)


def _study_one(out: Path, problem: Any, fit: str, done: set[Any], only: str) -> None:
    family = fit if fit != CLASSES else SEVERAL if problem.classes > 2 else TWO
    place = (problem.name, problem.seed, fit)

    def note(change: str, model: Any, seconds: float, rounds: int) -> None:
        predict = model.predict_proba if fit == CLASSES else model.predict
        predicted = np.asarray(predict(problem.test.X), dtype=np.float64)
        loss = next(iter(accuracy.losses(fit, problem.test, predicted).values()))
        changes.note(out, Line(*place, family, change, loss, seconds, rounds))

    if any((*place, change) not in done for change in SHARED):
        for change, *found in shared(problem, fit):
            if (*place, change) not in done:
                note(change, *found)
    for change, trial in TRIALS.items():
        wanted = family in trial.families and change.startswith(only)
        if wanted and (*place, change) not in done:
            fitted = learn(problem, fit, trial)
            note(change, fitted.model, fitted.seconds, fitted.found.rounds)


def main() -> None:
    sets = "adult,bank,elec2,satimage,pendigits,covtype,cal_housing,casp,ames,abalone,diamonds"
    parser = changes.options(__doc__, "trials.jsonl", sets)
    parser.add_argument("--only", default="", help="how the names of trials begin")
    parser.add_argument("--fits", default=",".join(FITS))
    given = parser.parse_args()
    if not given.report and given.quick:
        study(given.out, ("abalone",), range(1), 900)
    elif not given.report:
        asked, fits = tuple(given.sets.split(",")), tuple(given.fits.split(","))
        study(given.out, asked, range(given.seeds), given.rows, given.only, fits)
    names = sorted([*SHARED[1:], *TRIALS], key=lambda name: name[0])
    print(changes.report(changes.read(given.report or given.out), ALL, names))


if __name__ == "__main__":
    main()
