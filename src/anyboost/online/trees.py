"""Streaming histogram trees: the strong learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.online.base import Arrays, Shape


@dataclass(frozen=True)
class TreeLearner:
    """A regression tree that grows with the stream, from histograms in its leaves.

    max_leaves : of each tree. bins : quantiles of each feature's first 256 values.
    grace : after how many rows in a leaf a split is looked for.
    rate : the least share of a row in its leaf's mean; 1/100 lets leaves follow drift within hundreds of rows.

    Zeros of sparse rows are values like others. Memory is max_leaves * bins numbers a feature and learner, so
    features should be hundreds, not millions.
    """

    max_leaves: int = 16
    bins: int = 32
    grace: int = 200
    rate: float = 0.005

    def __post_init__(self) -> None:
        checks.count(self.max_leaves, "max_leaves", least=2)
        checks.count(self.bins, "bins", 2, 256)
        checks.count(self.grace, "grace", least=1)
        object.__setattr__(self, "rate", checks.fraction(self.rate, "rate"))

    def settings(self, forget: float) -> Any:
        from anyboost.backends.online import trees

        return trees.Trees(self.max_leaves, self.bins, self.grace, self.rate, forget)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        from anyboost.backends.online.trees import FIRST, VALUE

        nodes, channels = 2 * self.max_leaves - 1, 1 + outputs
        return (
            (stages * nodes, VALUE + outputs),
            (stages * self.max_leaves, (n_features + 1) * self.bins * channels),
            (n_features + 1, FIRST),
            (4, max(stages, outputs)),
            (3,),
        )

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        return Arrays(*(np.zeros(shape) for shape in self.shapes(n_features, stages, outputs)))

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        before = len(arrays.table)
        width = arrays.extra.shape[1] // before
        more = n_features + 1 - before
        table = np.pad(arrays.table, ((0, more), (0, 0)))
        # A feature that comes late was 0 so far: its bins tell negative, zero and positive apart.
        if arrays.table[0, 0] == arrays.table.shape[1]:
            table[before:, self.bins - 1 :] = np.inf
        return arrays._replace(extra=np.pad(arrays.extra, ((0, 0), (0, more * width))), table=table)

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        nodes = len(arrays.main) // stages
        arrays.main[stage * nodes : (stage + 1) * nodes] = 0.0
        arrays.extra[stage * self.max_leaves : (stage + 1) * self.max_leaves] = 0.0
