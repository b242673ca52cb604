"""A few floats added up: in Python, without the compiler, which importing a loss is not to load."""

import operator
from collections.abc import Iterable
from functools import reduce


def left_to_right(numbers: Iterable[float]) -> float:
    """The sum of a few floats, in their order: the built-in `sum` has other last bits from Python 3.12 on."""
    return reduce(operator.add, numbers, 0.0)
