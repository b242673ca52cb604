"""What the chain asks of a learner, found by the type of its settings: in kernels, and where Python runs the chain.

A learner is a NamedTuple of settings, a few functions in its module, and five arrays whose meaning the module tells:
`main` and `extra` (2-D), `table` (features + 1 rows), `scratch` (2-D) and `seen`. `python_stages` has the same
functions for learners written in Python.
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.forms import by_type
from anyboost.online import centered_stumps, linear, nets, python_stages, stumps, trees

FORMS: dict[type, Any] = {
    linear.Linear: linear,
    stumps.Stumps: stumps,
    centered_stumps.CenteredStumps: centered_stumps,
    nets.Nets: nets,
    trees.Trees: trees,
    python_stages.PythonStages: python_stages,
}
MAKE_ARRAYS = (trees.Trees,)  # those whose functions do: to sort


class Row(NamedTuple):
    """A row as a learner sees it."""

    columns: np.ndarray  # of all rows, this one's from `begin` on; empty where rows are dense
    begin: int
    length: int  # how many values it has
    values: np.ndarray  # behind a constant 1
    norm: float  # |values|^2
    rate: float
    weight: float


class Aim(NamedTuple):
    """What a stage is told besides the slope."""

    inverse_curvature: float  # of the loss
    unit: float  # the labels' deviation
    low: float  # answers beyond these count as these
    high: float


@by_type(FORMS)
def load(learner, arrays, rows, begin, count, learning, values):
    """Fill `values` with the row as the learner sees it; returns |values|^2."""


@by_type(FORMS)
def rate_of_row(learner, arrays, norm):
    """The rate of this row's steps."""


@by_type(FORMS)
def predict(learner, arrays, row, raw):
    """raw[column] = what each stage answers, before it is brought to its bounds."""


@by_type(FORMS)
def gain(learner, arrays, row, column):
    """The share of the way to a squared loss's minimum that a step goes; negative where not known beforehand."""


@by_type(FORMS)
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """One stage's step against its slopes, one an output; raw becomes what it answers after it."""


@by_type(FORMS)
def finish(learner, arrays, row):
    """After the last stage's step."""
