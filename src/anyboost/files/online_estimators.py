"""The part of a file that is an online estimator: its boosters, the names of its features, its classes, its place in a
stream."""

from typing import Any

import numpy as np

from anyboost.files import fields, labels, online_boosters, parts
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.parameters import simple
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.online.classifier import OnlineBoostingClassifier
from anyboost.online.estimators import OnlineBoosting, OnlineBoostingRegressor
from anyboost.online.one_vs_rest import OneForAll, OneVsRest

MOST_CLASSES = 1000
_PARAMETERS: dict[str, fields.Check] = {
    **dict.fromkeys(("n_learners", "algorithm", "mode", "prefix", "max_iter", "random_state"), simple),
    **dict.fromkeys(("step", "output_bound", "label_bound", "forget", "hash_bits"), fields.number),
}
_WRITTEN = ("learner", "loss")  # strings are kept as the user wrote them


def pack(model: OnlineBoosting) -> Packed:
    """Header and tensors of an estimator."""
    if not model.__sklearn_is_fitted__():
        raise ValueError("model cannot be saved: it has learnt nothing yet")
    _check(model)
    classifier = model if isinstance(model, OnlineBoostingClassifier) else None
    headers: list[dict[str, Any]] = []
    tensors: dict[str, np.ndarray] = {}
    members = [each[0] for each in classifier.boosters_.members] if classifier else [model.booster_]
    for place, booster in enumerate(members):
        header, own = online_boosters.pack(booster)
        headers.append(header)
        tensors |= {f"{place}.{name}": array for name, array in own.items()}
    features, frame = model.__dict__.get("features_"), getattr(model, "feature_names_in_", None)
    if features is not None:
        tensors["features"] = labels.pack_features(features.names)
    if frame is not None:
        tensors["frame"] = labels.pack_features(frame.tolist())
    header = {
        "parameters": {name: getattr(model, name) for name in _PARAMETERS},
        "written": {name: _text(getattr(model, name)) for name in _WRITTEN},
        "columns": getattr(model, "n_features_in_", None),
        "passes": getattr(model, "n_iter_", None),
        "boosters": headers,
        "stream": model._stream,
    }
    if classifier:
        header["classes"], more = _pack_classes(classifier)
        tensors |= more
    return header, tensors


def _check(model: OnlineBoosting) -> None:
    """Refuse, before any work, a model that cannot go on from a file."""
    if model.drift is not None:
        raise ValueError("model cannot be saved: it has River's drift detectors, which a file cannot hold")
    booster = model._new_booster(model._checked_loss(), None)
    online_boosters.LEARNERS.encode(booster.learner)
    if parts.is_yours(parts.encode_loss(booster.loss)):
        raise ValueError(
            f"model cannot be saved: its loss {booster.loss} is your own, which a file cannot hold"
        )


def _text(value: Any) -> str | None:
    """As it was written: None is written as nothing; for an object, see the boosters."""
    return "" if value is None else value if isinstance(value, str) else None


def _pack_classes(model: OnlineBoostingClassifier) -> Packed:
    for label in model.codes_:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(f"model cannot be saved: its class {label!r} is neither text nor a number")
    header: dict[str, Any] = {"labels": list(model.codes_), "open": model.open_}
    own = model.boosters_
    if isinstance(own, OneForAll):
        return header, {}
    return header | {"rows": own.rows, "signs": own.signs}, {
        "classes.weights": finite(own.weights, "weights"),
        "classes.past": finite(own.past, "losses"),
        "classes.before": finite(own.before, "losses").reshape(-1, 3),
    }


def unpack(header: Fields, tensors: Tensors) -> OnlineBoosting:
    """The estimator."""
    classes = header.take("classes", Fields) if header.has("classes") else None
    kind = OnlineBoostingRegressor if classes is None else OnlineBoostingClassifier
    model = kind(**header.take("parameters", fields.record(**_PARAMETERS)))
    entries = header.take("boosters", fields.items(MOST_CLASSES, Fields))
    boosters = [
        online_boosters.unpack(entry, tensors.under(f"{place}.")) for place, entry in enumerate(entries)
    ]
    if not boosters:
        raise Fault("it has no booster")
    written = header.take(
        "written", fields.record(learner=fields.optional(fields.text), loss=fields.optional(fields.text))
    )
    for name, value in written.items():
        setattr(model, name, getattr(boosters[0], name) if value is None else value or None)
    make(model.check_parameters, {})
    _unpack_features(model, header.take("columns", fields.optional(fields.count(1))), tensors, boosters)
    model._stream = header.take("stream", fields.optional(_STREAM))
    if header.take("passes") is not None:
        model.n_iter_ = model.max_iter
    header.done()
    model.loss_ = boosters[0].loss
    if isinstance(model, OnlineBoostingClassifier):
        assert classes is not None
        _unpack_classes(model, classes, tensors, boosters)
    elif len(boosters) == 1:
        model.booster_, model.guard_ = boosters[0], None
    else:
        raise Fault("it has several boosters where one predicts numbers")
    return model


def _unpack_features(model: OnlineBoosting, columns: Any, tensors: Tensors, boosters: list[Any]) -> None:
    if columns is not None:
        model.n_features_in_ = columns
    if tensors.has("frame"):
        names = labels.unpack_features(tensors, "frame")
        if columns != len(names):
            raise Fault("it has names for other columns than it has")
        model.feature_names_in_ = np.array(names, dtype=object)
    if tensors.has("features"):
        model.features_ = online_boosters.unpack_features(tensors, model.hash_bits)
    elif columns is None:
        raise Fault("its features have neither names nor a number")
    width = model.features_.width if "features_" in model.__dict__ else columns
    if any(booster.n_features > width for booster in boosters):
        raise Fault("its boosters have more columns than it has features")


def _unpack_classes(
    model: OnlineBoostingClassifier, header: Fields, tensors: Tensors, boosters: list[Any]
) -> None:
    names = labels.check_labels(header.take("labels", fields.items(MOST_CLASSES)))
    model.open_ = header.take("open", fields.flag)
    own = (OneForAll if model.loss_.vector else OneVsRest)(model._new_member, model.loss_)
    model.boosters_ = own
    own.members = [(booster, None) for booster in boosters]
    if isinstance(own, OneForAll):
        own.classes = max(2, len(names))
        if len(boosters) != 1 or (boosters[0].state and boosters[0].state.outputs != own.classes):
            raise Fault("its booster has not a score for each class")
    else:
        if len(boosters) != (1 if len(names) <= 2 else len(names)):
            raise Fault("it has not a booster for each class")
        own.classes, own.rows = len(names), header.take("rows", fields.count())
        own.signs = header.take("signs", fields.items(MOST_CLASSES, fields.real))
        if len(own.signs) != len(boosters) or any(abs(sign) != 1 for sign in own.signs):
            raise Fault("its boosters have signs that are none")
        own.weights = tensors.floats("classes.weights", (len(names),))
        own.past = tensors.floats("classes.past", (3,))
        own.before = list(tensors.floats("classes.before", (len(boosters), 3)))
    header.done()
    model.codes_ = {label: code for code, label in enumerate(names)}
    model.classes_ = model._class_array()


def _kinds(value: Any, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise fields.refusal(name)
    return {column: fields.choice("number", "text")(kind, name) for column, kind in value.items()}


_SUMS = ("weight", "loss", "last_weight", "last_loss", "label")
_TALLY = fields.record(rows=fields.count(), features=fields.count(), **dict.fromkeys(_SUMS, fields.real))
_HEAD = fields.optional(
    fields.record(bytes=fields.count(), sha256=fields.text)
)  # the beginning of a file: its length and digest
_FILES = {"source": _HEAD, "predictions": _HEAD}
_PLACE = {"target": fields.text, "kinds": _kinds, "tally": _TALLY, "weight": fields.optional(fields.text)}
# Where `anyboost stream` stopped
_STREAM = fields.record(
    ["predictions"], **_PLACE, ignore=fields.items(each=fields.text), examples=fields.count(), **_FILES
)
