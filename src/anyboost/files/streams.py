"""The part of a file that is an online estimator: its boosters, the names of its features, its classes, its place in a
stream."""

import math
from typing import Any

import numpy as np

from anyboost.files import boosters, names, parts
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite, real
from anyboost.files.parts import _number
from anyboost.losses import RowwiseLoss
from anyboost.online.classifier import OnlineBoostingClassifier
from anyboost.online.estimators import OnlineBoosting, OnlineBoostingRegressor
from anyboost.online.features import Features
from anyboost.online.one_vs_rest import OneForAll, OneVsRest

MOST_CLASSES = 1000
MOST_IGNORED = 100_000
PARAMETERS = ("n_learners", "algorithm", "mode", "prefix", "max_iter", "random_state")
NUMBERS = ("step", "output_bound", "label_bound", "forget", "hash_bits")
NAMES = ("learner", "loss")  # strings are kept as the user wrote them


def pack(model: OnlineBoosting) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of an estimator."""
    if not model.__sklearn_is_fitted__():
        raise ValueError("model cannot be saved: it has learnt nothing yet")
    check(model)
    members = _members(model)
    headers: list[dict[str, Any]] = []
    tensors: dict[str, np.ndarray] = {}
    for number, booster in enumerate(members):
        header, own = boosters.pack(booster)
        headers.append(header)
        tensors |= {f"{number}.{name}": array for name, array in own.items()}
    features: Features | None = model.__dict__.get("features_")
    if features is not None:
        tensors["features"] = names.pack(features.names)
    frame_names = getattr(model, "feature_names_in_", None)
    if frame_names is not None:
        tensors["frame"] = names.pack(frame_names.tolist())
    header = {
        "parameters": {name: getattr(model, name) for name in (*PARAMETERS, *NUMBERS)},
        "written": {name: _text(getattr(model, name)) for name in NAMES},
        "columns": getattr(model, "n_features_in_", None),
        "passes": getattr(model, "n_iter_", None),
        "boosters": headers,
        "stream": model._stream,
    }
    if isinstance(model, OnlineBoostingClassifier):
        header["classes"], more = _pack_classes(model)
        tensors |= more
    return header, tensors


def check(model: OnlineBoosting) -> None:
    """Refuse, before any work, a model that `pack` would refuse after it."""
    if model.drift is not None:
        raise ValueError("model cannot be saved: it has River's drift detectors, which a file cannot hold")
    booster = model._new_booster(model._checked_loss(), None)
    boosters.encode_learner(booster.learner)
    if parts.is_yours(parts.encode_loss(booster.loss)):
        raise ValueError(
            f"model cannot be saved: its loss {booster.loss} is your own, which a file cannot hold"
        )


def _members(model: OnlineBoosting) -> list[Any]:
    if isinstance(model, OnlineBoostingClassifier):
        return [member[0] for member in model.boosters_.members]
    return [model.booster_]


def _text(value: Any) -> str | None:
    """As it was written: None is written as nothing; for an object, see the boosters."""
    return "" if value is None else value if isinstance(value, str) else None


def _pack_classes(model: OnlineBoostingClassifier) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    labels = list(model.codes_)
    for label in labels:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(f"model cannot be saved: its class {label!r} is neither text nor a number")
    about: dict[str, Any] = {"labels": labels, "open": model.open_}
    own = model.boosters_
    if isinstance(own, OneForAll):
        return about, {}
    about |= {"rows": own.rows, "signs": own.signs}
    return about, {
        "classes.weights": finite(own.weights, "weights"),
        "classes.past": finite(own.past, "losses"),
        "classes.before": finite(own.before, "losses").reshape(-1, 3),
    }


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> OnlineBoosting:
    """The estimator."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to a run, and the file holds an online model: leave it out")
    classes = header.fields("classes") if header.has("classes") else None
    parameters, written = header.fields("parameters"), header.fields("written")
    model = (OnlineBoostingRegressor if classes is None else OnlineBoostingClassifier)(
        **{name: _scalar(parameters.take(name)) for name in PARAMETERS},
        **{name: _number(parameters, name) for name in NUMBERS},
    )
    parameters.done()
    found = [
        boosters.unpack(Fields(entry, "booster"), tensors.under(f"{number}."), {})
        for number, entry in enumerate(header.items("boosters", MOST_CLASSES))
    ]
    if not found:
        raise Fault("it has no booster")
    for name in NAMES:
        text = written.take(name)
        if text is not None and not isinstance(text, str):
            raise written.refusal(name)
        setattr(model, name, getattr(found[0], name) if text is None else text or None)
    written.done()
    try:
        model.check_parameters()
    except (ValueError, TypeError) as error:
        raise Fault(f"its header says {error}") from None
    _unpack_features(model, header, tensors, found)
    model._stream = _unpack_stream(header.take("stream"))
    passes = header.take("passes")
    header.done()
    if passes is not None:
        model.n_iter_ = model.max_iter
    loss: RowwiseLoss = found[0].loss
    model.loss_ = loss
    if isinstance(model, OnlineBoostingClassifier):
        assert classes is not None
        _unpack_classes(model, classes, tensors, found)
    elif len(found) == 1:
        model.booster_, model.guard_ = found[0], None
    else:
        raise Fault("it has several boosters where one predicts numbers")
    return model


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int):
        raise Fault("it has a parameter that is none")
    return value


def _unpack_features(model: OnlineBoosting, header: Fields, tensors: Tensors, found: list[Any]) -> None:
    columns = header.take("columns")
    if columns is not None:
        if type(columns) is not int or columns < 1:
            raise header.refusal("columns")
        model.n_features_in_ = columns
    if tensors.has("frame"):
        found_names = names.unpack(tensors, "frame")
        if columns != len(found_names):
            raise Fault("it has names for other columns than it has")
        model.feature_names_in_ = np.array(found_names, dtype=object)
    if tensors.has("features"):
        model.features_ = names.unpack_features(tensors, model.hash_bits)
    elif columns is None:
        raise Fault("its features have neither names nor a number")
    width = model.features_.width if "features_" in model.__dict__ else model.n_features_in_
    if any(booster.n_features > width for booster in found):
        raise Fault("its boosters have more columns than it has features")


def _unpack_classes(
    model: OnlineBoostingClassifier, about: Fields, tensors: Tensors, found: list[Any]
) -> None:
    labels = about.items("labels", MOST_CLASSES)
    for label in labels:
        if not isinstance(label, str | int | float | bool) or (
            isinstance(label, float) and not math.isfinite(label)
        ):
            raise Fault("it has a class that is neither text nor a number")
    if len(set(labels)) != len(labels):
        raise Fault("it names a class twice")
    model.open_ = about.flag("open")
    own = (OneForAll if model.loss_.vector else OneVsRest)(model._new_member, model.loss_)
    model.boosters_ = own
    own.members = [(booster, None) for booster in found]
    if isinstance(own, OneForAll):
        own.classes = max(2, len(labels))
        if len(found) != 1 or (found[0].state is not None and found[0].state.outputs != own.classes):
            raise Fault("its booster has not a score for each class")
    else:
        if len(found) != (1 if len(labels) <= 2 else len(labels)):
            raise Fault("it has not a booster for each class")
        own.classes, own.rows = len(labels), about.count("rows")
        own.signs = [real(sign, "signs") for sign in about.items("signs", MOST_CLASSES)]
        if len(own.signs) != len(found) or any(abs(sign) != 1 for sign in own.signs):
            raise Fault("its boosters have signs that are none")
        own.weights = tensors.floats("classes.weights", (len(labels),))
        own.past = tensors.floats("classes.past", (3,))
        own.before = list(tensors.floats("classes.before", (len(found), 3)))
    about.done()
    model.codes_ = {label: code for code, label in enumerate(labels)}
    model.classes_ = model._class_array()


def _unpack_stream(entry: Any) -> dict[str, Any] | None:
    """Where `anyboost stream` stopped."""
    if entry is None:
        return None
    found = Fields(entry, "stream")
    kinds, tally = found.take("kinds"), found.fields("tally")
    if not isinstance(kinds, dict) or not set(kinds.values()) <= {"number", "text"}:
        raise found.refusal("kinds")
    result: dict[str, Any] = {
        "target": found.text("target"),
        "kinds": kinds,
        "tally": {name: tally.count(name) for name in ("rows", "features")}
        | {name: tally.real(name) for name in ("weight", "loss", "last_weight", "last_loss", "label")},
        "weight": found.take("weight"),
        "ignore": found.items("ignore", MOST_IGNORED),
        "examples": found.count("examples"),
    }
    if not all(isinstance(name, str) for name in (result["weight"] or "", *result["ignore"])):
        raise Fault("its stream leaves out columns that have no names")
    tally.done()
    result["source"] = _unpack_head(found.take("source"), "source")
    if found.has("predictions"):
        result["predictions"] = _unpack_head(found.take("predictions"), "predictions")
    found.done()
    return result


def _unpack_head(entry: Any, name: str) -> dict[str, Any] | None:
    """The beginning of a file: how many bytes, and their digest."""
    if entry is None:
        return None
    place = Fields(entry, name)
    head = {"bytes": place.count("bytes"), "sha256": place.text("sha256")}
    place.done()
    return head
