"""Figures as SVG inside the page, in the colors of the page: light or dark, as its reader has it.

matplotlib writes black for ink and white for paper; both become what the page's style says. Letters stay letters, and
names inside one figure are its own, so that many fit on one page.
"""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from anyboost.plot.figures import BLUE

LINES = {"#000000": "currentColor", "#ffffff": "var(--page)"}
DPI = 110  # of parts with very many marks, which are pixels
_ID = re.compile(r'id="([^"]+)"')
_USED = re.compile(r'(?:url\(#|href="#)([^")]+)')


def drawn(draw: Callable[[Any], Any], size: tuple[float, float], title: str) -> dict[str, Any]:
    """What `draw` puts on new axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    return saved(figure, title)


def histogram(ax: Any, values: np.ndarray, label: str, bins: int) -> None:
    """How many rows have values of about this size."""
    ax.hist(values[np.isfinite(values)], bins=bins, color=BLUE)
    ax.set(xlabel=label, ylabel="rows")
    ax.spines[["top", "right"]].set_visible(False)


def saved(figure: Any, title: str) -> dict[str, Any]:
    """A figure as the template takes it: its picture, its title and its width in inches."""
    import matplotlib

    for axes in figure.axes:
        axes.set_facecolor("none")
    target = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        figure.savefig(
            target, format="svg", transparent=True, dpi=DPI, metadata={"Date": None, "Creator": None}
        )
    return {"svg": _inline(target.getvalue(), title), "title": title, "width": float(figure.get_figwidth())}


def _inline(text: str, title: str) -> str:
    """The picture without its prologue, its ids its own and its ink and paper the page's."""
    body = text[text.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    used = set(_USED.findall(body))
    prefix = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    body = _ID.sub(lambda found: f'id="{prefix}-{found[1]}"' if found[1] in used else "", body)
    body = _USED.sub(lambda found: found[0].replace(f"#{found[1]}", f"#{prefix}-{found[1]}"), body)
    for plain, ours in LINES.items():
        body = body.replace(plain, ours)
    label = title.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return body.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
