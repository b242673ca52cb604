"""Sets of the accuracy benchmark and their parts: docs/accuracy.md, "Which sets" and "Parts and seeds"."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from anyboost import datasets

REGRESSION, TWO, SEVERAL, RANKING = "regression", "two classes", "several classes", "ranking"
TASKS = (REGRESSION, TWO, SEVERAL, RANKING)
TUNING = (
    *("abalone", "ames", "wine_quality", "cal_housing", "casp", "diamonds", "nycflights13"),
    *("bank", "elec2", "adult", "a9a"),
    *("satimage", "pendigits", "shuttle", "activity_pucrio", "covtype", "connect4", "letter"),
    "mq2008",
)
QUICK = ("abalone", "bank", "satimage", "mq2008")
SEARCHED = ("ames", "cal_housing", "adult", "bank", "satimage", "pendigits")
ROWS = 20_000
SEARCHED_ROWS = 5_000
FOLDS = 5
LEAST_OF_CLASS = 10
JUDGE = "judge"


class Parts(NamedTuple):
    """Rows of a set: `train` in the main comparison, `inner` where `validation` is held out."""

    train: np.ndarray
    inner: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Table(NamedTuple):
    """A frame with categories as such, its targets, and its queries where it has some."""

    X: Any
    y: np.ndarray
    qid: np.ndarray | None


class Problem(NamedTuple):
    """One set and seed, ready for every library."""

    name: str
    seed: int
    task: str
    classes: int
    categorical: list[str]
    train: Table
    test: Table


def judging() -> list[str]:
    """The names of the judging sets, whatever files are there."""
    folder = Path(os.environ.get("ANYBOOST_DATA") or "") / JUDGE
    found = sorted(path.stem for path in folder.glob("*.npz")) if "ANYBOOST_DATA" in os.environ else []
    if not found:
        raise FileNotFoundError(
            f"no judging sets: ANYBOOST_DATA should name a folder with {JUDGE}/*.npz in it"
        )
    return [f"{JUDGE}/{name}" for name in found]


@lru_cache(maxsize=1)
def load(name: str) -> datasets.Dataset:
    return datasets.load(name)


def task_of(data: datasets.Dataset) -> str:
    if data.qid is not None:
        return RANKING
    if data.classes is None:
        return REGRESSION
    return TWO if len(data.classes) == 2 else SEVERAL


def seeds_of(task: str, seeds: int) -> range:
    """A ranking set is used by its folds, all of them unless one seed is asked for."""
    return range(FOLDS if task == RANKING and seeds > 1 else seeds)


def generator(name: str, purpose: str, seed: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(f"{name}, {purpose}".encode())])


def parts(data: datasets.Dataset, name: str, seed: int, rows: int) -> Parts:
    """The rows of each part, sorted; those of a ranking set are whole queries."""
    return _folded(data, seed) if data.qid is not None else _drawn(data, name, seed, rows)


def _drawn(data: datasets.Dataset, name: str, seed: int, rows: int) -> Parts:
    n = len(data.y)
    if data.split is not None and set(np.unique(data.split)) == {0, 1}:
        pool, test = np.flatnonzero(data.split == 0), np.flatnonzero(data.split == 1)
    else:
        order = generator(name, "test part").permutation(n)
        pool, test = order[n // 4 :], order[: n // 4]
    test = generator(name, "test rows").permutation(test)[:ROWS]
    train = generator(name, "training rows", seed).permutation(np.sort(pool))[
        : min(rows, len(pool) * 9 // 10)
    ]
    order = generator(name, "validation rows", seed).permutation(np.sort(train))
    validation, inner = np.split(order, [len(order) // 5])
    return Parts(*(np.sort(part) for part in (train, inner, validation, test)))


def _folded(data: datasets.Dataset, seed: int) -> Parts:
    """Fold k of LETOR: three parts, the next to validate, the one after it to test."""
    if data.split is None or set(np.unique(data.split)) != {1, 2, 3, 4, 5}:
        raise ValueError("a ranking set needs `split`, the parts 1 to 5 of its published folds")
    place = (data.split.astype(int) - 1 - seed) % FOLDS
    train, validation, test = (np.flatnonzero(where) for where in (place < 3, place == 3, place == 4))
    return Parts(train, train, validation, test)


def frame(data: datasets.Dataset, rows: np.ndarray) -> Any:
    """These rows as a data frame; levels are those of the whole set, as words."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for j, name in enumerate(data.feature_names):
        column = data.X[:, j]
        if data.categorical[j]:
            levels = [str(code) for code in range(int(np.nanmax(column)) + 1)]
            codes = np.nan_to_num(column[rows], nan=-1.0).astype(int)  # -1 is missing to pandas
            columns[name] = pd.Categorical.from_codes(codes, categories=levels)
        else:
            columns[name] = column[rows]
    return pd.DataFrame(columns)


def _numbered(qid: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Queries numbered as they come: some libraries want them to ascend."""
    if qid is None:
        return None
    return np.cumsum(np.append(False, qid[rows][1:] != qid[rows][:-1]))


@lru_cache(maxsize=2)
def problem(name: str, seed: int, most: int = ROWS, *, held_out: bool = False) -> Problem:
    """Train and test of a set; with `held_out`, the validation part stands for the test part, which is left alone."""
    data = load(name)
    task = task_of(data)
    part = parts(data, name, seed, most)
    used = (part.inner, part.validation) if held_out else (part.train, part.test)
    y, classes = data.y, 0
    if task in (TWO, SEVERAL):
        codes, counts = np.unique(y[part.train], return_counts=True)
        codes = codes[counts >= LEAST_OF_CLASS]
        used = (used[0][np.isin(y[used[0]], codes)], used[1][np.isin(y[used[1]], codes)])
        y, classes = np.searchsorted(codes, y), len(codes)
    tables = [Table(frame(data, rows), y[rows], _numbered(data.qid, rows)) for rows in used]
    names = [column for column, yes in zip(data.feature_names, data.categorical, strict=True) if yes]
    return Problem(name, seed, task, classes, names, *tables)
