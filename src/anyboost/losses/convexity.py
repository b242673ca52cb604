"""Whether a user's loss is what it says: convex in the score, with a subgradient for its slope.

    value(b) >= value(a) + subgradient(a) (b - a)    for all scores a, b

Looked at for some targets of the data and for scores on a grid around them, which takes milliseconds. It may miss a
loss that is not convex, but refuses none that is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anyboost.checks import Floats

TARGETS = 9
POINTS = 33  # of each of the two grids of scores: the range of the targets and beyond, and -10 .. 10
ROUNDING = 1e-8  # of the numbers compared
SMALL = 1e-3  # of a usual value: what is below it may be the rest of larger numbers

Function = Callable[[Floats, Floats], Floats]


def refuse_unless_convex(name: str, value: Function, subgradient: Function, y: Floats) -> None:
    """Raise where two scores show that the subgradient inequality fails."""
    if not len(y):  # all targets are with other parts of the rows, which look at them
        return
    targets = np.unique(np.quantile(y, np.linspace(0, 1, TARGETS), method="nearest"))
    for target in targets:
        scores = _grid(targets, target)
        at = np.full(len(scores), target)
        with np.errstate(all="ignore"):
            values, slopes = value(scores, at), subgradient(scores, at)
            rise = slopes[:, None] * (scores - scores[:, None])
            bound = values[:, None] + rise
            usual = np.quantile(np.abs(values[np.isfinite(values)]), 0.75)
            size = np.abs(values)[:, None] + np.abs(values) + np.abs(rise) + SMALL * usual
            short = np.where(np.isfinite(size), (bound - values) / np.where(size > 0, size, 1.0), 0.0)
        if short.max() > ROUNDING:
            a, b = np.unravel_index(int(np.argmax(short)), short.shape)
            raise ValueError(
                f"the loss {name} is not convex, or its subgradient is wrong: at target {target:.6g} it is "
                f"{values[a]:.6g} with subgradient {slopes[a]:.6g} at score {scores[a]:.6g}, so it must be at least "
                f"{bound[a, b]:.6g} at score {scores[b]:.6g}, and is {values[b]:.6g}: mend value or subgradient"
            )


def _grid(targets: Floats, target: float) -> Floats:
    low, high = targets[0], targets[-1]
    span = high - low
    around = np.linspace(low - span, high + span, POINTS)
    return np.unique(np.concatenate([around, np.linspace(-10.0, 10.0, POINTS), [target]]))
