"""Boosting for any convex loss, with any weak learner, and a certificate of how far from optimal it is.

Names are loaded on first use, so that `import anyboost` is quick.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from anyboost._version import __version__

if TYPE_CHECKING:
    from anyboost import (
        bounds,
        certificates,
        dask,
        datasets,
        descent,
        ensemble,
        export,
        files,
        losses,
        metrics,
        mirror,
        online,
        planning,
        plot,
        report,
        space,
        steps,
        streams,
        weak,
    )
    from anyboost.boosting import Run, boost
    from anyboost.estimators import BoostingClassifier, BoostingRanker, BoostingRegressor
    from anyboost.files import Checkpoint, ModelFileError, load, save
    from anyboost.mirror.estimators import MirrorAveragingClassifier, MirrorAveragingRegressor
    from anyboost.on_disk import predict_files, predict_portions
    from anyboost.planning.estimator import MaxMarginPlanner
    from anyboost.space import Binned
    from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor
    from anyboost.validation import cv
    from anyboost.warming import warmup

# Where names live that are not modules of their own
_NAMES = {
    "Binned": "anyboost.space",
    "BoostingClassifier": "anyboost.estimators",
    "BoostingRanker": "anyboost.estimators",
    "BoostingRegressor": "anyboost.estimators",
    "Checkpoint": "anyboost.files",
    "MaxMarginPlanner": "anyboost.planning.estimator",
    "MirrorAveragingClassifier": "anyboost.mirror.estimators",
    "MirrorAveragingRegressor": "anyboost.mirror.estimators",
    "ModelFileError": "anyboost.files",
    "OnlineBoostingClassifier": "anyboost.streams.estimators",
    "OnlineBoostingRegressor": "anyboost.streams.estimators",
    "Run": "anyboost.boosting",
    "boost": "anyboost.boosting",
    "cv": "anyboost.validation",
    "load": "anyboost.files",
    "predict_files": "anyboost.on_disk",
    "predict_portions": "anyboost.on_disk",
    "save": "anyboost.files",
    "warmup": "anyboost.warming",
}

__all__ = [
    "Binned",
    "BoostingClassifier",
    "BoostingRanker",
    "BoostingRegressor",
    "Checkpoint",
    "MaxMarginPlanner",
    "MirrorAveragingClassifier",
    "MirrorAveragingRegressor",
    "ModelFileError",
    "OnlineBoostingClassifier",
    "OnlineBoostingRegressor",
    "Run",
    "__version__",
    "boost",
    "bounds",
    "certificates",
    "cv",
    "dask",
    "datasets",
    "descent",
    "ensemble",
    "export",
    "files",
    "load",
    "losses",
    "metrics",
    "mirror",
    "online",
    "planning",
    "plot",
    "predict_files",
    "predict_portions",
    "report",
    "save",
    "space",
    "steps",
    "streams",
    "warmup",
    "weak",
]


def __getattr__(name: str) -> object:
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    if name in __all__:
        return import_module(f"anyboost.{name}")
    # with what Python needs to say "Did you mean"
    raise AttributeError(f"module 'anyboost' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
