"""What a user gives, as partitions: a task for each, which holds its table, its targets and what goes with its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dask import config
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed
from distributed import Future

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
        delayed(_together, pure=False)({name: own[number] for name, own in parts.items()}, number, what)
        for number in range(count)
    ]


def _together(part: Mapping[str, Any], number: int, what: str) -> Partition:
    """What goes with the rows of a partition; refused where it is that of other rows."""
    rows = _shape(part["X"])[0]
    for name, values in part.items():
        own = _shape(values)[0]
        if own != rows:
            raise ValueError(
                f"partition {number} has {rows} rows of {what}X and {own} of {what}{name}: partition them alike, e.g. "
                "both from one collection"
            )
    return dict(part)


def _shape(values: Any) -> tuple[int, ...]:
    """Rows, and columns where there are any."""
    return tuple(getattr(values, "shape", None) or np.shape(values) or (0,))


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
        return _frames(values)
    if isinstance(values, Sequence) and all(isinstance(part, Delayed | Future) for part in values):
        return list(values)
    if is_dask_collection(values):
        return [values]
    raise TypeError(
        f"{name} must be a dask DataFrame or Array, or a list of delayed parts, got {type(values).__name__}: for data "
        "of this process use ab.boost, or dask.array.from_array"
    )


def _frames(values: Any) -> list[Delayed]:
    """The parts of a data frame, as many as it says that it has."""
    # Dask would read the few columns of y, and those of X, from several files at once each in its own way.
    with config.set({"optimization.tune.active": False}):
        parts = list(values.to_delayed())
    if len(parts) != values.npartitions:  # of a version that takes no notice
        parts = list(values.to_delayed(optimize_graph=False))
    return parts


def joined(parts: Sequence[Mapping[str, Any]], empty: Partition, what: str) -> Partition:
    """The rows of some partitions together, their columns in the order of the first; those of none are `empty`."""
    return {
        name: _joined([_in_order(part[name], nothing, f"{what}{name}") for part in parts] or [nothing])
        for name, nothing in empty.items()
    }


def _in_order(values: Any, first: Any, what: str) -> Any:
    """Values of a partition with the columns of the first one, by name."""
    own, wanted = _columns(values), _columns(first)
    if own == wanted:
        return values
    if (
        isinstance(own, list)
        and isinstance(wanted, list)
        and sorted(map(str, own)) == sorted(map(str, wanted))
    ):
        return values.select(wanted) if hasattr(values, "select") else values[wanted]
    raise ValueError(
        f"{what} has {_told(own)} in one partition and {_told(wanted)} in the first: give all the same columns"
    )


def _columns(values: Any) -> list[Any] | int | None:
    """The names of columns, how many there are where they have none, None of one row of values."""
    names = getattr(values, "column_names", getattr(values, "columns", None))
    if names is not None:
        return list(names)
    shape = _shape(values)
    return shape[1] if len(shape) > 1 else None


def _told(columns: list[Any] | int | None) -> str:
    if isinstance(columns, list):
        return f"the columns {', '.join(map(str, columns))}" if columns else "no columns"
    return "no columns" if columns is None else f"{columns} columns without names"


def _joined(pieces: Sequence[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if all(hasattr(piece, "iloc") for piece in pieces):
        return _joined_pandas(pieces)
    if not isinstance(_columns(pieces[0]), list):  # arrays, and what is one row of values, of any library
        return np.concatenate([np.asarray(piece) for piece in pieces])
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
        isinstance(values, list | tuple)
        and any(is_dask_collection(part) or isinstance(part, Future) for part in values)
    )
