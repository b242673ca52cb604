"""What losses tell kernels, which lie below them and cannot import them. `anyboost.losses`, the list, fills it in.

`ROWS[number]` is a loss's one definition, a plain function that `backends.rowwise` compiles:

    one score:       row(f, y, parameter) -> value, slope, curvature
    several scores:  row(f, y, parameters, slopes) -> value, with the slopes filled in
"""

from collections.abc import Callable
from typing import Any

ROWS: list[Callable[..., Any] | None] = []
OTHER = 15  # in model files, the number of a loss that kernels do not know

# What a constant would answer to labels: the mean, log odds, half of them, the logarithm of the mean, log class
# shares, 0.
MEANS, LOG_ODDS, HALF_LOG_ODDS, LOG_MEAN, LOG_SHARES, NOTHING = 0, 1, 2, 3, 4, 5
