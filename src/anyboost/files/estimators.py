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
from anyboost.files import (
    calibrations,
    certificates,
    conformal,
    encodings,
    ensembles,
    fields,
    history,
    labels,
    marginals,
    parameters,
    parts,
)
from anyboost.files.codec import plain
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.losses import Cox, Loss, MultiQuantile
from anyboost.tables import MOST_LEVELS, Columns, Levels

CLASSES = {
    cls.__name__: cls
    for cls in (estimators.BoostingClassifier, estimators.BoostingRanker, estimators.BoostingRegressor)
}
_OF_STEPS = ("gradient_norm", "edge", "step_size", "coefficient")


def pack(model: BaseBoosting) -> Packed:
    """Header and tensors of a fitted estimator."""
    check_is_fitted(model)
    if getattr(model, "init_", None) is not None:
        raise ValueError("model cannot be saved: it starts at the predictions of another estimator, its init")
    ensemble, tensors = ensembles.pack(model.ensemble_)
    tensors |= history.pack(model.steps_, _OF_STEPS)
    tensors["train.scores"] = finite(model.train_score_, "training losses")
    scores = getattr(model, "validation_scores_", {})
    validation = [[name, scoring] for name, found in scores.items() for scoring in found]
    if validation:
        rows = [scores[name][scoring] for name, scoring in validation]
        tensors["validation.scores"] = np.array(rows, dtype=np.float64)
        tensors["validation.decides"] = np.array(model.validation_score_, dtype=np.float64)
    if isinstance(model.loss_, Cox):
        tensors["event.times"] = finite(model.event_times_, "times")
        tensors["event.hazard"] = finite(model.baseline_hazard_, "hazards")
    header = {
        "estimator": type(model).__name__,
        "ensemble": ensemble,
        "loss": parts.encode_loss(model.loss_),
        "parameters": parameters.pack(model),
        "columns": _pack_columns(model),
        "classes": labels.pack_classes(model.classes_) if hasattr(model, "classes_") else None,
        "best_iteration": int(model.best_iteration_),
        "validation": validation,
    }
    for name, (entry, own) in _pack_later(model):
        header[name], tensors = entry, tensors | own
    return header, tensors


def _pack_later(model: BaseBoosting) -> Iterator[tuple[str, Packed]]:
    """What not every model has, nor any of an older file."""
    if model._encoding.values:
        yield "encoding", encodings.pack(model._encoding, model._columns)
    if model._certificate is not None:
        yield "certificate", certificates.pack(model._certificate)
    if getattr(model, "conformal_", None) is not None:
        yield "conformal", conformal.pack(model.conformal_)
    if getattr(model, "calibration_", None) is not None:
        yield "calibration", calibrations.pack(model.calibration_)
    if model._known():  # trees of many columns ask for none
        yield "marginals", marginals.pack(model._known())
    if hasattr(model, "dials_"):
        yield "dials", ({name: plain(value) for name, value in model.dials_.items()}, {})


def _pack_columns(model: BaseBoosting) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    levels = [
        {"column": number, "levels": list(found.values), "rest": found.rest}
        for number, found in sorted(model._columns.levels.items())
        if number not in model._encoding.values
    ]
    return {"names": None if names is None else [str(name) for name in names], "categories": levels}


def unpack(header: Fields, tensors: Tensors, loss: Any = None) -> BaseBoosting:
    """The estimator; a Fault unless all it predicts with fits together."""
    name = header.take("estimator", fields.text)
    if name not in CLASSES:
        raise Fault(f"its estimator is {name!a}, which this version does not know")
    loss = parts.decode_loss(header.take("loss"), loss)
    values = header.part("parameters", parameters.unpack, CLASSES[name])
    ensemble: Ensemble = header.part("ensemble", ensembles.unpack, tensors)
    n_features, outputs = ensemble.n_features, ensemble.outputs
    encoding, encoded = header.part("encoding", encodings.unpack, tensors, n_features, later=True) or (
        Encoding(n_features),
        {},
    )
    fitted = {"loss_": loss, "ensemble_": ensemble, "_encoding": encoding, "n_features_in_": encoding.n}
    fitted |= header.part("columns", _unpack_columns, encoding.n, encoded)
    if (classes := header.take("classes")) is not None:
        fitted["classes_"] = labels.unpack_classes(classes)
        if len(fitted["classes_"]) != max(2, outputs):
            raise Fault("it has not as many classes as outputs")
    if (classes is not None) != (name == "BoostingClassifier"):
        raise fields.refusal("classes")
    _check_outputs(loss, outputs)
    fitted |= _unpack_rounds(header, tensors, ensemble.n_rounds)
    if isinstance(loss, Cox):
        fitted |= _unpack_survival(tensors)
    fitted["_certificate"] = header.part("certificate", certificates.unpack, fitted["n_iter_"], later=True)
    if name == "BoostingRegressor":
        levels = levels_of(loss) or ()
        fitted["conformal_"] = header.part("conformal", conformal.unpack, tensors, levels, later=True)
    if name == "BoostingClassifier":
        number = len(fitted["classes_"])
        fitted["calibration_"] = header.part("calibration", calibrations.unpack, tensors, number, later=True)
    if header.has("marginals"):
        columns = fitted["_columns"]
        fitted["_marginals"] = header.part("marginals", marginals.unpack, tensors, columns, n_features)
    if header.has("dials"):
        fitted["dials_"] = header.part("dials", _unpack_dials)
    model = CLASSES[name](**values)
    make(rules.check, {"estimator": model})
    make(measures.check_scoring, {"scoring": model.scoring})
    model.__dict__.update(fitted | {"_continuation": None})
    return model


def _unpack_dials(entry: Fields) -> dict[str, Any]:
    return {name: entry.take(name, parameters.simple) for name in Dials._fields if entry.has(name)}


def _unpack_columns(header: Fields, n: int, encoded: dict[int, Levels]) -> dict[str, Any]:
    names = header.take("names", fields.optional(fields.items(each=fields.text)))
    category = fields.record(
        column=fields.count(0, n - 1), levels=fields.items(MOST_LEVELS), rest=fields.flag
    )
    levels = dict(encoded)
    for found in header.take("categories", fields.items(n, category)):
        number, values, rest = found.values()
        if number in levels:
            raise Fault("it names a column of categories twice")
        levels[number] = Levels(encodings.in_order(values), rest)
    columns = Columns(n, levels)
    fitted = {"_columns": columns, "is_categorical_": columns.categorical}
    if names is None:
        return fitted
    if len(names) != n or len(set(names)) < n:
        raise fields.refusal("names")
    return fitted | {"feature_names_in_": np.array(names, dtype=object)}


def _check_outputs(loss: Loss, outputs: int) -> None:
    if isinstance(loss, parts.AbsentLoss):
        return
    if loss.vector != (outputs > 1) or (isinstance(loss, MultiQuantile) and len(loss.taus) != outputs):
        raise Fault("its loss has another number of outputs than its sum")


def _unpack_rounds(header: Fields, tensors: Tensors, kept: int) -> dict[str, Any]:
    rounds = tensors.length("steps")
    train = tensors.floats("train.scores", (rounds + 1,))
    best = header.take("best_iteration", fields.count(0, rounds))
    if kept not in (best, rounds):
        raise Fault("its sum is neither that of its best round nor that of its last")
    scores: dict[str, dict[str, np.ndarray]] = {}
    decides = np.array([])
    names = header.take("validation", fields.items(each=fields.row(fields.text, fields.text)))
    if names:
        values = tensors.floats("validation.scores", (len(names), rounds + 1), nan=True)
        decides = tensors.floats("validation.decides", (rounds + 1,), nan=True)
        for (name, scoring), row in zip(names, values, strict=True):
            scores.setdefault(name, {})[scoring] = row
    return {
        "steps_": history.unpack(tensors, _OF_STEPS, loss=(-train[1:]).tolist()),
        "train_score_": train,
        "n_iter_": rounds,
        "best_iteration_": best,
        "validation_scores_": scores,
        "validation_score_": decides,
    }


def _unpack_survival(tensors: Tensors) -> dict[str, Any]:
    times = tensors.floats("event.times", (None,))
    hazard = tensors.floats("event.hazard", (len(times),))
    if (np.diff(times) <= 0).any() or (np.diff(hazard) < 0).any() or (hazard < 0).any():
        raise Fault("its hazard is none")
    return {"event_times_": times, "baseline_hazard_": hazard}
