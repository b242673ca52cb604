"""Fits on a Dask cluster: rows stay on their workers, and the model is that of all rows in one place, bit for bit.

Every worker runs the ordinary `boost` on its own partitions; what it asks of all rows, sums of whole numbers and
extremes, the workers agree on (`anyboost.trees.parts`) over connections of their own (`mesh`).
"""

try:
    from anyboost.dask.boosting import boost
    from anyboost.dask.calls import Lost
    from anyboost.dask.estimators import DaskBoostingClassifier, DaskBoostingRanker, DaskBoostingRegressor
except ModuleNotFoundError as missing:
    if missing.name not in ("dask", "distributed", "zmq"):
        raise
    raise ImportError(f'anyboost.dask needs {missing.name}: pip install "anyboost[dask]"') from None

__all__ = ["DaskBoostingClassifier", "DaskBoostingRanker", "DaskBoostingRegressor", "Lost", "boost"]
