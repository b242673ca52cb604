"""The part of a file that is a fitted estimator: its sum, its loss, its columns, its classes, its parameters.

What only training needs is not stored: callbacks, a scorer that is a function, the state behind `warm_start`.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import estimators
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
    if model._encoding.values:
        header["encoding"], more = encodings.pack(model._encoding, model._columns)
        tensors |= more
    if model._certificate is not None:  # a model of an older file has none
        header["certificate"] = certificates.pack(model._certificate)
    if getattr(model, "conformal_", None) is not None:
        header["conformal"], more = conformal.pack(model.conformal_)
        tensors |= more
    if getattr(model, "calibration_", None) is not None:
        header["calibration"], more = calibrations.pack(model.calibration_)
        tensors |= more
    if model._known():  # trees of many columns ask for none
        header["marginals"], more = marginals.pack(model._known())
        tensors |= more
    if hasattr(model, "dials_"):  # a model of an older file has none
        header["dials"] = {name: plain(value) for name, value in model.dials_.items()}
    return header, tensors


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
    values = parameters.unpack(header.take("parameters", Fields), CLASSES[name])
    ensemble = ensembles.unpack(header.take("ensemble", Fields), tensors)
    encoding = Encoding(ensemble.n_features)
    encoded: dict[int, Levels] = {}
    if header.has("encoding"):
        encoding, encoded = encodings.unpack(header.take("encoding", Fields), tensors, ensemble.n_features)
    fitted: dict[str, Any] = {"loss_": loss, "ensemble_": ensemble, "n_features_in_": encoding.n}
    fitted |= {"_encoding": encoding} | _unpack_columns(header.take("columns", Fields), encoding.n, encoded)
    classes = header.take("classes")
    if (classes is not None) != (name == "BoostingClassifier"):
        raise fields.refusal("classes")
    if classes is not None:
        fitted["classes_"] = labels.unpack_classes(classes)
        if len(fitted["classes_"]) != max(2, ensemble.outputs):
            raise Fault("it has not as many classes as outputs")
    _check_outputs(loss, ensemble.outputs)
    fitted |= _unpack_rounds(header, tensors, ensemble.n_rounds)
    if isinstance(loss, Cox):
        fitted |= _unpack_survival(tensors)
    fitted["_certificate"] = None
    if header.has("certificate"):
        fitted["_certificate"] = certificates.unpack(header.take("certificate", Fields), fitted["n_iter_"])
    if name == "BoostingRegressor":
        fitted["conformal_"] = None
        if header.has("conformal"):
            entry, levels = header.take("conformal", Fields), levels_of(loss) or ()
            fitted["conformal_"] = conformal.unpack(entry, tensors, levels)
    if classes is not None:
        fitted["calibration_"] = None
        if header.has("calibration"):
            entry = header.take("calibration", Fields)
            fitted["calibration_"] = calibrations.unpack(entry, tensors, len(fitted["classes_"]))
    if header.has("marginals"):
        entry = header.take("marginals", Fields)
        fitted["_marginals"] = marginals.unpack(entry, tensors, fitted["_columns"], ensemble.n_features)
    if header.has("dials"):
        fitted["dials_"] = _unpack_dials(header.take("dials", Fields))
    header.done()
    model = CLASSES[name](**values)
    make(rules.check, {"estimator": model})
    make(measures.check_scoring, {"scoring": model.scoring})
    model.__dict__.update(fitted)
    model._continuation = None
    return model


def _unpack_dials(entry: Fields) -> dict[str, Any]:
    dials = {name: parameters.simple(entry.take(name), name) for name in Dials._fields if entry.has(name)}
    entry.done()
    return dials


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
    header.done()
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
    names = header.take("validation", fields.items(each=fields.items(2, fields.text)))
    if names:
        values = tensors.floats("validation.scores", (len(names), rounds + 1), nan=True)
        decides = tensors.floats("validation.decides", (rounds + 1,), nan=True)
        for pair, row in zip(names, values, strict=True):
            if len(pair) != 2:
                raise fields.refusal("validation")
            scores.setdefault(pair[0], {})[pair[1]] = row
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
