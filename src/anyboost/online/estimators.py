"""Online boosting with the faces people know: scikit-learn's `partial_fit` on arrays, River's `learn_one` on dicts.

Both feed the same booster, row by row in order: a batch gives exactly the model of the loop, in either face.
`OnlineBoosting` has what the regressor and the classifier share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from anyboost import checks, losses
from anyboost.losses import domains
from anyboost.losses.base import RowwiseLoss
from anyboost.online import frames
from anyboost.online import adapters
from anyboost.online.booster import HullBooster, SpanBooster
from anyboost.online.regret import Regret
from anyboost.online.features import Features
from anyboost.online.front import NamedFront
from anyboost.online.river import MiniBatchRegressor

ALGORITHMS = {"span": SpanBooster, "hull": HullBooster}


class Seen(NamedTuple):
    """What `observe` says of each example, as it was before the example was learnt."""

    predictions: np.ndarray
    losses: np.ndarray
    features: np.ndarray  # how many features each had


class OnlineBoosting(NamedFront, BaseEstimator):
    """What the regressor and the classifier share: parameters, and the two kinds of input."""

    classifies = False
    _stream: dict[str, Any] | None = None  # where `anyboost stream` stopped; kept in the model file

    def __init__(
        self,
        learner: Any = "linear",
        n_learners: int = 20,
        loss: Any = "squared",
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
        self.learner = learner
        self.n_learners = n_learners
        self.loss = loss
        self.algorithm = algorithm
        self.step = step
        self.mode = mode
        self.output_bound = output_bound
        self.label_bound = label_bound
        self.forget = forget
        self.drift = drift
        self.hash_bits = hash_bits
        self.max_iter = max_iter

    def check_parameters(self) -> None:
        """Refuse wrong parameters in a sentence, before any data are seen."""
        self._new_booster(self._checked_loss())
        Features(self.hash_bits)
        checks.count(self.max_iter, "max_iter", 1)

    def _checked_loss(self) -> RowwiseLoss:
        """The loss, if it is one of rows and of the right targets."""
        loss = losses.get(self.loss)
        if not isinstance(loss, RowwiseLoss):
            raise ValueError(f"loss {loss} couples rows, which come one by one here: use a row-wise one")
        classes = loss.domain.classes or loss.domain is domains.SIGNS
        if classes != self.classifies:
            instead = "OnlineBoostingClassifier" if classes else "OnlineBoostingRegressor"
            raise ValueError(f"loss {loss} is for {'classes' if classes else 'numbers'}: use {instead}")
        return loss

    def _new_booster(self, loss: RowwiseLoss, outputs: int | None = None) -> Any:
        make = ALGORITHMS[checks.choice(self.algorithm, "algorithm", tuple(ALGORITHMS))]
        options = {"step": self.step} if self.algorithm == "span" else {}
        return make(
            adapters.get(self.learner),
            n_learners=self.n_learners,
            loss=loss,
            mode=self.mode,
            output_bound=self.output_bound,
            label_bound=self.label_bound,
            forget=self.forget,
            **options,
        )

    def _begin(self) -> None:
        """Set up what learning needs; called once parameters are known to be right."""
        raise NotImplementedError

    def _started(self) -> bool:
        return "loss_" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()

    def _restart(self) -> None:
        """Forget all that was learnt."""
        learnt = [name for name in self.__dict__ if name.endswith("_") and not name.startswith("_")]
        for name in [*learnt, "_stream"]:
            self.__dict__.pop(name, None)
        self.check_parameters()

    def _named(self) -> Features:
        """The columns of named features: begun here, or taken over from the data frames of `partial_fit`."""
        features: Features | None = self.__dict__.get("features_")
        if features is not None:
            return features
        if not self._started():
            self.check_parameters()
            self._begin()
            self.features_ = Features(self.hash_bits)
        elif hasattr(self, "feature_names_in_"):
            self.features_ = Features.of(self.feature_names_in_.tolist())
        else:
            raise ValueError(
                "this model has learnt from arrays, whose columns have no names: use partial_fit and predict"
            )
        return self.features_

    def _checked_table(self, X: Any, y: Any = None, reset: bool = False, **options: Any) -> Any:
        """Arrays as scikit-learn checks them; named features have no place in them."""
        features = self.__dict__.get("features_")
        if features is not None and features.width != self.__dict__.get("n_features_in_"):
            raise ValueError("this model has learnt from named features: use learn_many and predict_many")
        given = {} if y is None else {"y": y, **options}
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64, **given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OnlineBoostingRegressor(RegressorMixin, OnlineBoosting, MiniBatchRegressor):
    """Online gradient boosting of numbers: `partial_fit` on arrays, `learn_one` on dicts of features.

    Parameters
    ----------
    learner : what is boosted: "linear", "stumps", "net", "tree", a learner of `anyboost.online`, a River regressor,
        or a scikit-learn regressor with `partial_fit`.
    n_learners : how many of them.
    loss : any row-wise convex loss of the library for numbers, or its name ("absolute", "quantile:0.9").
    algorithm : "span" (Algorithm 1 of Beygelzimer et al., its step is `step`) or "hull" (Algorithm 2).
    mode : "greedy" fits what earlier learners left over, "linear" the slope of the loss.
    output_bound, label_bound : D and Y of the theorems; None follows the labels.
    forget : share by which the past fades with each example; 0 keeps all.
    drift : a River drift detector; learners start anew where it finds that their loss has risen.
    hash_bits : hash named features into 2**hash_bits columns; None gives every name a column.
    max_iter : passes that `fit` makes; `partial_fit` and `learn_one` make one.
    """

    def _begin(self) -> None:
        self.loss_ = self._checked_loss()
        self.booster_ = self._new_booster(self.loss_)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows in their order, starting anew."""
        self._restart()
        X, y = self._checked_table(X, y, reset=True, y_numeric=True)
        self._begin()
        for _ in range(self.max_iter):
            self.booster_.partial_fit(X, y)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, on top of what was learnt before."""
        first = not self._started()
        if first:
            self.check_parameters()
        X, y = self._checked_table(X, y, reset=first, y_numeric=True)
        if first:
            self._begin()
        self.booster_.partial_fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The prediction of each row."""
        check_is_fitted(self)
        return self.loss_.link(self.booster_.predict(self._checked_table(X)))

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The prediction for one dict of features; that of a score of 0 before the first example."""
        return self.loss_.link(self._score_one(x)).item() if self._started() else self._blank().item()

    def predict_many(self, X: Any) -> Any:
        """The prediction of each row of a data frame or list of dicts."""
        self._named()
        return frames.like_rows(X, self.loss_.link(self._score_many(X)), "prediction")

    def regret(self) -> Regret:
        """Cumulative losses: of the model's answers, of one learner, of the best constant, of the best prefix."""
        check_is_fitted(self)
        return self.booster_.regret()

    def observe(self, X: Any, y: Any, sample_weight: Any = None, learn: bool = True) -> Seen:
        """Score named examples and then learn from them: one step of progressive validation."""
        y = np.asarray(y, dtype=np.float64)
        if learn:
            rows, scores = self._learn_named(X, y, sample_weight)
        else:
            features = self._named()
            rows = frames.encode(features, X, False)
            scores = self._score_rows(matrix(rows, features.width))
        return Seen(self.loss_.link(scores), self.loss_.values(scores, y), np.diff(rows.starts))
