"""How figures look: in the colors of `plot.figures`, and with little else than curves.

Figures are WIDE inches wide and tall rather than wide, so that their text can be read on a phone.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.saving import write

WIDE = 5.6
INK, QUIET, FAINT = "#222222", "#777777", "#E6E6E6"


def quiet(axes: Any, grid: str = "both") -> None:
    """No frame, faint lines behind the curves."""
    axes.grid(axis=grid, color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(which="both", colors=QUIET, labelcolor=INK, length=3)
    axes.minorticks_off()


def label(axes: Any, text: str, at: tuple[float, float], color: str, above: bool = True) -> None:
    """A word beside a point of a falling curve, instead of a legend: right above it, or left below."""
    shift, ha, va = ((2, 1), "left", "bottom") if above else ((-2, -2), "right", "top")
    axes.annotate(text, at, shift, textcoords="offset points", ha=ha, va=va, fontsize=9, color=color)


def plain_decades(axis: Any, ticks: Sequence[float] = (0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000)) -> None:
    """A logarithmic axis with 1, 10, 100 instead of powers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def thin(rounds: int, points: int = 40) -> np.ndarray:
    """Up to that many of the rounds 1 .. rounds, evenly spaced in their logarithms, both ends included."""
    return np.unique(np.geomspace(1, rounds, points).round().astype(int))


def save(figure: Any, path: Path, **options: Any) -> None:
    """Write the figure in the format that the name ends with; an old one stays whole until then."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=160, **options)
    write(path, drawn.getvalue())


def short(value: Any) -> Any:
    """Five digits of a number, or of each of many: enough for a figure."""
    return [short(one) for one in value] if np.ndim(value) else float(f"{float(value):.5g}")
