"""Tensors: each is described once, by the type and shape it has to have and the numbers it may hold, for who writes it
and for who reads it."""

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from anyboost.files.container import DTYPES, Contents
from anyboost.files.fields import Check, Fault, refuse

Length = int | str | None  # None: any; a name: the same wherever it stands
POSITIVE = math.ulp(0.0)  # the least number above 0
MOST_INDEX = 2**32 - 1


class Packed(NamedTuple):
    """A part of a file to be written: entries of its header, and its tensors."""

    header: dict[str, Any]
    tensors: dict[str, np.ndarray]

    def __or__(self, other: "Packed") -> "Packed":
        return Packed(self.header | other.header, self.tensors | other.tensors)

    def within(self, name: str, under: str = "") -> "Packed":
        """As one entry, an object, and tensors whose names begin so."""
        return Packed({name: self.header}, {under + key: array for key, array in self.tensors.items()})


def entries(**values: Any) -> Packed:
    """Entries without tensors."""
    return Packed(values, {})


def listed(name: str, parts: Iterable[Packed]) -> Packed:
    """As one entry, a list of objects; the names of each one's tensors begin with its place."""
    found = [part.within(name, f"{place}.") for place, part in enumerate(parts)]
    tensors = {key: array for part in found for key, array in part.tensors.items()}
    return Packed({name: [part.header[name] for part in found]}, tensors)


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

    def take(self, name: str, shape: tuple[int | None, ...], *dtypes: str) -> np.ndarray:
        """The numbers as they lie in the file; None in `shape` stands for any length."""
        name = self._prefix + name
        refuse(name not in self._left, f"its tensor {name!a} is missing")
        tensor = self._left.pop(name)
        fits = len(tensor.shape) == len(shape) and all(
            asked in (None, found) for asked, found in zip(shape, tensor.shape, strict=True)
        )
        refuse(tensor.dtype not in dtypes or not fits, f"its tensor {name!a} has the wrong type or shape")
        dtype = np.dtype(DTYPES[tensor.dtype]).newbyteorder("<")
        return np.frombuffer(self._data, dtype, math.prod(tensor.shape), tensor.begin).reshape(tensor.shape)

    def within(self, name: str, values: np.ndarray, least: float, most: float, rise: float) -> np.ndarray:
        """These numbers of a tensor, if they lie between two bounds, and each so far above the one before."""
        if values.size and not (least <= values.min() and values.max() <= most):
            raise self.fault(name, "holds a number out of range")
        if rise > -math.inf and (np.diff(values) < rise).any():
            raise Fault(f"its {self._prefix + name} are not in order")
        return values

    def dtype(self, name: str) -> str:
        """How the numbers of a tensor lie there; nothing where there is none."""
        tensor = self._left.get(self._prefix + name)
        return "" if tensor is None else tensor.dtype

    def fault(self, name: str, words: str) -> Fault:
        return Fault(f"its tensor {self._prefix + name!a} {words}")

    def done(self) -> None:
        if self._left:
            raise Fault(f"it has a tensor {next(iter(self._left))!a}, which this version does not know")


class Kind:
    """What a tensor holds: `written`, the tensor of a value, and `read`, the value of a tensor.

    `named` is told, and learns, how long the lengths are that have a name.
    """

    shape: tuple[Length, ...] = (None,)
    written: Any
    read: Any

    def _taken(self, tensors: Tensors, name: str, named: dict[str, Any], *dtypes: str) -> np.ndarray:
        asked = tuple(named.get(each) if isinstance(each, str) else each for each in self.shape)
        found = tensors.take(name, asked, *dtypes)
        for each, length in zip(self.shape, found.shape, strict=True):
            if isinstance(each, str):
                named.setdefault(each, length)
        return found


class Floats(Kind):
    """Numbers between two bounds, finite unless it says otherwise; `rise` is the least step from one to the next."""

    def __init__(
        self,
        *shape: Length,
        least: float = -math.inf,
        most: float = math.inf,
        rise: float = -math.inf,
        infinite: bool = False,
        nan: bool = False,
        what: str = "",
    ) -> None:
        self.shape, self.least, self.most, self.rise = shape, least, most, rise
        self.infinite, self.nan, self.what = infinite, nan, what

    def written(self, value: Any, name: str) -> np.ndarray:
        array = np.ascontiguousarray(value, dtype=np.float64)
        if not self._finite(array):
            raise ValueError(f"model cannot be saved: its {self.what or name} are not finite")
        return array if array.ndim == len(self.shape) else array.reshape(-1, *self.shape[1:])

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> np.ndarray:
        values = self._taken(tensors, name, named, "F64").astype(np.float64)
        if not self._finite(values):
            raise tensors.fault(name, "holds a value that is not finite")
        return values if self.nan else tensors.within(name, values, self.least, self.most, self.rise)

    def _finite(self, values: np.ndarray) -> bool:
        return self.nan or not (np.isnan(values) if self.infinite else ~np.isfinite(values)).any()


class Whole(Floats):
    """Whole numbers between two bounds, in the smallest unsigned type that holds them; read as int64.

    The upper bound may have a name, or be the last number `below` one.
    """

    def __init__(
        self, length: Length, least: int = 0, most: Any = MOST_INDEX, below: str = "", rise: float = -math.inf
    ) -> None:
        super().__init__(length, least=least, most=most, rise=rise)
        self.below = below

    def written(self, value: Any, name: str) -> np.ndarray:
        array = np.asarray(value, dtype=np.int64).reshape(-1)
        largest = int(array.max(initial=0))
        for dtype in (np.uint8, np.uint16, np.uint32):
            if largest <= np.iinfo(dtype).max and array.min(initial=0) >= 0:
                return array.astype(dtype)
        raise ValueError(f"model holds the index {largest}, which a model file cannot")

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> np.ndarray:
        values = self._taken(tensors, name, named, "U8", "U16", "U32").astype(np.int64)
        most = named[self.below] - 1 if self.below else self.most
        most = named[most] if isinstance(most, str) else most
        return tensors.within(name, values, self.least, most, self.rise)


class Counts(Floats):
    """Numbers that stand there as whole ones where they all are; read as float64."""

    def written(self, value: Any, name: str) -> np.ndarray:
        whole = np.all(value == np.floor(value)) and value.max(initial=0.0) <= MOST_INDEX
        return Whole(None).written(value, name) if whole else super().written(value, name)

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> np.ndarray:
        if tensors.dtype(name) == "F64":
            return super().read(tensors, name, named)
        return Whole(self.shape[0]).read(tensors, name, named).astype(np.float64)


class Bits(Kind):
    """Truth values, eight to a byte; those that fill up the last byte are 0. `sparse`: absent where none is true."""

    def __init__(self, length: Length, sparse: bool = False) -> None:
        self.shape, self.sparse = (length,), sparse

    def written(self, value: Any, name: str) -> np.ndarray | None:
        return None if self.sparse and not value.any() else np.packbits(value)

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> np.ndarray:
        count: int = named[self.shape[0]]  # type: ignore[index]
        if self.sparse and not tensors.has(name):
            return np.zeros(count, dtype=np.bool_)
        values = np.unpackbits(tensors.take(name, (-(-count // 8),), "U8")).view(np.bool_)
        if values[count:].any():
            raise tensors.fault(name, "has bits beyond its end")
        return values[:count]


class Json(Kind):
    """Names and values that pass a check, JSON in UTF-8: a header is too small for many."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def written(self, value: Any, name: str) -> np.ndarray:
        return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8).copy()

    def read(self, tensors: Tensors, name: str, named: dict[str, Any]) -> Any:
        try:
            found = json.loads(tensors.take(name, (None,), "U8").tobytes().decode())
        except (ValueError, RecursionError):
            raise tensors.fault(name, "is not JSON") from None
        return self.check(found, name)
