"""Where the values of each feature lie: a running mean and deviation, in which a value is standardized.

One wild value must not move them far: it counts as at most ten deviations out. Values that stay out there are followed,
as each widens the deviation and halves what is remembered. Where the first values were the wild ones, 64 others in a
row that differ, but by next to nothing of the deviation, begin anew.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.online.scales import FAR, MEMORY

LARGEST = 1e150  # its square is finite
QUIET_VALUES, QUIET_SHARE = 64.0, 1e-5


class Spread(NamedTuple):
    """What is known of one feature."""

    times: float  # how often there was a value, at most the memory
    mean: float
    square: float  # of the deviation
    quiet: float  # how many values in a row lay close to each other,
    anchor: float  # to the first of them,
    reach: float  # and how close


SPREAD = np.dtype([(name, np.float64) for name in Spread._fields], align=True)


@inlined
def standardized(spread, value):
    """The value in deviations from the mean; 0 while there is no deviation."""
    if spread.square <= 0.0:
        return 0.0
    return min(max((value - spread.mean) / math.sqrt(spread.square), -FAR), FAR)


@inlined
def note(spread, value):
    """Learn one value."""
    away = value - spread.mean
    if spread.times == 0.0:
        spread.mean, away = value, 0.0
    deviation = math.sqrt(spread.square)
    far = min(FAR * deviation, LARGEST) if deviation > 0.0 else LARGEST
    if abs(away) > far and spread.times > QUIET_VALUES:
        spread.times = max(0.5 * spread.times, QUIET_VALUES)
    away = min(max(away, -far), far)
    spread.times = min(spread.times + 1.0, MEMORY)
    share = 1.0 / spread.times
    spread.mean += share * away
    spread.square += share * ((1.0 - share) * away * away - spread.square)
    _listen(spread, value, deviation)


@inlined
def _listen(spread, value, deviation):
    """Begin anew where all values are far closer to each other than the deviation says."""
    near = abs(value - spread.anchor)
    if near > QUIET_SHARE * deviation:
        spread.quiet, spread.anchor, spread.reach = 0.0, value, 0.0
        return
    spread.quiet += 1.0
    spread.reach = max(spread.reach, near)
    if spread.quiet >= QUIET_VALUES and spread.reach > 0.0:
        spread.times, spread.mean, spread.square = spread.quiet, spread.anchor, spread.reach * spread.reach
        spread.quiet, spread.reach = 0.0, 0.0
