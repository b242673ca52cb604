"""What `predict` asks of a model that learns row by row, such as `anyboost stream --save` writes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from anyboost import files
from anyboost.cli.passes.learning import LABEL
from anyboost.cli.passes.predicting import Answers, Columns, Wanted
from anyboost.cli.rows.cells import Choice, TableError
from anyboost.on_disk.predicting import named_columns
from anyboost.online.estimators import OnlineBoosting


def answers_of(path: Path, wanted: Wanted) -> Answers:
    """The answers of the model in a file."""
    model = files.load(path)
    kind = OnlineAnswers if isinstance(model, OnlineBoosting) else Answers
    return kind(path, wanted, model)


class OnlineAnswers(Answers):
    """Answers of such a model. Its columns are those that it has learnt from, by their names."""

    def _prepare(self) -> None:
        model, path, wanted = self.model, self.path, self.wanted
        self.complete, self.sum = False, None
        for option, asked in (
            ("--quantiles", wanted.quantiles),
            ("--interval", wanted.coverage is not None),
            ("--explain", wanted.explain),
            ("--raw", wanted.raw),
        ):
            if asked:
                raise ValueError(
                    f"{option} is for models of anyboost fit, and {path} learns row by row: its predictions come "
                    f"without it, or from {_stream_line(path)}"
                )
        if wanted.probabilities and not hasattr(model, "predict_proba_many"):
            raise ValueError(
                f"--probabilities needs classes with probabilities, which {path} has not: leave it out"
            )
        self.held = _columns(model)
        self.names = None if self.held is None else list(self.held)

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns hold that the model has learnt from."""
        return dict(self.held or {})

    def reads(self, ignore: Collection[str], apart: Collection[str]) -> Choice:
        """Which columns of a table are looked into."""
        if self.held is None and not hasattr(self.model, "n_features_in_"):
            raise ValueError(
                f"{self.path} has learnt from features that are no columns of a table: use {_stream_line(self.path)}"
            )
        return super().reads(ignore, apart)

    def _table(self, batch: Any, ignore: tuple[str, ...], data: str) -> Any:
        if self.names is None:
            left = {name: values for name, values in batch.columns.items() if name not in ignore}
            return self._matrix(left, self.model.n_features_in_, data)
        lost = next((name for name in self.names if name not in batch.columns), None)
        if lost is not None:
            raise TableError(f"{data} has no column {lost!r}, which the model has learnt from")
        return {name: batch.columns[name] for name in self.names}

    def of(self, table: Any) -> Columns:
        """The columns that answer the rows of a table."""
        model, named = self.model, self.names is not None
        values = np.asarray(model.predict_many(table) if named else model.predict(table))
        found = named_columns("prediction", _as_column(values) if values.ndim == 1 else values)
        if not self.wanted.probabilities:
            return found
        if named:
            chances = model.predict_proba_many(table)
        else:
            chances = dict(zip(model.classes_.tolist(), model.predict_proba(table).T, strict=True))
        return found | {f"probability_{label}": np.asarray(column) for label, column in chances.items()}


def _stream_line(path: Path) -> str:
    return f"anyboost stream FILE --resume {path} --test --predictions OUT"


def _columns(model: OnlineBoosting) -> dict[str, str] | None:
    """The columns that a model has learnt from and what they hold; None where it knows none by name."""
    stream, features = model._stream, model.__dict__.get("features_")
    if stream is not None:
        apart = {stream["target"], stream.get("weight"), *stream["ignore"]}
        kinds = {name: kind for name, kind in stream["kinds"].items() if name not in apart}
        return kinds if stream["target"] != LABEL or kinds else None
    names: list[Any] = getattr(model, "feature_names_in_", np.array([], dtype=object)).tolist()
    texts: set[Any] = set()
    if features is not None:
        texts = set(features.texts.values())
        names = names or [
            *(name for number, name in enumerate(features.names) if number not in features.texts),
            *dict.fromkeys(features.texts.values()),
        ]
    known = all(isinstance(name, str) and (name in texts or "=" not in name) for name in names)
    if not names or not known:  # of a text the chains of learners know "column=word" alone
        return None
    return {name: "text" if name in texts else "number" for name in names}


def _as_column(values: np.ndarray) -> np.ndarray:
    """Classes of one type as such; of several, as words."""
    if values.dtype != object:
        return values
    held = values.tolist()
    for kind in (int, float):
        if all(isinstance(value, kind) and not isinstance(value, bool) for value in held):
            return np.array(held)
    words = np.empty(len(held), dtype=object)
    words[:] = [None if value is None else str(value) for value in held]
    return words
