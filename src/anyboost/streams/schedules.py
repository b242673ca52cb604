"""When a batch expert is fitted anew, by the number of rows so far.

All rows kept: when their number has grown by a third, which over a stream costs four times one fit. A window: each time
a part of its length has passed.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class RefitSchedule(NamedTuple):
    """window : to how many rows it is fitted; None: all that are kept. every : rows to the next fit; 0: a third."""

    first: int
    window: int | None = None
    every: int = 0

    def after(self, row: int) -> int:
        """The row of the next fit, after one at `row`."""
        return row + (self.every or max(20, math.ceil(row / 3)))

    def effective(self, row: int) -> int:
        """The row from which on a fit of the background answers, begun at `row`: half way to the next."""
        return row + max(1, (self.after(row) - row) // 2)
