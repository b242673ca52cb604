"""What a side of a cut is worth: the terms that the score of a cut adds up.

With S the sums of the target, W the mass of a side and l2 the weight of the penalty it is  ||S||^2 / (W + l2)
(least squares, projection (4)),  ||S||_1  (the extreme atom with |h| <= 1) or  max_k S_k - mean_k S_k  (a class a
side, projection (3)). A sum within `noise` units a unit of mass, which is what rounding the rows can leave
behind, counts as zero.
"""

import numpy as np

from anyboost.backends.compiler import kernel

TIE = 1e-9
NOISE = 2.0  # units a unit of mass: half a unit from rounding, the rest from the target's own last bits
LEAST_SQUARES = 0
EXTREME = 1
CLASS = 2


@kernel
def side(sums, mass, noise, l2, criterion):
    """The worth of one side."""
    total = 0.0
    nothing = noise * np.float64(mass)
    if criterion == CLASS:
        lead = _lead(sums)
        return lead if lead > nothing else 0.0
    for j in range(sums.shape[0]):
        value = abs(np.float64(sums[j]))
        if value > nothing:
            total += value * value if criterion == LEAST_SQUARES else value
    return total / (np.float64(mass) + l2) if criterion == LEAST_SQUARES else total


@kernel
def _lead(sums):
    # How far the largest sum is above the mean of all: never negative.
    most = np.float64(sums[0])
    total = 0.0
    for j in range(sums.shape[0]):
        value = np.float64(sums[j])
        total += value
        most = max(most, value)
    return most - total / sums.shape[0]


@kernel
def bounded_side(sums, mass, noise, l2, criterion, bounds, value):
    """The worth of one side whose value v must be within `bounds` (2, k); and in `value` (k,) the best v.

    It is  2 <v, S> - (W + l2) ||v||^2  (least squares) or  <v, S>  (the extreme atom): the best v is the free
    one, clipped. A class has no bounds.
    """
    if criterion == CLASS:
        return side(sums, mass, noise, l2, criterion)
    total = 0.0
    nothing = noise * np.float64(mass)
    weight = np.float64(mass) + l2
    for j in range(sums.shape[0]):
        s = np.float64(sums[j])
        s = s if abs(s) > nothing else 0.0
        v = s / weight
        if criterion == EXTREME:
            v = 1.0 if s > 0.0 else (-1.0 if s < 0.0 else 0.0)
        v = min(max(v, bounds[0, j]), bounds[1, j])
        value[j] = v
        total += v * (2.0 * s - v * weight) if criterion == LEAST_SQUARES else v * s
    return total
