"""Labels on their way: text, numbers, truth values and dates, each by its value and its type.

    ["a", 1, {"date": "2024-01-31"}]

Nothing is unpickled, so labels of other types are refused.
"""

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

_AS_THEY_ARE = {str, int, float, bool, type(None)}
# Of others: text that has all of them, and how it is read
_BY_TEXT: dict[type, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    date: (date.isoformat, date.fromisoformat),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (
        lambda given: repr(given // timedelta.resolution),
        lambda text: int(text) * timedelta.resolution,
    ),
    bytes: (bytes.hex, bytes.fromhex),
    Decimal: (str, Decimal),
    Fraction: (str, Fraction),
    UUID: (str, UUID),
}
_READ = {kind.__name__: read for kind, (_, read) in _BY_TEXT.items()}
_NUMBERS = "biufUSmM"  # kinds of NumPy's own without pointers


def write(labels: np.ndarray) -> bytes:
    """Labels as text.

    Parameters
    ----------
    labels : ndarray of object
        Of any shape.

    Returns
    -------
    bytes
        What `read` reads.

    Examples
    --------
    >>> import numpy as np
    >>> from anyboost.dask import labels
    >>> labels.write(np.array(["a", 1, 0.5], dtype=object))
    b'["a", 1, 0.5]'
    """
    given = labels.ravel().tolist()
    if not _AS_THEY_ARE.issuperset(map(type, given)):
        given = [label if type(label) in _AS_THEY_ARE else _written(label) for label in given]
    return json.dumps(given).encode()


def _written(label: Any) -> dict[str, Any]:
    kind = type(label)
    if kind in _BY_TEXT:
        return {kind.__name__: _BY_TEXT[kind][0](label)}
    if isinstance(label, np.generic) and label.dtype.kind in _NUMBERS:
        return {label.dtype.str: label.tobytes().hex()}
    raise ValueError(refusal(kind.__name__))


def refusal(kind: Any) -> str:
    """The sentence about labels that cannot travel."""
    return f"labels of the type {kind} cannot travel between workers: turn them into numbers, text or dates"


def read(told: bytes, shape: Any) -> np.ndarray:
    """The labels of some text; an error where it is none.

    Parameters
    ----------
    told : bytes
        What was written.
    shape : sequence of int
        The shape of the labels.

    Returns
    -------
    ndarray of object
        The labels.
    """
    found = json.loads(told)
    labels = np.empty(len(found), dtype=object)
    for place, label in enumerate(found):
        labels[place] = label if type(label) in _AS_THEY_ARE else _read(label)
    return labels.reshape(shape)


def _read(label: dict[str, str]) -> Any:
    ((kind, text),) = label.items()
    if kind in _READ:
        return _READ[kind](text)
    dtype = np.dtype(kind)
    if dtype.kind not in _NUMBERS:
        raise ValueError(kind)
    return np.frombuffer(bytes.fromhex(text), dtype)[0]
