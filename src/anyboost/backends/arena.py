"""Arrays to use again.

A round makes half a dozen arrays as long as the sample and drops them. Fresh memory has to be mapped and cleared
by the system, page by page, which costs more than the arithmetic on it; so an array that nobody holds any more
is handed out again.
"""

import sys
from typing import Any

import numpy as np

_MOST = 16


def _references(arrays: list[np.ndarray]) -> list[int]:
    return [sys.getrefcount(array) for array in arrays]


# Of an array that only its list holds; Pythons differ in how they count.
_UNHELD = _references([np.empty(0)])[0]


class Arena:
    """Gives out uninitialized arrays. Not for use by several threads at once."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """Like np.empty."""
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        for array, references in zip(self._arrays, _references(self._arrays), strict=True):
            if references == _UNHELD and array.shape == wanted and array.dtype == dtype:
                return array
        fresh = np.empty(wanted, dtype=dtype)
        if len(self._arrays) < _MOST:
            self._arrays.append(fresh)
        return fresh
