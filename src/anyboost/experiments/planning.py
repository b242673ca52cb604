"""Figure 1 of Grubb and Bagnell (2011): test loss of maximum-margin planning by number of weak learners, small nets.

On five folds of the Jacksboro fault (`anyboost.planning.terrain`), with the lattice planner, for which the loss is
convex everywhere. Each descent chooses its step on the validation maps; test maps are only looked at with that one.
Nets start at random, so those of the chosen step are fitted from three seeds; the first seed chooses the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from anyboost import descent, planning, steps, weak
from anyboost.boosting import Callback, Run, boost
from anyboost.descent import Step
from anyboost.experiments import methods, style
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.search import GROWTH, search
from anyboost.planning.comparing import path_errors
from anyboost.planning.ground import N_BANDS, Maps, Terrain
from anyboost.planning.planners import LatticePlanner
from anyboost.plot import figures
from anyboost.space import Space

TITLE = "Costs learned from paths: test loss by number of nets"
SOURCE = "Grubb and Bagnell (2011), Figure 1"
SAYS = "Repeated and residual projection often outperform naive projection, which can stall where a loss has kinks."
SHOWS = (
    "Maximum-margin planning loss on test maps (above) and training maps (below) against the number of nets with 5 "
    "units, for naive, repeated and residual projection, and residual projection with memory 0.7: means over five "
    "folds of three runs each, the folds as thin lines."
)
METHODS: dict[str, Any] = {
    **methods.PRESETS,
    "residual, memory 0.7": lambda step: descent.Residual(step, memory=0.7),
}
STYLES: dict[str, dict[str, Any]] = {
    **methods.STYLES,
    "residual, memory 0.7": {"color": figures.GREEN, "linewidth": 2.0, "linestyle": (0, (2, 1))},
}
LEARNERS: dict[str, dict[str, str]] = {
    "": {},
    ", stumps": {"learner": "stump"},
}  # by the ending of a case's name
SEEDS = 3  # of nets; stumps have no random start
TOLERANCE = 1
DIVERGED = 1.5  # times the validation loss at the start, after this many nets: first steps may overshoot
RECOVERS = 30
FIRST_FEW = 15  # learners
NEVER_BETTER = 0.02  # a difference of test loss under this share is none


class FoldCells(NamedTuple):
    """A fold as `boost` takes it: cells of train, validation and test maps, and the loss that knows all their paths."""

    train: planning.Cells
    valid: planning.Cells
    test: planning.Cells
    loss: planning.PathMargin
    ground: Terrain


def cases(quick: bool) -> dict[str, Any]:
    """A fold and a descent each, with the steps it may choose from, in units of cost; nets first, then stumps."""
    size, paths, learners = (16, 1, 6) if quick else (40, 4, 91)
    rates = [0.2, 0.8] if quick else [0.4, 1.2, 3.6]
    shared = {
        "size": size,
        "paths": paths,
        "learners": learners,
        "rates": rates,
        "growth": 0 if quick else GROWTH,
    }
    return {
        f"fold {fold}, {name}{ending}": {"fold": fold, "method": name, **shared, **learner}
        for ending, learner in LEARNERS.items()
        for fold in range(1 if quick else N_BANDS)
        for name in METHODS
    }


@lru_cache(maxsize=1)
def sample(fold: int, size: int, paths: int, most: int | None) -> FoldCells:
    """One fold; the quick form takes the first few maps only."""
    ground = planning.terrain(fold, size=size, paths=paths, random_state=fold)
    if most is not None:
        ground = Terrain(*(_first(part, most) for part in ground))
    parts: list[planning.Cells] = []
    for part in ground:
        first = sum(len(before.maps) for before in parts)
        parts.append(planning.cells(part.maps, part.demonstrations, "lattice", first=first))
    shown = [path for part in parts for path in part.demonstrations]
    train, valid, test = parts
    return FoldCells(train, valid, test, planning.PathMargin(shown, "lattice", TOLERANCE), ground)


def _first(part: Maps, most: int) -> Maps:
    return Maps(part.maps[:most], part.demonstrations[:most], part.costs[:most], part.heights[:most])


def measure(case: Any, tick: Tick) -> dict[str, Any]:
    """The validation losses of every step, and the runs with the step that has the least of these."""
    quick = case["learners"] < 50
    data = sample(case["fold"], case["size"], case["paths"], 8 if quick else None)
    runs: dict[float, Run] = {}

    def attempt(rate: float) -> dict[str, float | None]:
        tick(min(len(runs) / len(case["rates"]), 1.0))
        stops = [diverged] if runs else []  # the first run goes to its end, so that there is one to choose
        runs[rate] = run = fit(data, case, rate, stops)
        ended = len(run.steps) == len(next(iter(runs.values())).steps)
        return {"valid": min(watched(run)) if ended else None}

    choice = search({"rate": case["rates"]}, attempt, ("valid",), growth=case["growth"])
    rate = choice.point["rate"]
    seeds = 1 if quick or "learner" in case else SEEDS
    chosen = [runs[rate], *(fit(data, case, rate, [], seed) for seed in range(1, seeds))]
    return {
        "rate": rate,
        "tried": choice.tried,
        "at_end": choice.at_end,
        "learners": [0] + [step.learners for step in chosen[0].steps],
        "runs": [results_of(run, data) for run in chosen],
    }


def results_of(run: Run, data: FoldCells) -> dict[str, Any]:
    """The losses of a run after each round, the round that validation chooses, and what its paths cost there."""
    assert run.ensemble is not None
    test = data.loss.on(data.test.y, Space(data.test.X))
    start = np.full(len(data.test.X), run.ensemble.start[0])
    return {
        "train": [run.start_loss] + [step.loss for step in run.steps],
        "valid": watched(run),
        "test": [test.value(start)] + [test.value(f) for f in run.ensemble.staged_predict(data.test.X)],
        "best_round": run.best_round,
        "edge": float(np.mean([step.edge for step in run.steps])),
        "leftover": run.state.geometry[-1].leftover / (run.steps[-1].gradient_norm or 1.0),
        **paths_of(run.best, data),
    }


def fit(data: FoldCells, case: Any, rate: float, stops: Sequence[Callback], seed: int = 0) -> Run:
    """One run of as many learners: repeated projection has t in round t, all others one."""
    return boost(
        data.train.X,
        data.train.y,
        data.loss,
        case.get("learner", weak.Net(hidden=5)),
        METHODS[case["method"]](steps.InverseSqrt(rate / case["size"])),
        rounds_for(case["method"], case["learners"]),
        valid=(data.valid.X, data.valid.y),
        callbacks=stops,
        random_state=case["fold"] + N_BANDS * seed,
        n_threads=1,
    )


def diverged(step: Step, run: Run) -> bool:
    """Whether a step is out of the question, and its run may stop."""
    assert step.valid_loss is not None
    return step.learners >= RECOVERS and not step.valid_loss < DIVERGED * watched(run)[0]


def rounds_for(method: str, learners: int) -> int:
    """How many rounds use up so many learners."""
    return methods.repeated_rounds(learners) if method == "repeated" else learners


def watched(run: Run) -> list[float]:
    assert run.watch is not None
    return run.watch.losses


def paths_of(costs: Any, data: FoldCells) -> dict[str, float]:
    """The test paths of learned costs: how much of them is off the demonstrations, and their true cost ratio."""
    part = data.ground.test
    errors = []
    for features, shown, true in zip(part.maps, part.demonstrations, part.costs, strict=True):
        cost = costs.predict(features.reshape(-1, features.shape[2])).reshape(true.shape)
        errors += [path_errors(LatticePlanner(), cost, path, true, TOLERANCE) for path in shown]
    off, ratio = np.mean(errors, axis=0).tolist()
    return {"off_path": off, "cost_ratio": ratio}


# --- what it says


def by_method(results: dict[str, Any], ending: str = "") -> dict[str, list[dict[str, Any]]]:
    """The results of a descent, fold by fold: those of nets, or of the learners whose cases end so."""
    found = {
        name: [found for label, found in results.items() if label.endswith(f", {name}{ending}")]
        for name in METHODS
    }
    return {name: folds for name, folds in found.items() if folds}


def curve(fold: dict[str, Any], what: str) -> np.ndarray:
    """Losses after each round, in the mean of the runs."""
    return np.mean([run[what] for run in fold["runs"]], axis=0)


def at_end(found: list[dict[str, Any]], what: str = "test") -> np.ndarray:
    """The last loss of each fold."""
    return np.array([curve(fold, what)[-1] for fold in found])


def at_best(found: list[dict[str, Any]]) -> np.ndarray:
    """The test loss of each fold at the round chosen on validation maps."""
    return np.array([np.mean([run["test"][run["best_round"]] for run in fold["runs"]]) for fold in found])


def seed_spread(found: list[dict[str, Any]]) -> float:
    """The standard deviation of the last test loss over the seeds of a fold, in the mean of the folds."""
    return float(np.mean([np.std([run["test"][-1] for run in fold["runs"]], ddof=1) for fold in found]))


def largest_rise(fold: dict[str, Any]) -> float:
    """By how much a round, past the first few, made the training loss of a run larger, or 0."""
    late = np.array(fold["learners"][1:]) > FIRST_FEW
    return float(max(0.0, *(np.diff(run["train"])[late].max(initial=0.0) for run in fold["runs"])))


class Contest(NamedTuple):
    """Test losses fold by fold against naive's."""

    ours: np.ndarray
    naive: np.ndarray

    @property
    def gain(self) -> float:
        """By which share ours is lower, in the mean of the folds."""
        return float(np.mean(1 - self.ours / self.naive))

    def __str__(self) -> str:
        lower = int((self.ours < self.naive).sum())
        return (
            f"{self.ours.mean():.2f} against {self.naive.mean():.2f} ({-100 * self.gain:+.1f} % in the mean of the "
            f"folds, lower in {lower} of {len(self.ours)})"
        )


def claims(results: dict[str, Any]) -> list[Claim]:
    """The paper says of its new algorithms that they "often outperform the existing algorithm in practice"."""
    found = by_method(results)
    learners = found["naive"][0]["learners"][-1]
    said = []
    for name in ("repeated", "residual"):
        ends = Contest(at_end(found[name]), at_end(found["naive"]))
        chosen = Contest(at_best(found[name]), at_best(found["naive"]))
        said.append(
            Claim(
                f"{name.capitalize()} projection reaches a lower test loss than naive projection with as many nets",
                verdict([ends.gain > NEVER_BETTER, chosen.gain > NEVER_BETTER]),
                f"With {learners} nets its loss is {ends}. With the number chosen on validation maps it is {chosen}.",
            )
        )
    last, curves = at_end(found["naive"], "train"), [curve(fold, "train") for fold in found["naive"]]
    late = np.array([losses[len(losses) * 3 // 4] for losses in curves])
    fell = float((1 - last / late).mean())
    said.append(
        Claim(
            "Naive projection stalls on a loss with kinks",
            verdict([fell < 0.005]),
            f"Its training loss still falls by {100 * fell:.1f} % over the last quarter of the nets.",
        )
    )
    return said


def outcome(results: dict[str, Any]) -> str:
    """The test losses in the end."""
    found = by_method(results)
    ends = "; ".join(f"{name}: {at_end(folds).mean():.1f}" for name, folds in found.items())
    return (
        f"Test loss after {found['naive'][0]['learners'][-1]} nets, mean of the folds. {ends.capitalize()}."
    )


def table(results: dict[str, Any]) -> list[str]:
    count = by_method(results)["naive"][0]["learners"][-1]
    heading = (
        f"{count} | descent | steps chosen | test loss | of the folds | of the seeds | test loss, round chosen | "
        "training loss | largest rise in a round | off the path | true cost ratio | mean edge | "
        "what is left of D / gradient"
    )
    rows = []
    for ending in LEARNERS:
        rows += _rows(ending.removeprefix(", ") or "nets", by_method(results, ending))
    return markdown(heading, rows)


def _rows(learners: str, found: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    rows = []
    for name, folds in found.items():
        test = at_end(folds)
        means = {
            key: np.mean([run[key] for fold in folds for run in fold["runs"]])
            for key in ("off_path", "cost_ratio", "edge", "leftover")
        }
        rates = ", ".join(f"{fold['rate']:g}" for fold in folds)
        cells = [learners, name, rates, f"{test.mean():.2f}", f"{test.min():.2f} to {test.max():.2f}"]
        cells.append(f"± {seed_spread(folds):.2f}" if len(folds[0]["runs"]) > 1 else "")
        losses = (at_best(folds).mean(), at_end(folds, "train").mean(), max(map(largest_rise, folds)))
        cells += [f"{loss:.2f}" for loss in losses] + [f"{100 * means['off_path']:.0f} %"]
        cells += [f"{means['cost_ratio']:.3f}", f"{means['edge']:.3f}", f"{means['leftover']:.1f}"]
        rows.append(cells)
    return rows


def draw(results: dict[str, Any]) -> Any:
    """Test and training loss by number of nets: means in bold, folds thin, names beside their lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(style.WIDE, 7.6), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True, sharey=True)
    found = by_method(results)
    every = [
        curve(fold, what).min() for folds in found.values() for fold in folds for what in ("test", "train")
    ]
    start = curve(found["naive"][0], "test")[0]
    axes[0].set_ylim(0.9 * min(every), 1.2 * start)  # what overshoots is cut off
    for ax, what, title in zip(axes, ("test", "train"), ("test maps", "training maps"), strict=True):
        means = {}
        for name, folds in found.items():
            x = np.array(folds[0]["learners"])
            losses = np.array([curve(fold, what) for fold in folds])
            for line in losses:
                ax.plot(x, line, color=STYLES[name]["color"], linewidth=0.5, alpha=0.35)
            ax.plot(x, losses.mean(axis=0), **STYLES[name])
            means[name] = losses.mean(axis=0)
        ax.set_title(title, loc="left", fontweight="bold")
        ax.set_xlim(0, x[-1])
        ax.set_ylabel("planning loss R")
        style.quiet(ax, "y")
        methods.label_ends(ax, means, 0.055, STYLES, "{}: {:.1f}")
    axes[1].set_xlabel("nets with 5 units")
    return figure
