"""The online classifier. Two classes are one booster; more are one a class against the rest, so that classes may come
at any time:

    loss of a row = mean over classes c of l(f_c(x), +1 if y = c else -1),      P(c) = sigma(f_c) / sum_j sigma(f_j)

With two classes f_0 = -f_1 and this is the logistic loss. A loss of several scores (softmax, multiclass hinge) is one
booster with a score a class, and has to know all classes from the start.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from anyboost import checks
from anyboost.losses.base import RowwiseLoss
from anyboost.online import frames
from anyboost.online.boosters import Regret
from anyboost.online.estimators import OnlineBoosting, Seen
from anyboost.online.front import matrix
from anyboost.online.river import MiniBatchClassifier


class OnlineBoostingClassifier(ClassifierMixin, OnlineBoosting, MiniBatchClassifier):
    """Online gradient boosting of classes: `partial_fit` on arrays, `learn_one` on dicts of features.

    Parameters are those of `OnlineBoostingRegressor`, with a loss of classes: "logistic", "hinge", "squared_hinge",
    "exponential" (more than two classes: one booster a class, and new classes may come at any time), "softmax",
    "multiclass_hinge" (one booster for all classes, which the first call of `partial_fit` has to be given).
    """

    classifies = True

    def __init__(
        self,
        learner: Any = "linear",
        n_learners: int = 20,
        loss: Any = "logistic",
        algorithm: str = "span",
        step: float | None = None,
        mode: str = "greedy",
        output_bound: float | None = None,
        label_bound: float | None = None,
        forget: float = 0.0,
        drift: Any = None,
        hash_bits: int | None = None,
        max_iter: int = 1,
    ) -> None:
        super().__init__(
            learner,
            n_learners,
            loss,
            algorithm,
            step,
            mode,
            output_bound,
            label_bound,
            forget,
            drift,
            hash_bits,
            max_iter,
        )
