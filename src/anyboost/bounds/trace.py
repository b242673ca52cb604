"""What the bounds read off a run: edges, norms and gaps."""

from typing import Any, Protocol

import numpy as np

from anyboost.checks import Floats


class Trace(Protocol):
    """What the bounds read of a run."""

    start_loss: float
    steps: list[Any]
    state: Any
    descent: Any
    learner: Any
    loss: Any


def gamma(run: Trace) -> float:
    """The smallest edge over everything the run projected; 1 where it projected nothing.

    A round that found nothing to project sets no edge; a projection that came out zero has edge 0.

    Parameters
    ----------
    run : Run
        A run with `record="full"`.

    Returns
    -------
    float
        gamma.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=4)
    >>> 0 < ab.bounds.gamma(run) <= 1
    True
    """
    admit_recorded(run)
    edges = [
        shape.edge
        for step, shape in zip(run.steps, run.state.geometry, strict=True)
        if step.gradient_norm > 0 and (shape.direction > 0 or shape.leftover > 0)
    ]
    return float(min(edges, default=1.0))


def gradient_bound(run: Trace) -> float:
    """The largest norm G of a subgradient that the run met.

    Parameters
    ----------
    run : Run
        A run with `record="full"`.

    Returns
    -------
    float
        G.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0]], [0.0, 2.0], "squared", rounds=2)
    >>> ab.bounds.gradient_bound(run)
    1.0
    """
    admit_recorded(run)
    return float(max((step.gradient_norm for step in run.steps), default=0.0))


def average_gap(run: Trace, optimum: float) -> Floats:
    """The gap (1/T) sum_{t=0}^{T-1} R(f_t) - optimum, which Theorems 4 to 7 and `computable` bound.

    Parameters
    ----------
    run : Run
        A run.
    optimum : float
        The least loss there is.

    Returns
    -------
    ndarray (rounds,)
        The gap for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0]], [0.0, 2.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(0.5), rounds=2)
    >>> ab.bounds.average_gap(run, optimum=0.0)
    array([0.5   , 0.3125])
    """
    before = [run.start_loss, *(step.loss for step in run.steps)][: len(run.steps)]
    return np.cumsum(before) / rounds_of(run) - optimum


def admit_recorded(run: Trace) -> None:
    """Refuse a run that has no norms and edges."""
    if len(run.state.geometry) < len(run.steps):
        raise ValueError('bounds need the norms and edges of every round: run with record="full"')


def etas(run: Trace) -> Floats:
    return np.array([step.step_size for step in run.steps])


def directions(run: Trace) -> Floats:
    return np.array([shape.direction for shape in run.state.geometry])


def leftovers(run: Trace) -> Floats:
    return np.array([shape.leftover for shape in run.state.geometry])


def rounds_of(run: Trace) -> Floats:
    return upto(run.steps)


def upto(rounds: Any) -> Floats:
    return np.arange(1.0, len(rounds) + 1)
