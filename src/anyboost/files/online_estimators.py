"""The part of a file that is an online estimator: its boosters, the names of its features, its classes, its place in a
stream."""

from typing import Any

import numpy as np

from anyboost.files import fields, labels, members, online_boosters, parts, teams
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.members import MOST_CLASSES
from anyboost.files.parameters import simple
from anyboost.files.tensors import Packed, Tensors, unsigned
from anyboost.losses import RowwiseLoss
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.features import Features
from anyboost.online.one_vs_rest import OneForAll, OneVsRest
from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor, StreamBoosting
from anyboost.streams.team import Team

_PARAMETERS: dict[str, fields.Check] = {
    **dict.fromkeys(("n_learners", "algorithm", "mode", "prefix", "max_iter", "random_state"), simple),
    **dict.fromkeys(("step", "output_bound", "label_bound", "forget", "hash_bits"), fields.number),
}
_WRITTEN = ("learner", "loss")  # strings are kept as the user wrote them
# Written only where they are something else: older files have none, and mean these
_LATER: dict[str, Any] = {"max_rows_kept": 20_000, "refit": "inline", "max_waiting": 10_000}


def pack(model: OnlineBoosting) -> Packed:
    """Header and tensors of an estimator."""
    if not model.__sklearn_is_fitted__():
        raise ValueError("model cannot be saved: it has learnt nothing yet")
    team = model._team() if isinstance(model, StreamBoosting) else None
    if team is None:
        _check(model)
    classifier = model if isinstance(model, ChainClassifier) else None
    header: dict[str, Any] = {
        "parameters": {name: getattr(model, name) for name in _PARAMETERS} | _later(model),
        "written": {name: _text(getattr(model, name)) for name in _WRITTEN},
        "columns": getattr(model, "n_features_in_", None),
        "passes": getattr(model, "n_iter_", None),
        "boosters": [],
        "stream": model._stream,
    }
    tensors = _pack_features(model)
    if team is not None:
        header["team"], more = _pack_team(model, team)
        tensors |= more
    else:
        chains = [each[0] for each in classifier.boosters_.members] if classifier else [model.booster_]
        for place, booster in enumerate(chains):
            own_header, own = online_boosters.pack(booster)
            header["boosters"].append(own_header)
            tensors |= {f"{place}.{name}": array for name, array in own.items()}
    if "_waiting" in model.__dict__:
        tensors |= teams.pack_waiting(model._waiting)
    if classifier:
        header["classes"], more = _pack_classes(classifier)
        tensors |= more
    return header, tensors


def _later(model: OnlineBoosting) -> dict[str, Any]:
    found = {name: getattr(model, name, usual) for name, usual in _LATER.items()}
    return {name: value for name, value in found.items() if value != _LATER[name]}


def _pack_features(model: OnlineBoosting) -> dict[str, np.ndarray]:
    features, frame = model.__dict__.get("features_"), getattr(model, "feature_names_in_", None)
    tensors = {} if features is None else {"features": labels.pack_features(features.names)}
    return tensors if frame is None else tensors | {"frame": labels.pack_features(frame.tolist())}


def _pack_team(model: OnlineBoosting, team: Team) -> Packed:
    """The team, its loss, and which features are texts."""
    header, tensors = teams.pack(team)
    found = {"team." + name: array for name, array in tensors.items()}
    features = model.__dict__.get("features_")
    if features is not None:
        columns = sorted(features.texts)
        found["texts.columns"] = unsigned(columns)
        found["texts.names"] = labels.pack_features([features.texts[column] for column in columns])
    return header | {"loss": parts.encode_loss(model.loss_)}, found


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
    header: dict[str, Any] = {"labels": list(model.codes_), "open": model.open_}
    if not isinstance(model.boosters_, OneVsRest):
        return header, {}
    more, tensors = members.pack(model.boosters_)
    return header | more, tensors


def unpack(header: Fields, tensors: Tensors) -> OnlineBoosting:
    """The estimator."""
    classes = header.take("classes", Fields) if header.has("classes") else None
    kind = OnlineBoostingRegressor if classes is None else OnlineBoostingClassifier
    checks = _PARAMETERS | dict.fromkeys(_LATER, simple)
    model = kind(**header.take("parameters", fields.record(list(_LATER), **checks)))
    entries = header.take("boosters", fields.items(MOST_CLASSES, Fields))
    boosters = [
        online_boosters.unpack(entry, tensors.under(f"{place}.")) for place, entry in enumerate(entries)
    ]
    team = header.take("team", Fields) if header.has("team") else None
    if bool(boosters) == (team is not None):
        raise Fault("it has no booster, or one beside its team")
    written = header.take(
        "written", fields.record(learner=fields.optional(fields.text), loss=fields.optional(fields.text))
    )
    loss = boosters[0].loss if team is None else parts.decode_loss(team.take("loss"), None)
    for name, value in written.items():
        own = loss if name == "loss" else None if team is not None else boosters[0].learner
        setattr(model, name, own if value is None else value or None)
    if team is None and model.learner is None and make(model._is_team, {}):
        model.learner = "linear"  # what None meant before there was a team
    make(model.check_parameters, {})
    if make(model._is_team, {}) != (team is not None):
        raise Fault("it has a team where it says something else, or none")
    _unpack_features(model, header.take("columns", fields.optional(fields.count(1))), tensors, boosters)
    model._stream = header.take("stream", fields.optional(_STREAM))
    if header.take("passes") is not None:
        model.n_iter_ = model.max_iter
    header.done()
    if not isinstance(loss, RowwiseLoss):
        raise Fault("its loss is not one of rows")
    model.loss_ = loss
    _unpack_learners(model, classes, team, tensors, boosters)
    if tensors.has("waiting.examples"):
        model._waiting = teams.unpack_waiting(tensors, model.max_waiting, model._team())
    return model


def _unpack_learners(
    model: Any, classes: Fields | None, entry: Fields | None, tensors: Tensors, boosters: list[Any]
) -> None:
    """The boosters, or the team in their place, and the classes."""
    team = None
    if entry is not None:
        features = model.__dict__.get("features_")
        if features is not None:
            _unpack_texts(features, tensors)
        team = teams.unpack(entry, tensors.under("team."), model.loss_, classes is not None, features)
    if classes is not None:
        _unpack_classes(model, classes, tensors, boosters, team)
    elif team is not None:
        model.booster_, model.guard_ = team, None
    elif len(boosters) == 1:
        model.booster_, model.guard_ = boosters[0], None
    else:
        raise Fault("it has several boosters where one predicts numbers")


def _unpack_texts(features: Features, tensors: Tensors) -> None:
    columns = tensors.indices("texts.columns", None, 0, max(0, len(features.names) - 1)).tolist()
    names = labels.unpack_texts(tensors, "texts.names")
    if len(names) != len(columns) or len(set(columns)) != len(columns):
        raise Fault("its texts are of features that it has not")
    features.texts.update(zip(columns, names, strict=True))


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
    model: Any, header: Fields, tensors: Tensors, boosters: list[Any], team: Team | None
) -> None:
    names = labels.check_labels(header.take("labels", fields.items(MOST_CLASSES)))
    model.open_ = header.take("open", fields.flag)
    own = (OneForAll if model.loss_.vector else OneVsRest)(model._new_member, model.loss_)
    model.boosters_ = own if team is None else team
    if team is not None:
        if team.classes != len(names):
            raise Fault("its team knows other classes")
    elif isinstance(own, OneForAll):
        own.members = [(booster, None) for booster in boosters]
        own.classes = max(2, len(names))
        if len(boosters) != 1 or (boosters[0].state and boosters[0].state.outputs != own.classes):
            raise Fault("its booster has not a score for each class")
    else:
        members.unpack(own, header, tensors, boosters, len(names))
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
