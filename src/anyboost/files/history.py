"""The rounds of a run in numbers: a row a Step, NaN where a run that recorded lightly has nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost.descent import Step
from anyboost.files.container import Fault
from anyboost.files.fields import Tensors, finite

_LEFT_OUT = ("gradient_norm", "edge", "coefficient")


def pack(steps: Sequence[Step], names: tuple[str, ...]) -> np.ndarray:
    """Some fields of the Steps, (rounds, fields)."""
    columns = [[getattr(step, name) for step in steps] for name in names]
    for name, column in zip(names, columns, strict=True):
        if name not in _LEFT_OUT or None not in column:
            finite(column, "steps")
    return np.array(columns, dtype=np.float64).T.reshape(-1, len(names)).copy()


def unpack(tensors: Tensors, names: tuple[str, ...], rounds: int | None = None) -> list[dict[str, Any]]:
    """The same fields of each Step; all rounds have what one has."""
    table = tensors.floats("steps", (rounds, len(names)), infinite=False, nan=True)
    missing = np.isnan(table)
    for name, column in zip(names, missing.T, strict=True):
        if column.any() and (name not in _LEFT_OUT or not column.all()):
            raise Fault(f"its steps have a {name} that is not finite")
    if np.isinf(table).any():
        raise Fault("its tensor 'steps' holds a value that is not finite")
    return [
        {name: None if lacks else value for name, value, lacks in zip(names, row, absent, strict=True)}
        for row, absent in zip(table.tolist(), missing.tolist(), strict=True)
    ]
