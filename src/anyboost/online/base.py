"""What an online learner is.

A learner of the library is a few parameters; its `compiled` state is arrays that a kernel updates. Any other learner
implements `OnlineLearner` in Python: the booster then runs the same algorithm row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from anyboost.checks import Floats


class Stage(Protocol):
    """One learner of the chain, written in Python.

    Examples
    --------
    >>> class Mean:
    ...     answer = 0.0
    ...     def predict(self, x):
    ...         return self.answer
    ...     def learn(self, x, target, weight):
    ...         self.answer += 0.1 * weight * (target - self.answer)
    >>> Mean().predict([1.0])
    0.0
    """

    def predict(self, x: Floats) -> Floats | float:
        """The answer at a row; 0 before the first `learn`.

        Parameters
        ----------
        x : ndarray (d,)
            The row.

        Returns
        -------
        float or ndarray (k,)
            A number, or one an output.
        """

    def learn(self, x: Floats, target: Floats | float, weight: float) -> None:
        """Move the answer at x towards `target`, by least squares.

        The target is where the loss's quadratic model at the present answer has its minimum:
        answer - slope / curvature. For squared loss in greedy mode it is the residual, over the step. In mode "linear"
        it is answer - D slope, so that the slope of the linear loss is (answer - target) / D, with D the booster's
        `output_bound`. docs/online.md, "A learner of your own", has all modes and an example.

        Parameters
        ----------
        x : ndarray (d,)
            The row.
        target : float or ndarray (k,)
            Where to move.
        weight : float
            The row's weight.
        """


@runtime_checkable
class OnlineLearner(Protocol):
    """Makes the stages of a chain.

    Examples
    --------
    >>> import anyboost as ab
    >>> class Mean:
    ...     answer = 0.0
    ...     def predict(self, x):
    ...         return self.answer
    ...     def learn(self, x, target, weight):
    ...         self.answer += 0.1 * weight * (target - self.answer)
    >>> class Means:
    ...     def start(self, n_features, outputs):
    ...         return Mean()
    >>> booster = ab.online.SpanBooster(Means(), n_learners=5)
    >>> booster.partial_fit([[0.0]] * 50, [3.0] * 50).predict([[0.0]]).round(1)
    array([3.])
    """

    def start(self, n_features: int, outputs: int) -> Stage:
        """A new stage, which has seen nothing.

        Parameters
        ----------
        n_features : int
            How many columns rows have.
        outputs : int
            How many numbers it answers with.

        Returns
        -------
        Stage
            The stage.
        """


@runtime_checkable
class BoundedLearner(Protocol):
    """A learner that also says how much it may lose."""

    def regret_bound(self, rows: int, bound: float) -> float:
        """At most so much over the best function of its class with |h| <= bound, after so many rows.

        It is about linear losses of slope at most 1. A row of weight w, at most 1, has w times its loss.
        """


class Arrays(NamedTuple):
    """A compiled learner's state for all stages; its module names what is in it."""

    main: np.ndarray
    extra: np.ndarray
    table: np.ndarray
    scratch: np.ndarray
    seen: np.ndarray


Shape = tuple[int, ...]


@runtime_checkable
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
