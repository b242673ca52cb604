"""The front end on arrays and data frames: scikit-learn's `fit`, `partial_fit` and `predict`.

Numbers are rows of a table in their order. A data frame whose first rows hold texts has named features, as `learn_many`
has them, and its texts are categories.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d, validate_data

from anyboost import checks, tables
from anyboost.online import dataframes
from anyboost.online.features import Features
from anyboost.online.rows import Table, read

Given = Table | dict[Any, np.ndarray]  # rows of numbers, or named columns of numbers and texts


class ArrayFront:
    """Arrays and data frames for a class with `_begin`, `_learn_rows` and `_learn_named`."""

    classifies = False
    hash_bits: int | None
    features_: Features

    def _table(self, X: Any) -> Table:
        """Rows to be predicted, of arrays or, where the model has named features, of a data frame."""
        named = "features_" in self.__dict__ and not hasattr(self, "feature_names_in_")
        if named and tables.frame_of(X) is not None:  # as `predict_many` has them
            return dataframes.encode(self.features_, X, False)
        X, columns = self._columns(X, first=False)
        if columns is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
            return dataframes.encode(self.features_, columns, False)
        return self._read(self._validated(X, reset=False))

    def _table_and_targets(self, X: Any, y: Any, reset: bool) -> tuple[Given, np.ndarray]:
        """Rows to be learnt, and their targets."""
        checks.no_dates(np.asarray(y), *[checks.CLASSES_OF_DATES] * self.classifies)
        X, columns = self._columns(X, reset)
        if columns is None:
            X, y = self._validated(X, reset, y=y, y_numeric=not self.classifies)
            return self._read(X), y
        targets = column_or_1d(y, warn=True)
        checks.as_many(targets, len(next(iter(columns.values()))), "y")
        if targets.dtype.kind == "f":
            checks.finite(targets, "y")
        validate_data(self, X, reset=reset, skip_check_array=True)
        return columns, targets

    def _columns(self, X: Any, first: bool) -> tuple[Any, dict[Any, np.ndarray] | None]:
        """X, and its columns if texts among them are to be categories: of a data frame whose first rows have some.

        A column that has nothing in the first rows, and is not of a type of numbers, may hold text later. What is
        neither text nor numbers is refused. The columns are None for arrays, and for frames of numbers only.
        """
        if tables.frame_of(X) is None:
            return X, None
        columns = tables.columns_of(X, "X")
        texts = [column for column in columns.values() if column.holds_words and not column.is_empty]
        unknown = any(column.kind == "nothing" for column in columns.values())
        if (texts or unknown) if first else hasattr(self, "features_") and hasattr(self, "feature_names_in_"):
            if tables.names_of(X) is None:
                raise ValueError(
                    "X has columns of text, and names that are none: use str(name) for each column"
                )
            return X, {name: dataframes.cells_of(column) for name, column in columns.items()}
        if texts:
            raise texts[0].refusal("words", "it held numbers in the first rows, turn it back into them")
        if any(column.kind != "numbers" for column in columns.values()):
            X = tables.to_frame({name: column.numbers() for name, column in columns.items()}, X, "a frame")
        return X, None

    def _validated(self, X: Any, reset: bool, **targets: Any) -> Any:
        """Arrays as scikit-learn checks them; a model of named features takes none."""
        if "features_" in self.__dict__ and not reset:
            raise ValueError("this model has learnt from named features: use learn_many and predict_many")
        raw = None if hasattr(X, "tocsr") or tables.frame_of(X) is not None else np.asarray(X)
        if raw is not None and raw.dtype.kind in "mM":
            raise ValueError(f"X holds {raw.dtype}: {tables.advice_on(raw.dtype.type('NaT'))}")
        if raw is not None:
            checks.no_words(
                raw, "X", "turn it into numbers, or pass a data frame, whose texts are categories"
            )
        given: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
        return validate_data(self, X, reset=reset, **given, **targets)

    def _read(self, X: Any) -> Table:
        """Arrays of numbers, which may be missing where a team learns."""
        missing = self._takes_missing()
        values = X.data if hasattr(X, "tocsr") else X
        if not missing and np.isnan(values).any():
            row = "" if hasattr(X, "tocsr") else f" at row {np.argmax(np.isnan(X).any(axis=1))}"
            raise ValueError(
                f"X holds NaN{row}, and chains of learners take no missing values in arrays: fill it in, give named "
                "rows to learn_many, or let the team learn (learner='team')"
            )
        return read(X, 0, missing)

    def _takes_missing(self) -> bool:
        """Whether numbers of arrays may be NaN."""
        return False

    def _begin_with(self, rows: Given) -> None:
        """Set up what learning such rows needs."""
        if not isinstance(rows, Table):
            self.features_ = Features(self.hash_bits)
        self._begin()

    def _learn_given(self, rows: Given, y: np.ndarray, w: Any) -> None:
        if isinstance(rows, Table):
            self._learn_rows(rows, y, w)
        else:
            self._learn_named(rows, y, w)

    def _begin(self) -> None:
        raise NotImplementedError

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> Any:
        raise NotImplementedError

    def _learn_named(self, X: Any, y: Any, w: Any) -> Any:
        raise NotImplementedError
