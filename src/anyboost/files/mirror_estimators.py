"""The part of a file that is a mirror averaging estimator: its parameters, classes, and the averagers in it."""

from typing import Any

import numpy as np

from anyboost.files import mirror
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, real
from anyboost.mirror import pool
from anyboost.mirror.estimators import MirrorAveragingClassifier, MirrorAveragingRegressor
from anyboost.mirror.pool import Task
from anyboost.mirror.tracking import Tracker

FORMS: dict[str, Any] = {"regressor": MirrorAveragingRegressor, "classifier": MirrorAveragingClassifier}
DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
)
_RULES = ("proxy", "domain", "schedule")
_BOUNDS = ("output_bound", "label_bound")


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a fitted estimator."""
    form = next(name for name, kind in FORMS.items() if isinstance(model, kind))
    averagers = _averagers(model)
    if not averagers:
        raise ValueError(
            "model cannot be saved before it has learned anything: call fit or partial_fit first"
        )
    header = {
        "form": form,
        "parameters": _pack_parameters(model),
        "averager": mirror.pack_settings(averagers[0]),
        "averagers": len(averagers),
        "models": None if model.models is None else len(model.models_),
        "features": getattr(model, "n_features_in_", None),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])],
        "classes": _pack_classes(model.classes_) if form == "classifier" else None,
    }
    return header, mirror.pack_states(averagers)


def _averagers(model: Any) -> list[Any]:
    if isinstance(model, MirrorAveragingRegressor):
        return [model.averager_] if hasattr(model, "averager_") else []
    return getattr(model, "averagers_", [])


def _pack_parameters(model: Any) -> dict[str, Any]:
    """What the constructor was given, but for the models; a splitter or a random generator is not kept."""
    values = {name: getattr(model, name) for name in (*_BOUNDS, "average", "shuffle")}
    values["lipschitz"] = model.lipschitz
    values["cv"] = model.cv if isinstance(model.cv, int | str) else None
    values["random_state"] = (
        int(model.random_state) if isinstance(model.random_state, int | np.integer) else None
    )
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def _pack_classes(classes: np.ndarray) -> dict[str, Any]:
    if classes.dtype.kind in "OU" and all(isinstance(label, str) for label in classes.tolist()):
        return {"dtype": "str", "values": classes.tolist()}
    if classes.dtype.name not in DTYPES:
        raise ValueError(
            f"model cannot be saved: its classes are of the type {classes.dtype}; use numbers or text"
        )
    return {"dtype": classes.dtype.name, "values": classes.tolist()}


def unpack(form: str, header: Fields, tensors: Tensors, given: dict[str, Any]) -> Any:
    """The estimator, with the models that `load` was given."""
    if form not in FORMS:
        raise Fault(f"it holds a {form!a}, which this version does not know")
    parameters = _unpack_parameters(header.fields("parameters"))
    settings = header.fields("averager")
    first = mirror.unpack_settings(settings, given)
    settings.done()
    count = header.count("averagers", 1, tensors.length("theta"))
    averagers = [first, *(_twin(first) for _ in range(count - 1))]
    models = header.take("models")
    features = header.take("features")
    names = header.items("feature_names", mirror.MOST_NAMES)
    classes = header.take("classes")
    header.done()
    mirror.unpack_states(averagers, tensors)
    rules = _rules(first)
    own_models = _models(models, given, averagers)
    estimator = FORMS[form](own_models, loss=_two_class(first.loss), **rules, **parameters)
    if own_models is not None:
        estimator.models_ = pool.check(own_models)
    if features is not None:
        if type(features) is not int or features != averagers[0].n_experts_:
            raise Fault("its features are not those of its weights")
        estimator.n_features_in_ = features
    if names:
        if len(names) != features or not all(isinstance(name, str) for name in names):
            raise Fault("its feature names are not those of its features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return _finish(estimator, averagers, classes)


def _finish(estimator: Any, averagers: list[Any], classes: Any) -> Any:
    if isinstance(estimator, MirrorAveragingRegressor):
        if classes is not None or len(averagers) != 1:
            raise Fault("it is a regressor with classes")
        mirror.make(estimator._begin)
        estimator.averager_ = averagers[0]
        return estimator
    estimator.classes_ = _unpack_classes(classes)
    wanted = len(estimator.classes_) if estimator.models is None and len(estimator.classes_) > 2 else 1
    if len(averagers) != wanted:
        raise Fault("its classes are not those of its weights")
    estimator._task = Task(
        estimator.classes_, fitted=estimator.models is not None and estimator.cv == "prefit"
    )
    estimator.averagers_ = averagers
    return estimator


def _rules(averager: Any) -> dict[str, Any]:
    """Proxy, set and schedule, as the constructor takes them."""
    if isinstance(averager, Tracker):
        return {"domain": averager.domain, "schedule": "tracker"}
    return {room: getattr(averager, room) for room in _RULES}


def _twin(averager: Any) -> Any:
    if isinstance(averager, Tracker):
        return Tracker(averager.loss, averager.domain, averager.rates, averager.shares)
    longest = averager.lipschitz if averager.lipschitz > 0 else "running"
    twin = type(averager)(averager.loss, **_rules(averager), lipschitz=longest, average=averager.average)
    twin.output_bound, twin.label_bound = averager.output_bound, averager.label_bound
    return twin


def _two_class(loss: Any) -> Any:
    """The loss that the constructor was given: that of two classes, where there are more."""
    from anyboost.mirror.estimators import _OF_CLASSES

    return next((two() for two, several in _OF_CLASSES.items() if several == loss), loss)


def _models(count: Any, given: dict[str, Any], averagers: list[Any]) -> Any:
    models = given.get("models")
    if count is None:
        if models is not None:
            raise ValueError(
                "models were given, and the file's estimator takes columns of forecasts: leave them out"
            )
        return None
    if type(count) is not int or not averagers[0].started or count != averagers[0].n_experts_:
        raise Fault("its models are not those of its weights")
    if models is None or len(pool.check(models)) != count:
        raise ValueError(
            f"models must be the {count} fitted models of the estimator, which are not in its file: "
            "load(path, models=[...])"
        )
    return list(models)


def _unpack_parameters(found: Fields) -> dict[str, Any]:
    values: dict[str, Any] = {name: mirror.optional(found, name) for name in (*_BOUNDS, "random_state")}
    values["average"] = None if (average := found.take("average")) is None else bool(average)
    values["shuffle"] = found.flag("shuffle")
    for name in ("lipschitz", "cv"):
        value = found.take(name)
        if value is not None and not isinstance(value, str):
            real(value, name)
        values[name] = value
    found.done()
    return values


def _unpack_classes(entry: Any) -> np.ndarray:
    found = Fields(entry, "classes")
    dtype, values = found.text("dtype"), found.items("values", mirror.MOST_NAMES)
    found.done()
    if dtype == "str":
        if not all(isinstance(value, str) for value in values):
            raise Fault("its classes are not text")
        classes = np.array(values, dtype=str)
    elif dtype in DTYPES and all(type(value) in (int, float, bool) for value in values):
        try:
            classes = np.array(values).astype(dtype)
        except (OverflowError, ValueError):
            raise Fault("its classes are not numbers of their type") from None
        if classes.tolist() != values:
            raise Fault("its classes are not numbers of their type")
    else:
        raise Fault("its classes are of a type that model files do not use")
    if len(classes) < 2 or len(np.unique(classes)) != len(classes) or (np.sort(classes) != classes).any():
        raise Fault("its classes are not in order")
    return classes
