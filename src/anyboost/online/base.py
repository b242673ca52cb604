"""What an online learner is.

A learner of the library is a few parameters; its `compiled` state is arrays that a kernel updates. Any other learner
implements `OnlineLearner` in Python: the booster then runs the same algorithm row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from anyboost.checks import Floats


class Stage(Protocol):
    """One learner of the chain, written in Python."""

    def predict(self, x: Floats) -> Floats | float:
        """The answer at a row (d,): a number, or (k,) for k outputs. 0 before the first `learn`."""

    def learn(self, x: Floats, target: Floats | float, weight: float) -> None:
        """Move the answer at x towards `target`, by least squares.

        The target is where the loss's quadratic model at the present answer has its minimum:
        answer - slope / curvature. For squared loss in greedy mode it is the residual, over the step.
        """


@runtime_checkable
class OnlineLearner(Protocol):
    """Makes the stages of a chain."""

    def start(self, n_features: int, outputs: int) -> Stage:
        """A new stage, which has seen nothing."""


class Arrays(NamedTuple):
    """A compiled learner's state for all stages; its module names what is in it."""

    main: np.ndarray
    extra: np.ndarray
    table: np.ndarray
    scratch: np.ndarray
    seen: np.ndarray


Shape = tuple[int, ...]


class CompiledLearner(Protocol):
    """A learner that kernels know."""

    def settings(self, forget: float) -> Any:
        """The NamedTuple that kernels find the learner by."""

    def named(self, arrays: Arrays) -> Any:
        """The same memory by the names that the learner's functions have for it."""

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, Shape, Shape, Shape, Shape]:
        """The shapes of `arrays`."""

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        """The state before the first row."""

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        """The same state for more features."""

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        """Let one stage begin again."""
