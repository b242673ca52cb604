"""Arrays to use again.

A round makes half a dozen arrays as long as the sample and drops them. Fresh memory has to be mapped and cleared
by the system, page by page, which costs more than the arithmetic on it; so an array that nobody holds any more
is handed out again.
"""

import sys
from typing import Any

import numpy as np

_MOST = 24


def _unheld(arrays: list[np.ndarray]) -> int:
    for array in arrays:
        return sys.getrefcount(array)
    return 0


# References to an array that only a list, and a loop over it, hold; Pythons differ in how they count.
_UNHELD = _unheld([np.empty(0)])


class ArrayPool:
    """Gives out uninitialized arrays. Not for use by several threads at once."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """Like np.empty."""
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        for array in self._arrays:
            if array.shape == wanted and array.dtype == dtype and sys.getrefcount(array) == _UNHELD:
                return array
        fresh = np.empty(wanted, dtype=dtype)
        if len(self._arrays) < _MOST:
            self._arrays.append(fresh)
        return fresh
