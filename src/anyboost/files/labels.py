"""Names in files: the labels of classes, which are text, numbers or truth values, and the names of features."""

from itertools import pairwise
from typing import Any

import numpy as np

from anyboost.files.fields import Fault, Fields, items, real, text
from anyboost.files.tensors import Tensors

MOST_LABELS = 2**20
WIDE: dict[str, Any] = {"text": np.str_, "whole": np.int64, "real": np.float64, "flag": np.bool_}
_WIDE_OF = {"U": "text", "O": "text", "i": "whole", "u": "whole", "f": "real", "b": "flag"}
EXACT: dict[str, Any] = {"str": np.str_, "bool": np.bool_, "float32": np.float32, "float64": np.float64} | {
    name: np.dtype(name) for name in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
}


def pack_classes(classes: np.ndarray, exact: bool = False) -> dict[str, Any]:
    """Sorted labels with their kind or, `exact`, their dtype."""
    values = classes.tolist()
    kind = _WIDE_OF.get(classes.dtype.kind)
    known = kind if not exact or kind == "text" else EXACT.get(classes.dtype.name)
    if known is None or (kind == "text" and not all(isinstance(value, str) for value in values)):
        raise ValueError("model cannot be saved: its classes must be words, numbers or truth values")
    if exact:
        return {"dtype": "str" if kind == "text" else classes.dtype.name, "values": values}
    return {"kind": kind, "values": values}


def unpack_classes(entry: Any, exact: bool = False) -> np.ndarray:
    """The labels that `pack_classes` wrote; a Fault unless they are distinct, in order, and of their type."""
    types = EXACT if exact else WIDE
    kind, values = (
        Fields(entry, "classes").take_all(**{"dtype" if exact else "kind": text}, values=items()).values()
    )
    if kind not in types:
        raise Fault("its classes are of a type that model files do not use")
    check_labels(values)
    try:
        classes = np.array(values, dtype=types[kind])
    except (OverflowError, ValueError):
        raise Fault("its classes are not of their type") from None
    found = classes.tolist()
    if found != values or [*map(type, found)] != [*map(type, values)]:
        raise Fault("its classes are not of their type")
    if any(not a < b for a, b in pairwise(found)):
        raise Fault("its classes are not in order")
    return classes


def check_labels(labels: list[Any]) -> list[Any]:
    """Labels, each once, that are text, finite numbers or truth values."""
    for label in labels:
        if not isinstance(label, str | bool):
            real(label, "classes")
    if len(set(labels)) != len(labels):
        raise Fault("it names a class twice")
    return labels


def unpack_features(tensors: Tensors, tensor: str) -> list[Any]:
    """Names of features, each once, that are text or whole numbers."""
    names = unpack_texts(tensors, tensor)
    if len(set(names)) != len(names):
        raise Fault(f"its tensor {tensor!a} names a feature twice")
    return names


def unpack_texts(tensors: Tensors, tensor: str) -> list[Any]:
    """Names that are text or whole numbers."""
    names = tensors.json(tensor)
    if not isinstance(names, list) or not all(type(each) in (str, int) for each in names):
        raise Fault(f"its tensor {tensor!a} holds no names")
    return names
