"""Arrays to use again.

A round makes half a dozen arrays as long as the sample and drops them. Fresh memory has to be mapped and cleared
by the system, page by page, which costs more than the arithmetic on it; so an array that nobody holds any more
is handed out again. Draws of rows differ a little in length from round to round: they share memory of rounded lengths.
"""

import math
import sys
from typing import Any

import numpy as np

_MOST = 24
_DIGITS = 4  # binary ones, to which lengths are rounded up


def _unheld(arrays: list[np.ndarray]) -> int:
    for array in arrays:
        return sys.getrefcount(array)
    return 0


# References to an array that only a list, and a loop over it, hold; Pythons differ in how they count.
_UNHELD = _unheld([np.empty(0)])


class ArrayPool:
    """Gives out uninitialized arrays. Not for use by several threads at once."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, Any], list[np.ndarray]] = {}  # by length and type
        self._count = 0

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """Like np.empty."""
        size = shape if isinstance(shape, int) else math.prod(shape)
        step = 1 << max(0, size.bit_length() - _DIGITS)
        length = -(-size // step) * step
        kept = self._arrays.setdefault((length, dtype), [])
        for array in kept:
            if sys.getrefcount(array) == _UNHELD:
                return array[:size].reshape(shape)
        fresh = np.empty(length, dtype=dtype)
        if self._count < _MOST:
            kept.append(fresh)
            self._count += 1
        return fresh[:size].reshape(shape)
