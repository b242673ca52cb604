"""What the loop asks of a learner, found by the type of its settings when the loop is compiled.

A learner is a NamedTuple of settings and five arrays whose meaning its module tells: `main` and `extra` (2-D),
`table` (features + 1 rows), `scratch` (2-D) and `seen`. Tuples hold no arrays: Numba would count references to
each at each turn. Every function stands twice: as Python, for loops that are not compiled, and as a pointer for
Numba.
"""

from typing import NamedTuple

from numba.extending import overload

from anyboost.backends.online import linear, nets, stumps, trees

KINDS = {linear.Linear: linear, stumps.Stumps: stumps, nets.Nets: nets, trees.Trees: trees}


class Row(NamedTuple):
    """A row's numbers; its values lie in v, behind a constant 1."""

    begin: int  # where the row begins in index
    length: int  # how many values it has
    norm: float  # |v|^2
    rate: float
    weight: float


def load(learner, table, data, index, begin, count, learning, v):
    """Fill v with the row as the learner sees it; returns |v|^2."""
    return KINDS[type(learner)].load(learner, table, data, index, begin, count, learning, v)


@overload(load, jit_options={"forceinline": True, "error_model": "numpy"})
def _load(learner, table, data, index, begin, count, learning, v):
    function = KINDS[learner.instance_class].load
    return lambda learner, table, data, index, begin, count, learning, v: function(
        learner, table, data, index, begin, count, learning, v
    )


def rate_of_row(learner, seen, norm):
    """The rate of this row's steps."""
    return KINDS[type(learner)].rate_of_row(learner, seen, norm)


@overload(rate_of_row, jit_options={"forceinline": True, "error_model": "numpy"})
def _rate_of_row(learner, seen, norm):
    function = KINDS[learner.instance_class].rate_of_row
    return lambda learner, seen, norm: function(learner, seen, norm)


def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = what each stage answers, before it is brought to its bounds."""
    KINDS[type(learner)].predict(learner, main, extra, scratch, row, index, v, raw)


@overload(predict, jit_options={"forceinline": True, "error_model": "numpy"})
def _predict(learner, main, extra, scratch, row, index, v, raw):
    function = KINDS[learner.instance_class].predict
    return lambda learner, main, extra, scratch, row, index, v, raw: function(
        learner, main, extra, scratch, row, index, v, raw
    )


def gain(learner, scratch, row, column):
    """The share of the way to a squared loss's minimum that a step goes; negative where not known beforehand."""
    return KINDS[type(learner)].gain(learner, scratch, row, column)


@overload(gain, jit_options={"forceinline": True, "error_model": "numpy"})
def _gain(learner, scratch, row, column):
    function = KINDS[learner.instance_class].gain
    return lambda learner, scratch, row, column: function(learner, scratch, row, column)


def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """One stage's step against `slope` (one an output); raw becomes what it answers after it.

    ease: 1 over the loss's curvature; unit: the labels' deviation; low, high: where answers beyond count as these.
    """
    KINDS[type(learner)].learn(
        learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw
    )


@overload(learn, jit_options={"forceinline": True, "error_model": "numpy"})
def _learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    function = KINDS[learner.instance_class].learn
    return (
        lambda learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw: (
            function(
                learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw
            )
        )
    )


def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """After the last stage's step."""
    KINDS[type(learner)].finish(learner, main, extra, table, scratch, seen, row, index, v)


@overload(finish, jit_options={"forceinline": True, "error_model": "numpy"})
def _finish(learner, main, extra, table, scratch, seen, row, index, v):
    function = KINDS[learner.instance_class].finish
    return lambda learner, main, extra, table, scratch, seen, row, index, v: function(
        learner, main, extra, table, scratch, seen, row, index, v
    )
