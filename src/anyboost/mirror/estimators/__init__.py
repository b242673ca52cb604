"""Scikit-learn estimators that combine models, or columns of forecasts, by mirror averaging."""

from anyboost.mirror.estimators.classifier import MirrorAveragingClassifier
from anyboost.mirror.estimators.regressor import MirrorAveragingRegressor

__all__ = ["MirrorAveragingClassifier", "MirrorAveragingRegressor"]
