"""Real data sets by name, from the folder that the environment variable ANYBOOST_DATA names."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np


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


def load(name: str) -> Dataset:
    """The data set called `name`, e.g. "letter"; FileNotFoundError where it is not to be had."""
    folder = os.environ.get("ANYBOOST_DATA")
    path = Path(folder or "") / f"{name}.npz"
    if folder is None or not path.is_file():
        where = "is not set" if folder is None else f"has no {path.name}"
        raise FileNotFoundError(
            f"data set {name!r} not found: ANYBOOST_DATA {where}; point it to a folder that has it"
        )
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
