"""Several searches among the rows of all parts, a question at a time: what all of them ask next travels together.

A search is a generator: it yields a question, whose answer it is sent, and returns what it has found. All parts run the
same searches, which ask the same kinds of questions in the same order.
"""

from collections.abc import Generator, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

T = TypeVar("T")
Question = tuple[Literal["add", "most", "gather"], Any]
Search = Generator[Question, Any, T]


class Agreement:
    """What the parts of some rows agree on; here, where all of them are in one place, what these have."""

    def add(self, counts: Any) -> Any:
        """Whole numbers, summed over the parts."""
        return counts

    def most(self, values: Any) -> Any:
        """Numbers, the largest over the parts."""
        return values

    def gather(self, values: np.ndarray) -> np.ndarray:
        """What all rows have, those of one part after those of another."""
        return values


def found_by(search: Search[T], rows: Agreement) -> T:
    """What one search finds."""
    return found_by_all([search], rows)[0]


def found_by_all(searches: Sequence[Search[T]], rows: Agreement) -> list[T]:
    """What each of the searches finds."""
    found: dict[int, T] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while answers:
        asked: dict[tuple[str, str], dict[int, np.ndarray]] = {}
        for number, answer in answers.items():
            try:
                kind, own = searches[number].send(answer)
            except StopIteration as end:
                found[number] = end.value
            else:
                values = np.asarray(own)
                asked.setdefault((kind, values.dtype.str), {})[number] = values
        answers = {}
        for (how, _), of in asked.items():
            given = list(of.values())
            told = _gathered(given, rows) if how == "gather" else _agreed(how, given, rows)
            answers |= dict(zip(of, told, strict=True))
        answers = dict(sorted(answers.items()))
    return [found[number] for number in range(len(searches))]


def _agreed(kind: str, given: Sequence[np.ndarray], rows: Agreement) -> list[np.ndarray]:
    """Sums, or largest values, of each of some arrays."""
    edges = np.cumsum([own.size for own in given])[:-1]
    told = getattr(rows, kind)(np.concatenate([own.reshape(-1) for own in given]))
    return [own.reshape(values.shape) for own, values in zip(np.split(told, edges), given, strict=True)]


def _gathered(given: Sequence[np.ndarray], rows: Agreement) -> list[np.ndarray]:
    """What all parts have, of each of some lists."""
    sizes = rows.gather(np.array([[len(own) for own in given]]))
    told = np.split(rows.gather(np.concatenate(given)), np.cumsum(sizes)[:-1])
    return [np.concatenate(told[place :: len(given)]) for place in range(len(given))]
