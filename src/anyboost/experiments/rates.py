"""Grubb and Bagnell's Theorems 3 to 7 against what runs do, on problems whose optimum is known exactly.

Two kinds of classes span all functions on their rows, so that the weak learning condition holds and the optimum is
that of each row: 120 random columns on 30 rows, and stumps on 30 rows of a table. Bounds are those of
`anyboost.bounds`; theorem 3 speaks of the gap after T rounds, the others of its average over f_0 .. f_(T-1). The floor
is held against a linear program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost import bounds
from anyboost.descent import Descent, Hull, Naive, Repeated, Residual
from anyboost.experiments import style
from anyboost.experiments.finite import descend, diabetes, linear_optimum, sign_stumps
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.style import short, thin
from anyboost.losses import Loss, pointwise
from anyboost.steps import Constant, InverseSqrt, InverseT

TITLE = "How fast it converges, and how fast it must"
SOURCE = "Grubb and Bagnell (2011, extended), Theorems 3 to 7"
SAYS = (
    "Theorems 3 to 7: a linear rate for smooth, strongly convex losses, O(ln T / T) for strongly convex ones, "
    "O(1 / sqrt T) for convex ones."
)
SHOWS = (
    "Gap to the optimum against rounds, and the bounds of each theorem: as printed, as proved (safe) and as computed "
    "from the run. In the last row the problem of one row on which the printed Theorems 5 and 7 fail: the gap rises "
    "above them. Top right, how far the floors that runs certify lie under the optimum, and Hull's loss over it."
)
ROWS, COLUMNS, FLOOR_ROWS = 30, 120, 200
CLASSES = ("random", "stumps")
SEEDS = range(3)
ROUNDS = {3: 2000, 4: 200, 5: 200, 6: 5000, 7: 5000, "floor": 2048}
QUICK = {3: 200, 4: 30, 5: 30, 6: 200, 7: 200, "floor": 64}
SMOOTH, STRONG, CONVEX = (
    ("squared", "expectile"),
    ("squared + absolute", "lasso"),
    ("absolute", "bent", "hinge"),
)
LOSSES = {3: SMOOTH, 4: STRONG, 5: CONVEX, 6: STRONG, 7: CONVEX}
ALGORITHMS = {3: "naive", 4: "repeated", 5: "repeated", 6: "residual", 7: "residual"}
FLOORS = {"absolute": 3.0, "quantile:0.9": 3.0, "hinge": 5.0}  # a radius for each
COUNTER = {5: (2.0, 16), 7: (5.0, 64)}  # F, and rounds
SLACK = 1e-7  # relative: what rounding may do to a bound that holds
NOISE = 1e-12  # of the first gap: below, the gap is rounding


class Problem(NamedTuple):
    """A loss, rows, a learner, and the best scores on the rows."""

    loss: Loss
    learner: str
    X: np.ndarray
    y: np.ndarray
    best: np.ndarray


def cases(quick: bool) -> dict[str, Any]:
    """Every theorem with its losses, classes and seeds; the counterexamples; the floors."""
    rounds = QUICK if quick else ROUNDS
    made: dict[str, Any] = {}
    for theorem, losses in LOSSES.items():
        for loss in losses[:1] if quick else losses:
            for kind in CLASSES[:1] if quick else CLASSES:
                for seed in SEEDS[:1] if quick else SEEDS:
                    made[f"Theorem {theorem}, {loss}, {kind} {seed}"] = {
                        "theorem": theorem,
                        "loss": loss,
                        "class": kind,
                        "seed": seed,
                        "rounds": rounds[theorem],
                    }
    for theorem, (F, T) in COUNTER.items():
        made[f"Theorem {theorem}, one row"] = {"theorem": theorem, "F": F, "rounds": T}
    for loss, radius in list(FLOORS.items())[: 1 if quick else None]:
        made[f"floor, {loss}"] = {"loss": loss, "radius": radius, "rounds": rounds["floor"]}
    return made


def measure(case: dict[str, Any], tick: Tick = lambda _: None) -> dict[str, Any]:
    """Gaps, bounds and what they come to, thinned for figures; `least` ratios look at every round."""
    if "theorem" not in case:
        return measure_floor(case["loss"], case["radius"], case["rounds"], tick)
    if "F" in case:
        F = case["F"]
        one = Problem(ab.losses.get("absolute"), "dictionary", np.ones((1, 1)), np.array([F]), np.array([F]))
        return measure_theorem(case["theorem"], one, case["rounds"], tick, start=-F)
    problem = draw_problem(case["loss"], case["class"], case["seed"])
    return measure_theorem(case["theorem"], problem, case["rounds"], tick)


@cache
def losses_and_bests() -> dict[str, tuple[Loss, Callable[[np.ndarray], np.ndarray]]]:
    """Each loss, and the score that is best for a target. Two have an optimum that is no zero."""
    lasso = pointwise(
        lambda f, y: 0.5 * (f - y) ** 2 + abs(f),
        lambda f, y: f - y + np.sign(f),
        name="lasso",
        strong_convexity=1.0,
    )
    bent = pointwise(
        lambda f, y: abs(f - y) + 0.6 * abs(f),
        lambda f, y: np.sign(f - y) + 0.6 * np.sign(f),
        name="bent",
    )
    squared, absolute = ab.losses.Squared(), ab.losses.Absolute()
    return {
        "squared": (squared, lambda y: y),
        "expectile": (ab.losses.Expectile(0.8), lambda y: y),
        "squared + absolute": (squared + absolute, lambda y: y),
        "lasso": (lasso, lambda y: np.sign(y) * np.maximum(np.abs(y) - 1, 0)),
        "absolute": (absolute, lambda y: y),
        "bent": (bent, lambda y: y),
        "hinge": (ab.losses.Hinge(), lambda y: y),
    }


def draw_problem(loss: str, kind: str, seed: int) -> Problem:
    """Rows that differ, targets of spread 2, a class that spans all functions of the rows."""
    random = np.random.default_rng((7, seed))
    chosen, best = losses_and_bests()[loss]
    if kind == "random":
        X, y, learner = random.normal(size=(ROWS, COLUMNS)), random.normal(size=ROWS), "dictionary"
    else:
        table, target = diabetes()
        rows = random.choice(len(target), ROWS, replace=False)
        X, y, learner = table[rows], target[rows], "stump"
    y = np.where(y > 0, 1.0, -1.0) if loss == "hinge" else 2 * y
    return Problem(chosen, learner, X, y, best(y))


def descent_of(theorem: int, loss: Loss) -> Descent:
    """The algorithm and the steps that a theorem is about."""
    if theorem == 3:
        return Naive(Constant(1 / float(loss.smoothness)))
    kind, factor = (Repeated, 2.0) if theorem in (4, 5) else (Residual, 1.0)
    step = InverseSqrt(1.0) if theorem in (5, 7) else InverseT(factor / float(loss.strong_convexity))
    return kind(step)


def measure_theorem(
    theorem: int, problem: Problem, rounds: int, tick: Tick, start: float = 0.0
) -> dict[str, Any]:
    """A run, its gap, and the theorem's bounds on it."""
    away, norms = [], []  # ||f_t - f*|| and ||f_t||

    def watch(step: Any, run: Any) -> None:
        away.append(run.space.norm(run.scores - problem.best))
        norms.append(run.space.norm(run.scores))
        tick(step.round / rounds)

    chosen = descent_of(theorem, problem.loss)
    run = descend(problem.X, problem.y, problem.loss, problem.learner, chosen, rounds, watch, start)
    assert run.space is not None
    assert run.functional is not None
    optimum = run.functional.value(problem.best)
    d = np.maximum.accumulate([run.space.norm(run.state.start - problem.best), *away[:-1]])
    longest = np.maximum.accumulate([run.space.norm(run.state.start), *norms[:-1]])
    F = np.maximum(longest, run.space.norm(problem.best))  # the least that the print allows
    gap, found = gap_and_bounds(theorem, run, optimum, d, F)
    first = run.start_loss - optimum
    seen = gap > NOISE * first
    last = int(np.flatnonzero(seen)[-1])
    places = thin(last + 1) - 1
    return {
        "gamma": short(bounds.gamma(run)),
        "rounds": (places + 1).tolist(),
        "gap": short(gap[places]),
        "bounds": {form: short(bound[places]) for form, bound in found.items()},
        # Where one is under 1, the bound is violated.
        "least": {form: float(np.min(bound[seen] / gap[seen])) for form, bound in found.items()},
        "last": {form: short(bound[last] / gap[last]) for form, bound in found.items()},
        "slope": slope(np.arange(1, last + 2), gap[: last + 1]),
        "factor": short(
            (gap[last] / first) ** (1 / (last + 1))
        ),  # what a round leaves of the gap, in the mean
    }


def gap_and_bounds(
    theorem: int, run: Any, optimum: float, d: np.ndarray, F: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """What a theorem speaks of, and its bounds by their forms, for T = 1 .. rounds."""
    if theorem == 3:
        gap = np.array([step.loss for step in run.steps]) - optimum
        return gap, {form: bounds.theorem_3(run, optimum, form) for form in ("printed", "sharp")}
    gap = bounds.average_gap(run, optimum)
    if theorem in (4, 6):
        bound = bounds.theorem_4 if theorem == 4 else bounds.theorem_6
        found = {form: bound(run, form) for form in bounds.FORMS}
        return gap, {**found, "computable": bounds.computable(run)}
    with_distance = bounds.theorem_5 if theorem == 5 else bounds.theorem_7
    found = {form: with_distance(run, F if form == "printed" else d, form) for form in bounds.FORMS}
    return gap, {**found, "computable": bounds.computable(run, d)}


def slope(T: np.ndarray, gap: np.ndarray) -> float:
    """The slope of log gap in log T over the last tenfold of rounds."""
    late = (T[-1] / 10 <= T) & (gap > 0)
    if late.sum() < 2:
        return 0.0
    fitted = np.polyfit(np.log(T[late]), np.log(gap[late]), 1)
    return short(fitted[0])


def measure_floor(loss: str, radius: float, rounds: int, tick: Tick) -> dict[str, Any]:
    """How far under the optimum the floors of two runs lie, and their losses over it."""
    X, y = diabetes()
    rows = np.random.default_rng(5).choice(len(y), FLOOR_ROWS, replace=False)
    H, y = sign_stumps(X[rows]), y[rows]
    if loss == "hinge":
        y = np.where(y > 0, 1.0, -1.0)
    optimum = linear_optimum(H, y, loss, radius)
    marks = set(thin(rounds, 30).tolist())
    made: dict[str, Any] = {"optimum": short(optimum), "rounds": sorted(marks)}
    descents: dict[str, Descent] = {"Hull": Hull(radius), "Residual": Residual(InverseSqrt(0.3))}
    for place, (name, descent) in enumerate(descents.items()):
        seen: list[tuple[float, float]] = []

        def watch(step: Any, run: Any, place: int = place, seen: list[Any] = seen) -> None:
            if step.round in marks:
                seen.append((optimum - run.floor(radius), step.loss - optimum))
                tick((place + step.round / rounds) / 2)

        descend(H, y, loss, "dictionary", descent, rounds, watch)
        under, over = zip(*seen, strict=True)
        made[name] = {"under": short(under), "over": short(over)}
    return made


def of_theorem(results: dict[str, Any], theorem: int, loss: str = "") -> list[dict[str, Any]]:
    """The results of a theorem, of one loss or of all, without the one-row problem."""
    start = f"Theorem {theorem}, {loss}"
    return [
        found
        for label, found in results.items()
        if label.startswith(f"{start}, " if loss else start) and not label.endswith("one row")
    ]


def floors(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {label[7:]: found for label, found in results.items() if label.startswith("floor, ")}


def holds(found: list[dict[str, Any]], form: str) -> bool:
    """Whether a bound held at every round of these runs."""
    return all(one["least"][form] >= 1 - SLACK for one in found)


def median(found: list[dict[str, Any]], form: str) -> float:
    """How many times the gap a bound was after the last round, in the median."""
    return float(np.median([one["last"][form] for one in found]))


def worst(found: dict[str, Any]) -> tuple[int, float, float]:
    """The round at which the printed bound is lowest beside the gap: the round, the gap, the bound."""
    place = int(np.argmin(np.array(found["bounds"]["printed"]) / found["gap"]))
    return found["rounds"][place], found["gap"][place], found["bounds"]["printed"][place]


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: bounds over gaps by theorem and loss, then the floors."""
    heading = "theorem | descent | loss | runs | smallest edge | slope | printed / gap | safe / gap | computable / gap"
    rows = []
    for theorem, losses in LOSSES.items():
        groups = {loss: of_theorem(results, theorem, loss) for loss in losses}
        if theorem in COUNTER:
            groups["absolute, one row"] = [results[f"Theorem {theorem}, one row"]]
        for loss, found in groups.items():
            if found:
                edge = min(one["gamma"] for one in found)
                slope = "" if theorem == 3 else f"{np.median([one['slope'] for one in found]):.2f}"
                ratios = [_ratio(found, form) for form in ("printed", "safe", "computable")]
                said = [str(theorem), ALGORITHMS[theorem], loss, str(len(found)), f"{edge:.2f}", slope]
                rows.append([*said, *ratios])
    under = "floor | radius | optimum | rounds | under it: Hull | Residual | Hull's loss over it"
    ends = []
    for loss, one in floors(results).items():
        last = (one["Hull"]["under"][-1], one["Residual"]["under"][-1], one["Hull"]["over"][-1])
        said = [loss, f"{FLOORS[loss]:g}", f"{one['optimum']:.4f}", str(one["rounds"][-1])]
        ends.append([*said, *(f"{value:.2g}" for value in last)])
    return [*markdown(heading, rows), "", *markdown(under, ends)]


def _ratio(found: list[dict[str, Any]], form: str) -> str:
    """The least ratio of any round, and the median of the last."""
    if form not in found[0]["least"]:
        return ""
    least = min(one["least"][form] for one in found)
    return f"{least:.3g} (least), {median(found, form):.3g} (last)"


def claims(results: dict[str, Any]) -> list[Claim]:
    """Each theorem as printed, then what the paper does not have: bounds read off the run, and the floor."""
    return [*(_printed(results, theorem) for theorem in LOSSES), _computable(results), _floor(results)]


STATEMENTS = {
    3: "naive descent, smooth strongly convex losses: a round leaves 1 - gamma^2 lambda / Lambda of the gap at most",
    4: "repeated projections, strongly convex losses: the printed O(ln T / T) bounds the average gap",
    5: "repeated projections, convex losses: the printed O(1 / sqrt T) bounds the average gap",
    6: "residual projections, strongly convex losses: the printed O(ln T / T) bounds the average gap",
    7: "residual projections, convex losses: the printed O(1 / sqrt T) bounds the average gap",
}


def outcome(results: dict[str, Any]) -> str:
    """Which theorems held, as printed and as proved."""
    said = {theorem: _printed(results, theorem).verdict for theorem in LOSSES}
    true, false = ([str(t) for t, v in said.items() if (v == "reproduced") == held] for held in (True, False))
    slopes = [one["slope"] for theorem in (4, 5, 6, 7) for one in of_theorem(results, theorem)]
    fail = f" As printed, {' and '.join(false)} fail on one row; as proved they hold." if false else ""
    return (
        f"Theorems {', '.join(true)} hold as printed in all runs.{fail} The average gap falls like T^{max(slopes):.2f} "
        f"to T^{min(slopes):.2f}."
    )


def _printed(results: dict[str, Any], theorem: int) -> Claim:
    """A theorem as printed; where the print is known to fail, that the proved form holds is part of the verdict."""
    found = of_theorem(results, theorem)
    held = [holds(found, "printed")]
    said = [f"It {'held at every round' if held[0] else 'failed'} in {_runs(found)}."]
    if theorem in COUNTER:
        one = results[f"Theorem {theorem}, one row"]
        T, gap, bound = worst(one)
        held = [held[0] and holds([one], "printed"), holds([*found, one], "safe")]
        said = [
            f"On one row the average gap is {gap:.2f} after {T} rounds, the bound {bound:.2f}.",
            f"As proved, with the distance to the optimum for F, it {'held' if held[1] else 'failed'} in "
            f"{_runs([*found, one])}.",
        ]
    said.append(f"In the end the bound is {_times(median(found, 'printed'))} the gap in the median.")
    if theorem == 3:
        said.append(f"A round leaves {np.median([one['factor'] for one in found]):.3f} of the gap.")
    else:
        said.append(f"The gap's slope is {np.median([one['slope'] for one in found]):.2f}.")
    return Claim(f"Theorem {theorem}, {STATEMENTS[theorem]}", verdict(held), " ".join(said))


def _computable(results: dict[str, Any]) -> Claim:
    found = [one for theorem in (4, 5, 6, 7) for one in of_theorem(results, theorem)]
    held = holds(found, "computable")
    return Claim(
        "Not in the paper: norms that a run has met bound its average gap, without edge or gradient bound",
        verdict([held]),
        f"They {'held' if held else 'failed'} in {_runs(found)}. In the end the bound is "
        f"{_times(median(found, 'computable'))} the gap in the median, where those of the proofs are "
        f"{_times(median(found, 'safe'))} it.",
    )


def _floor(results: dict[str, Any]) -> Claim:
    under = {
        name: [found[name]["under"] for found in floors(results).values()] for name in ("Hull", "Residual")
    }
    closest = min(min(curve) for curves in under.values() for curve in curves)
    ends = {name: max(curve[-1] for curve in curves) for name, curves in under.items()}
    return Claim(
        "Not in the paper: the floor of a run is never above the optimum within its radius",
        verdict([closest >= -1e-9]),
        f"The highest is {closest:.2g} under the optimum of the linear program. In the end Hull's are at most "
        f"{ends['Hull']:.2g} under it, Residual's {ends['Residual']:.2g}.",
    )


def _runs(found: list[dict[str, Any]]) -> str:
    return f"{len(found)} run" + "s" * (len(found) != 1)


def _times(ratio: float) -> str:
    return (
        f"{ratio:.2f} times" if ratio < 10 else f"{ratio:,.0f} times" if ratio < 1e6 else f"{ratio:.0e} times"
    )


def draw(results: dict[str, Any]) -> Any:
    """Two columns of panels: repeated left, residual right, the counterexamples last."""
    from matplotlib.figure import Figure

    from anyboost.experiments import rates_figure as panel

    figure = Figure(figsize=(style.WIDE, 9.6), layout="constrained")
    places = figure.subplots(4, 2)
    panel.bounds(places[0, 0], of_theorem(results, 3)[-1], 3, ALGORITHMS[3])
    panel.floor(places[0, 1], next(iter(floors(results).values())))
    for row, theorems in enumerate(((4, 6), (5, 7)), start=1):
        for place, theorem in zip(places[row], theorems, strict=True):
            shown = of_theorem(results, theorem, LOSSES[theorem][0])[0]
            panel.bounds(place, shown, theorem, ALGORITHMS[theorem])
    for place, theorem in zip(places[3], COUNTER, strict=True):
        panel.bounds(place, results[f"Theorem {theorem}, one row"], theorem, "one row")
    figure.supxlabel("rounds", fontsize=10)
    figure.supylabel("gap to the optimum; from Theorem 4 on its average", fontsize=10)
    return figure
