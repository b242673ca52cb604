"""The part of a file that is a fitted estimator: its sum, its loss, its columns, its classes, its parameters.

What only training needs is not stored: callbacks, a scorer that is a function, the state behind `warm_start`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import estimators
from anyboost.ensemble import Ensemble
from anyboost.estimators import measures
from anyboost.estimators import parameters as rules
from anyboost.estimators.base import BaseBoosting
from anyboost.estimators.dials import Dials
from anyboost.estimators.encoding import Encoding
from anyboost.estimators.intervals import levels_of
from anyboost.files import calibrations, certificates, columns, ensembles, history, labels, parameters, parts
from anyboost.files.codec import Place, Record, plain
from anyboost.files.fields import Fault, Fields, items, known, make, optional, refusal, refuse, row, text
from anyboost.files.tensors import POSITIVE, Floats, Packed, entries
from anyboost.losses import Cox, Loss, MultiQuantile

CLASSES = {
    cls.__name__: cls
    for cls in (estimators.BoostingClassifier, estimators.BoostingRanker, estimators.BoostingRegressor)
}
_OF_STEPS = ("gradient_norm", "edge", "step_size", "coefficient")
_TRAINING = Record("train.", scores=Place(Floats("scores", what="training losses"), "train_score_"))
_VALIDATION = Record(
    "validation.",
    scores=Floats("names", "scores", nan=True),
    decides=Place(Floats("scores", nan=True), "validation_score_"),
)
_SURVIVAL = Record(
    "event.",
    times=Place(Floats("events", rise=POSITIVE, what="times"), "event_times_"),
    hazard=Place(Floats("events", least=0.0, rise=0.0, what="hazards"), "baseline_hazard_"),
)


def pack(model: BaseBoosting) -> Packed:
    """Entries and tensors of a fitted estimator."""
    check_is_fitted(model)
    if getattr(model, "init_", None) is not None:
        raise ValueError("model cannot be saved: it starts at the predictions of another estimator, its init")
    scores = getattr(model, "validation_scores_", {})
    validation = [[name, scoring] for name, found in scores.items() for scoring in found]
    found = entries(estimator=type(model).__name__) | ensembles.pack(model.ensemble_).within("ensemble")
    found |= entries(loss=parts.LOSSES.encode(model.loss_), parameters=parameters.pack(model))
    found |= columns.pack(model).within("columns") | entries(
        classes=labels.pack_classes(model.classes_) if hasattr(model, "classes_") else None,
        best_iteration=int(model.best_iteration_),
        validation=validation,
    )
    found |= history.pack(model.steps_, _OF_STEPS) | _TRAINING.pack(model)
    if validation:
        rows = [scores[name][scoring] for name, scoring in validation]
        found |= _VALIDATION.pack(model, scores=rows)
    if isinstance(model.loss_, Cox):
        found |= _SURVIVAL.pack(model)
    for name, part in _pack_later(model):
        found |= part.within(name)
    return found


def _pack_later(model: BaseBoosting) -> Iterator[tuple[str, Packed]]:
    """What not every model has, nor any of an older file."""
    if model._encoding.values:
        yield "encoding", columns.pack_encoding(model._encoding, model._columns)
    if model._certificate is not None:
        yield "certificate", certificates.pack(model._certificate)
    if getattr(model, "conformal_", None) is not None:
        yield "conformal", calibrations.pack_ranks(model.conformal_)
    if getattr(model, "calibration_", None) is not None:
        yield "calibration", calibrations.pack(model.calibration_)
    if model._known():  # trees of many columns ask for none
        yield "marginals", columns.pack_marginals(model._known())
    if hasattr(model, "dials_"):
        yield "dials", entries(**{name: plain(value) for name, value in model.dials_.items()})


def unpack(part: Fields, loss: Any = None) -> BaseBoosting:
    """The estimator; a Fault unless all it predicts with fits together."""
    cls = part.take("estimator", known(CLASSES, "its estimator is"))
    loss = parts.loss_of(part.take("loss", parts.LOSSES), loss)
    values = part.part("parameters", parameters.unpack, cls)
    ensemble: Ensemble = part.part("ensemble", ensembles.unpack)
    n_features, outputs = ensemble.n_features, ensemble.outputs
    encoding, encoded = part.part("encoding", columns.unpack_encoding, n_features, later=True) or (
        Encoding(n_features),
        {},
    )
    fitted = {"loss_": loss, "ensemble_": ensemble, "_encoding": encoding, "n_features_in_": encoding.n}
    fitted |= part.part("columns", columns.unpack, encoding.n, encoded)
    _check_outputs(loss, outputs)
    fitted |= _unpack_rounds(part, ensemble.n_rounds)
    if isinstance(loss, Cox):
        fitted |= _SURVIVAL.take(part)
    fitted["_certificate"] = part.part("certificate", certificates.unpack, fitted["n_iter_"], later=True)
    classes = part.take("classes", optional(labels.classes()))
    if (classes is not None) != (cls is estimators.BoostingClassifier):
        raise refusal("classes")
    if classes is not None:
        refuse(len(classes) != max(2, outputs), "it has not as many classes as outputs")
        fitted["classes_"] = classes
        fitted["calibration_"] = part.part("calibration", calibrations.unpack, len(classes), later=True)
    elif cls is estimators.BoostingRegressor:
        levels = levels_of(loss) or ()
        fitted["conformal_"] = part.part("conformal", calibrations.unpack_ranks, levels, later=True)
    if part.has("marginals"):
        fitted["_marginals"] = part.part(
            "marginals", columns.unpack_marginals, fitted["_columns"], n_features
        )
    if part.has("dials"):
        fitted["dials_"] = part.part("dials", _unpack_dials)
    model = cls(**values)
    make(rules.check, {"estimator": model})
    make(measures.check_scoring, {"scoring": model.scoring})
    model.__dict__.update(fitted | {"_continuation": None})
    return model


def _unpack_dials(part: Fields) -> dict[str, Any]:
    return {name: part.take(name, parameters.simple) for name in Dials._fields if part.has(name)}


def _check_outputs(loss: Loss, outputs: int) -> None:
    if isinstance(loss, parts.AbsentLoss):
        return
    if loss.vector != (outputs > 1) or (isinstance(loss, MultiQuantile) and len(loss.taus) != outputs):
        raise Fault("its loss has another number of outputs than its sum")


def _unpack_rounds(part: Fields, kept: int) -> dict[str, Any]:
    rounds = part.tensors.length("steps")
    found = _TRAINING.take(part, scores=rounds + 1)
    best = history.unpack_best(part, kept, rounds)
    names = part.take("validation", items(each=row(text, text)))
    scores: dict[str, dict[str, np.ndarray]] = {}
    found["validation_score_"] = np.array([])
    if names:
        found |= _VALIDATION.take(part, names=len(names), scores=rounds + 1)
        for (name, scoring), values in zip(names, found.pop("scores"), strict=True):
            scores.setdefault(name, {})[scoring] = values
    steps = history.unpack(part, _OF_STEPS, loss=(-found["train_score_"][1:]).tolist())
    return found | {"steps_": steps, "n_iter_": rounds, "best_iteration_": best, "validation_scores_": scores}
