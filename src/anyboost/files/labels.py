"""Names in files: the labels of classes, which are text, numbers or truth values, and the names of features."""

from itertools import pairwise
from typing import Any

import numpy as np

from anyboost.files.fields import Check, Fault, Fields, distinct, items, known, real, refuse
from anyboost.files.tensors import Json

WIDE: dict[str, Any] = {"text": np.str_, "whole": np.int64, "real": np.float64, "flag": np.bool_}
_WIDE_OF = {"U": "text", "O": "text", "i": "whole", "u": "whole", "f": "real", "b": "flag"}
EXACT: dict[str, Any] = {"str": np.str_, "bool": np.bool_, "float32": np.float32, "float64": np.float64} | {
    name: np.dtype(name) for name in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
}


def pack_classes(classes: np.ndarray, exact: bool = False) -> dict[str, Any]:
    """Sorted labels with their kind or, `exact`, their dtype."""
    values = classes.tolist()
    kind = _WIDE_OF.get(classes.dtype.kind)
    dtype = "str" if kind == "text" else classes.dtype.name
    words = kind != "text" or all(isinstance(value, str) for value in values)
    if kind is None or not words or (exact and dtype not in EXACT):
        raise ValueError("model cannot be saved: its classes must be words, numbers or truth values")
    return {"dtype": dtype, "values": values} if exact else {"kind": kind, "values": values}


def classes(exact: bool = False) -> Check:
    """The labels that `pack_classes` wrote, if they are distinct, in order, and of their type."""
    kind, types = ("dtype", EXACT) if exact else ("kind", WIDE)
    unknown = known(types, "its classes are of the type")

    def check(entry: Any, name: str) -> np.ndarray:
        dtype, values = Fields(entry, name).take_all(**{kind: unknown}, values=labels).values()
        try:
            found = np.array(values, dtype=dtype)
        except (OverflowError, ValueError):
            raise Fault("its classes are not of their type") from None
        if found.tolist() != values or [*map(type, found.tolist())] != [*map(type, values)]:
            raise Fault("its classes are not of their type")
        refuse(any(not a < b for a, b in pairwise(values)), "its classes are not in order")
        return found

    return check


def _label(value: Any, name: str) -> Any:
    if not isinstance(value, str | bool):
        real(value, name)
    return value


labels = distinct(items(each=_label))  # text, finite numbers or truth values


def texts(value: Any, name: str) -> list[Any]:
    """Names that are text or whole numbers."""
    if not isinstance(value, list) or not all(type(each) in (str, int) for each in value):
        raise Fault(f"its tensor {name!a} holds no names")
    return value


NAMES = Json(distinct(texts))  # of features
