"""Input sentences: each check returns clean values or raises one sentence.

A sentence names the argument, the offending value (and row), and what to do about it.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from anyboost.backends import mapped, threads
from anyboost.trees.parts import alone, circle
from anyboost.trees.table import MOST_BINS

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
T = TypeVar("T")
LARGEST = 2**63 - 1  # of the whole numbers that compiled code takes: for others it would be compiled anew
HEAVIEST = 1e100  # sums of weights, and quotients of two of them, must be finite


def numbers(values: Any, name: str) -> Floats:
    """`values` as a contiguous float64 array of any shape, or a sentence."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            if array.dtype.kind not in "OUS":
                raise TypeError
            array = array.astype(np.float64)
        array = np.ascontiguousarray(mapped.doubled(array), dtype=np.float64)
        return array if array.flags.writeable else array.copy()  # a user's compiled loss takes no other
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {short(values)}: convert it first") from None


def no_words(array: np.ndarray, name: str, advice: str) -> None:
    """Refuse the first word that is not a number in letters, naming its row (and column)."""
    if array.dtype.kind not in "OU":
        return
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    else:
        return  # numbers, found without a loop over them
    for place, value in np.ndenumerate(array):
        if isinstance(value, str) and not _spells_number(value):
            where = f"row {place[0]}" if len(place) == 1 else f"row {place[0]}, column {place[1]}"
            raise ValueError(
                f"{name} must hold numbers, got the word {short(str(value))} at {where}: {advice}"
            )


CLASSES_OF_DATES = "turn it into a class, a word (as str does) or a whole number such as the year"


def no_dates(
    array: np.ndarray,
    advice: str = "turn it into a number, such as the days since the first",
    name: str = "y",
) -> None:
    """Refuse the first date, time or duration, naming its row: as targets they would become nanoseconds."""
    if array.dtype.kind in "mM":
        held: Iterable[Any] = array.ravel()[:1]
    elif array.dtype.kind == "O":
        held = array.ravel().tolist()
    else:
        return
    moments = (date, time, timedelta, np.datetime64, np.timedelta64)
    for row, value in enumerate(held):
        if isinstance(value, moments):
            raise ValueError(f"{name} holds a date or a time, {short(str(value))} at row {row}: {advice}")


@contextmanager
def unicode_of(what: str) -> Iterator[None]:
    """Refuse text that no file can hold: half a character, as bytes leave it that were read by another encoding."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} holds text that is not Unicode, {short(error.object)}: read it by the encoding it was written in, "
            "such as latin1"
        ) from None


def _spells_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def finite(array: Floats, name: str) -> Floats:
    """Refuse the first NaN or infinity, naming its row."""
    good = np.isfinite(array)
    if not good.all():
        where = np.argwhere(~good)[0]
        raise ValueError(
            f"{name} must be finite, got {array[tuple(where)]} at row {where[0]}: "
            "drop that row or fill the value in"
        )
    return array


def column(values: Any, name: str) -> Floats:
    """A finite, nonempty 1-D float64 array."""
    array = numbers(values, name)
    if array.ndim != 1:
        advice = (
            f"pass {name}.ravel()" if array.size == max(array.shape, default=0) else "pass one value a row"
        )
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}: {advice}")
    if array.size == 0 and alone():
        raise ValueError(f"{name} is empty: give at least one row")
    return finite(array, name)


def sample_weight(weights: Any, n_rows: int, name: str = "sample_weight", of: str = "row") -> Floats:
    """Finite, nonnegative weights, not all zero, one a row (or what else they are `of`); None means ones."""
    if weights is None:
        return np.ones(n_rows)
    array = column(weights, name)
    if len(array) != n_rows:
        raise ValueError(f"{name} must have one weight a {of}, got {len(array)} weights for {n_rows} {of}s")
    if array.min(initial=0.0) < 0:
        row = int(np.argmax(array < 0))
        raise ValueError(
            f"{name} must not be negative, got {array[row]} at {of} {row}: use 0 to leave a {of} out"
        )
    if circle().most(array.max(initial=0.0)) == 0:
        raise ValueError(f"{name} is zero for every {of}: give at least one {of} a positive weight")
    far = (array > HEAVIEST) | ((array > 0) & (array < 1 / HEAVIEST))
    if far.any():
        row = int(np.argmax(far))
        raise ValueError(
            f"{name} must be 0, or between {1 / HEAVIEST:g} and {HEAVIEST:g}, got {array[row]:g} at {of} {row}: "
            "multiply all weights by a number"
        )
    return array


def as_many(values: Any, n_rows: int, name: str, of: str = "X") -> int:
    """Refuse values that are not one a row; the number of rows."""
    if len(values) != n_rows:
        raise ValueError(
            f"{name} must have one value for each of the {n_rows} rows of {of}, got {len(values)}"
        )
    return n_rows


def real(value: Any, name: str) -> float:
    """One finite number (True and False are not numbers here)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)


def positive(value: Any, name: str) -> float:
    """One finite number above 0."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return number


def not_negative(value: Any, name: str) -> float:
    """One finite number, at least 0."""
    number = real(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {value}")
    return number


def between(value: Any, name: str, low: float, high: float) -> float:
    """One number strictly between two bounds."""
    number = real(value, name)
    if not low < number < high:
        raise ValueError(f"{name} must be strictly between {low:g} and {high:g}, got {value}")
    return number


def short(value: Any) -> str:
    """What a sentence shows of a value: one line, and no long one."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def count(value: Any, name: str, least: int, most: float = LARGEST) -> int:
    """One whole number between two bounds."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if not least <= value <= most:
        bounds = f"at least {least}" if value < least and most >= LARGEST else f"between {least} and {most}"
        raise ValueError(f"{name} must be {bounds}, got {value}")
    return int(value)


def seed(value: Any, name: str = "random_state") -> int:
    """One whole number that is not negative, however large."""
    return count(value, name, 0, math.inf)


def bins(value: Any) -> int:
    """How many bins a column may have."""
    return count(value, "max_bins", least=2, most=MOST_BINS)


def fraction(value: Any, name: str, zero: bool = True) -> float:
    """One number in [0, 1], or in (0, 1] where zero makes no sense."""
    number = real(value, name)
    if not 0 <= number <= 1 or (number == 0 and not zero):
        raise ValueError(f"{name} must be {'between' if zero else 'above'} 0 and at most 1, got {value}")
    return number


def flag(value: Any, name: str, others: str = "") -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True{',' if others else ' or'} False{others}, got {value!r}")
    return bool(value)


def workers(n_threads: Any) -> int:
    """How many threads n_threads asks for; None is all cores."""
    return threads.available() if n_threads is None else count(n_threads, "n_threads", least=1)


def n_threads(n_jobs: Any) -> int:
    """How many threads n_jobs asks for: -1 all cores, -2 all but one, None all that OMP_NUM_THREADS leaves.

    joblib sets that variable in its workers, so that searches over many fits do not crowd the cores.
    """
    if n_jobs is None:
        most = os.environ.get("OMP_NUM_THREADS", "")
        return (
            min(threads.available(), int(most)) if most.isdigit() and int(most) > 0 else threads.available()
        )
    count(n_jobs, "n_jobs", least=-(2**31))
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use None for all cores")
    return int(n_jobs) if n_jobs > 0 else max(1, threads.available() + 1 + int(n_jobs))


def choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in allowed:
        raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}")
    return str(value)


def named(
    spec: str, name: str, makers: Mapping[str, Callable[..., T]], others: Mapping[str, str] | None = None
) -> T:
    """The object that "name" or "name:parameter" stands for; numbers after the colon, comma-separated.

    `others` are further names, each for one of the makers.
    """
    said, _, rest = spec.partition(":")
    others = others or {}
    word = others.get(said, said)
    if word not in makers:
        near = difflib.get_close_matches(word.lower(), [*makers, *others], 1)
        rest = ", ".join(sorted(set(makers).difference(near)))
        raise ValueError(
            f"{name} {word!r} is not known: use {f'{near[0]!r}, or ' if near else ''}one of {rest}"
        )
    try:
        parameters = [
            int(part) if part.strip().lstrip("-").isdigit() else float(part)
            for part in rest.split(",")
            if rest
        ]
    except ValueError:
        raise ValueError(
            f"{name} {spec!r} has a parameter that is not a number: write e.g. '{word}:2'"
        ) from None
    try:
        return makers[word](*parameters)
    except TypeError:
        raise ValueError(f"{name} {spec!r} has parameters that {word!r} does not take") from None


def chosen(spec: Any, name: str, kind: type[T], makers: Mapping[str, Callable[..., T]], example: str) -> T:
    """An object of one kind as it is, or the one that a name stands for."""
    if isinstance(spec, kind):
        return spec
    if isinstance(spec, str):
        return named(spec, name, makers)
    raise ValueError(f"{name} must be a {kind.__name__} or its name, got {short(spec)}: try {example}")


def table(X: Any, name: str, n_features: int | None = None, sparse: bool = False) -> Any:
    """A 2-D table of numbers as float32 or float64, not copied where it is one already. NaN means missing.

    With `sparse`, a sparse matrix comes back as one in CSR form; without, it is refused.
    """
    if hasattr(X, "tocsr") and not sparse:
        raise ValueError(f"{name} is a sparse matrix: pass a dense one, {name}.toarray()")
    array = _rows_of_sparse(X, name) if hasattr(X, "tocsr") else np.asarray(X)
    if array.ndim != 2:
        advice = f"pass {name}.reshape(-1, 1) for one column" if array.ndim == 1 else "pass rows and columns"
        raise ValueError(f"{name} must be two-dimensional, got shape {array.shape}: {advice}")
    if array.dtype not in (np.float32, np.float64):
        if not hasattr(array, "tocsr"):
            no_words(array, name, "turn it into numbers, or give an estimator a data frame with categories")
        array = array.astype(np.float64) if hasattr(array, "tocsr") else numbers(array, name)
    if array.shape[0] == 0 and alone():
        raise ValueError(f"{name} has no rows: give at least one")
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns: give at least one")
    if n_features is not None and array.shape[1] != n_features:
        raise ValueError(
            f"{name} must have the {n_features} columns of the training data, got {array.shape[1]}"
        )
    return array


def _rows_of_sparse(X: Any, name: str) -> Any:
    """A sparse matrix in CSR form, each entry once; the user's own is not changed."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, got a sparse matrix of {X.dtype}: convert it first")
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    return rows


def finite_table(X: Any, name: str, who: str = "this model") -> None:
    """Refuse missing values and infinities where they mean nothing."""
    sparse = hasattr(X, "tocsr")
    good = np.isfinite(X.data if sparse else X)
    if good.all():
        return
    if sparse:
        entries = X.tocoo()
        place = int(np.argmin(good))
        row, column, value = int(entries.row[place]), int(entries.col[place]), entries.data[place]
    else:
        row, column = (int(number) for number in np.argwhere(~good)[0])
        value = X[row, column]
    found = "a missing value (NaN)" if np.isnan(value) else f"{value}"
    raise ValueError(
        f"{name} has {found} at row {row}, column {column}, which {who} cannot take: fill it in, e.g. with "
        "sklearn.impute.SimpleImputer, or use a tree"
    )


def columns(chosen: Any, name: str, n_features: int) -> tuple[int, ...]:
    """Column numbers of X, ascending, from numbers or from a mask with an entry for each column."""
    array = np.asarray(chosen)
    if array.dtype == np.bool_ and array.shape == (n_features,):
        return tuple(np.flatnonzero(array).tolist())
    if array.size == 0:
        return ()
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be column numbers, or a mask for the {n_features} columns, got {short(chosen)}"
        )
    for column in array.tolist():
        if not 0 <= column < n_features:
            raise ValueError(f"{name} must name columns 0 .. {n_features - 1} of X, got {column}")
    return tuple(sorted(set(array.tolist())))


MOST_CODES = 2**24  # what a float32 can tell apart


def codes(X: np.ndarray, name: str, categorical: tuple[int, ...]) -> None:
    """Refuse columns of categories with anything but the codes 0, 1, 2, ... and NaN."""
    for column in categorical:
        values = X[:, column]
        with np.errstate(invalid="ignore"):
            bad = ~np.isnan(values) & ~((values >= 0) & (values < MOST_CODES) & (values == np.floor(values)))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{name} must have whole numbers from 0 to {MOST_CODES - 1}, or NaN, in the categorical column "
                f"{column}, got {values[row]} at row {row}: number the categories 0, 1, 2, ..."
            )


def labels(values: Any, name: str, n_rows: int) -> np.ndarray:
    """One label a row, of any sortable kind."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have one label for each of the {n_rows} rows, got shape {array.shape}")
    return array


def scores(values: Any, name: str, n_rows: int, outputs: int) -> float | Floats:
    """One finite number, or finite scores of the shape (n,) or (n, k) that the outputs ask for."""
    if np.ndim(values) == 0:
        return real(values, name)
    array = numbers(values, name)
    expected = (n_rows,) if outputs == 1 else (n_rows, outputs)
    if array.shape != expected:
        raise ValueError(f"{name} must be a number or scores of shape {expected}, got shape {array.shape}")
    return finite(array, name)
