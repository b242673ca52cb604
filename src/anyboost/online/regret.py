"""Regret in view: what the answers have cost so far, beside what simpler ones would have."""

from __future__ import annotations

import math
from typing import NamedTuple

from anyboost.checks import Floats


class Regret(NamedTuple):
    """Cumulative losses, weighted, of rows that were answered before they were learned."""

    rows: int
    loss: float  # of the booster's answers
    first_learner_loss: float  # of the chain's first learner alone
    best_constant_loss: float | None  # of the constant that is best in hindsight; None where not kept
    best_prefix_loss: float  # of the prefix of the chain that is best in hindsight
    best_prefix: int  # how many learners that prefix has
    bound: float | None  # what the theorem allows `loss` to exceed the best comparator's by; None: unknown


def constant_loss(code: int, parameter: float, moments: Floats) -> float | None:
    """The least cumulative loss of a constant, from sums of w, w y and w y^2."""
    weight, first, second = (float(number) for number in moments)
    if weight == 0:
        return 0.0
    mean = first / weight
    if code == 0:
        return max(0.5 * (second - first * mean), 0.0)
    return None


def _entropy(share: float) -> float:
    return 0.0 if share <= 0 else -share * math.log(share)
