"""The online classifier. Two classes are one booster; more are one a class against the rest, so that classes may come
at any time:

    loss of a row = mean over classes c of l(f_c(x), +1 if y = c else -1),      P(c) = p(f_c) / sum_j p(f_j)

With two classes f_0 = -f_1, and this is the loss of f_1. A loss of several scores (softmax, multiclass hinge) is one
booster with a score a class, and has to know all classes from the start.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from anyboost import losses
from anyboost.fitted import from_one_fit
from anyboost.online import dataframes
from anyboost.online.arrays import Given
from anyboost.online.classes import StreamClasses, labels_of, plain
from anyboost.online.drift import Guard
from anyboost.online.estimators import OnlineBoosting, Seen
from anyboost.online.one_vs_rest import Member, OneForAll, OneVsRest
from anyboost.online.regret import Regret
from anyboost.online.river import register
from anyboost.online.rows import Table, one_row
from anyboost.online.rows import weights as checked_weights


def _has_probabilities(model: ChainClassifier) -> bool:
    loss = losses.get(model._usual_loss if model.loss is None else model.loss)
    return isinstance(loss, losses.RowwiseLoss) and loss.link_.probabilities is not None


class ChainClassifier(ClassifierMixin, StreamClasses, OnlineBoosting):
    """Online gradient boosting of classes: `partial_fit` on arrays, `learn_one` on dicts of features.

    Parameters
    ----------
    learner : str, learner or estimator, default "linear"
        What is boosted: "linear", "stumps", "net", "tree", a learner of `anyboost.online`, a River regressor, or a
        scikit-learn regressor with `partial_fit`.
    n_learners : int, default 20
        How many of them.
    loss : str, Loss or None, default None
        "logistic" (None), "squared_hinge", "exponential" or "hinge" (more than two classes: one booster a class, and
        new classes may come at any time), "softmax" or "multiclass_hinge" (one booster for all classes, which the first
        call of `partial_fit` has to be given).
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
    classes_ : ndarray
        The classes, in the order of scores.
    codes_ : dict
        The place of each class.
    open_ : bool
        Whether classes that were not named may come.
    loss_ : Loss
        The loss.
    boosters_ : object
        A chain a class, or one for all.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> from anyboost.online.classifier import ChainClassifier
    >>> model = ChainClassifier()
    >>> for i in range(200):
    ...     model.learn_one({"x": i % 10}, "high" if i % 10 > 4 else "low")
    >>> model.predict_one({"x": 8})
    'high'
    """

    classifies = True
    _usual_loss = "logistic"

    def _begin(self) -> None:
        self.loss_ = self._checked_loss()
        self.boosters_ = (OneForAll if self.loss_.vector else OneVsRest)(self._new_member, self.loss_)
        self.classes_, self.codes_, self.open_ = np.array([]), {}, True

    def _own_members(self) -> None:
        if isinstance(self.boosters_, OneVsRest | OneForAll):
            self.boosters_.make = self._new_member

    def _new_member(self, outputs: int | None) -> Member:
        booster = self._new_booster(self._checked_loss(), outputs)
        return Member(booster, None if self.drift is None else Guard(booster, self.drift))

    def _meet(self, y: np.ndarray) -> None:
        self._know(np.unique(y).tolist(), more=False)

    def _table_and_targets(self, X: Any, y: Any, reset: bool) -> tuple[Given, np.ndarray]:
        rows, y = super()._table_and_targets(X, y, reset)
        with warnings.catch_warnings():  # that half of the rows of a portion differ says nothing of a stream
            warnings.filterwarnings("ignore", "The number of unique classes")
            check_classification_targets(y)
        return rows, y

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the rows in their order, on top of what was learnt before.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.
        y : array_like (n,)
            Their targets.
        classes : array_like or None, default None
            All that may come, at the first call; without it, classes are taken as they come.
        sample_weight : array_like (n,) or None, default None
            Their weights.

        Returns
        -------
        ChainClassifier
            Itself.
        """
        first, rows, y = self._begun(X, y)
        known = None if classes is None else np.unique(column_or_1d(classes)).tolist()
        if first and known is not None:
            self._know(known, more=False)
        elif known is not None and set(known) != set(self.codes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()}, got {known}: leave them out"
            )
        elif first:
            self._know(np.unique(y).tolist(), more=not self.loss_.vector)
        self._learn_given(rows, y, sample_weight)
        return self

    @from_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: for two classes one a row, above 0 for the second.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.

        Returns
        -------
        ndarray (n,) or (n, k)
            The scores.
        """
        check_is_fitted(self)
        scores = self.boosters_.scores(self._table(X))
        return scores[:, 1] if len(self.classes_) == 2 else scores

    @from_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.

        Returns
        -------
        ndarray (n,)
            The classes.
        """
        check_is_fitted(self)
        return self.classes_[self.boosters_.scores(self._table(X)).argmax(axis=1)]

    @available_if(_has_probabilities)
    @from_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame (n, d)
            The rows.

        Returns
        -------
        ndarray (n, k)
            The probabilities.
        """
        check_is_fitted(self)
        return self.boosters_.probabilities(self.boosters_.scores(self._table(X)))

    def predict_one(self, x: Mapping[Any, Any], **_: Any) -> Any:
        """The class of one dict of features.

        Parameters
        ----------
        x : mapping
            Names and values of features.

        Returns
        -------
        object
            The class; None before the first example.
        """
        scores = self._score_one(x)
        return plain(self.classes_[scores.argmax()]) if len(scores) else None

    def predict_proba_one(self, x: Mapping[Any, Any], **_: Any) -> dict[Any, float]:
        """The probability of each class seen so far.

        Parameters
        ----------
        x : mapping
            Names and values of features.

        Returns
        -------
        dict
            The probabilities, by class.
        """
        if not _has_probabilities(self):
            raise NotImplementedError(
                f"the loss {self._checked_loss()} gives no probabilities: use logistic or softmax"
            )
        scores = self._score_one(x)
        if not len(scores):
            return {}
        chances = self.boosters_.probabilities(scores[None])[0]
        return dict(zip(self.codes_, chances.tolist(), strict=True))

    def predict_many(self, X: Any) -> Any:
        """The class of each row of a data frame or list of dicts.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.

        Returns
        -------
        Series or ndarray
            The classes: a series where X is a data frame.
        """
        return dataframes.like_rows(X, self._best(self._score_many(X)), "prediction")

    @available_if(_has_probabilities)
    def predict_proba_many(self, X: Any) -> Any:
        """The probability of each class, a column each, for a data frame or list of dicts.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.

        Returns
        -------
        data frame
            The probabilities.
        """
        scores = self._score_many(X)
        chances = self.boosters_.probabilities(scores) if self.codes_ else scores
        return dataframes.like_frame(X, {label: chances[:, code] for label, code in self.codes_.items()})

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
        labels = labels_of(y)
        if not labels.size:
            raise ValueError("y is empty: give at least one row")
        rows, said = self._encoded(X, labels, sample_weight, learn)
        if not learn:
            codes = np.array([self.codes_.get(label, -1) for label in labels.tolist()])
            said = self._best(said), self.boosters_.losses(said, codes)
        predictions, losses = said
        return Seen(predictions, losses, np.diff(rows.starts))

    def _best(self, scores: np.ndarray) -> np.ndarray:
        """The class of the largest score; None where there is no class yet."""
        return self.classes_[scores.argmax(axis=1)] if scores.shape[1] else np.full(len(scores), None)

    def regret(self) -> Regret:
        """Cumulative losses: of the model's answers, of one learner, of the best constant, of the best prefix.

        Returns
        -------
        Regret
            The losses.
        """
        check_is_fitted(self)
        return self.boosters_.regret()

    def _labels(self, y: Any) -> np.ndarray:
        return labels_of(y)

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        if y.shape != (n_rows,):
            raise ValueError(f"y must have one class a row, got shape {y.shape} for {n_rows} rows")
        checked_weights(w, n_rows)
        self._check_new(y.tolist())

    def _joined(self, said: list[Any]) -> Any:
        return _joined([part[0] for part in said]), np.concatenate([part[1] for part in said])

    def _rows_begun(self) -> int:
        return self.boosters_._rows_begun()

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> None:
        try:
            code = self.codes_.get(y)
        except TypeError:  # cannot be looked up: refused below
            code = None
        if code is not None:
            self.boosters_.learn_row(columns, values, width, code, w)
        else:
            self._learn_rows(one_row(columns, values, width), labels_of([y]), [w])

    def _learn_rows(self, rows: Table, y: np.ndarray, w: Any) -> tuple[np.ndarray, np.ndarray]:
        """Learn rows in order; returns predictions and losses from before each.

        A class's booster begins at the class's first row, as it does in a loop: rows before that are learnt apart.
        """
        labels = y.tolist()
        weights = checked_weights(w, len(labels))  # all is checked before the first row is learnt
        new = self._check_new(labels)
        begins = sorted({0, *map(labels.index, new)})
        predictions, losses = [], []
        for begin, end in zip(begins, [*begins[1:], len(labels)], strict=True):
            known = len(self.codes_)
            if labels[begin] not in self.codes_:
                self._know([labels[begin]], more=True)
            codes = np.array([self.codes_[label] for label in labels[begin:end]], dtype=np.int64)
            scores = self.boosters_.learn_rows(rows.part(slice(begin, end)), codes, weights[begin:end])
            losses.append(self.boosters_.losses(scores, codes))
            # The first row of a new class was not to be foreseen.
            predictions += [self._best(scores[:1, :known]), self._best(scores[1:])]
        kinds = {part.dtype for part in predictions if len(part)}
        return np.concatenate(
            [part.astype(object) if len(kinds) > 1 else part for part in predictions]
        ), np.concatenate(losses)

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        return self.boosters_.scores_row(columns, values, width)

    def _score_rows(self, rows: Table) -> Any:
        return self.boosters_.scores(rows)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Labels one after another; their own type, unless there are several."""
    filled = [part for part in parts if len(part)]
    if len({part.dtype.kind for part in filled}) > 1:
        filled = [part.astype(object) for part in filled]
    return np.concatenate(filled)


register("MiniBatchClassifier", ChainClassifier)
