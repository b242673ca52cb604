"""The classes of a stream: numbered as they come, all at once or one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import short
from anyboost.losses import RowwiseLoss
from anyboost.online.one_vs_rest import OneForAll, OneVsRest
from anyboost.tables import is_missing


class StreamClasses:
    """For stream classifiers, whose boosters are to cover the classes: a part to inherit."""

    loss_: RowwiseLoss
    boosters_: OneVsRest | OneForAll
    classes_: np.ndarray
    codes_: dict[Any, int]
    open_: bool  # whether classes that were not named may come

    def _know(self, labels: list[Any], more: bool) -> None:
        """Add classes; `more` says whether others may follow."""
        for label in labels:
            self.codes_.setdefault(plain(label), len(self.codes_))
        self.open_ = more
        self.classes_ = self._class_array()
        self.boosters_.cover(len(self.codes_))

    def _class_array(self) -> np.ndarray:
        return labels_of(self.codes_)

    def _check_new(self, labels: list[Any]) -> list[Any]:
        """The labels' classes that were never seen, in order; refused where no more may come."""
        try:
            new = [label for label in dict.fromkeys(labels) if label not in self.codes_]
        except TypeError:
            row = next(i for i, label in enumerate(labels) if not _is_hashable(label))
            raise ValueError(
                f"y must name a class by text or a number, got {short(labels[row])} at row {row}: use str(...) of it"
            ) from None
        if any(map(is_missing, new)):
            row, label = next(each for each in enumerate(labels) if is_missing(each[1]))
            raise ValueError(f"y must name a class, got {label} at row {row}: leave that row out")
        for label in new:
            if not isinstance(label, str | float | int):
                checks.no_dates(np.array([label], dtype=object), checks.CLASSES_OF_DATES)
        if new and not self.open_:
            raise ValueError(
                f"y holds the class {new[0]!r} at row {labels.index(new[0])}, and the classes are "
                f"{self.classes_.tolist()}: name all of them in the first partial_fit(X, y, classes=...)"
            )
        if new and self.loss_.vector:
            raise ValueError(
                f"loss {self.loss_} has to know all classes from the start: call partial_fit(X, y, classes=...) "
                "first, or use the loss logistic, which takes classes as they come"
            )
        return new


def labels_of(y: Any) -> np.ndarray:
    """Labels, one a row, each as it was given: numbers beside text do not become text, and tuples no rows."""
    if hasattr(y, "__array__") or not isinstance(y, Iterable):
        return _no_dates(np.asarray(y))
    given = list(y)
    kinds = {type(label) for label in given}
    if len(kinds) == 1 and not kinds & {tuple, list}:
        return _no_dates(np.asarray(given))
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found


def _no_dates(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind in "mM":  # whose `tolist` has whole numbers in their place
        checks.no_dates(labels, checks.CLASSES_OF_DATES)
    return labels


def plain(label: Any) -> Any:
    """A label as Python has it: True rather than NumPy's."""
    return label.item() if isinstance(label, np.generic) else label


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True
