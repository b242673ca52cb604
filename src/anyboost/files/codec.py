"""What stands in a file of the library's objects, described once for who writes it and for who reads it.

A Codec is for frozen dataclasses, which become `{"class": name, parameter: value, ...}`. It lists the classes that a
file may name in one place; no other is ever looked up. Their constructors say what is stored and how it is checked:
truth values, text, numbers and tuples of these by annotation, other objects of the library by a Codec of their own. The
class itself then checks what the values may be. What is none of these is not stored, and has to be what it is by
default.

A Record is for attributes that stand side by side: as entries of the header, each with its check, and as tensors.
"""

import math
from functools import cache
from inspect import signature
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from anyboost.files.fields import Check, Fields, flag, known, make, number, numbers, optional, text
from anyboost.files.tensors import Kind, Packed

# Parameters that a file has only where they differ from the default: older files have none
LATER = {
    *("growth", "min_leaf_weight", "l2", "monotone", "interactions", "outputs"),
    *("node_features", "node_thresholds", "ridge", "extrapolate"),
    *("standardize", "unit", "curvature", "proximal", "centered"),
}
FORMER = {"centered": False}  # what older files have, where that is no longer the default


class Place(NamedTuple):
    """What stands under a name in a file.

    `at` is the path of the attribute, where that is not the name. `default` is what a file has not and means all the
    same; where that is not finite, other numbers that are not are left out too.
    """

    kind: Any
    at: str = ""
    default: Any = ...

    def omits(self, value: Any) -> bool:
        """Whether a file has none of it."""
        if self.default is ... or self.default is None:
            return value is self.default
        both = (value, self.default)
        endless = all(isinstance(each, float) and not math.isfinite(each) for each in both)
        return endless or bool(value == self.default)


class Record:
    """Attributes that stand in a file side by side: entries, each by its check or its Codec, and tensors.

    The names of the tensors begin with the prefix. Lengths that have a name agree with each other and with entries.
    """

    def __init__(self, prefix: str = "", /, **kinds: Any) -> None:
        self.prefix = prefix
        self.places = {name: kind if isinstance(kind, Place) else Place(kind) for name, kind in kinds.items()}

    def pack(self, thing: Any = None, /, **values: Any) -> Packed:
        """The part of a file for a thing that has these attributes, but for some `values` by the names in the file."""
        found = Packed({}, {})
        for name, place in self.places.items():
            kind = place.kind
            value = values[name] if name in values else attrgetter(place.at or name)(thing)
            if place.omits(value):
                continue
            if not isinstance(kind, Kind):
                found.header[name] = getattr(kind, "encode", plain)(value)
            elif (array := kind.written(value, self.prefix + name)) is not None:
                found.tensors[self.prefix + name] = array
        return found

    def take(self, part: Fields, /, **named: Any) -> dict[str, Any]:
        """The attributes, by the last name of their path; `named` are lengths that are known."""
        tensors, found = part.tensors and part.tensors.under(self.prefix), {}
        for name, place in self.places.items():
            is_tensor = isinstance(place.kind, Kind)
            if place.default is not ... and not (tensors if is_tensor else part).has(name):
                value = place.default
            elif is_tensor:
                value = place.kind.read(tensors, name, named)
            else:
                value = part.take(name, place.kind)
                named.setdefault(name, value)
            found[(place.at or name).rpartition(".")[2]] = value
        return found


class Codec:
    """The classes that may stand in one place of a file, by name; `inner` are codecs of some of their parameters.

    `order` is that of a class whose file does not have the order of its constructor.
    """

    def __init__(self, what: str, *classes: Any, order: tuple[str, ...] = (), **inner: "Codec") -> None:
        self.what, self.order, self.inner = what, order, inner
        self.classes: dict[str, type] = {cls.__name__: cls for cls in classes}

    def knows(self, thing: Any) -> bool:
        return self.classes.get(type(thing).__name__) is type(thing)

    def encode(self, thing: Any) -> Any:
        """The entry of a thing; a ValueError for one that is not of these classes."""
        if not self.knows(thing):
            raise ValueError(f"{self.what} {thing!r} cannot be saved: only {', '.join(self.classes)} can")
        record, rest = self._record(type(thing))
        for name, default in rest.items():
            if getattr(thing, name) is not default:
                raise ValueError(f"{self.what} {thing!r} cannot be saved: its {name} has no place in a file")
        return {"class": type(thing).__name__} | record.pack(thing).header

    def __call__(self, entry: Any, name: str) -> Any:
        """The thing an entry describes, asked for as other entries are."""
        return self.decode(entry)

    def decode(self, entry: Any) -> Any:
        """The thing an entry describes."""
        found = Fields(entry, self.what)
        cls = found.take("class", known(self.classes, f"its {self.what} is"))
        values = self._record(cls)[0].take(found)
        found.done()
        return make(cls, values)

    def _record(self, cls: type) -> "tuple[Record, dict[str, Any]]":
        """What is stored of a class, and the defaults of what is not."""
        kinds: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for name, (check, default) in _parameters(cls).items():
            kind = self.inner.get(name, check)
            if kind is None:
                rest[name] = default
            else:
                kinds[name] = Place(kind, default=FORMER.get(name, default)) if name in LATER else kind
        ordered = self.order if {*self.order} == {*kinds} else kinds
        return Record(**{name: kinds[name] for name in ordered}), rest


@cache
def _parameters(cls: type) -> dict[str, tuple[Check | None, Any]]:
    """By name: how a parameter is checked, None where it is not to be stored, and its default."""
    hints = get_type_hints(cls.__init__)  # type: ignore[misc]
    return {
        name: (_check(hints[name]), parameter.default)
        for name, parameter in signature(cls).parameters.items()
    }


def _check(hint: Any) -> Check | None:
    """How values of a type are checked."""
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if bool in options or str in options:
        return flag if bool in options else text
    if not _of_numbers(hint):
        return None
    if {*options} <= {int, float, NoneType}:
        return number
    return optional(numbers) if NoneType in options else numbers


def _of_numbers(hint: Any) -> bool:
    return hint in (int, float, NoneType, ...) or (
        bool(get_args(hint)) and all(_of_numbers(part) for part in get_args(hint))
    )


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
