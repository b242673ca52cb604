"""Encoded rows as the tables of batch experts: a column a number, and one for all texts of a name.

A feature that a named row lacks is missing (NaN); where rows are arrays, or names are hashed, it is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats
from anyboost.online.features import Features
from anyboost.online.rows import Table

MOST_COLUMNS = (
    512  # those that the most rows have a number other than 0 in; batch experts do not see the others
)


class Layout(NamedTuple):
    """Which column of the table an encoded column goes to."""

    places: np.ndarray  # (encoded columns,) int32; -1: nowhere
    texts: np.ndarray  # (encoded columns,) bool: whether it stands for a text, whose code is its own number
    width: int
    absent: float

    @property
    def categorical(self) -> list[int]:
        """The columns of the table that hold texts."""
        return sorted(set(self.places[self.texts & (self.places >= 0)].tolist()))

    def table(self, rows: Table) -> Floats:
        """The rows, a float each."""
        if not len(rows.starts) and self._is_plain(rows.width):
            return rows.values.reshape(rows.n, rows.width)
        found = np.full((rows.n, self.width), self.absent)
        if not len(rows.starts):
            seen = self.places[: rows.width]
            given = rows.values.reshape(rows.n, rows.width)[:, : len(seen)]
            found[:, seen[seen >= 0]] = given[:, seen >= 0]
            return found
        columns = rows.columns[rows.starts[0] : rows.starts[-1]]
        values = rows.values[rows.starts[0] : rows.starts[-1]]
        number = np.repeat(np.arange(rows.n), np.diff(rows.starts))
        known = columns < len(self.places)
        columns, values, number = columns[known], values[known], number[known]
        place = self.places[columns]
        cells = np.where(self.texts[columns], columns, values)
        there = place >= 0
        found[number[there], place[there]] = cells[there]
        return found

    def _is_plain(self, width: int) -> bool:
        return width == self.width == len(self.places) and bool((self.places == np.arange(width)).all())


def layout_of(rows: Table, features: Features | None) -> Layout:
    """The layout for what these rows hold, of the named features; None where they are arrays."""
    named = features is not None and features.bits is None
    texts = features.texts if features is not None else {}
    if len(rows.starts):
        counts = np.bincount(rows.columns[rows.starts[0] : rows.starts[-1]], minlength=rows.width)
    else:
        counts = np.full(rows.width, rows.n)
    is_text = np.zeros(len(counts), dtype=bool)
    is_text[[column for column in texts if column < len(counts)]] = True
    is_text &= counts > 0  # names that later rows of the same call bring are known already, but not in a loop
    group: dict[Any, list[int]] = {}
    for column in np.flatnonzero(counts).tolist():
        group.setdefault(("text", texts[column]) if is_text[column] else column, []).append(column)
    seen = list(group.values())
    if len(seen) > MOST_COLUMNS:
        says = _says_something(rows)
        seen.sort(key=lambda columns: (-int(says[columns].sum()), columns[0]))
    frequent = seen[:MOST_COLUMNS]
    places = np.full(len(counts), -1, dtype=np.int32)
    for place, columns in enumerate(sorted(frequent)):
        places[columns] = place
    return Layout(places, is_text, max(1, len(frequent)), np.nan if named else 0.0)


def _says_something(rows: Table) -> np.ndarray:
    """In how many rows each column has a number other than 0."""
    if not len(rows.starts):
        values = rows.values.reshape(rows.n, rows.width)
        return ((values != 0) & ~np.isnan(values)).sum(axis=0)
    own = slice(int(rows.starts[0]), int(rows.starts[-1]))
    said = (rows.values[own] != 0) & ~np.isnan(rows.values[own])
    return np.bincount(rows.columns[own][said], minlength=rows.width)
