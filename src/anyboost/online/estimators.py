"""Online boosting with the faces people know: scikit-learn's `partial_fit` on arrays, River's `learn_one` on dicts.

Both feed the same booster, row by row in order: a batch gives exactly the model of the loop, in either face.
`OnlineBoosting` has what the regressor and the classifier share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from anyboost import checks, losses
from anyboost.fitted import fit_apart, from_one_fit
from anyboost.losses import RowwiseLoss, domains
from anyboost.online import dataframes
from anyboost.online.algorithms import HullBooster, SpanBooster
from anyboost.online.arrays import ArrayFront, Given
from anyboost.online.booster import OnlineBooster
from anyboost.online.drift import Guard
from anyboost.online.features import Features
from anyboost.online.front import NamedFront, check_targets
from anyboost.online.regret import Regret
from anyboost.online.river import RiverFace, register
from anyboost.online.rows import Table

ALGORITHMS = ("span", "hull")


class Seen(NamedTuple):
    """What `observe` says of each example, as it was before the example was learnt."""

    predictions: np.ndarray
    losses: np.ndarray
    features: np.ndarray  # how many features each had


class OnlineBoosting(NamedFront, ArrayFront, BaseEstimator, RiverFace):
    """What the regressor and the classifier share: parameters, and the two kinds of input."""

    classifies = False
    _usual_loss = "squared"
    offset_step: float | None = None  # of models that an earlier version has pickled
    _stream: dict[str, Any] | None = None  # where `anyboost stream` stopped; kept in the model file

    def __init__(
        self,
        learner: Any = "linear",
        n_learners: int = 20,
        loss: Any = None,
        algorithm: str = "span",
        step: float | None = None,
        mode: str = "greedy",
        output_bound: float | None = None,
        label_bound: float | None = None,
        prefix: str = "best",
        forget: float = 0.0,
        drift: Any = None,
        hash_bits: int | None = None,
        max_iter: int = 1,
        random_state: int = 0,
        offset_step: float | None = None,
    ) -> None:
        self.learner = learner
        self.n_learners = n_learners
        self.loss = loss
        self.algorithm = algorithm
        self.step = step
        self.mode = mode
        self.output_bound = output_bound
        self.label_bound = label_bound
        self.prefix = prefix
        self.forget = forget
        self.drift = drift
        self.hash_bits = hash_bits
        self.max_iter = max_iter
        self.random_state = random_state
        self.offset_step = offset_step

    def check_parameters(self) -> None:
        """Refuse wrong parameters in a sentence, before any data are seen."""
        booster = self._new_booster(self._checked_loss(), outputs=None)
        if self.drift is not None:
            Guard(booster, self.drift)
        Features(self.hash_bits)
        checks.count(self.max_iter, "max_iter", 1)

    def _checked_loss(self) -> RowwiseLoss:
        """The loss, if it is one of rows and of the right targets."""
        loss = losses.get(self._usual_loss if self.loss is None else self.loss)
        if not isinstance(loss, RowwiseLoss):
            raise ValueError(f"loss {loss} couples rows, which come one by one here: use a row-wise one")
        classes = loss.domain.classes or loss.domain is domains.SIGNS
        if classes != self.classifies:
            instead = "OnlineBoostingClassifier" if classes else "OnlineBoostingRegressor"
            raise ValueError(f"loss {loss} is for {'classes' if classes else 'numbers'}: use {instead}")
        return loss

    def _new_booster(self, loss: RowwiseLoss, outputs: int | None) -> OnlineBooster:
        options: dict[str, Any] = {
            "n_learners": self.n_learners,
            "loss": loss,
            "mode": self.mode,
            "offset_step": self.offset_step,
            "output_bound": self.output_bound,
            "label_bound": self.label_bound,
            "prefix": self.prefix,
            "forget": self.forget,
            "outputs": outputs,
            "random_state": self.random_state,
        }
        if checks.choice(self.algorithm, "algorithm", ALGORITHMS) == "span":
            return SpanBooster(self.learner, step=self.step, **options)
        if self.step is not None:
            raise ValueError(f"step belongs to 'span', got {self.step} with algorithm 'hull': leave it out")
        return HullBooster(self.learner, **options)

    def _begin(self) -> None:
        """Set up what learning needs; parameters are known to be right."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return "loss_" in self.__dict__

    def _restart(self) -> None:
        """Forget all that was learnt."""
        for name in [name for name in self.__dict__ if name.endswith("_") or name == "_stream"]:
            del self.__dict__[name]
        self.check_parameters()

    def _named(self) -> Features:
        """The columns of named features: begun here, or taken over from the data frames of `partial_fit`."""
        features: Features | None = self.__dict__.get("features_")
        if features is not None:
            return features
        if not self.__sklearn_is_fitted__():
            self.check_parameters()
            self.features_ = Features(self.hash_bits)
            self._begin()
        elif hasattr(self, "feature_names_in_"):
            self.features_ = Features.of(self.feature_names_in_.tolist())
        else:
            raise ValueError(
                "this model has learnt from arrays, whose columns have no names: use partial_fit and predict"
            )
        return self.features_

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows in their order, starting anew.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.
        y : array_like (n,)
            Their targets.

        Returns
        -------
        OnlineBoosting
            Itself.
        """
        self._fit_anew(X, y)
        self._own_members()
        return self

    @fit_apart
    def _fit_anew(self, X: Any, y: Any) -> None:
        self._restart()
        rows, y = self._table_and_targets(X, y, reset=True)
        self._begin_with(rows)
        self._meet(y)
        for _ in range(self.max_iter):
            self._learn_given(rows, y, None)
        self.n_iter_ = self.max_iter

    def _own_members(self) -> None:
        """After a fit, which another object has made: have boosters of later classes made by this one."""

    def _begun(self, X: Any, y: Any) -> tuple[bool, Given, np.ndarray]:
        """Whether the rows are the first, and the rows; the model has begun then."""
        first = not self.__sklearn_is_fitted__()
        if first:
            self.check_parameters()
        rows, y = self._table_and_targets(X, y, reset=first)
        if first:
            self._begin_with(rows)
        return first, rows, y

    def _meet(self, y: np.ndarray) -> None:
        """Before the rows of `fit` are learnt: what has to be known of their targets."""

    def _encoded(self, X: Any, y: Any, w: Any, learn: bool) -> tuple[Table, Any]:
        """Named examples, scored and, where `learn`, learnt."""
        if learn:
            return self._learn_named(X, y, w)
        rows = dataframes.encode(self._named(), X, False)
        return rows, self._score_rows(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        try:
            tags.input_tags.allow_nan = self._takes_missing()
        except (TypeError, ValueError):  # parameters that are wrong are refused where the model begins
            tags.input_tags.allow_nan = False
        return tags


class ChainRegressor(RegressorMixin, OnlineBoosting):
    """Online gradient boosting of numbers: `partial_fit` on arrays, `learn_one` on dicts of features.

    Parameters
    ----------
    learner : str, learner or estimator, default "linear"
        What is boosted: "linear", "stumps", "net", "tree", a learner of `anyboost.online`, a River regressor, or a
        scikit-learn regressor with `partial_fit`.
    n_learners : int, default 20
        How many of them.
    loss : str, Loss or None, default None
        Any row-wise convex loss of the library for numbers, or its name ("absolute", "quantile:0.9"); None: "squared".
    algorithm : {"span", "hull"}, default "span"
        Algorithm 1 of Beygelzimer et al., or Algorithm 2.
    step : float or None, default None
        The step of "span"; None: 0.2, or 1/n_learners where that is more.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy" fits what earlier learners leave over once they have learned the row, "offset" what they left over
        before (the paper's supplement C.1), "linear" the slope of the loss.
    output_bound : float or None, default None
        D of the theorems; None follows the labels.
    label_bound : float or None, default None
        Y of the theorems; None follows the labels.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        The share by which the past fades with each example; 0 keeps all.
    drift : drift detector or None, default None
        One of River's; learners begin again where it finds that their loss has risen.
    hash_bits : int or None, default None
        Hash named features into 2**hash_bits columns; None gives every name a column.
    max_iter : int, default 1
        Passes that `fit` makes; `partial_fit` and `learn_one` make one.
    random_state : int, default 0
        Seed of learners that begin at random.
    offset_step : float or None, default None
        The step that learners of mode "offset" reckon with; None: the smallest step of the chain.

    Attributes
    ----------
    loss_ : Loss
        The loss.
    booster_ : OnlineBooster
        The chain.
    guard_ : object or None
        What watches for drift.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> from anyboost.online.estimators import ChainRegressor
    >>> model = ChainRegressor()
    >>> for i in range(200):
    ...     model.learn_one({"x": i % 10, "kind": "a"}, 2.0 * (i % 10))
    >>> round(model.predict_one({"x": 4, "kind": "a"}))
    8
    """

    def _begin(self) -> None:
        self.loss_ = self._checked_loss()
        self.booster_ = self._new_booster(self.loss_, outputs=None)
        self.guard_ = None if self.drift is None else Guard(self.booster_, self.drift)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, on top of what was learnt before.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.
        y : array_like (n,)
            Their targets.
        sample_weight : array_like (n,) or None, default None
            Their weights.

        Returns
        -------
        ChainRegressor
            Itself.
        """
        _, rows, y = self._begun(X, y)
        self._learn_given(rows, y, sample_weight)
        return self

    @from_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The prediction of each row.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.

        Returns
        -------
        ndarray (n,)
            The predictions.
        """
        check_is_fitted(self)
        return self.loss_.link(self.booster_._score_rows(self._table(X)))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The prediction for one dict of features; before the first example, that of the score 0.

        Parameters
        ----------
        x : mapping
            Names and values of features.

        Returns
        -------
        float
            The prediction.
        """
        self._named()
        prediction = self.loss_.link(self._score_one(x))
        return prediction.item() if prediction.ndim == 0 else prediction

    def predict_many(self, X: Any) -> Any:
        """The prediction of each row of a data frame or list of dicts.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.

        Returns
        -------
        Series or ndarray
            The predictions: a series where X is a data frame.
        """
        self._named()
        predictions = self.loss_.link(self._score_many(X))
        return dataframes.like_rows(X, predictions, "prediction") if predictions.ndim == 1 else predictions

    def observe(self, X: Any, y: Any, sample_weight: Any = None, learn: bool = True) -> Seen:
        """Score named examples and then learn from them: one step of progressive validation.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.
        y : array_like (n,)
            Their targets.
        sample_weight : array_like (n,) or None, default None
            Their weights.
        learn : bool, default True
            Whether to learn from them.

        Returns
        -------
        Seen
            Predictions and losses from before, and how many features each row has.
        """
        self._named()
        targets = self.loss_.check(y)
        rows, scores = self._encoded(X, targets, sample_weight, learn)
        return Seen(self.loss_.link(scores), self.loss_.values(scores, targets), np.diff(rows.starts))

    def regret(self) -> Regret:
        """Cumulative losses: of the model's answers, of one learner, of the best constant, of the best prefix.

        Returns
        -------
        Regret
            The losses.
        """
        check_is_fitted(self)
        return self.booster_.regret()

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        check_targets(self.loss_, y, w, n_rows)

    def _rows_begun(self) -> int:
        return self.booster_._rows_begun()

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        return (self.guard_ or self.booster_)._learn_row(columns, values, width, y, w)

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> Any:
        return (self.guard_ or self.booster_)._learn_rows(rows, y, w)

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        return self.booster_._score_row(columns, values, width)

    def _score_rows(self, rows: Table) -> Any:
        return self.booster_._score_rows(rows)


register("MiniBatchRegressor", ChainRegressor)
