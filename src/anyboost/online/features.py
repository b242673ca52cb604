"""Named features to columns: the part of a front end that lets features appear and disappear.

A name gets the next free column when it is first learnt from (or, hashed, one of 2**bits columns for good). A number
is that column's value; text is the feature "name=text" with value 1; None, NaN and pandas.NA are no feature.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, nan
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.online.rows import Table, sparse_table
from anyboost.tables import advice_on, is_missing

Name = str | int
MOST_PLANS = 64  # sets of names whose columns are remembered
MOST_BITS = 30
LEAST_WIDTH = 8


class Known(NamedTuple):
    """What to do with a dict whose names, in this order, have been seen before and whose values are all numbers."""

    pick: Callable[[Any], tuple[Any, ...]]  # its values, columns ascending
    pack: Callable[..., None]  # writes them into `values`
    columns: np.ndarray
    values: np.ndarray


class Features:
    """The columns of named features.

    bits : None for a column a name, growing as names are met; or hash names into 2**bits columns, in fixed memory.

    `width` is how many columns a model needs; doubling, so that it need not grow with every new name.
    """

    def __init__(self, bits: int | None = None) -> None:
        self.bits = None if bits is None else checks.count(bits, "hash_bits", 1, MOST_BITS)
        self.names: list[Name] = []
        self.texts: dict[int, Name] = {}  # the name of the feature behind each column that stands for a text
        self._columns: dict[Name, int] = {}
        self._plans: dict[tuple[Any, ...], Known] = {}
        self._set_width()

    @classmethod
    def of(
        cls, names: Iterable[Name], bits: int | None = None, texts: Mapping[int, Name] | None = None
    ) -> Features:
        """The features of a model that was saved."""
        features = cls(bits)
        features.texts.update(texts or {})
        for name in names:
            features._columns[name] = len(features.names)
            features.names.append(name)
        features._set_width()
        return features

    def _set_width(self) -> None:
        # Kept, since every row asks for it.
        self.width = _width(len(self.names)) if self.bits is None else 1 << self.bits

    def truncate(self, width: int) -> None:
        """Forget the names after the first `width`: what came with rows that were then refused."""
        if self.bits is None and width < len(self.names):
            for name in self.names[width:]:
                self.texts.pop(self._columns.pop(name), None)
            del self.names[width:]
            self._plans.clear()
            self._set_width()

    def row(self, x: Mapping[Any, Any], grow: bool) -> tuple[np.ndarray, np.ndarray]:
        """Columns and values of one dict, in arrays that the next call reuses. `grow`: new names get a column."""
        try:
            names = tuple(x)
        except TypeError:  # no dict: refused there
            return self._slow_row(x, grow)
        plan = self._plans.get(names)
        if plan is not None:
            picked = plan.pick(x)
            try:
                plan.pack(plan.values, 0, *picked)
            except (
                struct.error,
                OverflowError,
            ):  # text or None among the values, or a number beyond all floats
                return self._slow_row(x, grow)
            # A sum is finite where all its terms are, and costs less than a test of each. From 0.0 on it is one of
            # floats, also of NumPy's small whole numbers.
            if not isfinite(sum(picked, 0.0)):
                return self._slow_row(x, grow)
            return plan.columns, plan.values
        columns, values = self._slow_row(x, grow)
        self._remember(names, x)
        return columns, values

    def _slow_row(self, x: Mapping[Any, Any], grow: bool) -> tuple[np.ndarray, np.ndarray]:
        if not isinstance(x, Mapping):
            raise ValueError(
                f"x must be a dict of features, got {type(x).__name__}: pass tables to learn_many"
            )
        names, values = _named_values(x)
        if not isfinite(sum(values)):
            _check_finite(zip(names, values, strict=True))
        places = [self._column(name) for name in names]
        if grow and None in places:
            self._name(names, x)
            places = [self._column(name) for name in names]
        found: dict[int, float] = {}
        for column, value in zip(places, values, strict=True):
            if column is not None:  # a sum with 0 would make 0 of -0, which rows of remembered names keep
                found[column] = found[column] + value if column in found else value
        ascending = sorted(found)
        columns = np.array(ascending, dtype=np.int64)
        return columns, np.array([found[column] for column in ascending], dtype=np.float64)

    def _remember(self, names: tuple[Any, ...], x: Mapping[Any, Any]) -> None:
        if any(
            _is_text(value) or isinstance(value, np.float16) for value in x.values()
        ):  # whose sums overflow
            return
        columns = [self._column(name) for name in names]
        if None in columns or len(set(columns)) < len(columns):
            return
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        ascending = sorted(zip(columns, names, strict=True), key=lambda pair: pair[0] or 0)
        self._plans[names] = Known(
            _picker([name for _, name in ascending]),
            struct.Struct(f"{len(names)}d").pack_into,
            np.array([column for column, _ in ascending], dtype=np.int64),
            np.zeros(len(names)),
        )

    def rows(self, examples: Sequence[Mapping[Any, Any]], grow: bool) -> Table:
        """Many dicts at once; a bad one is named by its row."""
        starts, columns, values = [0], [], []
        before = len(self.names)
        for number, x in enumerate(examples):
            try:
                at, value = self.row(x, grow)
            except ValueError as error:
                self.truncate(before)
                raise ValueError(f"{error} (row {number})") from None
            columns.append(at)
            values.append(value.copy())
            starts.append(starts[-1] + len(at))
        return sparse_table(
            self.width,
            np.concatenate([np.zeros(0), *values]),
            np.concatenate([np.zeros(0, dtype=np.int64), *columns]),
            np.array(starts, dtype=np.int64),
        )

    def table(self, columns: Mapping[Any, np.ndarray], n_rows: int, grow: bool) -> Table:
        """Named columns of one table: float64 arrays (nan: missing) or object arrays of text (None: missing)."""
        for name, cells in columns.items():
            _check_name(name)
            if cells.dtype == np.float64:
                _check_column(name, cells)
        filled = {name: _filled(cells) for name, cells in columns.items()}
        if grow and self.bits is None:
            self._name_in_order(columns, filled)
        parts = []
        for name, cells in columns.items():
            rows = filled[name]
            if cells.dtype == np.float64:
                column = self._column(name) if len(rows) else None
                if column is not None:
                    parts.append((rows, np.full(len(rows), column, dtype=np.int64), cells[rows]))
            else:
                places = self._text_column(name, cells[rows])
                known = places >= 0
                parts.append((rows[known], places[known], np.ones(int(known.sum()))))
        return sparse_table(self.width, *_in_rows(parts, n_rows))

    def _name_in_order(self, columns: Mapping[Any, np.ndarray], filled: dict[Any, np.ndarray]) -> None:
        """Give new names their columns in the order in which a loop over the rows would meet them."""
        new: list[tuple[int, Any, dict[Any, str]]] = []
        for name, cells in columns.items():
            rows = filled[name]
            if cells.dtype == np.float64:
                if len(rows) and name not in self._columns:
                    new.append((int(rows[0]), name, {}))
                continue
            first: dict[str, int] = {}
            for row, cell in zip(rows.tolist(), cells[rows].tolist(), strict=True):
                first.setdefault(cell, row)
            named = ((row, text_feature(name, cell), {name: cell}) for cell, row in first.items())
            new.extend(each for each in named if each[1] not in self._columns)
        for _, feature, x in sorted(new, key=lambda each: (each[0], str(each[1]))):
            self._name([feature], x)

    def _text_column(self, name: Any, cells: np.ndarray) -> np.ndarray:
        """The column of each text; -1 where it has none."""
        known: dict[str, int] = {}
        for cell in dict.fromkeys(cells.tolist()):
            column = self._column(text_feature(name, cell))
            known[cell] = -1 if column is None else column
        return np.array([known[cell] for cell in cells.tolist()], dtype=np.int64)

    def widths(self, rows: Table, before: int) -> np.ndarray:
        """How many columns a model would have at each row, learnt one by one; `before`: names before the first."""
        if self.bits is not None or len(self.names) == before:
            return np.full(rows.n, self.width)
        return np.array([_width(count) for count in self.counts(rows, before).tolist()])

    def counts(self, rows: Table, before: int) -> np.ndarray:
        """How many names there would be after each row."""
        last = np.full(rows.n, before - 1)
        some = np.flatnonzero(np.diff(rows.starts))
        last[some] = rows.columns[rows.starts[some + 1] - 1]  # columns are ascending
        return np.maximum.accumulate(np.maximum(last, before - 1)) + 1

    def _column(self, name: Any) -> int | None:
        return self._columns.get(name) if self.bits is None else hashed(name, self.bits)

    def _name(self, names: list[Any], x: Mapping[Any, Any]) -> None:
        """Give those of one row that are new a column each, in an order that is not the dict's."""
        if self.bits is None:
            new = [name for name in dict.fromkeys(names) if name not in self._columns]
            for name in new:
                _check_name(name)
            for name in sorted(new, key=str):
                self._columns[name] = len(self.names)
                self.names.append(name)
            if new:
                self._set_width()
                texts = {text_feature(name, cell): name for name, cell in x.items() if isinstance(cell, str)}
                self.texts |= {self._columns[name]: texts[name] for name in new if name in texts}

    def __getstate__(self) -> dict[str, Any]:
        return {"bits": self.bits, "names": self.names, "texts": self.texts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        restored = Features.of(state["names"], state["bits"], state.get("texts"))
        self.__dict__.update(restored.__dict__)


def _width(names: int) -> int:
    return max(LEAST_WIDTH, 1 << (names - 1).bit_length()) if names else LEAST_WIDTH


def _filled(cells: np.ndarray) -> np.ndarray:
    """The rows in which a column has a value."""
    if cells.dtype == np.float64:
        return np.flatnonzero(~np.isnan(cells))
    return np.array([row for row, cell in enumerate(cells.tolist()) if cell is not None], dtype=np.int64)


def _picker(names: list[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A dict's values by these names, as a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda x: tuple(x[name] for name in names)


def hashed(name: Any, bits: int) -> int:
    """The column of a name among 2**bits: the same in every process and on every machine."""
    from sklearn.utils import murmurhash3_32

    _check_name(name)
    with checks.unicode_of("a feature"):
        return int(murmurhash3_32(str(name), positive=True)) & ((1 << bits) - 1)


def text_feature(name: Any, text: str) -> str:
    """The feature that stands for a text."""
    return f"{name}={text}"


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _named_values(x: Mapping[Any, Any]) -> tuple[list[Any], list[float]]:
    names: list[Any] = []
    values: list[float] = []
    for name, value in x.items():
        if value is None:
            continue
        if isinstance(value, str):
            names.append(text_feature(name, value))
            values.append(1.0)
            continue
        number = value if type(value) is float else _number(name, value)
        if number == number:  # NaN stands for none
            names.append(name)
            values.append(number)
    return names, values


def _number(name: Any, value: Any) -> float:
    """The value as a float; NaN where it is missing."""
    try:
        if not (isinstance(value, np.generic) and value.dtype.kind in "mM"):  # dates, which count nanoseconds
            return float(value)
    except OverflowError:
        raise ValueError(f"x[{name!r}] must be finite, got a number beyond all floats: scale it") from None
    except (TypeError, ValueError):
        pass
    if is_missing(value):
        return nan
    raise ValueError(
        f"x[{name!r}] must be a number or text, got {type(value).__name__}: {advice_on(value) or 'convert it first'}"
    )


def _check_finite(pairs: Iterable[tuple[Any, Any]]) -> None:
    for name, value in pairs:
        if not isfinite(value):
            raise ValueError(f"x[{name!r}] must be finite, got {float(value)}: leave a missing feature out")


def _check_column(name: Any, cells: np.ndarray) -> None:
    infinite = np.isinf(cells)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(f"column {name!r} must be finite, got {cells[row]} at row {row}: drop that row")


def _check_name(name: Any) -> None:
    if not isinstance(name, str | int):
        raise ValueError(
            f"a feature's name must be text or a whole number, got {name!r}: use str(name) for it"
        )


def _in_rows(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From (rows, columns, values) of each column of a table: values, columns and starts by rows."""
    columns = [int(places[0]) for _, places, _ in parts if len(places)]
    full = all(len(rows) == n_rows and (places == places[0]).all() for rows, places, _ in parts)
    if full and parts and len(set(columns)) == len(columns):  # the usual table: all numbers, none missing
        order = np.argsort(columns)
        values = np.column_stack([parts[i][2] for i in order]).ravel()
        starts = np.arange(n_rows + 1, dtype=np.int64) * len(columns)
        return values, np.tile(np.sort(columns), n_rows), starts
    row = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _, _ in parts)])
    column = np.concatenate([np.zeros(0, dtype=np.int64), *(places for _, places, _ in parts)])
    value = np.concatenate([np.zeros(0), *(values for _, _, values in parts)])
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    if not first.all():  # two features of a row that fell on one hashed column are added up
        value = np.add.reduceat(value, np.flatnonzero(first))
        row, column = row[first], column[first]
    return value, column, np.searchsorted(row, np.arange(n_rows + 1)).astype(np.int64)
