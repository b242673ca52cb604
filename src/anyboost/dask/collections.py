"""What a user gives, as partitions: a task for each, which holds its table, its targets and what goes with its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

Partition = dict[str, Any]


def partitions(given: Mapping[str, Any], what: str) -> list[Delayed]:
    """The partitions of a set, from dask collections, or lists of delayed parts, by name; None is left out."""
    pieces = {name: values for name, values in given.items() if values is not None}
    parts = {name: _pieces(values, f"{what}{name}") for name, values in _aligned(pieces).items()}
    count = len(parts["X"])
    for name, own in parts.items():
        if len(own) != count:
            raise ValueError(
                f"{what}{name} has {len(own)} partitions, and {what}X {count}: partition them alike, e.g. both from "
                "one collection"
            )
    if not count:
        raise ValueError(f"{what}X has no partitions: give at least one")
    return [
        delayed(_together, pure=False)({name: own[number] for name, own in parts.items()})
        for number in range(count)
    ]


def _together(part: Mapping[str, Any]) -> Partition:
    return dict(part)


def _aligned(pieces: dict[str, Any]) -> dict[str, Any]:
    """Arrays in the chunks of X, where the lengths of these are known."""
    rows = _chunks(pieces["X"])
    if rows is None or np.isnan(rows).any():
        return pieces
    found = dict(pieces)
    for name, values in pieces.items():
        own = _chunks(values)
        if own is not None and own != rows and sum(own) == sum(rows):
            found[name] = values.rechunk({0: rows})
    return found


def _chunks(values: Any) -> tuple[int, ...] | None:
    chunks = getattr(values, "chunks", None)
    return None if chunks is None else tuple(chunks[0])


def _pieces(values: Any, name: str) -> list[Any]:
    """The parts of one collection, in order."""
    if _chunks(values) is not None:  # an array: a row must not be torn
        whole = values.rechunk({1: -1}) if values.ndim > 1 else values
        return list(whole.to_delayed().ravel())
    if hasattr(values, "to_delayed"):
        return list(values.to_delayed())
    if isinstance(values, Sequence) and all(isinstance(part, Delayed) or _is_future(part) for part in values):
        return list(values)
    if is_dask_collection(values):
        return [values]
    raise TypeError(
        f"{name} must be a dask DataFrame or Array, or a list of delayed parts, got {type(values).__name__}: for data "
        "of this process use ab.boost, or dask.array.from_array"
    )


def _is_future(part: Any) -> bool:
    from distributed import Future

    return isinstance(part, Future)


def joined(parts: Sequence[Mapping[str, Any]], empty: Partition) -> Partition:
    """The rows of some partitions together; those of none are `empty`."""
    return {name: _joined([part[name] for part in parts] or [nothing]) for name, nothing in empty.items()}


def _joined(pieces: Sequence[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray | list | tuple):
        return np.concatenate([np.asarray(piece) for piece in pieces])
    if hasattr(pieces[0], "iloc"):
        return _joined_pandas(pieces)
    import narwhals as nw

    return nw.concat([nw.from_native(piece) for piece in pieces]).to_native()


def _joined_pandas(pieces: Sequence[Any]) -> Any:
    """Categories of one part need not be those of another."""
    import pandas
    from pandas.api.types import union_categoricals

    joined = pandas.concat(pieces, ignore_index=True)
    for name in joined.columns if hasattr(joined, "columns") else ():
        own = [piece[name] for piece in pieces]
        if all(isinstance(part.dtype, pandas.CategoricalDtype) for part in own):
            joined[name] = union_categoricals(own, ignore_order=True)
    return joined


def is_spread(values: Any) -> bool:
    """Whether these are partitions, and not data in memory."""
    return is_dask_collection(values) or (
        isinstance(values, Sequence) and any(map(is_dask_collection, values))
    )
