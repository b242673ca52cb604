"""The figure of `anyboost demo`: training loss and test error against the number of stumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from anyboost.experiments import style
from anyboost.experiments.methods import STYLES, finish
from anyboost.experiments.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anyboost.cli._contrast import Curve

LEGEND = {
    "naive": "naive: one projection a round",
    "repeated": "repeated: t projections in round t",
    "residual": "residual: leftovers carried over",
}
# A logarithmic axis has no zero: smaller losses are drawn along this line.
BOTTOM = 5e-4


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
