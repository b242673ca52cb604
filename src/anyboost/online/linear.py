"""Linear learners: a weight for each feature, and a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.online.base import Arrays, Shape


@dataclass(frozen=True)
class LinearLearner:
    """Answers w . x + b, learned by gradient steps.

    update:
        "plain"       w -= rate * slope * x: stochastic gradient descent, for features of size about one.
        "normalised"  the same with each feature divided by its running reach, and the rate by the row's usual squared
                      length: features may have any scale, and rate 1 steps all the way (Ross et al. 2013).
        "adaptive"    normalised, and each weight's rate falls with its own squared slopes (AdaGrad).
        "invariant"   normalised, and a row of weight h counts like h rows in a row (Karampatziakis and Langford 2011):
                      the step along a loss of the same curvature, never past its minimum.
    power: the rate falls with the number of rows as rate / rows^power.
    precision: "double" or "single", of the weights.

    Any step ends at the latest where a quadratic loss of the same curvature has its minimum: no row,
    however large, throws the learner out.
    """

    rate: float = 0.2
    update: str = "normalised"
    power: float = 0.0
    precision: str = "double"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        if self.update == "normalized":
            object.__setattr__(self, "update", "normalised")
        checks.choice(self.update, "update", ("plain", "normalised", "adaptive", "invariant"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))
        checks.choice(self.precision, "precision", ("double", "single"))

    def settings(self, forget: float) -> Any:
        from anyboost.backends.online import linear

        return linear.Linear(linear.UPDATES[self.update], self.rate, self.power, forget)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        main = (n_features + 1, stages * outputs)
        extra = main if self.update == "adaptive" else (1, 0)
        return main, extra, (n_features + 1, 7), (3, stages * outputs), (3,)

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        dtype = np.float64 if self.precision == "double" else np.float32
        main, extra, table, scratch, seen = self.shapes(n_features, stages, outputs)
        return Arrays(
            np.zeros(main, dtype), np.ones(extra, dtype), np.zeros(table), np.zeros(scratch), np.zeros(seen)
        )

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        more = n_features + 1 - len(arrays.main)
        extra = arrays.extra
        if self.update == "adaptive":
            extra = np.pad(extra, ((0, more), (0, 0)), constant_values=1.0)
        return arrays._replace(
            main=np.pad(arrays.main, ((0, more), (0, 0))),
            extra=extra,
            table=np.pad(arrays.table, ((0, more), (0, 0))),
        )

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        outputs = arrays.main.shape[1] // stages
        own = slice(stage * outputs, (stage + 1) * outputs)
        arrays.main[:, own] = 0.0
        if self.update == "adaptive":
            arrays.extra[:, own] = 1.0
