"""Rows on their way to `boost`: a table of numbers, targets as the loss takes them, and what goes with each row."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from anyboost import checks, tables
from anyboost.backends import mapped
from anyboost.backends.taken import Taken
from anyboost.draws import Units
from anyboost.losses import Loss
from anyboost.space import Binned


@dataclass(eq=False)
class Targets:
    """The loss, the training targets as it takes them, and how later targets become such."""

    loss: Loss
    y: np.ndarray
    encode: Callable[[Any], np.ndarray]
    factors: Callable[[np.ndarray], np.ndarray] | None = None  # times the weights of rows with these targets
    fitted: dict[str, Any] = field(default_factory=dict)

    def weigh(self, y: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray | None:
        """The weights of rows with the targets y."""
        if self.factors is None:
            return sample_weight
        return self.factors(y) if sample_weight is None else self.factors(y) * sample_weight


@dataclass(eq=False)
class Labelled:
    """Some rows: a table of numbers, the user's targets, and what goes with each row.

    `given` is the table as the user gave it, which is what an init estimator is shown; None where there is none.
    `binned` is X with its bins, where they came with it.
    """

    X: Any  # an array, a sparse matrix, or rows taken of an array
    y: Any
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    offset: np.ndarray | None = None
    given: Any = None
    binned: Binned | None = None

    def take(self, rows: np.ndarray, lend: bool = False) -> "Labelled":
        """Some rows; where they may be lent, the table is not copied."""
        others = (self.sample_weight, self.groups, self.offset, self.given)
        X = self.X
        if lend and isinstance(X, Taken):
            X = X.take(rows)
        elif lend and isinstance(X, np.ndarray) and mapped.folder_of(X) is None:
            X = Taken(X, rows)
        else:
            X = mapped.take(X, rows)
        return Labelled(
            X,
            mapped.take(self.y, rows),
            *(None if part is None else tables.take(part, rows) for part in others),
        )

    def part(self, units: Units, counts: np.ndarray, lend: bool = False) -> "Labelled":
        """So many units of each row."""
        rows = np.flatnonzero(counts)
        part = self.take(rows, lend)
        if units.weights is not None:
            part.sample_weight = counts[rows] * units.weights[rows]
        return part


def raw_scores_of(estimator: Any, X: Any, n: int, outputs: int) -> np.ndarray:
    """An init estimator's raw scores: its decision function, else its predictions."""
    function = getattr(estimator, "decision_function", None) or estimator.predict
    scores = checks.scores(function(X), "the scores of init", n, outputs)
    assert isinstance(scores, np.ndarray)
    return scores


def one_column(y: np.ndarray) -> np.ndarray:
    """A y of one column as (n,), with scikit-learn's warning; others as they are. Words are for classifiers."""
    checks.no_words(y, "y", "turn it into a number, or fit words as classes with BoostingClassifier")
    checks.no_dates(y)
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
