"""Learners by name: "stump", "tree", "tree:15", "linear", "linear:0.1", "net", "net:10", "dictionary", "classifier"."""

from typing import Any

from anyboost import checks
from anyboost.weak import sklearn_estimators
from anyboost.weak.classifier import Classifier
from anyboost.weak.dictionary import Dictionary
from anyboost.weak.estimator import Estimator
from anyboost.weak.learner import Learner
from anyboost.weak.linear import Linear
from anyboost.weak.net import Net
from anyboost.weak.tree import Stump, Tree


def get(learner: Any) -> Learner:
    """The learner itself, the one a string names, or that of a scikit-learn estimator.

    Parameters
    ----------
    learner : str, Learner or estimator
        "stump", "tree", "linear", "net", "dictionary" or "classifier"; the number after a colon is a tree's leaves, a
        linear function's penalty, or how many units a net has.

    Returns
    -------
    Learner
        The learner.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.get("tree:8").max_leaves
    8
    """
    if not isinstance(learner, str):
        if isinstance(learner, type):
            name = learner.__name__
            raise TypeError(f"learner must be a weak learner, got the class {name}: write {name}()")
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
    """Whether `spec` is this learner: written the same, for an estimator inside compares by what it is.

    Parameters
    ----------
    spec : str, Learner or estimator
        What `get` takes.
    learner : Learner
        The learner to compare it with.

    Returns
    -------
    bool
        Whether they are the same.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.stands_for("tree:8", ab.weak.Tree(8))
    True
    """
    return repr(get(spec)) == repr(learner)
