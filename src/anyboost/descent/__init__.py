"""Restricted gradient descent: five algorithms as one loop with a few dials.

`loop` is the loop, `rules` are its dials, `presets` the algorithms of the papers.
"""

from anyboost.descent.loop import Geometry, State, Step, descend
from anyboost.descent.presets import PRESETS, Hull, Naive, Repeated, Residual, Shrinking, get, stands_for
from anyboost.descent.rules import Descent, check_curvature, polyak

__all__ = [
    "PRESETS",
    "Descent",
    "Geometry",
    "Hull",
    "Naive",
    "Repeated",
    "Residual",
    "Shrinking",
    "State",
    "Step",
    "check_curvature",
    "descend",
    "get",
    "polyak",
    "stands_for",
]
