"""The figure of `anyboost demo`: training loss and test error against the number of stumps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter, ScalarFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anyboost.cli._contrast import Curve

# Okabe and Ito's colours, which stay apart for colour-blind readers; widths and dashes keep lines
# apart that lie on top of each other, and in a grey print.
STYLES: dict[str, dict[str, Any]] = {
    "naive": {"color": "#D55E00", "linewidth": 3.2, "linestyle": "-"},
    "repeated": {"color": "#0072B2", "linewidth": 2.2, "linestyle": (0, (5, 1.5))},
    "residual": {"color": "#000000", "linewidth": 1.6, "linestyle": "-"},
}
LEGEND = {
    "naive": "naive: one projection a round",
    "repeated": "repeated: t projections in round t",
    "residual": "residual: leftovers carried over",
}
# A logarithmic axis has no zero: smaller losses are drawn along this line.
BOTTOM = 5e-4
INK, QUIET = "#222222", "#777777"


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
    figure.savefig(path, dpi=160)


def _draw_losses(axes: Axes, curves: list[Curve]) -> None:
    for curve in curves:
        shown = np.maximum(curve.loss, BOTTOM)
        axes.plot(curve.stumps, shown, label=LEGEND[curve.method], **STYLES[curve.method])
        if curve.loss[-1] <= 0:
            _mark_zero(axes, curve)
    axes.set_yscale("log")
    axes.set_ylim(0.8 * BOTTOM, 1.5)
    axes.set_yticks([1, 0.1, 0.01, 0.001, BOTTOM], ["1", "0.1", "0.01", "0.001", "less"])
    _finish(axes, max(curve.stumps[-1] for curve in curves))


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
    _finish(axes, max(curve.stumps[-1] for curve in curves))


def _finish(axes: Axes, stumps: int) -> None:
    axes.set_xscale("log")
    axes.set_xlim(1, stumps)
    axes.xaxis.set_major_locator(FixedLocator([1, 3, 10, 30, 100, 300, 1000, 3000, 10000]))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=QUIET, labelcolor=INK, length=3)
