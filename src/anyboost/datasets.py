"""Real data sets by name: from the folder that the environment variable ANYBOOST_DATA names, else from OpenML.

OpenML is asked by scikit-learn, which keeps what it fetched in its own cache. Not fetched, because OpenML does not have
them, or not with these columns: a9a, activity_pucrio, ames, casp, lightgbm_rank_example, mq2008, nycflights13 and
wine_quality.
"""

import json
import os
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anyboost import openml


class Dataset(NamedTuple):
    """A table with its targets; fields that a data set does not have are None.

    Attributes
    ----------
    X : ndarray (n, d)
        The table.
    y : ndarray (n,)
        Targets.
    feature_names : list of str
        Names of the columns.
    categorical : ndarray (d,)
        Which columns hold categories.
    category_levels : dict of str to list of str, or None
        The words behind their codes, by column.
    classes : list of str or None
        The words behind class numbers.
    split : ndarray (n,) or None
        The part that each row belongs to.
    qid : ndarray (n,) or None
        The query of each row.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> data = ab.datasets.Dataset(np.eye(2), np.array([0.0, 1.0]), ["a", "b"], np.zeros(2, bool))
    >>> data.column("b")
    array([0., 1.])
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: list[str]
    categorical: np.ndarray
    category_levels: dict[str, list[str]] | None = None
    classes: list[str] | None = None
    split: np.ndarray | None = None
    qid: np.ndarray | None = None

    def column(self, name: str) -> np.ndarray:
        """One column of X by its name.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        ndarray (n,)
            The column.
        """
        return self.X[:, self.feature_names.index(name)]


def names() -> list[str]:
    """The data sets that `load` knows: those in the folder ANYBOOST_DATA, and those that OpenML has.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> import anyboost as ab
    >>> "letter" in ab.datasets.names()
    True
    """
    folder = _folder()
    stored = [] if folder is None else [path.stem for path in folder.glob("*.npz")]
    return sorted({*stored, *openml.SOURCES})


def _folder() -> Path | None:
    """Where ANYBOOST_DATA points; None where it is not set, or empty."""
    named = os.environ.get("ANYBOOST_DATA")
    return Path(named) if named else None


class _Missing(Exception):
    """Why OpenML did not help, and what to try before ANYBOOST_DATA."""

    def __init__(self, reason: str, advice: str = "") -> None:
        self.reason, self.advice = reason, advice


def _fetch(name: str) -> Dataset:
    if name not in openml.SOURCES:
        raise _Missing("it is not one that is fetched from OpenML")
    try:
        return Dataset(**openml.fetch(name))
    except ImportError:
        raise _Missing("OpenML's tables need pandas", "install it, or ") from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise _Missing(f"OpenML did not give it ({reason})", "try again, or ") from None


def _stored(name: str) -> Path | None:
    """The file of a set in the folder, where there is one."""
    folder = _folder()
    path = None if folder is None else folder / f"{name}.npz"
    return path if path is not None and path.is_file() else None


def load(name: str) -> Dataset:
    """The data set of a name, from the folder ANYBOOST_DATA or else from OpenML.

    From OpenML it has no `split`, its rows may come in another order, and satimage has five rows fewer.

    Parameters
    ----------
    name : str
        One of `names()`, e.g. "letter".

    Returns
    -------
    Dataset
        The data set.

    Raises
    ------
    FileNotFoundError
        Where it is not to be had.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.datasets.load("no such set")
    Traceback (most recent call last):
    ...
    FileNotFoundError: ...
    """
    path = _stored(name)
    if path is None:
        try:
            return _fetch(name)
        except _Missing as missing:
            raise FileNotFoundError(_sentence({name: missing})) from None
    with np.load(path, allow_pickle=False) as data:
        levels = json.loads(str(data["category_levels"])) if "category_levels" in data else None
        return Dataset(
            X=data["X"].astype(np.float64),
            y=data["y"].astype(np.float64),
            feature_names=[str(word) for word in data["feature_names"]],
            categorical=data["categorical"],
            category_levels=levels,
            classes=[str(word) for word in data["classes"]] if "classes" in data else None,
            split=data.get("split", None),
            qid=data.get("qid", None),
        )


def require(names: Iterable[str]) -> None:
    """See that `load` will find all of these.

    Asks OpenML for what the folder does not have; scikit-learn keeps that for `load`.

    Parameters
    ----------
    names : iterable of str
        The data sets.

    Raises
    ------
    FileNotFoundError
        One, which names those that `load` would not find.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.datasets.require(["no such set"])
    Traceback (most recent call last):
    ...
    FileNotFoundError: ...
    """
    missing: dict[str, _Missing] = {}
    for name in dict.fromkeys(names):
        if _stored(name) is None:
            try:
                _fetch(name)
            except _Missing as reason:
                missing[name] = reason
    if missing:
        raise FileNotFoundError(_sentence(missing))


def _sentence(missing: dict[str, _Missing]) -> str:
    """What is missing, why OpenML did not help, and what to do."""
    files = ", ".join(f"{name}.npz" for name in missing)
    where = "is not set" if _folder() is None else f"has no {files}"
    reasons = list(dict.fromkeys(found.reason for found in missing.values()))
    said, why = "data set", reasons[0]
    if len(missing) > 1:
        sets = [", ".join(name for name in missing if missing[name].reason == reason) for reason in reasons]
        parts = zip(sets, reasons, strict=True)
        said, why = "data sets", "; ".join(f"for {names}: {reason}" for names, reason in parts)
    said += " " + ", ".join(repr(name) for name in missing)
    advice = max(found.advice for found in missing.values())
    return f"{said} not found: ANYBOOST_DATA {where}, and {why}; {advice}point ANYBOOST_DATA to a folder with {files}"


LETOR_PARTS = ("train.txt", "vali.txt", "test.txt")


def read_letor(path: str | Path) -> Dataset:
    """A ranking set in LETOR's text format, that of MSLR-WEB10K: a line `grade qid:7 1:0.3 2:0.1 # words` a row.

    Parameters
    ----------
    path : str or Path
        The file. Columns are numbered from 1; one that a line leaves out is 0.

    Returns
    -------
    Dataset
        Grades are `y`, queries `qid`.

    Examples
    --------
    >>> import anyboost as ab
    >>> from pathlib import Path
    >>> _ = Path("small.txt").write_text("2 qid:7 1:0.3 3:0.1 # a page")
    >>> data = ab.datasets.read_letor("small.txt")
    >>> data.X, data.y, data.qid
    (array([[0.3, 0. , 0.1]]), array([2.]), array([7]))
    """
    from sklearn.datasets import load_svmlight_file

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}; it should hold lines like `2 qid:7 1:0.3 2:0.1`")
    try:
        X, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=False)
    except ValueError:
        raise ValueError(_odd_line(path)) from None
    if not len(y) or len(qid) != len(y) or not np.isfinite(y).all() or not np.isfinite(X.data).all():
        raise ValueError(_odd_line(path))
    names = [str(number) for number in range(1, X.shape[1] + 1)]
    return Dataset(X.toarray(), y, names, np.zeros(X.shape[1], dtype=bool), qid=qid)


def read_letor_fold(folder: str | Path) -> Dataset:
    """The train.txt, vali.txt and test.txt of a fold, one below the other.

    Parameters
    ----------
    folder : str or Path
        The folder that has them.

    Returns
    -------
    Dataset
        Its `split` is 0, 1 and 2.

    Examples
    --------
    >>> import anyboost as ab
    >>> from pathlib import Path
    >>> for part in ("train", "vali", "test"):
    ...     _ = Path(f"{part}.txt").write_text("1 qid:7 1:0.3")
    >>> ab.datasets.read_letor_fold(".").split
    array([0, 1, 2])
    """
    parts = [read_letor(Path(folder) / name) for name in LETOR_PARTS]
    names = max((part.feature_names for part in parts), key=len)
    padded = [np.pad(part.X, ((0, 0), (0, len(names) - part.X.shape[1]))) for part in parts]
    return Dataset(
        np.concatenate(padded),
        np.concatenate([part.y for part in parts]),
        names,
        np.zeros(len(names), dtype=bool),
        split=np.repeat([0, 1, 2], [len(part.y) for part in parts]),
        qid=np.concatenate([part.qid for part in parts if part.qid is not None]),
    )


def letor_folds(name: str) -> list[Path]:
    """The folders Fold1, Fold2, ... of a ranking set in the folder ANYBOOST_DATA; none where it is not there.

    Parameters
    ----------
    name : str
        The folder of the set.

    Returns
    -------
    list of Path
        The folders.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.datasets.letor_folds("no such set")
    []
    """
    folder = _folder()
    found = [] if folder is None else [folder / name / f"Fold{k}" for k in range(1, 6)]
    return [fold for fold in found if fold.is_dir()]


def _odd_line(path: Path) -> str:
    """The sentence about the first line that is not one of the format."""
    number = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
    row = re.compile(rf"{number}\s+qid:\d+(\s+\d+:{number})*")
    with path.open(encoding="utf-8", errors="replace") as lines:
        for place, line in enumerate(lines, 1):
            words = line.partition("#")[0].strip()
            columns = (
                [int(word.partition(":")[0]) for word in words.split()[2:]] if row.fullmatch(words) else [0]
            )
            if words and not all(a < b for a, b in pairwise([0, *columns])):
                return (
                    f"line {place} of {path} is {words[:60]!r}; write `grade qid:7 1:0.3 2:0.1`, "
                    "columns ascending from 1"
                )
    return f"{path} has no rows; it should hold lines like `2 qid:7 1:0.3 2:0.1`"
