"""The part of a file that is a mirror averaging estimator: its parameters, classes, and the averagers in it.

Models that an estimator combines are not stored: `load(path, models=[...])` takes them back.
"""

from typing import Any

import numpy as np

from anyboost.files import fields, labels, mirror_averagers
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.tensors import Packed, Tensors
from anyboost.mirror import estimators, pool
from anyboost.mirror.estimators.classifier import OF_CLASSES
from anyboost.mirror.tracking import Tracker

FORMS: dict[str, Any] = {
    "regressor": estimators.MirrorAveragingRegressor,
    "classifier": estimators.MirrorAveragingClassifier,
}


def _word_or_number(value: Any, name: str) -> Any:
    return value if isinstance(value, str) else fields.number(value, name)


_PARAMETERS = Record(
    **dict.fromkeys(("output_bound", "label_bound"), fields.number),
    average=lambda value, _: None if value is None else bool(value),
    shuffle=fields.flag,
    **dict.fromkeys(("lipschitz", "cv"), _word_or_number),
    random_state=fields.number,
)


def pack(model: Any) -> Packed:
    """Header and tensors of a fitted estimator."""
    form = next(name for name, cls in FORMS.items() if isinstance(model, cls))
    averagers = getattr(model, "averagers_", None) or [getattr(model, "averager_", None)]
    if averagers[0] is None:
        raise ValueError(
            "model cannot be saved before it has learned anything: call fit or partial_fit first"
        )
    values = _PARAMETERS.encode(model)
    for name, kinds in (("cv", int | str), ("random_state", int)):  # splitters and generators are not kept
        values[name] = values[name] if isinstance(values[name], kinds) else None
    header = {
        "form": form,
        "parameters": values,
        "averager": mirror_averagers.pack_settings(averagers[0]),
        "averagers": len(averagers),
        "models": None if model.models is None else len(model.models_),
        "features": getattr(model, "n_features_in_", None),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])],
        "classes": labels.pack_classes(model.classes_, exact=True) if form == "classifier" else None,
    }
    return header, mirror_averagers.pack_states(averagers)


def unpack(header: Fields, tensors: Tensors, loss: Any = None, models: Any = None) -> Any:
    """The estimator, with the models that `load` was given."""
    form = header.take("form", fields.text)
    if form not in FORMS:
        raise Fault(f"it holds a {form!a}, which this version does not know")
    parameters = header.take("parameters", _PARAMETERS)
    settings = header.take("averager")
    averagers = [
        mirror_averagers.unpack_settings(Fields(settings, "averager"), loss)
        for _ in range(header.take("averagers", fields.count(1, tensors.length("theta"))))
    ]
    mirror_averagers.unpack_states(averagers, tensors)
    experts = averagers[0].n_experts_
    models = _models(header.take("models"), models, experts)
    estimator = FORMS[form](models, loss=_two_class(averagers[0].loss), **_rules(averagers[0]), **parameters)
    if models is not None:
        estimator.models_ = pool.check(models)
    features = header.take("features", fields.optional(fields.count(experts, experts)))
    if features is not None:
        estimator.n_features_in_ = features
    names = header.take("feature_names", fields.items(each=fields.text))
    if names:
        if len(names) != features:
            raise Fault("its feature names are not those of its features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    classes = header.take("classes")
    if form == "classifier":
        return _with_classes(estimator, averagers, labels.unpack_classes(classes, exact=True))
    if classes is not None or len(averagers) != 1:
        raise Fault("it is a regressor with classes")
    make(estimator._begin, {})
    estimator.averager_ = averagers[0]
    return estimator


def _with_classes(estimator: Any, averagers: list[Any], classes: np.ndarray) -> Any:
    if len(classes) < 2 or len(averagers) != (
        len(classes) if len(classes) > 2 and not estimator.models else 1
    ):
        raise Fault("its classes are not those of its weights")
    fitted = estimator.models is not None and estimator.cv == "prefit"
    estimator.classes_, estimator._task = classes, pool.Task(classes, fitted=fitted)
    estimator.averagers_ = averagers
    return estimator


def _rules(averager: Any) -> dict[str, Any]:
    """Proxy, set and schedule, as the constructor takes them."""
    if isinstance(averager, Tracker):
        return {"domain": averager.domain, "schedule": "tracker"}
    return {name: getattr(averager, name) for name in mirror_averagers.RULES}


def _two_class(loss: Any) -> Any:
    """The loss that the constructor was given: that of two classes, where there are more."""
    return next((two() for two, several in OF_CLASSES.items() if several == loss), loss)


def _models(stored: Any, given: Any, experts: int) -> Any:
    if stored is None:
        if given is not None:
            raise ValueError(
                "models were given, and the file's estimator takes columns of forecasts: leave them out"
            )
        return None
    if stored != experts:
        raise Fault("its models are not those of its weights")
    if given is None or len(pool.check(given)) != stored:
        raise ValueError(
            f"models must be the {stored} fitted models of the estimator, which are not in its file: "
            "load(path, models=[...])"
        )
    return list(given)
