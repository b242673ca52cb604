"""The part of a file that is an online estimator: its boosters or its team, the names of its features, its classes, its
place in a stream."""

from typing import Any

import numpy as np

from anyboost.files import chains, fields, labels, teams, waiting
from anyboost.files.chains import MOST_CLASSES
from anyboost.files.codec import Place, Record
from anyboost.files.fields import Fault, Fields, make, refuse
from anyboost.files.parameters import LATER, simple
from anyboost.files.parts import LOSSES, is_yours
from anyboost.files.tensors import Json, Packed, Whole, entries, listed
from anyboost.online.booster import OnlineBooster
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.features import Features
from anyboost.online.one_vs_rest import Member, OneForAll, OneVsRest
from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor
from anyboost.streams.front import StreamBoosting
from anyboost.streams.team import Team

_PARAMETERS = Record(
    **dict.fromkeys(("n_learners", "algorithm", "mode", "prefix", "max_iter", "random_state"), simple),
    **dict.fromkeys(("step", "output_bound", "label_bound", "forget", "hash_bits"), fields.number),
    **{name: Place(simple, default=LATER[name]) for name in ("max_rows_kept", "refit", "max_waiting")},
    offset_step=Place(fields.number, default=None),
)
_WRITTEN = Record(**dict.fromkeys(("learner", "loss"), fields.optional(fields.text)))
_FRAME = Record(frame=labels.NAMES)
_TEXTS = Record("texts.", columns=Whole("texts", below="features"), names=Json(labels.texts))
_CLASSES = Record(labels=labels.labels, open=fields.flag)


def pack(model: OnlineBoosting) -> Packed:
    """Entries and tensors of an estimator."""
    if not model.__sklearn_is_fitted__():
        raise ValueError("model cannot be saved: it has learnt nothing yet")
    team = model._team() if isinstance(model, StreamBoosting) else None
    _check_unchanged(model, team)
    if team is None:
        _check(model)
    classifies = isinstance(model, ChainClassifier)
    members = [] if team else _boosters(model)
    found = _PARAMETERS.pack(**LATER | model.get_params(deep=False)).within("parameters")
    found |= _WRITTEN.pack(learner=_text(model.learner), loss=_text(model.loss)).within("written")
    found |= entries(columns=getattr(model, "n_features_in_", None), passes=getattr(model, "n_iter_", None))
    found |= listed("boosters", map(chains.pack, members)) | entries(stream=model._stream)
    found |= _pack_features(model, team)
    if team is not None:
        found |= teams.pack(team).within("team", "team.")
    if "_waiting" in model.__dict__:
        found |= waiting.pack(model._waiting, model.max_waiting)
    return found | _pack_classes(model).within("classes") if classifies else found


def _boosters(model: Any) -> list[OnlineBooster]:
    """What a chain's model has learnt; before its first class, the booster that it would begin with."""
    if not isinstance(model, ChainClassifier):
        return [model.booster_]
    return [each.booster for each in model.boosters_.members or [model._new_member(None)]]


def _pack_features(model: OnlineBoosting, team: Team | None) -> Packed:
    """The names of features and columns; a team also knows which features are texts."""
    features: Features | None = model.__dict__.get("features_")
    found = chains.pack_features(features)
    if hasattr(model, "feature_names_in_"):
        found |= _FRAME.pack(frame=model.feature_names_in_.tolist())
    if features is not None and team is not None:
        columns = sorted(features.texts)
        found |= _TEXTS.pack(columns=columns, names=[features.texts[column] for column in columns])
    return found


def _check(model: OnlineBoosting) -> None:
    """Refuse, before any work, a model that cannot go on from a file."""
    if model.drift is not None:
        raise ValueError("model cannot be saved: it has River's drift detectors, which a file cannot hold")
    booster = model._new_booster(model._checked_loss(), None)
    chains.LEARNERS.encode(booster.learner)
    if is_yours(LOSSES.encode(booster.loss)):
        raise ValueError(
            f"model cannot be saved: its loss {booster.loss} is your own, which a file cannot hold"
        )


def _check_unchanged(model: OnlineBoosting, team: Team | None) -> None:
    """Refuse parameters that say another model than the one that has learnt: no file could be read back."""
    features: Features | None = model.__dict__.get("features_")
    other = isinstance(model, StreamBoosting) and model._is_team() != (team is not None)
    if other or (features is not None and features.bits != model.hash_bits):
        raise ValueError(
            f"model cannot be saved: {'learner' if other else 'hash_bits'} and the other parameters now say another "
            "model than the one that has learnt: set them back, or call fit"
        )


def _text(value: Any) -> str | None:
    """As it was written: None is written as nothing; for an object, see the boosters."""
    return "" if value is None else value if isinstance(value, str) else None


def _pack_classes(model: ChainClassifier) -> Packed:
    for label in model.codes_:
        if not isinstance(label, str | int | float | bool):
            raise ValueError(f"model cannot be saved: its class {label!r} is neither text nor a number")
    found = _CLASSES.pack(labels=[*model.codes_], open=model.open_)
    return found | chains.pack_members(model.boosters_) if isinstance(model.boosters_, OneVsRest) else found


def unpack(part: Fields) -> OnlineBoosting:
    """The estimator."""
    classifies = part.has("classes")
    kind: Any = OnlineBoostingClassifier if classifies else OnlineBoostingRegressor
    model = kind(**part.part("parameters", _PARAMETERS.take))
    boosters = part.parts("boosters", MOST_CLASSES, chains.unpack)
    features = _unpack_features(part, model, boosters)
    team = part.part("team", teams.unpack, classifies, features, under="team.", later=True)
    refuse(bool(boosters) == (team is not None), "it has no booster, or one beside its team")
    _take_written(part, model, boosters, team)
    model._stream = part.take("stream", fields.optional(_STREAM))
    if part.take("passes") is not None:
        model.n_iter_ = model.max_iter
    learner = boosters[0] if team is None else team
    model.loss_ = learner.loss
    if classifies:
        part.part("classes", _unpack_classes, model, boosters, learner)
    elif len(boosters) > 1:
        raise Fault("it has several boosters where one predicts numbers")
    else:
        model.booster_, model.guard_ = learner, None
    if part.tensors.has("waiting.examples"):
        model._waiting = waiting.unpack(part, model.max_waiting, team)
    return model


def _take_written(part: Fields, model: Any, boosters: list[OnlineBooster], team: Team | None) -> None:
    """Learner and loss as the user wrote them; a Fault unless all parameters go together."""
    own = {"learner": boosters[0].learner if boosters else None, "loss": (team or boosters[0]).loss}
    for name, value in part.part("written", _WRITTEN.take).items():
        setattr(model, name, own[name] if value is None else value or None)
    if team is None and model.learner is None and make(model._is_team, {}):
        model.learner = "linear"  # what None meant before there was a team
    make(model.check_parameters, {})
    if make(model._is_team, {}) != (team is not None):
        raise Fault("it has a team where it says something else, or none")


def _unpack_features(part: Fields, model: Any, boosters: list[OnlineBooster]) -> Features | None:
    """The features of the model, which it is given, and which of them are texts."""
    columns = part.take("columns", fields.optional(fields.count(1)))
    if columns is not None:
        model.n_features_in_ = columns
    if part.tensors.has("frame"):
        names = _FRAME.take(part)["frame"]
        refuse(columns != len(names), "it has names for other columns than it has")
        model.feature_names_in_ = np.array(names, dtype=object)
    features = chains.unpack_features(part, model.hash_bits)
    refuse(features is None and columns is None, "its features have neither names nor a number")
    width = columns if features is None else features.width
    if any(booster.n_features > width for booster in boosters):
        raise Fault("its boosters have more columns than it has features")
    if features is not None:
        model.features_ = features
        if part.has("team"):
            places, texts = _TEXTS.take(part, features=max(1, len(features.names))).values()
            if len(texts) != len(places) or len(set(places.tolist())) != len(places):
                raise Fault("its texts are of features that it has not")
            features.texts.update(zip(places.tolist(), texts, strict=True))
    return features


def _unpack_classes(part: Fields, model: Any, boosters: list[OnlineBooster], learner: Any) -> None:
    names, model.open_ = _CLASSES.take(part).values()
    if len(names) > MOST_CLASSES:
        raise fields.refusal("labels")
    if not boosters:
        own = learner
        refuse(learner.classes != len(names), "its team knows other classes")
    elif model.loss_.vector:
        own = OneForAll(model._new_member, model.loss_)
        if names:
            own.members, own.classes = [Member(booster) for booster in boosters], max(2, len(names))
        if len(boosters) != 1 or (boosters[0].state and boosters[0].state.outputs != own.classes):
            raise Fault("its booster has not a score for each class")
    else:
        own = OneVsRest(model._new_member, model.loss_)
        chains.unpack_members(part, own, boosters, len(names))
    model.boosters_ = own
    model.codes_ = {label: code for code, label in enumerate(names)}
    model.classes_ = model._class_array()


_HEAD = fields.optional(fields.record(bytes=fields.count(), sha256=fields.text))  # the beginning of a file
_SUMS = ("weight", "loss", "last_weight", "last_loss", "label")
_COURSE = fields.record(
    every=fields.count(1),
    experts=fields.items(each=fields.text),
    points=fields.items(each=fields.items(each=fields.real)),
)


def _course(value: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = _COURSE(value, name)
    if any(len(point) != 3 + len(found["experts"]) for point in found["points"]):
        raise fields.refusal(name)
    return found


# Where `anyboost stream` stopped
_STREAM = fields.record(
    ["predictions", "course"],
    course=_course,
    target=fields.text,
    kinds=fields.table(fields.choice("number", "text")),
    tally=fields.record(rows=fields.count(), features=fields.count(), **dict.fromkeys(_SUMS, fields.real)),
    weight=fields.optional(fields.text),
    ignore=fields.items(each=fields.text),
    examples=fields.count(),
    source=_HEAD,
    predictions=_HEAD,
)
