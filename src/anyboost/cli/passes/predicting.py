"""What `predict` and `explain` share: a model of a file, and the columns that it answers rows with, batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anyboost.boosting import Run
from anyboost.cli.rows import frames
from anyboost.cli.rows.cells import Batch, Choice, TableError, check_column, check_complete
from anyboost.cli.rows.sources import Source
from anyboost.ensemble import Ensemble
from anyboost.estimators import BoostingRegressor, parameters
from anyboost.estimators.base import BaseBoosting
from anyboost.estimators.intervals import levels_of
from anyboost.on_disk.predicting import named_columns
from anyboost.planning import MaxMarginPlanner

Columns = dict[str, Any]  # arrays; what is kept is as `rows.copies` has it
TOLD = "the model takes"  # which columns hold numbers


class Wanted(NamedTuple):
    """What is asked of each row beside the prediction."""

    probabilities: bool = False
    raw: bool = False
    quantiles: tuple[float, ...] = ()
    coverage: float | None = None
    explain: bool = False


class Answers:
    """A model, and the answers of it that are wanted; a ValueError where it has none of a kind."""

    names: list[str] | None
    complete: bool  # whether it takes no missing cells
    sum: Ensemble | None

    def __init__(self, path: Path, wanted: Wanted, model: Any) -> None:
        self.path, self.wanted, self.model = path, wanted, model
        self._prepare()

    def _prepare(self) -> None:
        path, wanted = self.path, self.wanted
        rows = hasattr(self.model, "predict") and not isinstance(self.model, MaxMarginPlanner)
        if not rows and not isinstance(self.model, Run | Ensemble):
            raise ValueError(f"{path} holds {type(self.model).__name__}, which has no predictions of rows")
        names = getattr(self.model, "feature_names_in_", None)
        self.names = None if names is None else [str(name) for name in names]
        own = isinstance(self.model, BaseBoosting)
        self.complete = own and not parameters.abilities(self.model).missing
        bare = self.model.ensemble if isinstance(self.model, Run) else self.model
        self.sum = bare if isinstance(bare, Ensemble) else None
        if wanted.raw and self.sum is None and not hasattr(self.model, "_raw"):
            raise ValueError(f"--raw: {path} holds {type(self.model).__name__}, which has no raw scores")
        for option, method in (
            ("--probabilities", "predict_proba" if wanted.probabilities else None),
            ("--quantiles", "predict_quantiles" if wanted.quantiles else None),
            ("--interval", "predict_interval" if wanted.coverage is not None else None),
            ("--explain", "shap_values" if wanted.explain else None),
        ):
            if method is not None and not hasattr(self.model, method):
                raise ValueError(f"{option}: {self._refusal(method)}")
            if method in ("predict_quantiles", "predict_interval") and not self._has_quantiles():
                raise ValueError(
                    f"{option} needs quantiles, and {path} has the loss {self.model.loss_}: fit it with "
                    "--loss multi_quantile:0.05,0.5,0.95, or this loss with --set conformal=cv"
                )

    def _has_quantiles(self) -> bool:
        model = self.model
        if not isinstance(model, BoostingRegressor):
            return True
        return model.conformal_ is not None or levels_of(model.loss_) is not None

    def _refusal(self, method: str) -> str:
        try:
            getattr(self.model, method)
        except AttributeError as error:
            if method == "predict_proba" and isinstance(self.model, BaseBoosting) and "needs" in str(error):
                return str(error)
        return f"{self.path} holds {type(self.model).__name__}, which has no {method}"

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns of the model hold, where it knows their names."""
        if self.names is None or not isinstance(self.model, BaseBoosting):
            return {}
        levels = self.model._columns.levels
        return {
            name: "text" if number in levels and levels[number].words else "number"
            for number, name in enumerate(self.names)
        }

    def reads(self, ignore: Collection[str], apart: Collection[str]) -> Choice:
        """Which columns of a table are looked into: those of the model, and those that stand apart."""
        names = self.names
        needed = next((name for name in ignore if name in (names or ())), None)
        if needed is not None:
            raise ValueError(f"--ignore names {needed!r}, which the model needs: leave that out")
        return lambda name: name in apart or (name not in ignore if names is None else name in names)

    def batches(
        self, source: Source, ignore: tuple[str, ...], keep: tuple[str, ...]
    ) -> Iterator[tuple[Any, Columns]]:
        """The rows of a source, as the model takes them, and the columns to keep, which it is opened with."""
        for number, batch in source.batches(self.kinds, "text" if self.kinds else None):
            data = source.paths[number]
            for name in keep:
                check_column(name, "--keep", batch.columns, data)
            kept = {name: batch.copies[name] for name in keep}
            if self.complete and self.names is not None:
                given = {name: batch.columns[name] for name in self.names if name in batch.columns}
                check_complete(given, str(self.path), partial(source.where, number, batch))
            yield self._table(batch, ignore, data), kept

    def by_name(self, columns: Columns, data: str) -> Any:
        """The columns that a model which knows their names asks for, as a data frame."""
        lost = next((name for name in self.names or () if name not in columns), None)
        if lost is not None:
            raise TableError(f"{data} has no column {lost!r}, which the model needs")
        return frames.to_arrow({name: columns[name] for name in self.names or ()})

    def _table(self, batch: Batch, ignore: tuple[str, ...], data: str) -> Any:
        columns = {name: values for name, values in batch.columns.items() if name not in ignore}
        if self.names is not None:
            return self.by_name(columns, data)
        if self.sum is None and not isinstance(self.model, BaseBoosting):
            return frames.to_arrow(columns)
        return self._matrix(
            columns, self.model.n_features_in_ if self.sum is None else self.sum.n_features, data
        )

    def _matrix(self, columns: Columns, n: int, data: str) -> np.ndarray:
        """The columns as an array, which models take that know no names."""
        if len(columns) != n:
            raise TableError(
                f"{data} has {len(columns)} columns and the model {n}, without names: --ignore those it has not"
            )
        words = next((name for name, values in columns.items() if values.dtype == object), None)
        if words is not None:
            raise TableError(
                f"column {words!r} of {data} holds text, and the model takes numbers: --ignore it"
            )
        return np.column_stack(list(columns.values()))

    def of(self, table: Any) -> Columns:
        """The columns that answer the rows of a table."""
        model, wanted = self.model, self.wanted
        try:
            if self.sum is not None:
                scores = self.sum.predict(table)
                if model is self.sum:
                    return named_columns("score", scores)
                found = named_columns("prediction", model.loss.link(scores))
                return found | (named_columns("score", scores) if wanted.raw else {})
            found = _predictions(model, model.predict(table))
            if wanted.raw:
                found |= named_columns("score", model._raw(table))
            if wanted.probabilities:
                chances = model.predict_proba(table)
                found |= {
                    f"probability_{label}": column
                    for label, column in zip(model.classes_.tolist(), chances.T, strict=True)
                }
            if wanted.quantiles:
                found |= _by_level(
                    "quantile", wanted.quantiles, model.predict_quantiles(table, wanted.quantiles)
                )
            if wanted.coverage is not None:
                low, high = model.predict_interval(table, wanted.coverage).T
                found |= {"low": low, "high": high}
            return found | (self.why(table) if wanted.explain else {})
        except TypeError as error:
            raise ValueError(str(error)) from None

    def why(self, table: Any) -> Columns:
        """What each column adds to the raw score, and what it is without any."""
        explanation = self.model.explanation(table)
        values, bases = explanation.values, explanation.base_values
        names = self.model._feature_names()
        if values.ndim == 2:
            return {"base": bases} | {f"why_{name}": values[:, j] for j, name in enumerate(names)}
        labels = getattr(self.model, "classes_", np.arange(values.shape[2])).tolist()
        found: Columns = {}
        for k, label in enumerate(labels):
            found[f"base_{label}"] = bases[:, k]
            found |= {f"why_{label}_{name}": values[:, j, k] for j, name in enumerate(names)}
        return found


def _predictions(model: Any, values: np.ndarray) -> Columns:
    levels = levels_of(model.loss_) if hasattr(model, "loss_") and values.ndim == 2 else None
    return named_columns("prediction", values) if levels is None else _by_level("prediction", levels, values)


def _by_level(name: str, levels: Sequence[float], values: np.ndarray) -> Columns:
    return {f"{name}_{level:g}": column for level, column in zip(levels, values.T, strict=True)}
