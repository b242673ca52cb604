"""Boosting of classes: any labels, two of them or many."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from anyboost import checks, keywords, tables
from anyboost.estimators import parameters
from anyboost.estimators.base import GroupedBoosting, shared
from anyboost.estimators.rows import Targets
from anyboost.losses import Loss


def _gives_probabilities(estimator: "BoostingClassifier") -> bool:
    loss = getattr(estimator, "loss_", None)
    if loss is None:
        try:
            loss = parameters.find_loss(estimator.loss, "logistic")
        except (ValueError, TypeError):
            return True  # `fit` will say what is wrong
    link = getattr(getattr(loss, "loss", loss), "link_", None)
    return link is not None and link.probabilities is not None


class _OfProbabilities:
    """A method of losses that give probabilities; others do not have it, and say what does.

    scikit-learn's `available_if` has one sentence for all refusals, and it does not say what to do.
    """

    def __init__(self, method: Any) -> None:
        self.method = method

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.method
        if not _gives_probabilities(model):
            raise AttributeError(
                f"{self.method.__name__} needs probabilities, which the loss {getattr(model, 'loss_', model.loss)} "
                "does not give: use loss='logistic', or sklearn.calibration.CalibratedClassifierCV around the model"
            )
        return self.method.__get__(model, owner)


class BoostingClassifier(ClassifierMixin, GroupedBoosting):
    """Boosted trees, or any other weak learner, for any convex loss of classes.

    Parameters are those of `BoostingRegressor`, without `quantile`, but for

    loss : "auto" is "logistic" for two classes and "softmax" for more. Also "hinge", "squared_hinge", "exponential",
        "multiclass_hinge" and losses built on these; "log_loss" and "cross_entropy" are "auto", "binary" and
        "multiclass" are "logistic" and "softmax".
    class_weight : mapping from classes to weights, "balanced" or None, default None
        Times the sample weights. "balanced" gives every class the same total weight.

    Attributes are those of `BoostingRegressor`, and `classes_`: the labels of rows of positive weight, sorted.
    """

    @keywords.explained
    def __init__(
        self,
        loss: Any = "auto",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_leaf_weight: float = 5.0,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = tables.FROM_DTYPE,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        outputs: str = "auto",
        leaf: str = "auto",
        memory: Any = "auto",
        curvature: bool | str = "auto",
        learner: Any = None,
        descent: Any = None,
        init: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(**shared(locals()))
        self.class_weight = class_weight

    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """The class of each row."""
        return self._labels(self._raw(X, offset))

    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """The class of each row after each round."""
        return (self._labels(scores) for scores in self._staged_raw(X, offset))

    def decision_function(self, X: Any, offset: Any = None) -> np.ndarray:
        """Raw scores: (n,) for two classes, positive for the second; (n, classes) for more."""
        return self._decisions(self._raw(X, offset))

    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """Raw scores after each round."""
        return (self._decisions(scores) for scores in self._staged_raw(X, offset))

    @_OfProbabilities
    def predict_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """The probability of each class, (n, classes)."""
        return self._probabilities(self._raw(X, offset))

    @_OfProbabilities
    def predict_log_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """The logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset))

    @_OfProbabilities
    def staged_predict_proba(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """The probability of each class after each round."""
        return (self._probabilities(scores) for scores in self._staged_raw(X, offset))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[codes]

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return self.loss_.probabilities(scores)

    def _targets(self, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            checks.finite(labels, "y")
        try:
            check_classification_targets(labels)
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in labels.tolist()})
            raise ValueError(
                f"y mixes labels of the types {', '.join(kinds)}: use one, and drop missing ones"
            ) from None
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {np.asarray(classes).tolist()[0]!r}: give rows of at least two classes"
            )
        loss = parameters.find_loss(self.loss, "logistic" if len(classes) == 2 else "softmax")
        _check_loss(loss, len(classes))

        def number(codes: np.ndarray) -> np.ndarray:
            return codes.astype(np.int64) if loss.domain.classes else 2.0 * codes - 1.0

        def encode(values: Any) -> np.ndarray:
            return number(_codes(column_or_1d(np.asarray(values), warn=True), classes))

        by_class = self._class_factors(classes, codes, sample_weight)

        def factors(y: np.ndarray) -> np.ndarray:
            assert by_class is not None
            return by_class[y if loss.domain.classes else (y > 0).astype(np.intp)]

        return Targets(
            loss, number(codes), encode, None if by_class is None else factors, {"classes_": classes}
        )

    def _class_factors(
        self, classes: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
    ) -> np.ndarray | None:
        given = self.class_weight
        if given is None:
            return None
        if isinstance(given, str):
            checks.choice(given, "class_weight", ("balanced",))
            mass = np.bincount(codes, sample_weight, minlength=len(classes)).astype(np.float64)
            return mass.sum() / (len(classes) * mass)
        if not isinstance(given, Mapping):
            raise ValueError(f'class_weight must be a mapping, "balanced" or None, got {given!r}')
        factors = np.ones(len(classes))
        known = classes.tolist()
        for label, weight in given.items():
            if label not in known:
                raise ValueError(
                    f"class_weight has the class {label!r}, which y has not: its classes are {known}"[:240]
                )
            factors[known.index(label)] = checks.positive(weight, f"class_weight of {label!r}")
        return factors

    def _strata(self, y: np.ndarray) -> np.ndarray | None:
        return y


def _check_loss(loss: Loss, n_classes: int) -> None:
    if loss.domain.classes:
        return
    two = np.array([-1.0, 1.0])
    if loss.vector or not loss.domain.contains(two).all():
        raise ValueError(f"loss {loss} is not one of classes: use logistic or softmax, or BoostingRegressor")
    if loss.domain.contains(np.array([0.5])).all():
        raise ValueError(
            f"loss {loss} is one of numbers: use logistic, hinge or softmax, or BoostingRegressor"
        )
    if n_classes > 2:
        raise ValueError(
            f"loss {loss} is for two classes, and y has {n_classes}: use softmax or multiclass_hinge"
        )


def _codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of each label's class."""
    number = {label: code for code, label in enumerate(classes.tolist())}
    unseen = next((label for label in labels.tolist() if label not in number), None)
    if unseen is not None:
        raise ValueError(f"y has the class {unseen!r}, which the training rows have not: drop its rows")
    return np.array([number[label] for label in labels.tolist()])
