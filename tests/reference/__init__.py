"""Slow, obvious oracles: what every kernel, loss and bound of the library is compared with.

Only NumPy, SciPy and plain loops, written from the conventions and from nothing in the library, so
that an agreement means something. Weights are normalised to sum one wherever their scale matters
(they are the measure), and a row of weight zero is a row that is not there.
"""

from .descent import Run, descend, exact_leaf_steps, floor_from_trace, predict_run
from .losses import (
    LOSSES,
    VECTOR_LOSSES,
    best_constant,
    gradient,
    mean_loss,
    minimise_on_line,
    normalised,
    resolve,
)
from .optima import Optimum, optimum_stumps, optimum_vector_stumps
from .weak import (
    Atom,
    Stump,
    Tree,
    candidate_splits,
    codes,
    extreme_dictionary,
    extreme_stump,
    inner,
    predict_stump,
    predict_tree,
    project_classifier,
    project_dictionary,
    project_stump,
    project_tree,
    thresholds,
)

__all__ = [
    "LOSSES",
    "VECTOR_LOSSES",
    "Atom",
    "Optimum",
    "Run",
    "Stump",
    "Tree",
    "best_constant",
    "candidate_splits",
    "codes",
    "descend",
    "exact_leaf_steps",
    "extreme_dictionary",
    "extreme_stump",
    "floor_from_trace",
    "gradient",
    "inner",
    "mean_loss",
    "minimise_on_line",
    "normalised",
    "optimum_stumps",
    "optimum_vector_stumps",
    "predict_run",
    "predict_stump",
    "predict_tree",
    "project_classifier",
    "project_dictionary",
    "project_stump",
    "project_tree",
    "resolve",
    "thresholds",
]
