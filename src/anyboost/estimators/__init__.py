"""scikit-learn estimators: `BoostingRegressor`, `BoostingClassifier`, `BoostingRanker`.

Thin: `parameters` turns what a user sets into a loss, a learner and a descent, `anyboost.tables` turns a table into
numbers, `boost` does the work, and an estimator keeps the sum it returns. Names are HistGradientBoosting's where
it has one.
"""

from anyboost.estimators.classifier import BoostingClassifier
from anyboost.estimators.ranker import BoostingRanker
from anyboost.estimators.regressor import BoostingRegressor

__all__ = ["BoostingClassifier", "BoostingRanker", "BoostingRegressor"]
