"""Maximum-margin planning: from demonstrated paths to the costs that make them cheapest."""

from anyboost.planning.comparing import Comparison
from anyboost.planning.estimator import MaxMarginPlanner, Prediction
from anyboost.planning.ground import Maps, Terrain, terrain
from anyboost.planning.loss import Demonstration, PathMargin, off_path
from anyboost.planning.planners import GridPlanner, LatticePlanner, Planner
from anyboost.planning.samples import Cells, cells

__all__ = [
    "Cells",
    "Comparison",
    "Demonstration",
    "GridPlanner",
    "LatticePlanner",
    "Maps",
    "MaxMarginPlanner",
    "PathMargin",
    "Planner",
    "Prediction",
    "Terrain",
    "cells",
    "off_path",
    "terrain",
]
