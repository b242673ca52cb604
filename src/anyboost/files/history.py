"""The rounds of a run in numbers: a row a Step, NaN where a run that recorded lightly has nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anyboost.descent import Step
from anyboost.files.codec import Place, Record
from anyboost.files.fields import Fault, Fields, count, refuse
from anyboost.files.tensors import Floats, Packed, Whole

_LEFT_OUT = ("gradient_norm", "edge", "coefficient")


def _record(names: tuple[str, ...], complete: bool) -> Record:
    """Some fields as columns; the seconds; if `complete`, learners and validation losses."""
    kinds: dict[str, Any] = {"steps": Floats("rounds", len(names), nan=True)}
    if "seconds" not in names:
        kinds["seconds"] = Floats("rounds")
    if complete:
        kinds |= {
            "step.learners": Whole("rounds"),
            "valid.losses": Place(Floats("rounds", nan=True), default=None),
        }
    return Record(**kinds)


def pack(steps: Sequence[Step], names: tuple[str, ...], complete: bool = True) -> Packed:
    """The tensors of Steps; some have their learners and validation losses elsewhere."""
    columns: dict[str, Any] = {name: [getattr(step, name) for step in steps] for name in Step._fields}
    for name in names:
        if name not in _LEFT_OUT or None not in columns[name]:
            Floats(None).written(columns[name], "steps")
    watched = bool(steps) and steps[0].valid_loss is not None
    columns["steps"] = np.array([columns[name] for name in names], dtype=np.float64).T
    columns["step.learners"] = columns["learners"]
    columns["valid.losses"] = columns["valid_loss"] if watched else None
    return _record(names, complete).pack(**columns)


def unpack(part: Fields, names: tuple[str, ...], rounds: int | None = None, **known: Any) -> list[Step]:
    """The Steps; `known` are fields that the file has elsewhere, a value a round. All rounds have what one has."""
    record = _record(names, complete="learners" not in known)
    found = record.take(part, **({} if rounds is None else {"rounds": rounds}))
    table, rounds = found["steps"], len(found["steps"])
    refuse(np.isinf(table).any(), "its tensor 'steps' holds a value that is not finite")
    columns: dict[str, Any] = {"round": range(1, rounds + 1)} | known
    for name, column, lacks in zip(names, table.T, np.isnan(table).T, strict=True):
        if lacks.any() and (name not in _LEFT_OUT or not lacks.all()):
            raise Fault(f"its steps have a {name} that is not finite")
        columns[name] = [None] * rounds if lacks.any() else column.tolist()
    for name, key in (("seconds", "seconds"), ("learners", "learners"), ("valid_loss", "losses")):
        if name not in columns:
            columns[name] = [None] * rounds if found[key] is None else found[key].tolist()
    return [Step(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def unpack_best(part: Fields, kept: int, rounds: int) -> int:
    """The best round; a Fault unless a sum has so many rounds as that, or all."""
    best: int = part.take("best_iteration", count(0, rounds))
    refuse(kept not in (best, rounds), "its sum is neither that of its best round nor that of its last")
    return best
