"""Reading what a header claims: every entry is asked for by what it has to be, or refused."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Check = Callable[[Any, str], Any]  # of a value of JSON and its name: the value, or a Fault
MOST_ITEMS = 2**20
LARGEST = 2**63 - 1  # that compiled code takes: for others it would be compiled anew, or would not run
MOST_PARTS = 2**31 - 1  # columns, nodes or experts: what 32 bits can number


class Fault(Exception):
    """What is wrong with a file, in words that follow "cannot be loaded: "."""


def refuse(bad: Any, sentence: str) -> None:
    """A Fault in these words, where something is bad."""
    if bad:
        raise Fault(sentence)


class Fields:
    """A JSON object whose entries are taken one by one, with the tensors that lie beside it; `done` refuses entries
    that nobody took."""

    def __init__(self, values: Any, name: str, tensors: Any = None) -> None:
        refuse(not isinstance(values, dict), f"its entry {name!a} is not a JSON object")
        self.tensors = tensors
        self._left = dict(values)
        self._name = name

    def has(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, check: Check | None = None) -> Any:
        refuse(name not in self._left, f"its entry {self._name!a} has no {name!a}")
        value = self._left.pop(name)
        return value if check is None else check(value, name)

    def part(
        self, name: str, unpack: Callable[..., Any], *given: Any, under: str = "", later: bool = False
    ) -> Any:
        """What `unpack` makes of an object, of the tensors whose names begin so, and of what else it is given.

        None where older files have none of it.
        """
        if later and name not in self._left:
            return None
        return self._opened(self.take(name), name, under, unpack, given)

    def maybe(self, name: str, unpack: Callable[..., Any], *given: Any, under: str = "") -> Any:
        """The same; None where there is no object but null."""
        entry = self.take(name)
        return None if entry is None else self._opened(entry, name, under, unpack, given)

    def parts(self, name: str, most: int, unpack: Callable[..., Any], *given: Any) -> list[Any]:
        """The same for each object of a list; the names of its tensors begin with its place."""
        entries = enumerate(self.take(name, items(most)))
        return [self._opened(entry, name, f"{place}.", unpack, given) for place, entry in entries]

    def _opened(self, entry: Any, name: str, under: str, unpack: Callable[..., Any], given: Any) -> Any:
        inside = Fields(entry, name, self.tensors and self.tensors.under(under))
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


def where(good: Callable[[Any], bool]) -> Check:
    """A value of which this is true."""

    def check(value: Any, name: str) -> Any:
        if not good(value):
            raise refusal(name)
        return value

    return check


flag = where(lambda value: isinstance(value, bool))
# Text that can be written down: half of a surrogate pair cannot.
text = where(
    lambda value: isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
)


def count(least: int = 0, most: float = LARGEST) -> Check:
    """A whole number between two bounds."""
    return where(lambda value: type(value) is int and least <= value <= most)


seed = count(most=math.inf)


def bounded(least: float, most: float = math.inf) -> Check:
    """A finite number between two bounds."""
    inside = where(lambda value: least <= value <= most)
    return lambda value, name: inside(real(value, name), name)


def choice(*words: str) -> Check:
    """One of some words."""
    return where(lambda value: value in words)


def items(most: int = MOST_ITEMS, each: Check | None = None) -> Check:
    """A list that is not too long, of values that pass a check."""
    listed = where(lambda value: isinstance(value, list) and len(value) <= most)
    return lambda value, name: [part if each is None else each(part, name) for part in listed(value, name)]


def distinct(check: Check, key: Callable[[Any], Any] = lambda value: value) -> Check:
    """A list of which no two values are the same, or have the same key."""

    def checked(value: Any, name: str) -> list[Any]:
        found: list[Any] = check(value, name)
        refuse(len({key(part) for part in found}) != len(found), f"its {name} name something twice")
        return found

    return checked


def row(*checks: Check) -> Check:
    """A list of as many values as there are checks, each by its own."""
    listed = where(lambda value: isinstance(value, list) and len(value) == len(checks))
    return lambda value, name: [
        own(part, name) for own, part in zip(checks, listed(value, name), strict=True)
    ]


def table(each: Check) -> Check:
    """An object of any names, whose values pass a check."""
    held = where(lambda value: isinstance(value, dict))
    return lambda value, name: {key: each(part, name) for key, part in held(value, name).items()}


def known(table: Mapping[str, Any], words: str) -> Check:
    """What has this name in a table; the words say what has the name where there is none."""

    def check(value: Any, name: str) -> Any:
        refuse(text(value, name) not in table, f"{words} {value!a}, which this version does not know")
        return table[value]

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
