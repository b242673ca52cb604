"""Weak learners: the sets H of functions that a descent may step along."""

from anyboost.weak.base import Hypothesis, Learner, Projection, Support
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.names import get
from anyboost.weak.tree import Stump, Tree

__all__ = ["Dictionary", "Hypothesis", "Learner", "Projection", "Stump", "Support", "Tree", "get"]
