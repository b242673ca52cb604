"""Weak learners: the sets H of functions that a descent may step along."""

from anyboost.weak.base import AnyProjection, Hypothesis, LeafProjection, Learner, Projection, Support
from anyboost.weak.classifier import Classifier
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.names import get
from anyboost.weak.tree import Stump, Tree

__all__ = [
    "AnyProjection",
    "Classifier",
    "Dictionary",
    "Hypothesis",
    "LeafProjection",
    "Learner",
    "Projection",
    "Stump",
    "Support",
    "Tree",
    "get",
]
