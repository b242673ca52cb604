"""Classes as losses take them: labels of any kind to numbers, and the weights that classes have."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from anyboost import checks
from anyboost.estimators import parameters
from anyboost.estimators.rows import Targets
from anyboost.losses import Loss
from anyboost.losses.leaves import Leaves
from anyboost.tables.column import is_missing
from anyboost.trees.parts import alone, distinct

_settled: ContextVar[bool] = ContextVar("settled", default=False)


@contextmanager
def settled() -> Iterator[None]:
    """Within it labels are numbers of classes, and nobody warns that so many might be something else.

    Unlike a filter of warnings it holds in its own thread only.
    """
    token = _settled.set(True)
    try:
        yield
    finally:
        _settled.reset(token)


def targets_of(spec: Any, class_weight: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
    """The loss that is asked for, and labels as it takes them; weights by class as factors."""
    labels = column_or_1d(y, warn=True)
    checks.no_dates(labels, checks.CLASSES_OF_DATES)
    if labels.dtype.kind == "f":
        checks.finite(labels, "y")
    try:
        if (len(labels) or alone()) and not _settled.get():
            _check_classes(labels)
        classes, codes = distinct(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"y mixes labels of the types {', '.join(kinds)}: use one, and drop missing ones"
        ) from None
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {np.asarray(classes).tolist()[0]!r}: give rows of at least two classes"
        )
    loss = parameters.find_loss(spec, "logistic" if len(classes) == 2 else "softmax")
    _check_loss(loss, len(classes))

    def number(codes: np.ndarray) -> np.ndarray:
        return codes.astype(np.int64) if loss.domain.classes else 2.0 * codes - 1.0

    def encode(values: Any) -> np.ndarray:
        return number(codes_of(column_or_1d(np.asarray(values), warn=True), classes))

    by_class = _factors(class_weight, classes, codes, sample_weight)

    def factors(y: np.ndarray) -> np.ndarray:
        assert by_class is not None
        return by_class[y if loss.domain.classes else (y > 0).astype(np.intp)]

    return Targets(
        loss,
        number(codes),
        encode,
        None if by_class is None else factors,
        {"classes_": classes, "calibration_": None},
    )


def _check_classes(labels: np.ndarray) -> None:
    """scikit-learn's check, and its word for what is no class, with where that stands and what to do."""
    try:
        check_classification_targets(labels)
    except ValueError as refused:
        for row, label in enumerate(labels.tolist()):
            if is_missing(label):
                raise ValueError(
                    f"y has no label at row {row}: drop rows without one, or give them a class of their own"
                ) from None
        said = str(refused).split(". ")[0]
        if labels.dtype.kind != "f":
            raise
        row = int(np.argmax(labels != np.round(labels)))
        raise ValueError(
            f"{said}: y holds {labels[row]:g} at row {row}, and classes are words or whole numbers; numbers are "
            "predicted by BoostingRegressor"
        ) from None


def _factors(
    given: Any, classes: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
) -> np.ndarray | None:
    if given is None:
        return None
    if isinstance(given, str):
        checks.choice(given, "class_weight", ("balanced",))
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight
        mass = Leaves(codes, len(classes), weights).masses()  # in any order of the rows
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


def codes_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of each label's class."""
    number = {label: code for code, label in enumerate(classes.tolist())}
    unseen = next((label for label in labels.tolist() if label not in number), None)
    if unseen is not None:
        raise ValueError(f"y has the class {unseen!r}, which the training rows have not: drop its rows")
    return np.array([number[label] for label in labels.tolist()], dtype=np.intp)
