"""The part of a file that is an online estimator: its boosters, the names of its features, its classes, its place in a
stream."""

from typing import Any

import numpy as np

from anyboost.files import fields, labels, members, online_boosters, parts, teams, waiting
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.members import MOST_CLASSES
from anyboost.files.parameters import simple
from anyboost.files.tensors import Packed, Tensors, as_json, under, unsigned
from anyboost.losses import RowwiseLoss
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.one_vs_rest import OneForAll, OneVsRest
from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor, StreamBoosting
from anyboost.streams.team import Team

_PARAMETERS = Record(
    **dict.fromkeys(("n_learners", "algorithm", "mode", "prefix", "max_iter", "random_state"), simple),
    **dict.fromkeys(("step", "output_bound", "label_bound", "forget", "hash_bits"), fields.number),
)
# Written only where they are something else: older files have none, and mean these
_LATER: dict[str, Any] = {"max_rows_kept": 20_000, "refit": "inline", "max_waiting": 10_000}
_ALL_PARAMETERS = fields.record(_LATER, **_PARAMETERS.checks, **dict.fromkeys(_LATER, simple))
_WRITTEN = ("learner", "loss")  # strings are kept as the user wrote them
_AS_WRITTEN = fields.record(**dict.fromkeys(_WRITTEN, fields.optional(fields.text)))


def pack(model: OnlineBoosting) -> Packed:
    """Header and tensors of an estimator."""
    if not model.__sklearn_is_fitted__():
        raise ValueError("model cannot be saved: it has learnt nothing yet")
    team = model._team() if isinstance(model, StreamBoosting) else None
    if team is None:
        _check(model)
    later = {name: getattr(model, name, usual) for name, usual in _LATER.items()}
    header: dict[str, Any] = {
        "parameters": _PARAMETERS.encode(model)
        | {name: value for name, value in later.items() if value != _LATER[name]},
        "written": {name: _text(getattr(model, name)) for name in _WRITTEN},
        "columns": getattr(model, "n_features_in_", None),
        "passes": getattr(model, "n_iter_", None),
        "boosters": [],
        "stream": model._stream,
    }
    tensors = _pack_features(model, team)
    if team is not None:
        found, own = teams.pack(team)
        header["team"] = found | {"loss": parts.encode_loss(model.loss_)}
        tensors |= under("team.", own)
    else:
        classes = isinstance(model, ChainClassifier)
        boosters = [each[0] for each in model.boosters_.members] if classes else [model.booster_]
        header["boosters"], own = online_boosters.pack_all(boosters)
        tensors |= own
    if "_waiting" in model.__dict__:
        tensors |= waiting.pack(model._waiting)
    if isinstance(model, ChainClassifier):
        header["classes"], own = _pack_classes(model)
        tensors |= own
    return header, tensors


def _pack_features(model: OnlineBoosting, team: Team | None) -> dict[str, np.ndarray]:
    """The names of features and columns; a team also knows which features are texts."""
    features, frame = model.__dict__.get("features_"), getattr(model, "feature_names_in_", None)
    tensors = {} if frame is None else {"frame": as_json(frame.tolist())}
    if features is not None:
        tensors["features"] = as_json(features.names)
        if team is not None:
            columns = sorted(features.texts)
            tensors["texts.columns"] = unsigned(columns)
            tensors["texts.names"] = as_json([features.texts[column] for column in columns])
    return tensors


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


def _pack_classes(model: ChainClassifier) -> Packed:
    for label in model.codes_:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(f"model cannot be saved: its class {label!r} is neither text nor a number")
    header = {"labels": list(model.codes_), "open": model.open_}
    more, tensors = members.pack(model.boosters_) if isinstance(model.boosters_, OneVsRest) else ({}, {})
    return header | more, tensors


def unpack(header: Fields, tensors: Tensors) -> OnlineBoosting:
    """The estimator."""
    kind: Any = OnlineBoostingClassifier if header.has("classes") else OnlineBoostingRegressor
    model = kind(**header.take("parameters", _ALL_PARAMETERS))
    boosters, team = online_boosters.unpack_all(header, tensors), header.get("team", Fields)
    if bool(boosters) == (team is not None):
        raise Fault("it has no booster, or one beside its team")
    loss = boosters[0].loss if team is None else parts.decode_loss(team.take("loss"))
    if not isinstance(loss, RowwiseLoss):
        raise Fault("its loss is not one of rows")
    own = {"learner": boosters[0].learner if boosters else None, "loss": loss}
    for name, value in header.take("written", _AS_WRITTEN).items():
        setattr(model, name, own[name] if value is None else value or None)
    if team is None and model.learner is None and make(model._is_team, {}):
        model.learner = "linear"  # what None meant before there was a team
    make(model.check_parameters, {})
    if make(model._is_team, {}) != (team is not None):
        raise Fault("it has a team where it says something else, or none")
    _unpack_features(model, header.take("columns", fields.optional(fields.count(1))), tensors, boosters)
    model._stream = header.take("stream", fields.optional(_STREAM))
    if header.take("passes") is not None:
        model.n_iter_ = model.max_iter
    model.loss_ = loss
    learner = boosters[0] if team is None else _unpack_team(team, tensors, model, header.has("classes"))
    if header.has("classes"):
        header.part("classes", _unpack_classes, model, tensors, boosters, learner)
    elif len(boosters) > 1:
        raise Fault("it has several boosters where one predicts numbers")
    else:
        model.booster_, model.guard_ = learner, None
    if tensors.has("waiting.examples"):
        model._waiting = waiting.unpack(tensors, model.max_waiting, model._team())
    return model


def _unpack_team(header: Fields, tensors: Tensors, model: Any, classifies: bool) -> Team:
    """The team, and which features are texts."""
    features = model.__dict__.get("features_")
    if features is not None:
        columns = tensors.indices("texts.columns", None, 0, max(0, len(features.names) - 1)).tolist()
        names = labels.unpack_texts(tensors, "texts.names")
        if len(names) != len(columns) or len(set(columns)) != len(columns):
            raise Fault("its texts are of features that it has not")
        features.texts.update(zip(columns, names, strict=True))
    team = teams.unpack(header, tensors.under("team."), model.loss_, classifies, features)
    header.done()
    return team


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


def _unpack_classes(header: Fields, model: Any, tensors: Tensors, boosters: list[Any], learner: Any) -> None:
    names = labels.check_labels(header.take("labels", fields.items(MOST_CLASSES)))
    model.open_ = header.take("open", fields.flag)
    if not boosters:
        own = learner
        if learner.classes != len(names):
            raise Fault("its team knows other classes")
    elif model.loss_.vector:
        own = OneForAll(model._new_member, model.loss_)
        own.members, own.classes = [(booster, None) for booster in boosters], max(2, len(names))
        if len(boosters) != 1 or (boosters[0].state and boosters[0].state.outputs != own.classes):
            raise Fault("its booster has not a score for each class")
    else:
        own = OneVsRest(model._new_member, model.loss_)
        members.unpack(header, own, tensors, boosters, len(names))
    model.boosters_ = own
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
_POINTS = fields.items(each=fields.items(each=fields.real))
_COURSE_PARTS = fields.record(every=fields.count(1), experts=fields.items(each=fields.text), points=_POINTS)


def _course(value: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = _COURSE_PARTS(value, name)
    if any(len(point) != 3 + len(found["experts"]) for point in found["points"]):
        raise fields.refusal(name)
    return found


# Where `anyboost stream` stopped
_STREAM = fields.record(
    ["predictions", "course"],
    course=_course,
    **_PLACE,
    ignore=fields.items(each=fields.text),
    examples=fields.count(),
    **_FILES,
)
