"""The levels of columns that hold categories, and the codes that stand for them in a table of numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from anyboost import notices
from anyboost.backends import mapped
from anyboost.tables.column import Column
from anyboost.trees.parts import alone, circle, rows_of
from anyboost.trees.table import MOST_BINS

FEW_ROWS = 50  # in which all categories may differ by chance
MOST_LEVELS = MOST_BINS - 1  # of a column of trees: levels beyond the heaviest share the last bin


@dataclass(frozen=True)
class Levels:
    """The categories of a column: words or numbers, sorted.

    All others, if they are not missing, share the code after the last: where there were others in training, the `rest`;
    where there were none, but unseen ones are to be told `apart` from missing ones.
    """

    values: tuple[str, ...] | tuple[float, ...]
    rest: bool = False
    apart: bool = False

    @property
    def words(self) -> bool:
        return any(isinstance(value, str) for value in self.values[:1])

    def encode(self, column: Column) -> np.ndarray:
        """The code of each row as a float; NaN where it has none."""
        if len(self.values) == 0:
            codes = np.full(len(column), np.nan)
        else:
            codes = self._of_words(*column.coded) if self.words else self._of_numbers(column.numbers())
        if self.rest or self.apart:
            codes[np.isnan(codes) & ~column.missing()] = len(self.values)
        return codes

    def known(self, codes: np.ndarray) -> np.ndarray:
        """Which codes are those of levels that the fit saw."""
        return codes < len(self.values) + self.rest

    @cached_property
    def _code(self) -> dict[Any, float]:
        return {word: float(number) for number, word in enumerate(self.values)}

    def _of_words(self, words: list[str], place: np.ndarray) -> np.ndarray:
        return np.array([self._code.get(word, math.nan) for word in words] + [math.nan])[place]

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.array(self.values, dtype=np.float64)

    def _of_numbers(self, numbers: np.ndarray) -> np.ndarray:
        values = self._sorted
        place = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
        return np.where(values[place] == numbers, place.astype(np.float64), np.nan)


@dataclass(frozen=True)
class Columns:
    """What a training table's columns were: how many, and the levels of those that hold categories."""

    n: int
    levels: Mapping[int, Levels] = field(default_factory=dict)

    @property
    def categorical(self) -> np.ndarray | None:
        """Which columns hold categories; None where none does."""
        if not self.levels:
            return None
        mask = np.zeros(self.n, dtype=np.bool_)
        mask[list(self.levels)] = True
        return mask


def in_order(words: list[str]) -> tuple[list[str], np.ndarray]:
    """Words, sorted, and the place that each one gets."""
    order = sorted(range(len(words)), key=words.__getitem__)
    return [words[number] for number in order], np.argsort(order)


def levels_of(column: Column, sample_weight: np.ndarray | None) -> Levels:
    """The levels of a training column."""
    found: Any
    if column.holds_words:
        words, place = column.coded
        found, turned = in_order(words)
        present = place >= 0
        code = turned[place[present]]
    else:
        values = column.numbers()
        present = ~np.isnan(values)
        found, code = np.unique(values[present], return_inverse=True)
        found = found.tolist()
    held = np.unique(code if sample_weight is None else code[sample_weight[present] > 0])
    own = [found[number] for number in held.tolist()]
    if not alone():
        kind: Any = object if column.holds_words else np.float64
        own = sorted(set(circle().gather(np.array(own, dtype=kind)).tolist()))
    return Levels(tuple(own))


def warn_of_labels(columns: Columns, rows: int, names: Sequence[str] | None = None) -> None:
    """Name the columns of a training table of so many rows that have another category in every row."""
    if not columns.levels:
        return
    rows = int(circle().add(rows))
    for number, levels in columns.levels.items():
        if len(levels.values) == rows > FEW_ROWS:
            called = number if names is None else repr(names[number])
            notices.warn(
                f"column {called} of X has another category in every row, from which nothing is learnt: leave it out",
                stacklevel=2,
            )


def lumped(
    table: Any,
    columns: Columns,
    sample_weight: np.ndarray | None = None,
    names: Sequence[str] | None = None,
    advice: str = "merge levels yourself",
) -> tuple[Any, Columns]:
    """A training table and its columns, for trees: of too many levels all but the heaviest are one, with a warning."""
    many = [
        number
        for number, levels in columns.levels.items()
        if len(levels.values) > MOST_LEVELS and not levels.apart
    ]
    if not many:
        return table, columns
    table, levels = mapped.copy(table), dict(columns.levels)
    for number in many:
        called = number if names is None else repr(names[number])
        notices.warn(
            f"column {called} of X has {len(levels[number].values)} levels, of which all but the {MOST_LEVELS} "
            f"heaviest count as one: {advice}",
            stacklevel=2,
        )
        table[:, number], levels[number] = _lump(table[:, number], levels[number], sample_weight)
    return table, replace(columns, levels=levels)


def _lump(codes: np.ndarray, levels: Levels, sample_weight: np.ndarray | None) -> tuple[np.ndarray, Levels]:
    """The codes of a column that keeps the levels of most weight, and those."""
    given = ~np.isnan(codes)
    code = codes[given].astype(np.intp)
    weights = np.ones(len(code)) if sample_weight is None else sample_weight[given]
    mass, _ = rows_of(len(code)).leaf_sums(code, weights, len(levels.values))
    held = np.sort(np.argsort(-mass, kind="stable")[:MOST_LEVELS])
    place = np.full(len(levels.values), float(MOST_LEVELS))
    place[held] = np.arange(MOST_LEVELS)
    fewer = codes.copy()
    fewer[given] = place[code]
    return fewer, Levels(tuple(levels.values[number] for number in held.tolist()), rest=True)
