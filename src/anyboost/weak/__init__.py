"""Weak learners: the sets H of functions that a descent may step along."""

from anyboost.weak.admission import (
    admit,
    admit_atoms,
    admit_curvature,
    admit_values,
    admit_weights,
    can_follow,
    takes,
)
from anyboost.weak.classifier import Classifier
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.estimator import Estimator
from anyboost.weak.hypotheses import Hypothesis
from anyboost.weak.learner import Learner, Support, Takes, declared, project
from anyboost.weak.linear import Linear
from anyboost.weak.names import get, stands_for
from anyboost.weak.net import Net
from anyboost.weak.projections import AnyProjection, LeafProjection, Projection
from anyboost.weak.tree import Stump, Tree

__all__ = [
    "AnyProjection",
    "Classifier",
    "Dictionary",
    "Estimator",
    "Hypothesis",
    "LeafProjection",
    "Learner",
    "Linear",
    "Net",
    "Projection",
    "Stump",
    "Support",
    "Takes",
    "Tree",
    "admit",
    "admit_atoms",
    "admit_curvature",
    "admit_values",
    "admit_weights",
    "can_follow",
    "declared",
    "get",
    "project",
    "stands_for",
    "takes",
]
