"""Learners by name: "stump", "tree", "tree:15", "dictionary", "classifier"."""

from anyboost import checks
from anyboost.weak.base import Learner
from anyboost.weak.classifier import Classifier
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.tree import Stump, Tree


def get(learner: str | Learner) -> Learner:
    """The learner itself, or the one a string names; the number after a colon is a tree's leaves."""
    if not isinstance(learner, str):
        if not hasattr(learner, "project"):
            raise TypeError(
                f"learner must be a weak learner or its name, got {learner!r}; try anyboost.weak.Tree()"
            )
        return learner
    makers = {"stump": Stump, "tree": Tree, "dictionary": Dictionary, "classifier": Classifier}
    return checks.named(learner, "learner", makers)
