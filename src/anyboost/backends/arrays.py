"""Arrays to use again.

A round makes half a dozen arrays as long as the sample and drops them. Fresh memory has to be mapped and cleared
by the system, page by page, which costs more than the arithmetic on it; so an array that nobody holds any more
is handed out again. Draws of rows differ a little in length from round to round: they share memory of rounded lengths.

Those of a table that lies in files, because it is larger than memory, lie in files too, but for the first few: a
tenth of the machine's memory.
"""

import math
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.backends import mapped

_MOST = 24
_CONTAINERS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_DIGITS = 4  # binary ones, to which lengths are rounded up


def _unheld(arrays: list[np.ndarray]) -> int:
    for array in arrays:
        return sys.getrefcount(array)
    return 0


# References to an array that only a list, and a loop over it, hold; Pythons differ in how they count.
_UNHELD = _unheld([np.empty(0)])


class ArrayPool:
    """Gives out uninitialized arrays, in a folder where there is not room enough. Not for several threads at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._arrays: dict[tuple[int, Any], list[np.ndarray]] = {}  # by length and type
        self._count = 0
        self.folder = folder
        self._room = math.inf if folder is None else memory() / 10

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """Like np.empty."""
        size = shape if isinstance(shape, int) else math.prod(shape)
        step = 1 << max(0, size.bit_length() - _DIGITS)
        length = -(-size // step) * step
        kept = self._arrays.setdefault((length, dtype), [])
        for array in kept:
            if sys.getrefcount(array) == _UNHELD:
                return array[:size].reshape(shape)
        fresh = self._fresh(length, dtype)
        if self._count < _MOST:
            kept.append(fresh)
            self._count += 1
        return fresh[:size].reshape(shape)

    def _fresh(self, length: int, dtype: Any) -> np.ndarray:
        size = length * np.dtype(dtype).itemsize
        if self.folder is None or size <= self._room:
            self._room -= size
            return np.empty(length, dtype=dtype)
        return mapped.in_file(self.folder, (length,), dtype)


def memory() -> int:
    """The memory that there is, in bytes: the machine's, or its container's; 16 GB where nobody says."""
    try:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not POSIX
        most = 16 << 30
    for limit in _CONTAINERS:
        with suppress(OSError, ValueError):  # "max" is none
            most = min(most, int(Path(limit).read_text()))
    return most


def by_row(values: np.ndarray) -> np.ndarray:
    """(n,) or (n, k) numbers as (n, k); reshaping to (n, -1) would fail where there are no rows."""
    return values[:, None] if values.ndim == 1 else values


def as_scores(values: np.ndarray) -> np.ndarray:
    """(n, k) numbers as scores are: (n,) where there is one a row."""
    return values[:, 0] if values.shape[1] == 1 else values
