"""Reading and writing tensors: each is asked for by the type and shape it has to have, or refused."""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from anyboost.files.container import DTYPES, Contents
from anyboost.files.fields import Fault

Shape = tuple[int | None, ...]
Packed = tuple[dict[str, Any], dict[str, np.ndarray]]  # a model's entries and its tensors


class Tensors:
    """A file's tensors, taken one by one with the type and shape they have to have."""

    def __init__(self, contents: Contents) -> None:
        assert contents.data is not None
        self._data = contents.data
        self._left = dict(contents.tensors)
        self._prefix = ""

    def has(self, name: str) -> bool:
        return self._prefix + name in self._left

    def under(self, prefix: str) -> "Tensors":
        """Those whose names begin so, to be taken by the rest of their names."""
        part = Tensors.__new__(Tensors)
        part._data, part._left, part._prefix = self._data, self._left, self._prefix + prefix
        return part

    def length(self, name: str, axis: int = 0) -> int:
        """A dimension of a tensor that is still to be taken."""
        name = self._prefix + name
        shape = self._left[name].shape if name in self._left else ()
        if len(shape) <= axis:
            raise Fault(f"its tensor {name!a} is missing or has no {('length', 'width')[axis]}")
        return shape[axis]

    def floats(self, name: str, shape: Shape, infinite: bool = False, nan: bool = False) -> np.ndarray:
        """A float64 array of its own; None in `shape` stands for any length."""
        values = self._take(name, shape, ("F64",)).astype(np.float64)
        good = True if nan else not np.isnan(values).any() if infinite else np.isfinite(values).all()
        if not good:
            raise Fault(f"its tensor {self._prefix + name!a} holds a value that is not finite")
        return values

    def indices(self, name: str, length: int | None, least: int, most: int) -> np.ndarray:
        """Whole numbers between two bounds, as int64."""
        values = self._take(name, (length,), ("U8", "U16", "U32")).astype(np.int64)
        if len(values) and not (least <= values.min() and values.max() <= most):
            raise Fault(f"its tensor {name!a} holds a number out of range")
        return values

    def counts_or_floats(self, name: str, length: int) -> np.ndarray:
        """Numbers as float64 that are stored as whole ones where they are."""
        if self._left[self._prefix + name].dtype == "F64":
            return self.floats(name, (length,))
        return self.indices(name, length, 0, 2**32 - 1).astype(np.float64)

    def json(self, name: str) -> Any:
        """What `as_json` made a tensor of; a Fault where it is no JSON."""
        raw = self.indices(name, None, 0, 255).astype(np.uint8).tobytes()
        try:
            return json.loads(raw.decode())
        except (ValueError, RecursionError):
            raise Fault(f"its tensor {self._prefix + name!a} is not JSON") from None

    def bits(self, name: str, count: int) -> np.ndarray:
        """`count` bits, eight to a byte; those that fill up the last byte are 0."""
        packed = self._take(name, (-(-count // 8),), ("U8",))
        values = np.unpackbits(packed).view(np.bool_)
        if values[count:].any():
            raise Fault(f"its tensor {name!a} has bits beyond its end")
        return values[:count]

    def done(self) -> None:
        if self._left:
            raise Fault(f"it has a tensor {next(iter(self._left))!a}, which this version does not know")

    def _take(self, name: str, shape: Shape, dtypes: tuple[str, ...]) -> np.ndarray:
        name = self._prefix + name
        if name not in self._left:
            raise Fault(f"its tensor {name!a} is missing")
        tensor = self._left.pop(name)
        fits = len(tensor.shape) == len(shape) and all(
            asked in (None, found) for asked, found in zip(shape, tensor.shape, strict=True)
        )
        if tensor.dtype not in dtypes or not fits:
            raise Fault(f"its tensor {name!a} has the wrong type or shape")
        dtype = np.dtype(DTYPES[tensor.dtype]).newbyteorder("<")
        return np.frombuffer(self._data, dtype, math.prod(tensor.shape), tensor.begin).reshape(tensor.shape)


def unsigned(values: Iterable[int] | np.ndarray) -> np.ndarray:
    """Whole numbers in the smallest unsigned type that holds them."""
    array = np.asarray(values, dtype=np.int64).reshape(-1)
    largest = int(array.max(initial=0))
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(dtype).max and array.min(initial=0) >= 0:
            return array.astype(dtype)
    raise ValueError(f"model holds the index {largest}, which a model file cannot")


def finite(values: Any, name: str, infinite: bool = False) -> np.ndarray:
    """A float64 array to be written; what `Tensors.floats` would refuse is refused here."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if np.isnan(array).any() if infinite else not np.isfinite(array).all():
        raise ValueError(f"model cannot be saved: its {name} are not finite")
    return array


def under(prefix: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Tensors by names that begin so."""
    return {prefix + name: array for name, array in tensors.items()}


def as_json(value: Any) -> np.ndarray:
    """Names and values as a tensor, JSON in UTF-8: a header is too small for many."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8).copy()
