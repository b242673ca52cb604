"""Columns that a user names: by number, by name, or by a mask."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def column_numbers(spec: Any, names: Sequence[str] | None, n: int, argument: str) -> list[int]:
    """Columns given by number, by name, or by a mask over all of them, as sorted numbers."""
    if isinstance(spec, str | bytes) or not isinstance(spec, Sequence | np.ndarray):
        raise ValueError(f"{argument} must be a list of column numbers or names, or a mask, got {spec!r}")
    given = list(spec)
    if given and all(isinstance(part, bool | np.bool_) for part in given):
        if len(given) != n:
            raise ValueError(
                f"{argument} is a mask of {len(given)} columns, but X has {n}: give one a column"
            )
        return [number for number, part in enumerate(given) if part]
    return sorted({column_number(part, names, n, argument) for part in given})


def column_number(part: Any, names: Sequence[str] | None, n: int, argument: str) -> int:
    """One column, by number or name."""
    if isinstance(part, str):
        if names is None:
            raise ValueError(
                f"{argument} names the column {part!r}, but X has no column names: use its number"
            )
        if part not in names:
            raise ValueError(
                f"{argument} names the column {part!r}, which X does not have: use one of its own"
            )
        return list(names).index(part)
    if isinstance(part, bool | np.bool_) or not isinstance(part, int | np.integer):
        raise ValueError(f"{argument} must hold column numbers or names, got {part!r}")
    if not 0 <= part < n:
        raise ValueError(f"{argument} holds column {part}, but X has columns 0 to {n - 1}")
    return int(part)
