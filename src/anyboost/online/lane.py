"""One row at a time through the kernels of whole arrays, without the price of a whole array.

Numba finds the compiled function of a call by the types of all its arguments, which takes longer than one row does. A
lane asks once, and keeps the function and the arguments that stay the same.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.losses import domains
from anyboost.online.regret import needs_sketch

if TYPE_CHECKING:
    from anyboost.online.front import BoosterFront
    from anyboost.online.state import CompiledState


class Lane:
    """A booster's own lane; new where the booster's arrays are."""

    def __init__(self, state: CompiledState, domain: domains.Domain) -> None:
        self.state, self.arrays = state, state.arrays
        self.sketched = needs_sketch(state.booster.loss)
        self.real, self.signs = domain is domains.REALS, domain is domains.SIGNS
        self.y, self.weight, self.answer, self.begins = (
            np.zeros(1),
            np.ones(1),
            np.zeros(1),
            np.zeros(2, np.int64),
        )
        self.no_columns, self.no_values = np.zeros(1, np.int64), np.zeros(1)
        shared = (state.settings, state.chain, state.labels)
        self.learning = (*shared, state.totals, state.learner, *state.arrays)
        self.predicting = (*shared, state.learner, *state.arrays)
        self.width = state.booster.n_features
        self.work = np.empty(2 * state.booster.n_learners + 3 + self.width)
        self.learn_entry: Any = None
        self.predict_entry: Any = None

    def learn(self, columns: np.ndarray, values: np.ndarray, y: float, weight: float) -> float:
        """Learn one row of checked values; returns its score from before."""
        count = len(columns)
        if not count:  # an empty index would say that rows are dense
            columns, values = self.no_columns, self.no_values
        self.begins[1] = count
        self.y[0], self.weight[0] = y, weight
        given = (values, columns, self.begins, self.width, self.y, self.weight, self.answer, self.work)
        if self.learn_entry is None:
            from anyboost.backends.online.rows import learn_rows

            self.learn_entry = _entry(learn_rows, (*given, *self.learning))
        self.learn_entry(*given, *self.learning)
        if self.sketched:
            self.state.sketch.add(self.y, self.weight)
        return self.answer.item()

    def predict(self, columns: np.ndarray, values: np.ndarray) -> float:
        """The score of one row."""
        count = len(columns)
        if not count:
            columns, values = self.no_columns, self.no_values
        self.begins[1] = count
        given = (values, columns, self.begins, self.width, self.answer, self.work)
        if self.predict_entry is None:
            from anyboost.backends.online.rows import predict_rows

            self.predict_entry = _entry(predict_rows, (*given, *self.predicting))
        self.predict_entry(*given, *self.predicting)
        return self.answer.item()

    def takes(self, y: Any, weight: Any) -> bool:
        """Whether label and weight are plainly good; a doubtful one goes the long way and is refused there."""
        try:
            if not (weight >= 0.0 and isfinite(weight)):
                return False
            return isfinite(y) if self.real else self.signs and y * y == 1.0
        except TypeError:
            return False


def _entry(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """The compiled function for arguments of these types."""
    return kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))


def lane_of(booster: BoosterFront) -> Lane | None:
    """The booster's lane; None where its state is not compiled or has several scores."""
    lane = booster._lane
    state = booster.state
    if lane is not None and lane.state is state and lane.arrays is state.arrays:
        return lane
    from anyboost.online.state import CompiledState

    if type(state) is not CompiledState or state.outputs > 1:
        return None
    booster._lane = Lane(state, booster.loss.domain)
    return booster._lane
