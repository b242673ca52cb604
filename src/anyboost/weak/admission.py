"""Pairs that cannot be, refused before any work: a learner and a table, its weights, or a descent along atoms."""

from typing import Any

import numpy as np

from anyboost import checks
from anyboost.weak.learner import Learner, Takes, declared


def takes(learner: Learner) -> Takes:
    """What a learner can do with a sample.

    Parameters
    ----------
    learner : Learner
        The learner.

    Returns
    -------
    Takes
        What it says.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.takes(ab.weak.Linear()).missing
    False
    """
    found: Takes = declared(learner, "takes")
    return found


def _who(learner: Learner) -> str:
    estimator = getattr(learner, "estimator", None)
    within = "" if estimator is None else f"({type(estimator).__name__})"
    return f"learner {type(learner).__name__}{within}"


def admit(learner: Learner, X: Any, categorical: tuple[int, ...], outputs: int) -> None:
    """Refuse, in a sentence, a table that a learner cannot be fitted to.

    Parameters
    ----------
    learner : Learner
        The learner.
    X : ndarray or sparse matrix
        The table.
    categorical : tuple of int
        The columns that hold categories.
    outputs : int
        How many scores a row has.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.weak.admit(ab.weak.Linear(), np.array([[np.nan]]), (), 1)
    Traceback (most recent call last):
    ...
    ValueError: ...
    """
    if categorical and not takes(learner).categories:
        shown = ", ".join(map(str, categorical[:5])) + (", ..." if len(categorical) > 5 else "")
        raise ValueError(
            f"{_who(learner)} cannot take the categorical columns {shown}: encode them first, e.g. with "
            "sklearn.preprocessing.OneHotEncoder in a pipeline, or use a tree"
        )
    admit_values(learner, X, "X")
    declared(learner, "check")(X.shape[1], categorical, outputs)


def admit_values(learner: Learner, X: Any, name: str) -> None:
    """Refuse missing values and infinities that a learner cannot take.

    Parameters
    ----------
    learner : Learner
        The learner.
    X : ndarray or sparse matrix
        The table.
    name : str
        What the table is called in the sentence.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.weak.admit_values(ab.weak.Tree(), np.array([[np.nan]]), "X")
    """
    if not takes(learner).missing:
        checks.finite_table(X, name, _who(learner))


def admit_weights(learner: Learner, weights: np.ndarray | None) -> None:
    """Refuse unequal weights that a learner would not follow.

    Parameters
    ----------
    learner : Learner
        The learner.
    weights : ndarray (n,) or None
        Weights of the rows.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.weak.admit_weights(ab.weak.Stump(), np.array([1.0, 2.0]))
    """
    if weights is not None and not takes(learner).weights and np.ptp(weights) > 0:
        raise ValueError(
            f"sample_weight is unequal, and {_who(learner)} cannot be fitted with weights: leave it out, "
            "or use an estimator whose fit takes sample_weight"
        )


def can_follow(learner: Learner, loss: Any) -> bool:
    """Whether a learner can project in the metric of the loss's curvature.

    Parameters
    ----------
    learner : Learner
        The learner.
    loss : Loss
        The loss.

    Returns
    -------
    bool
        Whether it can.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.can_follow(ab.weak.Linear(), ab.losses.Softmax())
    False
    """
    return declared(learner, "curved") or (takes(learner).weights and not loss.vector)


def admit_curvature(learner: Learner, descent: Any, loss: Any) -> None:
    """Refuse a descent in the metric of a curvature that the loss has not, or that the learner cannot follow.

    Parameters
    ----------
    learner : Learner
        The learner.
    descent : Descent
        The descent.
    loss : Loss
        The loss.

    Examples
    --------
    >>> import anyboost as ab
    >>> curved = ab.descent.Naive(curvature=True)
    >>> ab.weak.admit_curvature(ab.weak.Stump(), curved, ab.losses.Absolute())
    Traceback (most recent call last):
    ...
    ValueError: curvature is True, but the loss absolute has none: leave curvature out
    """
    if not descent.curved:
        return
    if not loss.has_curvature:
        raise ValueError(f"curvature is True, but the loss {loss.name} has none: leave curvature out")
    if can_follow(learner, loss):
        return
    if loss.vector:
        raise ValueError(
            f"curvature differs from score to score of the loss {loss.name}, which {_who(learner)} cannot follow: "
            "use a tree, or leave curvature out"
        )
    raise ValueError(
        f"curvature gives rows unequal weights, and {_who(learner)} cannot be fitted with weights: leave it out, "
        "or use an estimator whose fit takes sample_weight"
    )


def admit_atoms(learner: Learner, descent: Any) -> None:
    """Refuse a descent along extreme atoms with a learner that has no way to find them.

    Parameters
    ----------
    learner : Learner
        The learner.
    descent : Descent
        The descent.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.admit_atoms(ab.weak.Stump(), ab.descent.Hull())
    """
    if descent.atom_size is not None and not takes(learner).atoms:
        raise ValueError(
            f"descent {type(descent).__name__} steps along extreme atoms, which {_who(learner)} has no way to find: "
            "use residual, or a stump, a tree, a dictionary or a classifier"
        )
