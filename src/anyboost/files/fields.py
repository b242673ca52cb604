"""Reading what a header claims: every entry is asked for by what it has to be, or refused."""

import math
from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[[Any, str], Any]  # of a value of JSON and its name: the value, or a Fault
MOST_ITEMS = 2**20


class Fault(Exception):
    """What is wrong with a file, in words that follow "cannot be loaded: "."""


class Fields:
    """A JSON object whose entries are taken one by one; `done` refuses those that nobody took."""

    def __init__(self, values: Any, name: str) -> None:
        if not isinstance(values, dict):
            raise Fault(f"its entry {name!a} is not a JSON object")
        self._left = dict(values)
        self._name = name

    def has(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, check: Check | None = None) -> Any:
        if name not in self._left:
            raise Fault(f"its entry {self._name!a} has no {name!a}")
        value = self._left.pop(name)
        return value if check is None else check(value, name)

    def get(self, name: str, check: Check | None = None, default: Any = None) -> Any:
        """An entry that not every file has."""
        return self.take(name, check) if name in self._left else default

    def part(self, name: str, unpack: Callable[..., Any], *given: Any, later: bool = False) -> Any:
        """What `unpack` makes of an object and of what else it is given; None where older files have none of it."""
        if later and name not in self._left:
            return None
        inside = self.take(name, Fields)
        found = unpack(inside, *given)
        inside.done()
        return found

    def take_all(self, later: Iterable[str] = (), /, **checks: Check) -> dict[str, Any]:
        """These entries, each by its check, and no others; older files have not those of `later`."""
        wanted = {name: check for name, check in checks.items() if name not in later or self.has(name)}
        values = {name: self.take(name, check) for name, check in wanted.items()}
        self.done()
        return values

    def done(self) -> None:
        if self._left:
            raise Fault(
                f"its entry {self._name!a} has {next(iter(self._left))!a}, which this version does not know"
            )


def refusal(name: str) -> Fault:
    return Fault(f"its entry {name!a} is not what it has to be")


def real(value: Any, name: str) -> float:
    """A finite number as it stands in JSON, an int or a float."""
    try:
        good = type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        good = False
    if not good:
        raise Fault(f"its entry {name!a} is not a finite number")
    return float(value)


def number(value: Any, name: str) -> Any:
    """A number as it stands, int or float, or None; who takes it checks what it may be."""
    if value is not None:
        real(value, name)
    return value


def numbers(value: Any, name: str) -> Any:
    """Numbers in a list, or in lists in it."""
    parts = items()(value, name)
    return [(numbers if isinstance(part, list) else number)(part, name) for part in parts]


def flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise refusal(name)
    return value


def text(value: Any, name: str) -> str:
    """Text that can be written down: half of a surrogate pair cannot."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise refusal(name)
    return value


def count(least: int = 0, most: int | None = None) -> Check:
    """A whole number between two bounds."""

    def check(value: Any, name: str) -> int:
        if type(value) is not int or value < least or (most is not None and value > most):
            raise refusal(name)
        return value

    return check


def items(most: int = MOST_ITEMS, each: Check | None = None) -> Check:
    """A list that is not too long, of values that pass a check."""

    def check(value: Any, name: str) -> list[Any]:
        if not isinstance(value, list) or len(value) > most:
            raise refusal(name)
        return value if each is None else [each(part, name) for part in value]

    return check


def row(*checks: Check) -> Check:
    """A list of as many values as there are checks, each by its own."""

    def check(value: Any, name: str) -> list[Any]:
        if not isinstance(value, list) or len(value) != len(checks):
            raise refusal(name)
        return [own(part, name) for own, part in zip(checks, value, strict=True)]

    return check


def choice(*words: str) -> Check:
    """One of some words."""

    def check(value: Any, name: str) -> str:
        if value not in words:
            raise refusal(name)
        return value

    return check


def optional(check: Check) -> Check:
    """None, or what passes a check."""
    return lambda value, name: None if value is None else check(value, name)


def record(later: Iterable[str] = (), /, **checks: Check) -> Check:
    """An object with these entries, each by its check; older files have not those of `later`."""
    return lambda value, name: Fields(value, name).take_all(later, **checks)


def make(cls: Callable[..., Any], values: dict[str, Any]) -> Any:
    """What is made of values that a file claims; a Fault where they are refused."""
    try:
        return cls(**values)
    except (ValueError, TypeError, OverflowError, KeyError) as error:
        raise Fault(f"its header says {error}") from None
