"""Fits on a Dask cluster: rows stay on their workers, and the model is that of all rows in one place, bit for bit.

Every worker runs the ordinary `boost` on its own partitions; what it asks of all rows, sums of whole numbers and
extremes, the workers agree on (`anyboost.trees.parts`) over connections of their own (`mesh`).
"""

from anyboost.dask.boosting import boost
from anyboost.dask.estimators import DaskBoostingClassifier, DaskBoostingRanker, DaskBoostingRegressor
from anyboost.dask.fits import Lost

__all__ = ["DaskBoostingClassifier", "DaskBoostingRanker", "DaskBoostingRegressor", "Lost", "boost"]
