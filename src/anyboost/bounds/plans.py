"""From the accuracy wanted to a tolerance for Repeated, by the bound that `computable` evaluates."""

import math
from typing import NamedTuple

from anyboost import checks

ERRORS = (
    0.1  # the share of the accuracy left to projection errors; 0.05 to 0.2 need about as many projections
)
MOST_ROUNDS = 1e15


class RepeatedPlan(NamedTuple):
    """A tolerance, a step and a number of rounds for `Repeated` that reach an accuracy.

    Attributes
    ----------
    tolerance : float
        For `Repeated(tolerance=)`.
    scale : float
        The scale of the step: of `InverseSqrt`, or of `InverseT` where the plan uses strong convexity.
    rounds : int
        How many rounds to run.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.bounds.plan_repeated(0.1, gradient_bound=1.0, strong_convexity=1.0)
    RepeatedPlan(tolerance=0.1, scale=2.0, rounds=71)
    """

    tolerance: float
    scale: float
    rounds: int


def plan_repeated(
    accuracy: float,
    gradient_bound: float,
    distance: float | None = None,
    strong_convexity: float | None = None,
) -> RepeatedPlan:
    """How precisely to project, how far to step and for how many rounds to reach an accuracy.

    The accuracy is the average gap of f_0 .. f_{T-1} to f*. The best of these functions is at least as close. The plan
    keeps this bound on the gap below the accuracy:

        given distance d, with eta_t = a / sqrt t:
            d tolerance G + sqrt 2 d (1 + tolerance) G / sqrt T
        given strong convexity lambda, with eta_t = 2 / (lambda t):
            G^2 / lambda [tolerance^2 + (1 + tolerance)^2 (1 + ln T) / T]

    No number of rounds makes the term with the tolerance smaller, so it gets a tenth of the accuracy. The bound holds
    if every round reaches the tolerance before `Repeated` stops projecting, by default after 1000 projections.
    `computable` says afterwards what the run has reached.

    Parameters
    ----------
    accuracy : float
        The average gap to reach; positive.
    gradient_bound : float
        G, which no subgradient's norm exceeds: 1 for absolute and hinge losses, for example.
    distance : float or None, default None
        d, a bound on ||f_t - f*||. Give this, or `strong_convexity`.
    strong_convexity : float or None, default None
        lambda of the loss, `loss.strong_convexity`.

    Returns
    -------
    RepeatedPlan
        The tolerance, the scale of the step and the rounds.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> plan = ab.bounds.plan_repeated(0.2, gradient_bound=1.0, distance=2.0)
    >>> descent = ab.descent.Repeated(ab.steps.InverseSqrt(plan.scale), tolerance=plan.tolerance)
    >>> run = ab.boost(X, y, "absolute", "stump", descent, plan.rounds)
    >>> bool(ab.bounds.average_gap(run, optimum=0.0)[-1] <= 0.2)
    True
    """
    accuracy = checks.positive(accuracy, "accuracy")
    G = checks.positive(gradient_bound, "gradient_bound")
    if (distance is None) == (strong_convexity is None):
        raise ValueError(
            "plan_repeated needs one of distance, a bound on ||f_t - f*||, and strong_convexity, that of the loss"
        )
    if strong_convexity is not None:
        strong = checks.positive(strong_convexity, "strong_convexity")
        tolerance = min(math.sqrt(ERRORS * accuracy * strong) / G, 1.0)
        size = ((1 + tolerance) * G) ** 2 / strong
        rest = accuracy - (tolerance * G) ** 2 / strong
        _admit_rounds(accuracy, size / rest)
        return RepeatedPlan(tolerance, 2 / strong, _least_rounds(size / rest))
    d = checks.positive(distance, "distance")
    tolerance = min(ERRORS * accuracy / (d * G), 1.0)
    size = (1 + tolerance) * G
    root = math.sqrt(2) * d * size / (accuracy - d * tolerance * G)
    _admit_rounds(accuracy, root * root)
    return RepeatedPlan(tolerance, d / (math.sqrt(2) * size), math.ceil(root * root))


def _admit_rounds(accuracy: float, rounds: float) -> None:
    if not rounds < MOST_ROUNDS:
        raise ValueError(
            f"accuracy={accuracy:g} would take more than {MOST_ROUNDS:g} rounds: ask for a larger one"
        )


def _least_rounds(size: float) -> int:
    """The least T with size (1 + ln T) <= T."""
    most = 1
    while size * (1 + math.log(most)) > most:
        most *= 2
    few = most // 2
    while most - few > 1:
        middle = (few + most) // 2
        if size * (1 + math.log(middle)) > middle:
            few = middle
        else:
            most = middle
    return most
