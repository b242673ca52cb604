"""Losses by number, for loops in which a loss is a number: the definitions of the list, behind one `if` each.

value(code, parameter, f, y), slope(code, parameter, f, y)      one score
value_and_slopes(code, parameters, f, y, slopes)                several scores
"""

import numpy as np

from anyboost.backends.compiler import kernel, part
from anyboost.backends.definitions import ROWS
from anyboost.backends.rowwise import scalar

_SCALARS, _VECTORS = (
    {code: row for code, row in enumerate(ROWS) if row is not None and row.__code__.co_argcount == count}
    for count in (3, 4)
)
SQUARED = 0
squared = scalar(ROWS[SQUARED])


def _choice(arguments, numbers, answer):
    """A function of (code, ...) that gives the answer of the loss of that number, of the last one by default."""
    *others, last = numbers
    lines = [f"    if code == {code}:\n        return {answer.format(f'row_{code}')}\n" for code in others]
    text = f"def choice(code, {arguments}):\n{''.join(lines)}    return {answer.format(f'row_{last}')}\n"
    names = {f"row_{code}": scalar(ROWS[code]) for code in numbers} | {"__name__": __name__}
    exec(text, names)
    return part(names["choice"])


value = _choice("parameter, f, y", _SCALARS, "{}(f, y, parameter)[0]")
slope = _choice("parameter, f, y", _SCALARS, "{}(f, y, parameter)[1]")
value_and_slopes = _choice("parameters, f, y, slopes", _VECTORS, "{}(f, y, parameters, slopes)")


@kernel
def slope_of_sum(terms, f, y):
    """A subgradient of sum factor * loss in the score; a row of `terms` is (code, factor, parameter)."""
    total = 0.0
    for i in range(len(terms)):
        total += terms[i, 1] * slope(int(terms[i, 0]), terms[i, 2], f, y)
    return total


@kernel
def slopes_of_sum(terms, f, y, out):
    """The same for several scores."""
    out[:] = 0.0
    slopes = np.empty(len(f))
    for i in range(len(terms)):
        value_and_slopes(int(terms[i, 0]), terms[i, 2:], f, y, slopes)
        for k in range(len(f)):
            out[k] += terms[i, 1] * slopes[k]
