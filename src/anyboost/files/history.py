"""The rounds of a run in numbers: a row a Step, NaN where a run that recorded lightly has nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost.descent import Step
from anyboost.files.fields import Fault
from anyboost.files.tensors import Tensors, finite, unsigned

_LEFT_OUT = ("gradient_norm", "edge", "coefficient")
_MOST_LEARNERS = 2**32 - 1


def pack(steps: Sequence[Step], names: tuple[str, ...], complete: bool = True) -> dict[str, np.ndarray]:
    """The tensors of Steps: some fields as columns; the seconds; if `complete`, learners and validation losses."""
    columns = [[getattr(step, name) for step in steps] for name in names]
    for name, column in zip(names, columns, strict=True):
        if name not in _LEFT_OUT or None not in column:
            finite(column, "steps")
    tensors = {"steps": np.array(columns, dtype=np.float64).T.reshape(-1, len(names)).copy()}
    if "seconds" not in names:
        tensors["seconds"] = finite([step.seconds for step in steps], "seconds")
    if complete:
        tensors["step.learners"] = unsigned([step.learners for step in steps])
        if steps and steps[0].valid_loss is not None:
            tensors["valid.losses"] = np.array([step.valid_loss for step in steps], dtype=np.float64)
    return tensors


def unpack(tensors: Tensors, names: tuple[str, ...], rounds: int | None = None, **known: Any) -> list[Step]:
    """The Steps; `known` are fields that the file has elsewhere, a value a round. All rounds have what one has."""
    table = tensors.floats("steps", (rounds, len(names)), nan=True)
    rounds = len(table)
    missing = np.isnan(table)
    columns: dict[str, Any] = {"round": range(1, rounds + 1)} | known
    for name, column, lacks in zip(names, table.T, missing.T, strict=True):
        if lacks.any() and (name not in _LEFT_OUT or not lacks.all()):
            raise Fault(f"its steps have a {name} that is not finite")
        columns[name] = [None] * rounds if lacks.any() else column.tolist()
    if np.isinf(table).any():
        raise Fault("its tensor 'steps' holds a value that is not finite")
    if "seconds" not in columns:
        columns["seconds"] = tensors.floats("seconds", (rounds,)).tolist()
    if "learners" not in columns:
        columns["learners"] = tensors.indices("step.learners", rounds, 0, _MOST_LEARNERS).tolist()
    if "valid_loss" not in columns:
        columns["valid_loss"] = [None] * rounds
        if tensors.has("valid.losses"):  # older files have none
            columns["valid_loss"] = tensors.floats("valid.losses", (rounds,), nan=True).tolist()
    return [Step(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
