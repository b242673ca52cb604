"""Small nets, one a stage: a layer of sigmoid units between the row and the answer.

    hidden_h = 1 / (1 + exp(-u_h . v)),    answer = o_0 + sum_h o_h hidden_h

A column is stage * outputs + output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anyboost import checks
from anyboost.backends.compiler import inlined
from anyboost.checks import Floats
from anyboost.online import scales
from anyboost.online.base import Arrays, Shape
from anyboost.online.scales import feature_of


class Nets(NamedTuple):
    """What the learners have in common."""

    rate: float
    power: float
    forget: float


class NetArrays(NamedTuple):
    """What they learn, and what a row leaves until its end."""

    inner: np.ndarray  # (features + 1, stages * units) u
    outer: np.ndarray  # (units + 1, columns) o, the constant first
    scales: np.ndarray
    hidden: np.ndarray  # (stages * units,)
    moves: np.ndarray  # what the row takes from each u, over v
    seen: np.ndarray


@dataclass(frozen=True)
class NetLearner:
    """A net with one hidden layer of sigmoid units, learned by gradient steps.

    The first layer begins at random weights, drawn with the booster's `random_state`.

    Parameters
    ----------
    units : int, default 10
        How many hidden units it has.
    rate : float, default 0.1
        Of the steps.
    power : float, default 0.0
        The rate falls with the number of rows as rate / rows^power.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.online.SpanBooster(ab.online.NetLearner(5)).learner
    NetLearner(units=5, rate=0.1, power=0.0)
    """

    units: int = 10
    rate: float = 0.1
    power: float = 0.0

    def __post_init__(self) -> None:
        checks.count(self.units, "units", least=1)
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))

    def settings(self, forget: float) -> Nets:
        return Nets(self.rate, self.power, forget)

    def named(self, arrays: Arrays) -> NetArrays:
        main, extra, table, (hidden, moves), seen = arrays
        scale, count = scales.named(table, scales.SCALE), scales.named(seen, scales.SEEN)
        return NetArrays(main, extra, scale, hidden, moves, count)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        rows, units = n_features + 1, stages * self.units
        scale, seen = scales.shape(scales.SCALE, rows), scales.shape(scales.SEEN)
        return (rows, units), (self.units + 1, stages * outputs), scale, (2, units), seen

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


load, rate_of_row, gain = scales.load_scaled, scales.rate_of_row, scales.unknown_gain


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = what each stage's net answers."""
    inner, outer, hidden = arrays.inner, arrays.outer, arrays.hidden
    units = inner.shape[1]
    for h in range(units):
        hidden[h] = inner[0, h]
    for j in range(1, row.length + 1):
        feature, value = feature_of(row, j), row.values[j]
        if value != 0.0:
            for h in range(units):
                hidden[h] += inner[feature, h] * value
    for h in range(units):
        hidden[h] = 1.0 / (1.0 + math.exp(-hidden[h]))
    own = len(outer) - 1
    outputs = len(raw) * own // units
    for c in range(len(raw)):
        total = outer[0, c]
        first = (c // outputs) * own
        for h in range(own):
            total += outer[h + 1, c] * hidden[first + h]
        raw[c] = total


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Step against the slope in both layers, never past the minimum of a loss of this curvature."""
    outer, moves = arrays.outer, arrays.moves
    own, outputs = len(outer) - 1, len(slopes)
    first, column = stage * own, stage * outputs
    scale = 1.0 / (aim.unit * aim.unit) if aim.unit > 0.0 else 0.0
    norm = 1.0
    for h in range(own):
        hidden = arrays.hidden[first + h]
        bend = hidden * (1.0 - hidden)
        reach = 0.0
        for k in range(outputs):
            reach += outer[h + 1, column + k] ** 2
        norm += hidden * hidden + scale * row.norm * bend * bend * reach
    move = min(row.weight * row.rate, 1.0 / norm) * aim.inverse_curvature
    for h in range(own):
        hidden = arrays.hidden[first + h]
        back = 0.0
        for k in range(outputs):
            back += slopes[k] * outer[h + 1, column + k]
            outer[h + 1, column + k] -= move * slopes[k] * hidden
        moves[first + h] = move * scale * back * hidden * (1.0 - hidden)
    for k in range(outputs):
        outer[0, column + k] -= move * slopes[k]
        raw[column + k] = outer[0, column + k]
    for h in range(own):
        # The unit's answer after the step, which moves its sum by |v|^2 times what v takes from it.
        hidden = arrays.hidden[first + h]
        odds = math.inf
        if hidden > 0.0:
            odds = (1.0 - hidden) / hidden * math.exp(moves[first + h] * row.norm)
        for k in range(outputs):
            raw[column + k] += outer[h + 1, column + k] / (1.0 + odds)


@inlined
def finish(learner, arrays, row):
    """Take the steps of all first layers."""
    for j in range(row.length + 1):
        feature = feature_of(row, j) if j > 0 else 0
        if row.values[j] != 0.0:
            for h in range(arrays.inner.shape[1]):
                arrays.inner[feature, h] -= arrays.moves[h] * row.values[j]
    scales.count(arrays.seen, row.norm, learner.forget)
