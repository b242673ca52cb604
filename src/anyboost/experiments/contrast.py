"""The contrast that `anyboost demo` shows: three descents, the same stumps, the same number of them.

With the multiclass hinge loss and vector-valued stumps one projection of the subgradient often points at
the stump that was already taken. Naive descent takes it again; the other two first project what is left over.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

import anyboost as ab
from anyboost.experiments import methods, style
from anyboost.experiments.methods import STYLES, finish
from anyboost.experiments.multiclass import Split, bundled_split
from anyboost.experiments.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anyboost.boosting import Run

LEGEND = {
    "naive": "naive: one projection a round",
    "repeated": "repeated: t projections in round t",
    "residual": "residual: leftovers carried over",
}
# A logarithmic axis has no zero: smaller losses are drawn along this line.
BOTTOM = 5e-4
# Of floors. At the norms of the models themselves, ten and more, no loss is ruled out.
RADIUS = 0.5


class Data(NamedTuple):
    """A data set by name."""

    name: str
    rows: Split


@dataclass(frozen=True)
class Curve:
    """How one method went on one data set; the arrays have one entry a round."""

    data: str
    method: str
    stumps: np.ndarray
    loss: np.ndarray
    test_error: np.ndarray
    distinct: int
    norm: float
    floor: float  # at the norm RADIUS
    seconds: float


def load() -> list[Data]:
    """The data sets of the demo, both bundled with scikit-learn."""
    return [Data(name, bundled_split(name)) for name in ("digits", "iris")]


def warm_up(data: Data) -> None:
    """Compile or load the kernels, so that the first method's seconds are its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the loss ended at")  # two rounds at the theorems' step may
        _boost(data, "repeated", rounds=2)


def fit(data: Data, method: str, stumps: int, progress: Callable[[int], None]) -> Curve:
    """Fit this many stumps by one method; `progress` hears the number so far after every round."""
    began = time.perf_counter()
    rounds = methods.rounds_at_stops(method, stumps)[-1]
    run = _boost(data, method, rounds, callbacks=(lambda step, _run: progress(step.learners),))
    seconds = time.perf_counter() - began
    return Curve(
        data=data.name,
        method=method,
        stumps=np.array([step.learners for step in run.steps]),
        loss=np.array([step.loss for step in run.steps]),
        test_error=_test_errors(run, data),
        distinct=len(set(methods.cuts(run))),
        norm=run.norm,
        floor=run.floor(RADIUS),
        seconds=seconds,
    )


def _boost(data: Data, method: str, rounds: int, callbacks: tuple[Callable[..., None], ...] = ()) -> Run:
    how = ("multiclass_hinge", "stump", methods.descent(method), rounds)
    return ab.boost(data.rows.X, data.rows.y, *how, callbacks=callbacks)


def _test_errors(run: Run, data: Data) -> np.ndarray:
    """Share of test rows put into a wrong class, after every round."""
    staged = run.ensemble.staged_predict(data.rows.X_test)
    return np.array([np.mean(scores.argmax(axis=1) != data.rows.y_test) for scores in staged])


def draw(curves: list[Curve], path: Path) -> None:
    """Save the figure at `path`, in the format its ending names."""
    names = list(dict.fromkeys(curve.data for curve in curves))
    figure = Figure(figsize=(4.6 * len(names), 6.2), layout="constrained")
    axes = figure.subplots(2, len(names), sharex=True, squeeze=False)
    for column, name in enumerate(names):
        loss_axes, error_axes = axes[:, column]
        own = [curve for curve in curves if curve.data == name]
        loss_axes.set_title(name, loc="left", fontsize=13, color=INK, fontweight="bold")
        _draw_losses(loss_axes, own)
        _draw_errors(error_axes, own)
    axes[0, 0].set_ylabel("training loss", color=INK)
    axes[1, 0].set_ylabel("test error", color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, handlelength=3)
    style.save(figure, path)


def _draw_losses(axes: Axes, curves: list[Curve]) -> None:
    for curve in curves:
        shown = np.maximum(curve.loss, BOTTOM)
        axes.plot(curve.stumps, shown, label=LEGEND[curve.method], **STYLES[curve.method])
        if curve.loss[-1] <= 0:
            _mark_zero(axes, curve)
    axes.set_yscale("log")
    axes.set_ylim(0.8 * BOTTOM, 1.5)
    axes.set_yticks([1, 0.1, 0.01, 0.001, BOTTOM], ["1", "0.1", "0.01", "0.001", "less"])
    finish(axes, max(curve.stumps[-1] for curve in curves))


def _mark_zero(axes: Axes, curve: Curve) -> None:
    """A dot where the loss reached zero and the descent had nothing left to do."""
    first = curve.stumps[-1]
    axes.plot(first, BOTTOM, "o", color=STYLES[curve.method]["color"], clip_on=False)
    text = f"zero after {first} stumps"
    axes.annotate(
        text, (first, BOTTOM), (-9, 5), textcoords="offset points", ha="right", fontsize=9, color=INK
    )


def _draw_errors(axes: Axes, curves: list[Curve]) -> None:
    for curve in curves:
        axes.plot(curve.stumps, curve.test_error, **STYLES[curve.method])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("number of stumps", color=INK)
    finish(axes, max(curve.stumps[-1] for curve in curves))
