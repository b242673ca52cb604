"""From a loss's definition at one row to compiled loops over all rows.

Definitions are plain functions of numbers with `exp`, `log` and `log1p` from `math`, for which compiled code takes our
own, and with other such functions beside them. They return all they know of a row; a loop that wants a part of it is
compiled without the rest.
"""

import math
from functools import cache
from types import FunctionType

from anyboost.backends import elementary
from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.forms import borrowed
from anyboost.backends.sums import add_term, magnitude

_OURS = {math.exp: elementary.exp, math.log: elementary.log, math.log1p: elementary.log1p}


@cache
def scalar(definition):
    """The definition, for loops to be compiled with."""
    if hasattr(definition, "py_func"):
        return definition
    code, known = definition.__code__, definition.__globals__
    names = {name: known[name] for name in ("__name__", *code.co_names) if name in known}
    for name, thing in names.items():
        if isinstance(thing, FunctionType):
            names[name] = scalar(thing)
        elif callable(thing):
            names[name] = _OURS.get(thing, thing)
    return inlined(
        FunctionType(code, names, definition.__name__, definition.__defaults__, definition.__closure__)
    )


def _values_and_slopes(scores, y, parameter, values, slopes):
    for i in range(scores.size):
        values[i], slopes[i], _ = row(scores[i], y[i], parameter)  # noqa: F821


def _curvatures(scores, y, parameter, curvatures):
    for i in range(scores.size):
        _, _, curvatures[i] = row(scores[i], y[i], parameter)  # noqa: F821


# Rows of arrays are borrowed: references to each would be counted up and down again, which other threads wait for.


def _values_and_vectors(scores, y, parameter, values, slopes):
    scores, slopes = borrowed(scores), borrowed(slopes)
    for i in range(len(scores)):
        values[i] = row(scores[i], y[i], parameter, slopes[i])  # noqa: F821


def _curvature_vectors(scores, y, parameter, curvatures):
    scores, curvatures = borrowed(scores), borrowed(curvatures)
    for i in range(len(scores)):
        row(scores[i], y[i], parameter, curvatures[i])  # noqa: F821


# What a round of a descent sees: values are added up, at a scale (see `sums.sum_at_own_scale`), and not written down.
# What it does not ask for, or does not have, is None, and compiled code is without it.


def _round(scores, y, mass, parameter, scale, slopes, curvatures):
    high, low, top, steepest, most_curved = 0, 0, 0, 0, 0
    for i in range(scores.size):
        value, slope, curvature = row(scores[i], y[i], parameter)  # noqa: F821
        slopes[i] = slope
        steepest = max(steepest, magnitude(slope))
        if curvatures is not None:
            curvatures[i] = curvature
            most_curved = max(most_curved, magnitude(curvature))
        if mass is not None:
            value = mass[i] * value
        high, low, top = add_term(value * scale, high, low, top)
    return high, low, top, steepest, most_curved


def _round_of_vectors(scores, y, mass, parameter, scale, slopes):
    high, low, top, steepest = 0, 0, 0, 0
    scores, slopes = borrowed(scores), borrowed(slopes)
    for i in range(len(scores)):
        value = row(scores[i], y[i], parameter, slopes[i])  # noqa: F821
        for j in range(slopes.shape[1]):
            steepest = max(steepest, magnitude(slopes[i, j]))
        if mass is not None:
            value = mass[i] * value
        high, low, top = add_term(value * scale, high, low, top)
    return high, low, top, steepest, 0


_USED = {"add_term": add_term, "borrowed": borrowed, "magnitude": magnitude}
_LOOPS = {
    # (several scores, what is asked for)
    (False, "both"): _values_and_slopes,
    (False, "curvatures"): _curvatures,
    (False, "round"): _round,
    (True, "both"): _values_and_vectors,
    (True, "curvatures"): _curvature_vectors,
    (True, "round"): _round_of_vectors,
}


@cache
def over_rows(definition, several=False, asked="both"):
    """A compiled loop over rows: (scores, y, parameter, values, slopes) that fills the last ones for "both",
    (scores, y, parameter, curvatures) for "curvatures", and for "round" what a round of a descent sees.
    """
    loop = _LOOPS[several, asked]
    # Kept beside the file of the definition, so that it is compiled again when that changes.
    source = definition.__code__
    # Of others' code the file does not tell whether it has changed, and what is closed over is new in every process.
    own = definition.__module__.startswith("anyboost.") and definition.__closure__ is None
    code = loop.__code__.replace(co_filename=source.co_filename, co_firstlineno=source.co_firstlineno)
    names = {"row": scalar(definition), "__name__": definition.__module__, **_USED}
    loop = FunctionType(code, names, f"{definition.__qualname__}{loop.__name__}")
    loop.__qualname__ = loop.__name__
    return kernel(loop, cached=own)
