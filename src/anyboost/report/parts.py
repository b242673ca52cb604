"""What a section of a report is made of: sentences, tables and figures, as plain values that a template shows.

A cell of a table is a text, or a number and the text it is shown as, so that tables can be sorted by what they mean.
"""

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Section:
    """A heading, and what is below it."""

    title: str
    text: list[str] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    code: str | None = None

    @property
    def empty(self) -> bool:
        return not (self.text or self.figures or self.tables or self.code)

    def as_dict(self) -> dict[str, Any]:
        """As the template takes it."""
        name = "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())
        return {"id": name, **vars(self)}


def table(head: list[str], rows: list[list[Any]], caption: str = "") -> dict[str, Any]:
    """A table; numbers are shown in four digits."""
    return {"head": head, "rows": [[cell(value) for value in row] for row in rows], "caption": caption}


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
    """A count as it is, another number in four digits."""
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e9):
        return f"{int(value):,}"
    return f"{value:.4g}"


def down(value: float) -> str:
    """A bound from below in four digits: one that is rounded up would no longer be proved."""
    if value == 0 or not math.isfinite(value):
        return number(value)
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{math.floor(value * 10.0**digits) / 10.0**digits:.4g}"


def percent(part: float) -> float:
    """A share in percent, in three digits."""
    return float(f"{100 * part:.3g}")
