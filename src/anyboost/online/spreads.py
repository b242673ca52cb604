"""Where the values of each feature lie: a running mean and deviation, in which a value is standardized.

One wild value must not move them far: it counts as at most ten deviations out. Values that stay out there are followed,
as each widens the deviation.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import part
from anyboost.online.scales import FAR, MEMORY

LARGEST = 1e150  # its square is finite


class Spread(NamedTuple):
    """What is known of one feature."""

    times: float  # how often there was a value, at most the memory
    mean: float
    square: float  # of the deviation


SPREAD = np.dtype([(name, np.float64) for name in Spread._fields], align=True)


@part
def standardized(spread, value):
    """The value in deviations from the mean; 0 while there is no deviation."""
    if spread.square <= 0.0:
        return 0.0
    return min(max((value - spread.mean) / math.sqrt(spread.square), -FAR), FAR)


@part
def note(spread, value):
    """Learn one value."""
    away = value - spread.mean
    if spread.times == 0.0:
        spread.mean, away = value, 0.0
    far = FAR * math.sqrt(spread.square) if spread.square > 0.0 else LARGEST
    away = min(max(away, -far), far)
    spread.times = min(spread.times + 1.0, MEMORY)
    share = 1.0 / spread.times
    spread.mean += share * away
    spread.square += share * ((1.0 - share) * away * away - spread.square)
