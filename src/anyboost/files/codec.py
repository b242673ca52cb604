"""Frozen dataclasses of the library as JSON and back: `{"class": name, parameter: value, ...}`.

A Codec lists the classes that a file may name in one place; no other is ever looked up. Their constructors say what is
stored and how it is checked: truth values, text, numbers and tuples of these by annotation, other objects of the
library by a Codec of their own. The class itself then checks what the values may be. What is none of these is not
stored, and has to be what it is by default.
"""

from functools import cache
from inspect import signature
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from anyboost.files.fields import Check, Fault, Fields, flag, make, number, numbers, optional, text

# Parameters that a file has only where they differ from the default: older files have none
LATER = {
    *("growth", "min_leaf_weight", "l2", "monotone", "interactions", "outputs"),
    *("node_features", "node_thresholds", "ridge", "extrapolate"),
    *("standardize", "unit", "curvature", "proximal", "centered"),
}
FORMER = {"centered": False}  # what older files have, where that is no longer the default


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
        entry = {"class": type(thing).__name__}
        for name, (check, default) in self._parameters(type(thing)).items():
            value = getattr(thing, name)
            if name in self.inner:
                entry[name] = self.inner[name].encode(value)
            elif check is None and value is not default:
                raise ValueError(f"{self.what} {thing!r} cannot be saved: its {name} has no place in a file")
            elif check is not None and (name not in LATER or value != FORMER.get(name, default)):
                entry[name] = plain(value)
        return entry

    def __call__(self, entry: Any, name: str) -> Any:
        """The thing an entry describes, asked for as other entries are."""
        return self.decode(entry)

    def decode(self, entry: Any, depth: int = 0) -> Any:
        """The thing an entry describes; `depth` is how many entries it lies in."""
        found = Fields(entry, self.what)
        name = found.take("class", text)
        if name not in self.classes:
            raise Fault(f"its {self.what} is {name!a}, which this version does not know")
        values: dict[str, Any] = {}
        for parameter, (check, _) in self._parameters(self.classes[name]).items():
            if parameter in self.inner:
                values[parameter] = self.inner[parameter].decode(found.take(parameter), depth + 1)
            elif check is not None and (parameter not in LATER or found.has(parameter)):
                values[parameter] = found.take(parameter, check)
            elif parameter in FORMER:
                values[parameter] = FORMER[parameter]
        found.done()
        return make(self.classes[name], values)

    def _parameters(self, cls: type) -> "dict[str, _Parameter]":
        found = _parameters(cls)
        return {name: found[name] for name in self.order} if set(self.order) == set(found) else found


class Record:
    """Attributes that stand in a file side by side, each by its check or its Codec."""

    def __init__(self, **checks: Check) -> None:
        self.checks = checks

    def encode(self, thing: Any) -> dict[str, Any]:
        """The entries of a thing that has these attributes."""
        values = {name: getattr(thing, name) for name in self.checks}
        return {
            name: check.encode(values[name]) if isinstance(check, Codec) else plain(values[name])
            for name, check in self.checks.items()
        }

    def take(self, header: Fields) -> dict[str, Any]:
        """These of a header's entries."""
        return {name: header.take(name, check) for name, check in self.checks.items()}

    def __call__(self, entry: Any, name: str) -> dict[str, Any]:
        """The values of an object that has these entries and no others."""
        return Fields(entry, name).take_all(**self.checks)


class _Parameter(NamedTuple):
    check: Check | None  # None: not to be stored
    default: Any


@cache
def _parameters(cls: type) -> dict[str, _Parameter]:
    hints = get_type_hints(cls.__init__)  # type: ignore[misc]
    return {
        name: _Parameter(_check(hints[name]), parameter.default)
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
