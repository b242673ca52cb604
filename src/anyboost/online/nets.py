"""Small nets: one hidden layer of sigmoid units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.online.base import Arrays, Shape


@dataclass(frozen=True)
class NetLearner:
    """A net with one hidden layer of sigmoid units, learned by gradient steps.

    rate: of the steps. power: the rate falls with the number of rows as rate / rows^power. The first layer
    begins at random weights, drawn with the booster's `random_state`.
    """

    units: int = 10
    rate: float = 0.1
    power: float = 0.0

    def __post_init__(self) -> None:
        checks.count(self.units, "units", least=1)
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))

    def settings(self, forget: float) -> Any:
        from anyboost.backends.online import nets

        return nets.Nets(self.rate, self.power, forget)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        rows, units = n_features + 1, stages * self.units
        return (rows, units), (self.units + 1, stages * outputs), (rows, 7), (2, units), (3,)

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        shapes = self.shapes(n_features, stages, outputs)
        return Arrays(_begin(random, shapes[0]), *(np.zeros(shape) for shape in shapes[1:]))

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        more = n_features + 1 - len(arrays.main)
        return arrays._replace(
            main=np.concatenate([arrays.main, _begin(random, (more, arrays.main.shape[1]), n_features + 1)]),
            table=np.pad(arrays.table, ((0, more), (0, 0))),
        )

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        outputs = arrays.extra.shape[1] // stages
        own = slice(stage * self.units, (stage + 1) * self.units)
        arrays.main[:, own] = _begin(random, (len(arrays.main), self.units))
        arrays.extra[:, stage * outputs : (stage + 1) * outputs] = 0.0


def _begin(random: np.random.Generator, shape: Shape, features: int | None = None) -> Floats:
    """Small random weights: sums over all features of about size one."""
    return random.normal(size=shape) / np.sqrt(features or shape[0])
