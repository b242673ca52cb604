"""The panels of the figure of `rates`: a gap under its bounds, and floors under the optimum."""

from __future__ import annotations

from typing import Any

from anyboost.experiments import style
from anyboost.plot import figures

STYLES: dict[str, dict[str, Any]] = {
    "safe": {"color": figures.BLUE, "linewidth": 1.6, "linestyle": (0, (5, 1.5))},
    "printed": {"color": figures.ORANGE, "linewidth": 1.8, "linestyle": (0, (1.2, 1.2))},
    "computable": {"color": figures.GREEN, "linewidth": 1.6, "linestyle": "-"},
    "gap": {"color": figures.BLACK, "linewidth": 2.2, "linestyle": "-"},
}
# Which curves have their names beside them: how far along the axis, and whether above.
NAMED: dict[int, dict[str, tuple[float, bool]]] = {
    3: {"printed": (0.6, True), "gap": (0.6, False)},
    4: {"safe": (0.6, True), "printed": (0.75, False), "computable": (0.0, True), "gap": (0.6, False)},
    5: {"safe": (0.6, True), "printed": (0.33, False), "computable": (0.0, True), "gap": (0.6, False)},
    6: {"printed": (0.55, True), "safe": (0.5, False), "gap": (0.6, False)},
    7: {"printed": (0.5, True), "computable": (0.5, True), "gap": (0.5, False)},
}
ONE_ROW = {"safe": (0.6, True), "printed": (0.5, False), "gap": (0.75, True)}
SAID = {(6, "gap"): "gap, computable", (7, "printed"): "printed, safe"}


def bounds(panel: Any, found: dict[str, Any], theorem: int, kind: str) -> None:
    """A gap and the bounds on it; `kind` is the algorithm, or "one row"."""
    one_row = kind == "one row"
    curves = {**found["bounds"], "gap": found["gap"]}
    rounds = found["rounds"]
    for name, look in STYLES.items():
        if name in curves:
            panel.plot(rounds, curves[name], **look)
    for name, (share, above) in (ONE_ROW if one_row else NAMED[theorem]).items():
        place = _nearest(rounds, rounds[-1] * share if theorem == 3 else rounds[-1] ** share)
        words = name if one_row else SAID.get((theorem, name), name)
        style.label(panel, words, (rounds[place], curves[name][place]), STYLES[name]["color"], above)
    panel.set_yscale("log")
    if theorem != 3:  # whose rate is a straight line in plain rounds
        panel.set_xscale("log")
        style.plain_decades(panel.xaxis)
    style.quiet(panel)
    if one_row:
        style.plain_decades(panel.yaxis, (1, 2, 5, 10, 20))
    panel.set_title(f"Theorem {theorem}, {kind}", loc="left", fontsize=10, fontweight="bold")


def floor(panel: Any, found: dict[str, Any]) -> None:
    """How far the floors are under the optimum, and Hull's loss over it."""
    rounds = found["rounds"]
    for ys, words, color, share, above in (
        (found["Hull"]["over"], "Hull's loss over it", figures.BLACK, 0.72, False),
        (found["Hull"]["under"], "Hull's", figures.GREEN, 1.0, False),
        (found["Residual"]["under"], "Residual's", figures.PURPLE, 0.7, True),
    ):
        place = _nearest(rounds, rounds[-1] ** share)
        panel.plot(rounds, ys, color=color, linewidth=1.8)
        style.label(panel, words, (rounds[place], ys[place]), color, above)
    panel.set(xscale="log", yscale="log")
    style.quiet(panel)
    style.plain_decades(panel.xaxis)
    style.plain_decades(panel.yaxis)
    panel.set_title("Floors under the optimum", loc="left", fontsize=10, fontweight="bold")


def _nearest(rounds: list[int], x: float) -> int:
    return min(range(len(rounds)), key=lambda place: abs(rounds[place] - x))
