"""Losses by number, for loops in which a loss is a number: the definitions of the list, behind one `if` each.

value(code, parameter, f, y), slope(code, parameter, f, y)      one score
value_and_slopes(code, parameters, f, y, slopes)                several scores
"""

from functools import partial
from types import FunctionType

import numpy as np

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.definitions import ROWS
from anyboost.backends.rowwise import scalar
from anyboost.losses.regression import Squared

SQUARED = ROWS.index(Squared.row)
squared = scalar(Squared.row)


def by_number(function=None, *, several=False):
    """A function of (code, ...) from one of (...) that calls `row`: for each loss with its definition as `row`."""
    if function is None:
        return partial(by_number, several=several)
    arguments = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    names, lines = {"__name__": function.__module__}, []
    for code, row in enumerate(ROWS):
        if row is not None and row.__code__.co_argcount == (4 if several else 3):
            own = FunctionType(function.__code__, {**function.__globals__, "row": scalar(row)})
            names[f"of_{code}"] = inlined(own)
            lines.append(f"    if code == {code}:\n        return of_{code}({arguments})\n")
    # The last one without an `if`, so that there always is an answer.
    lines[-1] = lines[-1].split(":\n    ")[1]
    exec(f"def choice(code, {arguments}):\n{''.join(lines)}", names)
    return inlined(names["choice"])


@by_number
def value(parameter, f, y):
    return row(f, y, parameter)[0]  # noqa: F821


@by_number
def slope(parameter, f, y):
    return row(f, y, parameter)[1]  # noqa: F821


@by_number(several=True)
def value_and_slopes(parameters, f, y, slopes):
    return row(f, y, parameters, slopes)  # noqa: F821


@kernel  # a call: written into a loop over terms, every loss's powers would be computed ahead of it
def _slope(code, parameter, f, y):
    return slope(code, parameter, f, y)


@kernel
def slope_of_sum(terms, f, y):
    """A subgradient of sum factor * loss in the score; a row of `terms` is (code, factor, parameter)."""
    total = terms[0, 1] * slope(int(terms[0, 0]), terms[0, 2], f, y)
    for i in range(1, len(terms)):
        total += terms[i, 1] * _slope(int(terms[i, 0]), terms[i, 2], f, y)
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
