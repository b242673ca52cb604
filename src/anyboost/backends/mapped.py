"""Arrays whose numbers lie in files, mapped into memory: the system keeps of them what it has room for.

An array that is made of a mapped one, and as long, has to lie in a file too, in the same folder: `zeros`, `take` and
`row_major` see to it, and do for arrays in memory what NumPy does. Files made on the way have no name: their room is
free again when the last array on them is gone, however the process ends.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 1 << 20  # rows that are read at once


class Mapped(np.memmap):
    """What the arrays on one file have as their last base, which says where others like them belong."""

    folder: Path


def marked(values: np.memmap, folder: Path) -> np.ndarray:
    """A mapped array as an ordinary one; what is made of it belongs into the folder."""
    found = values.view(Mapped)
    found.folder = folder
    return found.view(np.ndarray)


def _base(values: Any) -> Mapped | None:
    while values is not None:
        if isinstance(values, Mapped) and hasattr(values, "folder"):
            return values
        values = getattr(values, "base", None)
    return None


def folder_of(values: Any) -> Path | None:
    """Where the file of an array lies; None for one in memory."""
    found = _base(values)
    return None if found is None else found.folder


def flush(values: np.ndarray) -> None:
    """Have what was written to a mapped array reach its file."""
    found = _base(values)
    if found is not None:
        found.flush()


def in_file(folder: Path, shape: tuple[int, ...], dtype: Any, order: Any = "F") -> np.ndarray:
    """Zeros in a file without a name."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return marked(np.memmap(file, dtype=dtype, mode="w+", shape=shape, order=order), folder)


def zeros(shape: tuple[int, ...], dtype: Any, order: Any = "F", *, beside: Any) -> np.ndarray:
    """Zeros that lie where another array does: in memory, or in a file of the same folder."""
    folder = folder_of(beside)
    return np.zeros(shape, dtype, order) if folder is None else in_file(folder, shape, dtype, order)


def full(shape: tuple[int, ...], value: Any, dtype: Any, *, beside: Any) -> np.ndarray:
    """The same value everywhere, or in every row."""
    out = np.empty(shape, dtype) if folder_of(beside) is None else zeros(shape, dtype, "C", beside=beside)
    out[:] = value
    return out


def doubled(values: Any) -> Any:
    """Numbers of 32 bits in a file as such of 64; others as they are."""
    if folder_of(values) is None or values.dtype != np.float32:
        return values
    out = zeros(values.shape, np.float64, "C", beside=values)
    for part in blocks(len(values)):
        out[part] = values[part]
    return out


def blocks(n: int, overlap: int = 0) -> Iterator[slice]:
    """Rows a portion at a time; each has the first ones of the next, too, where they overlap."""
    return (slice(start, min(start + BLOCK + overlap, n)) for start in range(0, n, BLOCK))


def take(values: Any, rows: Any) -> Any:
    """Some rows, by number, by mask or as a slice."""
    if folder_of(values) is None:
        return values[rows]
    chosen = np.arange(len(values))[rows] if isinstance(rows, slice) else np.asarray(rows)
    chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
    out = zeros((len(chosen), *values.shape[1:]), values.dtype, beside=values)
    for column in np.ndindex(values.shape[1:]):
        for part in blocks(len(chosen)):
            out[(part, *column)] = values[(chosen[part], *column)]
    return out


def row_major(values: np.ndarray) -> np.ndarray:
    """The same numbers row by row, as kernels that look at a few rows read them."""
    if folder_of(values) is None or values.flags.c_contiguous:
        return np.ascontiguousarray(values)
    out = zeros(values.shape, values.dtype, "C", beside=values)
    for part in blocks(len(values)):
        out[part] = values[part]
    return out


def copy(values: np.ndarray) -> np.ndarray:
    """The same numbers column by column, to be changed."""
    if folder_of(values) is None:
        return values.copy(order="F")
    return take(values, np.arange(len(values)))
