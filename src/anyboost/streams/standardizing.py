"""Rows as some chains see them: numbers in deviations from their column's running mean.

A column that never varied, as those of texts, is 1 where it is there. So linear learners have columns of one size
around zero, on which their steps do not stand in each other's way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.checks import Floats
from anyboost.online.rows import Table
from anyboost.online.scales import named
from anyboost.online.spreads import SPREAD, Spread, note, standardized


class Standard:
    """The spread of every encoded column."""

    def __init__(self) -> None:
        self.spreads: Floats = np.zeros((0, len(Spread._fields)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may lie in memory that cannot be written."""
        self.spreads = np.require(state["spreads"], requirements="W")

    def rows(self, rows: Table, learning: bool) -> Table:
        """The rows, each by the spreads from before it; `learning`: which it then changes."""
        more = rows.width - len(self.spreads)
        spreads = self.spreads if more <= 0 else np.pad(self.spreads, ((0, more), (0, 0)))
        if learning:
            self.spreads = spreads
        begin, end = (
            (int(rows.starts[0]), int(rows.starts[-1])) if len(rows.starts) else (0, len(rows.values))
        )
        values = np.zeros(len(rows.values))
        standardize(
            named(spreads, SPREAD), rows.width, rows.values, rows.columns, begin, end, learning, values
        )
        return rows._replace(values=values)


@kernel
def standardize(spreads, width, values, columns, begin, end, learning, out):
    for i in range(begin, end):
        spread = spreads[columns[i] if len(columns) > 0 else i % width]
        if spread.square > 0.0:
            out[i] = standardized(spread, values[i])
        else:
            out[i] = 1.0 if values[i] != 0.0 else 0.0
        if learning:
            note(spread, values[i])
