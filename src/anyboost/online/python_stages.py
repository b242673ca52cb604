"""Stages that are Python objects, with the functions that the chain asks of a learner (see `learners`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.online.base import Stage


class PythonStages:
    """The stages that a learner written in Python has made."""

    def __init__(self, learner: Any, stages: int, n_features: int, outputs: int) -> None:
        self.learner, self.outputs, self.n_features = learner, outputs, n_features
        self.stages: list[Stage] = [learner.start(n_features, outputs) for _ in range(stages)]
        self.x = np.zeros(n_features)

    def reset(self, stage: int) -> None:
        self.stages[stage] = self.learner.start(self.n_features, self.outputs)

    def answer(self, stage: int) -> Floats:
        return np.reshape(np.asarray(self.stages[stage].predict(self.x), dtype=float), self.outputs)


def load(learner, arrays, rows, begin, count, learning, values):
    values[:] = 0.0
    own = slice(begin, begin + count)
    values[1:][rows.columns[own] if len(rows.starts) else slice(count)] = rows.values[own]
    learner.x = values[1:].copy()  # a stage may keep it
    return 1.0


def rate_of_row(learner, arrays, norm):
    return 1.0


def predict(learner, arrays, row, raw):
    raw[:] = np.concatenate([learner.answer(stage) for stage in range(len(learner.stages))])


def gain(learner, arrays, row, column):
    return -1.0


def learn(learner, arrays, row, stage, slopes, aim, raw):
    own = raw[stage * learner.outputs : (stage + 1) * learner.outputs]
    target = np.clip(own, aim.low, aim.high) - slopes * aim.inverse_curvature
    learner.stages[stage].learn(learner.x, target if learner.outputs > 1 else float(target[0]), row.weight)
    own[:] = learner.answer(stage)


def finish(learner, arrays, row):
    pass
