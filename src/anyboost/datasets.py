"""Real data sets by name: from the folder that the environment variable ANYBOOST_DATA names, else from OpenML.

OpenML is asked by scikit-learn, which keeps what it fetched in its own cache. Not fetched, because OpenML does not have
them, or not with these columns: a9a, activity_pucrio, ames, casp, lightgbm_rank_example, mq2008, nycflights13 and
wine_quality.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anyboost import openml


class Dataset(NamedTuple):
    """A table with its targets; fields that a data set does not have are None."""

    X: np.ndarray
    y: np.ndarray
    feature_names: list[str]
    categorical: np.ndarray
    category_levels: dict[str, list[str]] | None = None
    classes: list[str] | None = None
    split: np.ndarray | None = None
    qid: np.ndarray | None = None

    def column(self, name: str) -> np.ndarray:
        """One column of X by its name."""
        return self.X[:, self.feature_names.index(name)]


def names() -> list[str]:
    """The data sets that `load` knows: those in the folder, and those that OpenML has."""
    folder = os.environ.get("ANYBOOST_DATA")
    stored = [] if folder is None else [path.stem for path in Path(folder).glob("*.npz")]
    return sorted({*stored, *openml.SOURCES})


def _fetch(name: str, missing: str) -> Dataset:
    """The set from OpenML, or in one sentence what is missing, why OpenML did not help, and what to do."""
    give = f"point ANYBOOST_DATA to a folder with {name}.npz"
    if name not in openml.SOURCES:
        raise FileNotFoundError(f"{missing}, and it is not one that is fetched from OpenML; {give}")
    try:
        return Dataset(**openml.fetch(name))
    except ImportError:
        raise FileNotFoundError(
            f"{missing}, and OpenML's tables need pandas; install it, or {give}"
        ) from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileNotFoundError(
            f"{missing}, and OpenML did not give it ({reason}); try again, or {give}"
        ) from None


def load(name: str) -> Dataset:
    """The data set called `name`, e.g. "letter"; FileNotFoundError where it is not to be had.

    From OpenML it has no `split`, its rows may come in another order, and satimage has five rows fewer.
    """
    folder = os.environ.get("ANYBOOST_DATA")
    path = Path(folder or "") / f"{name}.npz"
    if folder is None or not path.is_file():
        where = "is not set" if folder is None else f"has no {name}.npz"
        return _fetch(name, f"data set {name!r} not found: ANYBOOST_DATA {where}")
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
