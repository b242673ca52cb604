"""Feature stumps, the paper's weak learner: single features, and the best of those in the row is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.online.base import Arrays, Shape


@dataclass(frozen=True)
class FeatureStumpLearner:
    """Each feature is a regression w_j x_j of its own, learned by gradient steps; a constant is one of them.

    A row is answered by the feature, of those not zero in it, whose squared error has been lowest so far.

    rate: of the steps; 1 goes all the way. power: the rate falls with the number of rows as rate / rows^power.
    """

    rate: float = 0.1
    power: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))

    def settings(self, forget: float) -> Any:
        from anyboost.backends.online import stumps

        return stumps.Stumps(self.rate, self.power, forget)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        rows, columns = n_features + 1, stages * outputs
        return (rows, columns), (rows, 2 * stages), (rows, 7), (1, columns), (3,)

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        return Arrays(*(np.zeros(shape) for shape in self.shapes(n_features, stages, outputs)))

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        more = ((0, n_features + 1 - len(arrays.main)), (0, 0))
        return arrays._replace(
            main=np.pad(arrays.main, more), extra=np.pad(arrays.extra, more), table=np.pad(arrays.table, more)
        )

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        outputs = arrays.main.shape[1] // stages
        arrays.main[:, stage * outputs : (stage + 1) * outputs] = 0.0
        arrays.extra[:, [stage, stages + stage]] = 0.0
