"""Dates and times of Parquet and Arrow as the words that pandas writes of them to CSV: one table, whatever holds it.

A column of moments shows no clock where all of them are at midnight, and no fraction where all are at whole seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from anyboost.cli.rows.cells import Choice

DAY, SECOND, ALL = 10, 19, 99  # letters of 2026-01-31 12:00:00.500000
_PARTS = re.compile(r"(.{19})(\.\d+)?(.*)", re.DOTALL)


def holds_times(kind: Any) -> bool:
    """Whether a type of pyarrow is one of dates, of times or of both."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind))


def moments(schema: Any, wanted: Choice) -> list[str]:
    """The columns that hold days with times."""
    from pyarrow import types

    return [field.name for field in schema if types.is_timestamp(field.type) and wanted(field.name)]


def lengths(batches: Iterable[Any], names: list[str]) -> dict[str, int]:
    """How many letters say all that there is of these columns' moments."""
    found: dict[str, int] = {}
    for batch in batches:
        for name in names:
            column = batch.column(name)
            least = DAY if column.type.tz is None else SECOND
            found[name] = max(found.get(name, least), _length(column, least))
    return found


def _length(column: Any, least: int) -> int:
    import pyarrow
    from pyarrow import compute

    bare = column.cast(pyarrow.timestamp(column.type.unit))
    for length, unit in ((DAY, "day"), (SECOND, "second")):
        if (
            length >= least
            and compute.all(compute.equal(bare, compute.floor_temporal(bare, unit=unit))).as_py() is not False
        ):
            return length
    return ALL


def as_words(column: Any, length: int) -> Any:
    """A column of dates or times as coded words, of so many letters where they are moments."""
    import pyarrow

    coded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    words = [_shown(word, length) for word in coded.dictionary.cast(pyarrow.string()).to_pylist()]
    return pyarrow.DictionaryArray.from_arrays(coded.indices, pyarrow.array(words, pyarrow.string()))


def _shown(word: str, length: int) -> str:
    parts = _PARTS.fullmatch(word)
    if parts is None:  # a date, or a time, which Python writes without a fraction of nothing
        return re.sub(r"\.0+$", "", word)
    moment, fraction, zone = parts.groups(default="")
    zone = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", zone.replace("Z", "+00:00"))
    return moment[:length] + fraction * (length > SECOND) + zone
