"""One column of a table, of whatever library, to be had as numbers or as words."""

import math
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from anyboost import checks


class Column:
    """One column of a table, to be had as numbers or as words: here one of an array of numbers."""

    holds_words = False  # whether its type is one of categories or text
    kind = "numbers"  # what its cells are

    def __init__(self, values: Any, title: str) -> None:
        self.values, self.title = values, title

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> np.ndarray:
        """As float64, NaN where missing; a sentence where it holds none."""
        return np.asarray(self.values, dtype=np.float64)

    def words(self) -> list[str | None]:
        """As text, None where missing."""
        raise self.refusal("numbers", "it held words in the training table, turn it back into them")

    @cached_property
    def coded(self) -> tuple[list[str], np.ndarray]:
        """The words it holds, each once, and the place among them of each row's; -1 where missing."""
        with checks.unicode_of(self.title):
            found = self._coded()
            for word in found[0]:
                word.encode()
        return found

    def _coded(self) -> tuple[list[str], np.ndarray]:
        words, place = self.words(), dict[str, int]()
        codes = [-1 if word is None else place.setdefault(word, len(place)) for word in words]
        return list(place), np.array(codes, dtype=np.int64)

    def missing(self) -> np.ndarray:
        return self.coded[1] < 0 if self.holds_words else np.isnan(self.numbers())

    @cached_property
    def is_empty(self) -> bool:
        """Whether every cell is missing. The type of such a column says nothing: it may stand for any other."""
        return self.kind not in ("objects", "others") and bool(self.missing().all())

    def refusal(self, kind: str, advice: str) -> ValueError:
        return ValueError(f"{self.title} holds {kind}: {advice}")


class FrameColumn(Column):
    """A column of a data frame, through narwhals."""

    def __init__(self, series: Any, title: str) -> None:
        import narwhals as nw

        super().__init__(series, title)
        if series.dtype == nw.Object:
            values = series.to_list()
            self.kind = _kind_of_objects(values)
        elif series.dtype.is_numeric() or series.dtype == nw.Boolean:
            self.kind = "numbers"
        elif series.null_count() == len(series):
            self.kind = "nothing"
        else:
            texts = (nw.Categorical, nw.Enum, nw.String)
            self.kind = "words" if series.dtype in texts else "others"
        self.holds_words = self.kind == "words"

    def numbers(self) -> np.ndarray:
        import narwhals as nw

        if self.kind == "numbers":
            if self.values.dtype == nw.Float32:
                return self.values.to_numpy()
            values = self.values
            if not values.dtype.is_integer() or values.null_count():
                values = values.cast(nw.Float64)  # which of Arrow's whole numbers refuses those beyond 2^53
            return np.asarray(values.to_numpy(), dtype=np.float64)
        if self.kind == "nothing" or (self.kind == "words" and self.is_empty):
            return np.full(len(self), np.nan)
        if self.kind == "objects":
            return _numbers_of_objects(self.values.to_list(), self)
        if self.kind == "words":
            raise self.refusal(
                "words", "name it in categorical_features, or turn it into numbers or a category"
            )
        raise self.refusal(*_other(self.values))

    def words(self) -> list[str | None]:
        if self.kind == "nothing":
            return [None] * len(self)
        with checks.unicode_of(self.title):
            return _texts(self.values) if self.holds_words else super().words()

    def _coded(self) -> tuple[list[str], np.ndarray]:
        native = self.values.to_native()
        if self.kind == "words" and hasattr(native, "dictionary_encode"):
            return _coded_by_arrow(native)
        if self.kind != "words" or not hasattr(native, "cat") or not hasattr(native.cat, "codes"):
            return super()._coded()
        # pandas has the codes; categories that are not text may be the same as text
        import narwhals as nw

        categories = nw.from_native(native.cat.categories.to_series(), series_only=True)
        texts, place = _texts(categories), dict[str, int]()
        merged = [-1 if word is None else place.setdefault(word, len(place)) for word in texts]
        return list(place), np.array([*merged, -1])[native.cat.codes.to_numpy()]


def _coded_by_arrow(column: Any) -> tuple[list[str], np.ndarray]:
    """As `Column.coded`, of a column of pyarrow: it finds the words of each chunk."""
    place, parts = dict[str, int](), [np.empty(0, dtype=np.int64)]
    for chunk in column.chunks:
        coded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        words = coded.dictionary.cast("string").to_pylist()
        merged = [-1 if word is None else place.setdefault(word, len(place)) for word in words]
        codes = coded.indices.cast("int64").fill_null(len(words)).to_numpy(zero_copy_only=False)
        parts.append(np.array([*merged, -1])[codes])
    return list(place), np.concatenate(parts)


def _texts(series: Any) -> list[str | None]:
    """The text of each value of a column of narwhals, None where missing."""
    import narwhals as nw

    values = series if series.dtype == nw.Object else series.cast(nw.String)
    return words_in(values.to_list())


class ArrayColumn(Column):
    """A column of an array of objects or text."""

    def __init__(self, values: np.ndarray, title: str) -> None:
        super().__init__(values.tolist(), title)
        self.kind = _kind_of_objects(self.values)
        self.holds_words = self.kind == "words"

    def numbers(self) -> np.ndarray:
        return _numbers_of_objects(self.values, self)

    def words(self) -> list[str | None]:
        return words_in(self.values)


def words_in(values: Iterable[Any]) -> list[str | None]:
    """The text among some values, None for all others."""
    return [value if isinstance(value, str) else None for value in values]


def _kind_of_objects(values: list[Any]) -> str:
    if all(map(is_missing, values)):
        return "nothing"
    return "words" if _all_words(values) else "objects"


def _all_words(values: list[Any]) -> bool:
    """Whether a list holds text, apart from what is missing."""
    return any(isinstance(value, str) for value in values) and all(
        isinstance(value, str) or is_missing(value) for value in values
    )


def is_missing(value: Any) -> bool:
    """Whether a value of a table stands for none: None, NaN, or what a library has for them."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA does not say
        return type(value).__name__ == "NAType"


_ADVICE = "turn it into numbers or a category"
_OF_DATES = f"{_ADVICE}, such as the year, the weekday or the days since the first date"
_OF_DURATIONS = f"{_ADVICE}, such as its seconds"


def advice_on(value: Any) -> str | None:
    """What can be made of a date or a duration; None where a value is neither."""
    if isinstance(value, date | np.datetime64):
        return _OF_DATES
    return _OF_DURATIONS if isinstance(value, timedelta | np.timedelta64) else None


def _other(series: Any) -> tuple[str, str]:
    """What a column holds that is neither numbers nor words, and what can be made of it."""
    import narwhals as nw

    if series.dtype == nw.Datetime or series.dtype == nw.Date:
        return type(series.dtype).__name__, _OF_DATES
    if series.dtype == nw.Duration:
        return "Duration", _OF_DURATIONS
    return f"{series.to_native().dtype if series.dtype == nw.Unknown else series.dtype}", _ADVICE


def _numbers_of_objects(values: list[Any], column: Column) -> np.ndarray:
    try:
        return np.array([math.nan if is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError):
        bad = next(value for value in values if not _is_number(value))
        mixed = isinstance(bad, str) and not _all_words(values)
        raise column.refusal(
            f"{'words among other values, such as ' * mixed}{bad!r}"[:80],
            advice_on(bad)
            or "turn all of it into numbers (pandas.to_numeric), or all of it into words (astype(str))",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(math.nan if is_missing(value) else value)
    except (TypeError, ValueError):
        return False
    return True
