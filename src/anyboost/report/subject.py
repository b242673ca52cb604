"""What a report is about: a model, and rows to look at it with, in parts as large as each section can use."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from anyboost import checks, tables
from anyboost.boosting import Run
from anyboost.estimators.base import BaseBoosting
from anyboost.estimators.intervals import levels_of
from anyboost.fitted import snapshot
from anyboost.losses import Cox
from anyboost.mirror.combining import Combining
from anyboost.planning import MaxMarginPlanner

KINDS = ("validation rows", "training rows", "rows given")


class Values(NamedTuple):
    """A column of the table: its name, its numbers, or its words with None where missing."""

    name: str
    numbers: np.ndarray | None
    words: list[Any] | None

    @property
    def missing(self) -> np.ndarray:
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.words is not None
        return np.array([word is None for word in self.words], dtype=bool)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and rows of a table with their targets where there are some."""

    model: Any
    X: Any = None
    y: np.ndarray | None = None
    qid: np.ndarray | None = None
    groups: np.ndarray | None = None
    rows: str = "rows given"
    command: str | None = None
    target: str | None = None
    weight: np.ndarray | None = None

    @property
    def is_estimator(self) -> bool:
        """Whether the model is one of the boosting estimators."""
        return isinstance(self.model, BaseBoosting)

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.model, "classes_")

    @property
    def is_ranker(self) -> bool:
        return self.is_estimator and type(self.model).__name__ == "BoostingRanker"

    @property
    def loss(self) -> Any:
        return self.model.loss if isinstance(self.model, Run) else getattr(self.model, "loss_", None)

    @property
    def steps(self) -> list[Any]:
        return list(getattr(self.model, "steps_", None) or getattr(self.model, "steps", None) or [])

    @property
    def ensemble(self) -> Any:
        return getattr(self.model, "ensemble_", None) or getattr(self.model, "ensemble", None)

    @property
    def n(self) -> int:
        """How many rows there are to look at."""
        return 0 if self.X is None else self._shape()[0]

    @property
    def has_targets(self) -> bool:
        return self.X is not None and self.y is not None

    @cached_property
    def predictions(self) -> np.ndarray:
        return np.asarray(self.model.predict(self.X))

    @cached_property
    def center(self) -> np.ndarray | None:
        """One number a row that stands for the prediction: of quantiles the one nearest the median."""
        if self.is_classifier or self.is_ranker or isinstance(self.loss, Cox):
            return None
        found = self.predictions
        levels = levels_of(self.loss) if self.is_estimator else None
        if found.ndim == 2 and levels is not None:
            return found[:, int(np.argmin(np.abs(np.array(levels) - 0.5)))]
        return found if found.ndim == 1 else None

    def part(self, most: int) -> tuple[Any, np.ndarray]:
        """At most so many of the rows, evenly spaced, and their numbers."""
        if self.n <= most:
            return self.X, np.arange(self.n)
        rows = np.unique(np.linspace(0, self.n - 1, most).astype(np.intp))
        return tables.take(self.X, rows), rows

    @property
    def column_names(self) -> list[str]:
        """Of the table, else of the model."""
        names = None if self.X is None else tables.names_of(self.X)
        if names is None:
            names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            return [f"column {number}" for number in range(self._width())]
        return [str(name) for name in names]

    def _shape(self) -> tuple[int, int]:
        """Rows and columns of the table."""
        rows, columns = self.X.shape if hasattr(self.X, "shape") else np.shape(self.X)
        return int(rows), int(columns)

    def _width(self) -> int:
        if self.X is not None:
            return self._shape()[1]
        known = getattr(self.model, "n_features_in_", getattr(self.ensemble, "n_features", 0))
        return int(known)  # 0 of a model that was not told

    def columns(self) -> Iterator[Values]:
        """The table column by column; nothing of a sparse one."""
        if self.X is None or hasattr(self.X, "tocsr"):
            return
        if isinstance(self.X, np.ndarray | list | tuple):
            table = np.asarray(self.X)
            parts: Any = [column.tolist() if table.dtype == object else column for column in table.T]
        else:
            import narwhals as nw

            frame = nw.from_native(self.X, eager_only=True)
            parts = (
                part.to_numpy() if part.dtype.is_numeric() else part.to_list()
                for part in frame.iter_columns()
            )
        for name, part in zip(self.column_names, parts, strict=True):
            yield values_of(name, part)


def values_of(name: str, values: Any) -> Values:
    """A column of numbers or, where some cell is none, of words."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return Values(name, values.astype(np.float64), None)
    cells = [None if tables.is_missing(value) else value for value in values]
    if all(cell is None or isinstance(cell, bool | int | float | np.number) for cell in cells):
        numbers = [np.nan if cell is None else float(cell) for cell in cells]
        return Values(name, np.array(numbers, dtype=np.float64), None)
    return Values(name, None, [None if cell is None else str(cell) for cell in cells])


def check(
    model: Any, X: Any, y: Any, qid: Any, groups: Any, rows: str, command: str | None, weight: Any = None
) -> Subject:
    """What to report on, refused in a sentence where there is nothing to say of it."""
    checks.choice(rows, "rows", KINDS)
    if isinstance(model, Combining | MaxMarginPlanner):
        raise TypeError(
            f"model must be a fitted estimator or a Run, got {type(model).__name__}: a report has nothing to "
            "say of one"
        )
    fitted = isinstance(model, Run) or any(
        hasattr(model, name) for name in ("ensemble_", "weights_", "booster_", "boosters_")
    )
    if not fitted:
        raise TypeError(
            f"model must be a fitted estimator or a Run, got {type(model).__name__}: fit it first, or load its file"
        )
    if X is None and y is not None:
        raise ValueError("y was given without X: give the table that the targets belong to")
    if isinstance(model, Run) and X is not None:
        raise TypeError("X is for estimators, and the model is a Run: leave it out")
    if X is not None:
        tables.check_kind(X)
    name = getattr(y, "name", None)  # of a column of pandas or polars, which has "" for none
    target = None if name in (None, "") else str(name)
    found = Subject(snapshot(model), X, rows=rows, command=command, target=target)
    given = {"y": y, "qid": qid, "groups": groups}
    arrays: dict[str, Any] = {
        name: None if value is None else np.asarray(value) for name, value in given.items()
    }
    for name, values in arrays.items():
        if values is not None:
            checks.as_many(values, found.n, name)
    if weight is not None:
        if found.is_ranker or not found.is_estimator:
            raise TypeError("sample_weight is for regressors and classifiers: leave it out")
        if y is None:
            raise ValueError("sample_weight was given without y: give the targets whose scores it weighs")
        arrays["weight"] = checks.sample_weight(weight, found.n)
    return replace(found, **arrays)
