"""The classes of a stream: numbered as they come, all at once or one by one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from anyboost.losses import RowwiseLoss
from anyboost.online.one_vs_rest import OneForAll, OneVsRest


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
            self.codes_.setdefault(label, len(self.codes_))
        self.open_ = more
        self.classes_ = self._class_array()
        self.boosters_.cover(len(self.codes_))

    def _class_array(self) -> np.ndarray:
        kinds = {type(label) for label in self.codes_}
        return np.array(list(self.codes_), dtype=None if len(kinds) == 1 else object)

    def _check_new(self, labels: list[Any]) -> list[Any]:
        """The labels' classes that were never seen, in order; refused where no more may come."""
        new = [label for label in dict.fromkeys(labels) if label not in self.codes_]
        for label in new:
            _check_label(label, labels.index(label))
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


def _check_label(label: Any, row: int) -> None:
    if label is None or label != label or not isinstance(label, Hashable):
        raise ValueError(f"y must name a class, got {label} at row {row}: leave that row out")
