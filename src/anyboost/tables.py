"""Tables as they are: pandas, polars, pyarrow and NumPy in, one array of numbers out.

    numbers and booleans   themselves; a missing value is NaN
    categories             0, 1, 2, ... in the order of their sorted levels; NaN where missing or never seen

`read` learns the levels from a training table, or reads a later table by the levels learned then; `lumped` leaves as
many of them as trees have bins.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.backends import mapped
from anyboost.trees.parts import alone, circle

MOST_LEVELS = 254  # a column of trees has 255 bins: levels beyond the heaviest 254 share the last
FROM_DTYPE = "from_dtype"
_SHOWN = 5


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

    def encode(self, column: "Column") -> np.ndarray:
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


def check_kind(X: Any) -> None:
    """Refuse what is neither a data frame nor an array of rows and columns."""
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # a sparse matrix may be one
        raise TypeError("X is a mapping: make a data frame of it, pandas.DataFrame(X) or polars.DataFrame(X)")
    if _frame(X) is None and isinstance(X, np.ndarray | list | tuple) and np.ndim(X) != 2:
        from sklearn.utils import check_array

        check_array(X, dtype=None, ensure_all_finite=False, input_name="X")


def names_of(X: Any) -> list[str] | None:
    """The names of a data frame's columns; None where it has none, or not all are text."""
    frame = _frame(X)
    if frame is None:
        return None
    names = list(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


def read(
    X: Any,
    columns: Columns | None = None,
    categorical: Any = FROM_DTYPE,
    sample_weight: np.ndarray | None = None,
    name: str = "X",
    sparse: bool = False,
) -> tuple[Any, Columns]:
    """The table as float32 or float64, not copied where it is that already, and what its columns are.

    Parameters
    ----------
    X : data frame, array_like or sparse matrix
        Rows and columns.
    columns : Columns or None, default None
        What the training table's columns were, for a later table; None for a training table.
    categorical : str, columns or None, default "from_dtype"
        Which columns of a training table hold categories: "from_dtype" for those of a data frame's categorical and
        text types, None for none, else column numbers, names, or a mask.
    sample_weight : ndarray or None, default None
        Of a training table's rows; a level that no row of positive weight has is not one.
    name : str, default "X"
        What messages call the table.
    sparse : bool, default False
        Whether a sparse matrix is wanted as one, in CSR form; else it is refused.

    Returns
    -------
    tuple of (table, Columns)
        The numbers, and what each column is.
    """
    frame = _frame(X)
    if frame is None:
        return _read_array(X, columns, categorical, sample_weight, name, sparse)
    names = names_of(X)
    n_columns, later = len(frame.columns), columns is not None
    _fits_together(len(frame), n_columns, sample_weight, name)
    parts = list(columns_of(frame, name).values())
    if columns is None:
        chosen = _chosen(categorical, parts, names)
        columns = Columns(n_columns, {number: _levels(parts[number], sample_weight) for number in chosen})
    if not columns.levels:
        whole = _as_one_block(frame)
        if whole is not None:
            return whole, columns
    return filled(parts, columns, later), columns


def columns_of(frame: Any, name: str) -> dict[str, "Column"]:
    """The columns of a data frame, by name."""
    import narwhals as nw

    frame = nw.from_native(frame, eager_only=True, pass_through=False)
    return {
        label: _FrameColumn(frame.get_column(label), f"column {label!r} of {name}") for label in frame.columns
    }


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
        warnings.warn(
            f"column {called} of X has {len(levels[number].values)} levels, of which all but the {MOST_LEVELS} "
            f"heaviest count as one: {advice}",
            UserWarning,
            stacklevel=2,
        )
        table[:, number], levels[number] = _lump(table[:, number], levels[number], sample_weight)
    return table, replace(columns, levels=levels)


def _lump(codes: np.ndarray, levels: Levels, sample_weight: np.ndarray | None) -> tuple[np.ndarray, Levels]:
    """The codes of a column that keeps the levels of most weight, and those."""
    given = ~np.isnan(codes)
    code = codes[given].astype(np.intp)
    weights = circle().gather(np.ones(len(code)) if sample_weight is None else sample_weight[given])
    turn = np.argsort(weights)  # added up by size, which is the same for any order of the rows
    mass = np.bincount(circle().gather(code)[turn], weights[turn], minlength=len(levels.values))
    held = np.sort(np.argsort(-mass, kind="stable")[:MOST_LEVELS])
    place = np.full(len(levels.values), float(MOST_LEVELS))
    place[held] = np.arange(MOST_LEVELS)
    fewer = codes.copy()
    fewer[given] = place[code]
    return fewer, Levels(tuple(levels.values[number] for number in held.tolist()), rest=True)


def take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table, of the kind that it is: a data frame of the same library, an array, a sparse matrix."""
    frame = _frame(X)
    if frame is not None:
        return frame[rows].to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return np.asarray(X)[rows]


def column_numbers(spec: Any, names: Sequence[str] | None, n: int, argument: str) -> list[int]:
    """Columns given by number, by name, or by a mask over all of them, as sorted numbers."""
    if isinstance(spec, str | bytes) or not isinstance(spec, Sequence | np.ndarray):
        raise ValueError(f"{argument} must be a list of column numbers or names, or a mask, got {spec!r}")
    given = list(spec)
    if given and all(isinstance(part, bool | np.bool_) for part in given):
        if len(given) != n:
            raise ValueError(
                f"{argument} is a mask of {len(given)} columns, but X has {n}: give one a column"
            )
        return [number for number, part in enumerate(given) if part]
    return sorted({column_number(part, names, n, argument) for part in given})


def column_number(part: Any, names: Sequence[str] | None, n: int, argument: str) -> int:
    """One column, by number or name."""
    if isinstance(part, str):
        if names is None:
            raise ValueError(
                f"{argument} names the column {part!r}, but X has no column names: use its number"
            )
        if part not in names:
            raise ValueError(
                f"{argument} names the column {part!r}, which X does not have: use one of its own"
            )
        return list(names).index(part)
    if isinstance(part, bool | np.bool_) or not isinstance(part, int | np.integer):
        raise ValueError(f"{argument} must hold column numbers or names, got {part!r}")
    if not 0 <= part < n:
        raise ValueError(f"{argument} holds column {part}, but X has columns 0 to {n - 1}")
    return int(part)


class Column:
    """One column of a table, to be had as numbers or as words: here one of an array of numbers."""

    holds_words = False  # whether its type is one of categories or text

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
        words, place = self.words(), dict[str, int]()
        codes = [-1 if word is None else place.setdefault(word, len(place)) for word in words]
        return list(place), np.array(codes, dtype=np.int64)

    def missing(self) -> np.ndarray:
        return self.coded[1] < 0 if self.holds_words else np.isnan(self.numbers())

    def refusal(self, kind: str, advice: str) -> ValueError:
        return ValueError(f"{self.title} holds {kind}: {advice}")


class _FrameColumn(Column):
    """A column of a data frame, through narwhals."""

    def __init__(self, series: Any, title: str) -> None:
        import narwhals as nw

        super().__init__(series, title)
        if series.dtype == nw.Object:
            values = series.to_list()
            self.kind = "words" if _all_words(values) else "objects"
            if not alone() and all(map(is_missing, values)):
                self.kind = "nothing"  # here: another part may have words
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
            return np.asarray(self.values.cast(nw.Float64).to_numpy(), dtype=np.float64)
        if self.kind == "nothing":
            return np.full(len(self), np.nan)
        if self.kind == "objects":
            return _numbers_of_objects(self.values.to_list(), self)
        if self.kind == "words":
            raise self.refusal(
                "words", "name it in categorical_features, or turn it into numbers or a category"
            )
        raise self.refusal(f"{self.values.dtype}", "turn it into numbers or a category")

    def words(self) -> list[str | None]:
        if self.kind == "nothing":
            return [None] * len(self)
        return _texts(self.values) if self.holds_words else super().words()

    @cached_property
    def coded(self) -> tuple[list[str], np.ndarray]:
        native = self.values.to_native()
        if self.kind == "words" and hasattr(native, "dictionary_encode"):
            return _coded_by_arrow(native)
        if self.kind != "words" or not hasattr(native, "cat") or not hasattr(native.cat, "codes"):
            return super().coded
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
    return [value if isinstance(value, str) else None for value in values.to_list()]


class _ArrayColumn(Column):
    """A column of an array of objects or text."""

    def __init__(self, values: np.ndarray, title: str) -> None:
        super().__init__(values.tolist(), title)
        self.holds_words = _all_words(self.values)

    def numbers(self) -> np.ndarray:
        return _numbers_of_objects(self.values, self)

    def words(self) -> list[str | None]:
        return [value if isinstance(value, str) else None for value in self.values]


def _frame(X: Any) -> Any:
    """X as a narwhals frame; None where it is no data frame."""
    if isinstance(X, np.ndarray | list | tuple) or hasattr(X, "tocsr"):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.schema  # noqa: B018 - looks at the names
    except nw.exceptions.DuplicateError:
        raise ValueError("X has two columns of the same name: rename one of them") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame: collect it first, X.collect()")
    return frame if isinstance(frame, nw.DataFrame) else None


def _as_one_block(frame: Any) -> np.ndarray | None:
    """A frame of one float type as the library has it, without a pass over its columns."""
    import narwhals as nw

    kinds = set(frame.schema.values())
    if kinds not in ({nw.Float32}, {nw.Float64}):
        return None
    whole = frame.to_numpy()
    return whole if whole.dtype in (np.float32, np.float64) else None


def filled(parts: Sequence[Column], columns: Columns, later: bool) -> np.ndarray:
    """The columns as one table of numbers; of a later table, a warning where one has no level that is known."""
    # Column by column: that is how a fit reads it.
    table = np.empty((len(parts[0]), len(parts)), order="F")
    strange = []
    for number, part in enumerate(parts):
        levels = columns.levels.get(number)
        table[:, number] = codes = part.numbers() if levels is None else levels.encode(part)
        if later and levels is not None and not levels.known(codes).any() and not part.missing().all():
            strange.append(part.title)
    if strange:  # one level or other that is new is life; none that is known is mostly another spelling
        warnings.warn(
            f"{', '.join(strange)}: the fit saw none of these levels, so every row counts as missing or unseen there",
            UserWarning,
            stacklevel=2,
        )
    return table


def contiguous(table: Any) -> Any:
    """A table row by row, as kernels read it; a sparse one as it is."""
    return table if hasattr(table, "tocsr") else mapped.row_major(table)


def _read_array(
    X: Any,
    columns: Columns | None,
    categorical: Any,
    sample_weight: np.ndarray | None,
    name: str,
    sparse: bool,
) -> tuple[Any, Columns]:
    from sklearn.utils import check_array

    named = categorical is not None and not isinstance(categorical, str)
    if columns is not None:
        named = bool(columns.levels)
    raw = None if hasattr(X, "tocsr") else np.asarray(X)
    if raw is not None and raw.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers, pass {name}.real")
    if raw is None and sparse and named and np.size(categorical):
        raise ValueError(
            f"{name} is a sparse matrix, which has no categories: leave categorical_features out"
        )
    if not named or raw is None or raw.ndim != 2:
        if raw is not None:
            advice = "turn it into numbers, name its column in categorical_features, or pass a data frame"
            checks.no_words(raw, name, advice)
        table = check_array(
            X,
            accept_sparse="csr" if sparse else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=int(alone()),
            input_name=name,
            estimator=None,
        )
        return table, columns or Columns(table.shape[1])
    _fits_together(raw.shape[0], raw.shape[1], sample_weight, name)
    later = columns is not None
    kind = Column if raw.dtype.kind in "biuf" else _ArrayColumn
    parts = [kind(raw[:, number], f"column {number} of {name}") for number in range(raw.shape[1])]
    if columns is None:
        chosen = column_numbers(categorical, None, len(parts), "categorical_features")
        columns = Columns(len(parts), {number: _levels(parts[number], sample_weight) for number in chosen})
    return filled(parts, columns, later), columns


def _fits_together(n_rows: int, n_columns: int, sample_weight: np.ndarray | None, name: str) -> None:
    if n_rows == 0 and alone():
        raise ValueError(f"{name} has 0 sample(s) (shape=({n_rows}, {n_columns})): give at least one row")
    if n_columns == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required: give it columns"
        )
    if sample_weight is not None and len(sample_weight) != n_rows:
        raise ValueError(
            f"sample_weight must have one weight a row, got {len(sample_weight)} weights for {n_rows} rows"
        )


def _chosen(categorical: Any, parts: Sequence[Column], names: Sequence[str] | None) -> list[int]:
    if categorical is None:
        return []
    if isinstance(categorical, str):
        checks.choice(categorical, "categorical_features", (FROM_DTYPE,))
        words = np.array([part.holds_words for part in parts], dtype=np.bool_)
        return np.flatnonzero(circle().most(words)).tolist()
    return column_numbers(categorical, names, len(parts), "categorical_features")


def _levels(column: Column, sample_weight: np.ndarray | None) -> Levels:
    """The levels of a training column."""
    found: Any
    if column.holds_words:
        found, place = column.coded
        order = sorted(range(len(found)), key=found.__getitem__)
        present = place >= 0
        code = np.argsort(order)[place[present]]
        found = [found[number] for number in order]
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


def _numbers_of_objects(values: list[Any], column: Column) -> np.ndarray:
    try:
        return np.array([math.nan if is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError):
        bad = next(value for value in values if not _is_number(value))
        raise column.refusal(
            f"{bad!r}"[:60], "turn the column into numbers, or name it in categorical_features"
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(math.nan if is_missing(value) else value)
    except (TypeError, ValueError):
        return False
    return True


def to_frame(columns: dict[str, np.ndarray], like: Any, what: str) -> Any:
    """Columns as a data frame of the kind that `like` is, else as one of pandas."""
    import narwhals as nw

    known = _frame(like)
    if known is not None:
        return nw.from_dict(columns, backend=known.implementation).to_native()
    try:
        return nw.from_dict(columns, backend="pandas").to_native()
    except ImportError:
        raise ImportError(
            f"{what} gives a data frame: pip install pandas, or give X as a data frame"
        ) from None
