"""Maximum-margin planning: from demonstrated paths to the costs that make them cheapest."""

from anyboost.planning.loss import Demonstration, PathMargin, off_path
from anyboost.planning.planners import GridPlanner, LatticePlanner, Planner

__all__ = ["Demonstration", "GridPlanner", "LatticePlanner", "PathMargin", "Planner", "off_path"]
