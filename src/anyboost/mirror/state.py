"""What compiled code is told of an averager (`AveragerSettings`), and what it changes (`AveragerState`).

Kinds of proxies, sets and schedules are numbers here, and only here; importing this module compiles nothing.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats

ENTROPY, P_NORM, POWER = range(3)
SIMPLEX, SOLID_SIMPLEX, OCTAHEDRON = range(3)
ANYTIME, DOUBLING, CONSTANT, ADAPTIVE, SHARE, SECOND_ORDER = range(6)

N_FIRST = 5
# What an averager counts and measures: 11 floats, as they lie in model files.
NUMBERS = np.dtype(
    [
        ("clock", np.float64),  # weight of all rows so far
        ("squared_norms", np.float64),  # their sum
        ("typical_norm", np.float64),  # a running median
        ("norms_seen", np.float64),
        ("sleeper", np.float64),  # the dual point of an expert that slept through all rows
        ("beta", np.float64),  # the temperature
        ("first_norms", np.float64, (N_FIRST,)),
    ]
)
N_NUMBERS = NUMBERS.itemsize // 8
# The first row that the theorems do not allow, why, and its size
LAPSE = np.dtype([("row", np.float64), ("cause", np.float64), ("value", np.float64)])
N_LAPSE = LAPSE.itemsize // 8
NO_LAPSE, FORECAST, LABEL, SLOPE, HEAVY, UNKNOWN = range(6)  # UNKNOWN: an older file does not say


class AveragerSettings(NamedTuple):
    """Kinds, by number, and what they need."""

    proxy: int
    domain: int
    rule: int
    averages: bool  # whether predictions average
    radius: float
    exponent: float
    lipschitz: float  # 0: subgradients are measured in running units
    factor: float  # of the temperature
    dealt: float  # the share of all weight that is dealt out after each row
    output_bound: float  # inf where there is none
    label_bound: float

    @classmethod
    def of(cls, averager: Any, count: int) -> "AveragerSettings":
        """Those of an averager of `count` functions."""
        proxy, domain, rule = averager.proxy, averager.domain, averager.schedule
        shape = proxy.shape(count, domain)
        sizes = (domain.radius, shape.exponent, averager.lipschitz, rule.factor(shape), rule.dealt)
        bounds = [getattr(averager, name, None) or math.inf for name in ("output_bound", "label_bound")]
        if averager.loss.domain.classes:
            bounds[1] = math.inf  # labels are names of classes
        return cls(proxy.code, domain.code, rule.code, averager.average, *map(float, (*sizes, *bounds)))


class AveragerState(NamedTuple):
    """All that an averager remembers, in arrays that are changed in place."""

    memory: (
        Floats  # the rule's arrays: zeta; or log weights; or regrets, their squares, and the largest of each
    )
    theta: Floats
    total: Floats  # the sum of earlier thetas
    numbers: np.ndarray  # one record of `NUMBERS`
    lapse: np.ndarray  # one record of `LAPSE`

    def copy(self) -> "AveragerState":
        return AveragerState(*(part.copy() for part in self))
