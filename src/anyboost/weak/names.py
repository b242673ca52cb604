"""Learners by name: "stump", "tree", "tree:15", "linear", "linear:0.1", "net", "net:10", "dictionary", "classifier"."""

from typing import Any

from anyboost import checks
from anyboost.weak import sklearn_estimators
from anyboost.weak.base import Learner
from anyboost.weak.classifier import Classifier
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.estimator import Estimator
from anyboost.weak.linear import Linear
from anyboost.weak.net import Net
from anyboost.weak.tree import Stump, Tree


def get(learner: Any) -> Learner:
    """The learner itself, the one a string names, or that of a scikit-learn estimator.

    The number after a colon is a tree's leaves, a linear function's penalty, or how many units a net has.
    """
    if not isinstance(learner, str):
        if sklearn_estimators.is_estimator(learner):
            return Estimator(learner)
        if not hasattr(learner, "project"):
            raise TypeError(
                f"learner must be a weak learner or its name, got {learner!r}; try anyboost.weak.Tree()"
            )
        return learner
    makers = {
        "stump": Stump,
        "tree": Tree,
        "linear": Linear,
        "net": Net,
        "dictionary": Dictionary,
        "classifier": Classifier,
    }
    return checks.named(learner, "learner", makers)


def stands_for(spec: Any, learner: Learner) -> bool:
    """Whether `spec` is this learner: written the same, for an estimator inside compares by what it is."""
    return repr(get(spec)) == repr(learner)
