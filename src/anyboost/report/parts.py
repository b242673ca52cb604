"""What a section of a report is made of: sentences, tables and figures, as plain values that a template shows.

A cell of a table is a text, or a number and the text it is shown as, so that tables can be sorted by what they mean.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from anyboost.report import pictures

MANY = 1e9  # numbers from here on are told in powers of ten


def needs(name: str) -> None:
    """An ImportError in one sentence where a package that reports need is not installed."""
    try:
        import_module(name)
    except ImportError:
        raise ImportError(f'reports need {name}: pip install "anyboost[report]"') from None


@dataclass
class Section:
    """A heading, and what is below it."""

    title: str
    text: list[str] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    code: str | None = None

    def say(self, sentence: str) -> None:
        """Add a paragraph."""
        self.text.append(sentence)

    def add_table(self, head: list[str], rows: list[list[Any]], caption: str = "") -> None:
        """Add a table."""
        cells = [[cell(value) for value in row] for row in rows]
        self.tables.append({"head": head, "rows": cells, "caption": caption})

    def add_figure(self, draw: Callable[[Any], Any], size: tuple[float, float], title: str) -> None:
        """Add what `draw` puts on axes of this size."""
        self.figures.append(pictures.drawn(draw, size, title))

    @property
    def empty(self) -> bool:
        return not (self.text or self.figures or self.tables or self.code)

    def as_dict(self) -> dict[str, Any]:
        """As the template takes it."""
        name = "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())
        return {"id": name, **vars(self)}


def cell(value: Any) -> dict[str, Any]:
    """A value, as it is shown and as it is sorted."""
    if isinstance(value, dict):  # a cell already
        return value
    if value is None:
        return {"shown": "", "by": None}
    if isinstance(value, bool | str) or not isinstance(value, int | float):
        return {"shown": str(value), "by": None}
    return {"shown": number(value), "by": float(value) if math.isfinite(value) else None}


def number(value: float) -> str:
    """Below a thousand in four digits, from there to a thousand million in whole numbers, with commas."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < MANY):
        return f"{int(value):,}"
    if 999.95 <= abs(value) < MANY:  # which four digits would round to a thousand
        return f"{value:,.0f}"
    return f"{value:.4g}"


def down(value: float) -> str:
    """A bound from below, as `number` has it: one that is rounded up would no longer be proved."""
    if value == 0 or not math.isfinite(value):
        return number(value)
    digits = 3 - math.floor(math.log10(abs(value)))
    scale = 10.0 ** (max(digits, 0) if abs(value) < MANY else digits)
    return number(math.floor(value * scale) / scale)


def up(value: float) -> str:
    """A bound from above."""
    said = down(-value)
    return said.removeprefix("-") if said.startswith("-") or value == 0 else f"-{said}"


def percent(part: float) -> float:
    """A share in percent, in three digits."""
    return float(f"{100 * part:.3g}")
