"""The part of a file that is names of features: JSON in UTF-8, as a tensor, since a header is too small for many."""

import json
from typing import Any

import numpy as np

from anyboost.files.container import Fault
from anyboost.files.fields import Tensors
from anyboost.online.features import MOST_BITS, Features


def pack(names: list[Any]) -> np.ndarray:
    """The tensor of some names."""
    return np.frombuffer(json.dumps(names).encode(), dtype=np.uint8).copy()


def unpack(tensors: Tensors, name: str) -> list[Any]:
    """Names, each once, that are text or whole numbers."""
    raw = tensors.indices(name, None, 0, 255).astype(np.uint8).tobytes()
    try:
        names = json.loads(raw.decode())
    except (ValueError, RecursionError):
        raise Fault(f"its tensor {name!a} holds no names") from None
    if not isinstance(names, list) or not all(type(each) in (str, int) for each in names):
        raise Fault(f"its tensor {name!a} holds no names")
    if len(set(names)) != len(names):
        raise Fault(f"its tensor {name!a} names a feature twice")
    return names


def unpack_features(tensors: Tensors, bits: Any) -> Features:
    """The columns of named features."""
    if bits is not None and not (type(bits) is int and 1 <= bits <= MOST_BITS):
        raise Fault("it hashes into an impossible number of columns")
    names = unpack(tensors, "features")
    if bits is not None and names:
        raise Fault("it hashes its features and names them")
    return Features.of(names, bits)
