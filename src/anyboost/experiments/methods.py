"""The three descents of Grubb and Bagnell side by side: the same weak learners, and the same number of them.

Repeated descent fits t of them in round t, so methods are compared after 1, 3, 6, 10, ... of them. Every method gets
the step scale / sqrt(t) of Theorems 5 and 7, with a scale of its own where one is chosen by validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.boosting import Run, boost
from anyboost.descent import Descent, Naive, Repeated, Residual
from anyboost.experiments import style
from anyboost.experiments.frame import Tick
from anyboost.experiments.search import GROWTH, Choice, search
from anyboost.plot import figures
from anyboost.steps import InverseSqrt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = ("naive", "repeated", "residual")
PRESETS: dict[str, Callable[[InverseSqrt], Descent]] = {
    "naive": Naive,
    "repeated": Repeated,
    "residual": Residual,
}
# Widths and dashes keep lines apart that lie on top of each other, and in a grey print.
STYLES: dict[str, dict[str, Any]] = {
    "naive": {"color": figures.ORANGE, "linewidth": 3.2, "linestyle": "-"},
    "repeated": {"color": figures.BLUE, "linewidth": 2.2, "linestyle": (0, (5, 1.5))},
    "residual": {"color": figures.BLACK, "linewidth": 1.6, "linestyle": "-"},
}
STUMPS, QUICK_STUMPS = 990, 28  # 44 and 7 rounds of repeated
TICKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


def spent(quick: bool, scales: Sequence[float], quick_scales: Sequence[float]) -> dict[str, Any]:
    """What a case of stumps may spend, and the scales of steps that it tries first."""
    if quick:
        return {"stumps": QUICK_STUMPS, "scales": quick_scales, "growth": 0}
    return {"stumps": STUMPS, "scales": scales, "growth": GROWTH}


def best_scale(
    case: dict[str, Any],
    measure: Callable[[float, Tick], dict[str, Any]],
    losses: Sequence[str],
    tick: Tick,
) -> Choice:
    """The scale of a case with the least of these losses; the last part of `tick` is left to a fit at that scale."""
    parts, number = len(case["scales"]) + 1, count()

    def attempt(scale: float) -> dict[str, Any]:
        place = next(number)
        return measure(scale, share(tick, place, parts) if place < parts - 1 else lambda _: None)

    return search({"scale": case["scales"]}, attempt, losses, growth=case["growth"])


def descent(method: str, scale: float = 1.0) -> Descent:
    """One of the three, with steps scale / sqrt(t)."""
    return PRESETS[method](InverseSqrt(scale))


def repeated_rounds(learners: int) -> int:
    """The rounds of 1, 2, 3, ... weak learners that fit into this many."""
    return (isqrt(8 * learners + 1) - 1) // 2


def stops(learners: int) -> list[int]:
    """The numbers 1, 3, 6, 10, ... up to `learners` that repeated descent can spend in whole rounds."""
    return [t * (t + 1) // 2 for t in range(1, repeated_rounds(learners) + 1)]


def rounds_at_stops(method: str, learners: int) -> list[int]:
    """The rounds after which a method has spent those numbers."""
    spent = stops(learners)
    return list(range(1, len(spent) + 1)) if method == "repeated" else spent


def share(tick: Tick, place: int, parts: int) -> Tick:
    """Progress of one part of several equal ones."""
    return lambda done: tick((place + done) / parts)


def fit(X: Any, y: np.ndarray, method: str, scale: float, learners: int, tick: Tick, **options: Any) -> Run:
    """A run of this many weak learners; `tick` hears the share of them that is there."""
    rounds = rounds_at_stops(method, learners)[-1]
    every = max(1, rounds // 50)

    def tell(step: Any, _: Run) -> None:
        if step.round % every == 0:
            tick(step.learners / learners)

    return boost(X, y, descent=descent(method, scale), rounds=rounds, callbacks=(tell,), **options)


def scores_at_stops(run: Run, X: np.ndarray, method: str, learners: int) -> Iterator[np.ndarray]:
    """The scores at the rows of X after 1, 3, 6, 10, ... weak learners."""
    wanted = set(rounds_at_stops(method, learners))
    for t, scores in enumerate(run.ensemble.staged_predict(X), 1):
        if t in wanted:
            yield scores


def cuts(run: Run) -> list[tuple[int, float]]:
    """The cut (column and threshold) of each stump of a run, in their order; a constant has column -1."""
    roots = [(int(tree.feature[0]), float(tree.threshold[0])) for tree in run.ensemble.hypotheses]
    return [root if root[0] >= 0 else (-1, 0.0) for root in roots]


def distinct_at_stops(run: Run, learners: int) -> list[int]:
    """How many different cuts are among the first 1, 3, 6, 10, ... stumps."""
    made = cuts(run)
    return [len(set(made[:spent])) for spent in stops(learners)]


def finish(axes: Axes, learners: int, ticks: Sequence[float] = TICKS) -> None:
    """A logarithmic axis of weak learners, and no more ink than the curves need."""
    axes.set_xscale("log")
    axes.set_xlim(1, learners)
    style.quiet(axes, "y")
    style.plain_decades(axes.xaxis, ticks)


def count_axis(axes: Axes) -> None:
    """Counts on a logarithmic axis."""
    axes.set_yscale("log")
    style.plain_decades(axes.yaxis)


def percent_axis(axes: Axes) -> None:
    """Shares, with ticks at whole percents."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def label_ends(
    axes: Axes,
    curves: dict[str, Any],
    gap: float = 0.15,
    styles: dict[str, dict[str, Any]] = STYLES,
    words: str = "{}",
) -> None:
    """Each method's name where its curve ends, moved where it would touch another: at least `gap` of the height.

    words : a format of the name and of the value at the end.
    """
    to_share = axes.transData + axes.transAxes.inverted()
    ends = {
        method: to_share.transform((axes.get_xlim()[1], curve[-1]))[1] for method, curve in curves.items()
    }
    order = sorted(ends, key=lambda method: ends[method])
    for lower, upper in pairwise(order):
        ends[upper] = max(ends[upper], ends[lower] + gap)
    highest = 1.0  # and down again, where one would leave the axes
    for method in reversed(order):
        ends[method] = min(ends[method], highest)
        highest = ends[method] - gap
        axes.annotate(
            words.format(method, curves[method][-1]),
            (1.0, ends[method]),
            (4, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=styles[method]["color"],
        )
