"""The part of a file that is a mirror averaging estimator: its parameters, classes, and the averagers in it.

Models that an estimator combines are not stored: `load(path, models=[...])` takes them back.
"""

from typing import Any

import numpy as np

from anyboost.files import averagers, fields, labels
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, make, refuse
from anyboost.files.tensors import Packed, entries
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
    """Entries and tensors of a fitted estimator."""
    form = next(name for name, cls in FORMS.items() if isinstance(model, cls))
    found = getattr(model, "averagers_", None) or [getattr(model, "averager_", None)]
    if found[0] is None:
        raise ValueError(
            "model cannot be saved before it has learned anything: call fit or partial_fit first"
        )
    values = model.get_params(deep=False)
    for name, kinds in (("cv", int | str), ("random_state", int)):  # splitters and generators are not kept
        values[name] = values[name] if isinstance(values[name], kinds) else None
    packed = entries(form=form) | _PARAMETERS.pack(**values).within("parameters")
    packed |= averagers.pack_settings(found[0]).within("averager") | averagers.pack_states(found)
    return packed | entries(
        averagers=len(found),
        models=None if model.models is None else len(model.models_),
        features=getattr(model, "n_features_in_", None),
        feature_names=[str(name) for name in getattr(model, "feature_names_in_", [])],
        classes=labels.pack_classes(model.classes_, exact=True) if form == "classifier" else None,
    )


def unpack(part: Fields, loss: Any = None, models: Any = None) -> Any:
    """The estimator, with the models that `load` was given."""
    cls = part.take("form", fields.known(FORMS, "it holds a"))
    parameters = part.part("parameters", _PARAMETERS.take)
    settings = part.take("averager")
    found = [
        averagers.unpack_settings(Fields(settings, "averager"), loss)
        for _ in range(part.take("averagers", fields.count(1, part.tensors.length("theta"))))
    ]
    averagers.unpack_states(found, part)
    experts = found[0].n_experts_
    models = _models(part.take("models"), models, experts)
    estimator = cls(models, loss=_two_class(found[0].loss), **_rules(found[0]), **parameters)
    if models is not None:
        estimator.models_ = pool.check(models)
    features = part.take("features", fields.optional(fields.count(experts, experts)))
    if features is not None:
        estimator.n_features_in_ = features
    names = part.take("feature_names", fields.items(each=fields.text))
    if names:
        refuse(len(names) != features, "its feature names are not those of its features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    classes = part.take("classes", fields.optional(labels.classes(exact=True)))
    if cls is FORMS["classifier"]:
        return _with_classes(estimator, found, [] if classes is None else classes)
    refuse(classes is not None or len(found) != 1, "it is a regressor with classes")
    make(estimator._begin, {})
    estimator.averager_ = found[0]
    return estimator


def _with_classes(estimator: Any, found: list[Any], classes: Any) -> Any:
    if len(classes) < 2 or len(found) != (len(classes) if len(classes) > 2 and not estimator.models else 1):
        raise Fault("its classes are not those of its weights")
    fitted = estimator.models is not None and estimator.cv == "prefit"
    estimator.classes_, estimator._task = classes, pool.Task(classes, fitted=fitted)
    estimator.averagers_ = found
    return estimator


def _rules(averager: Any) -> dict[str, Any]:
    """Proxy, set and schedule, as the constructor takes them."""
    if isinstance(averager, Tracker):
        return {"domain": averager.domain, "schedule": "tracker"}
    return {name: getattr(averager, name) for name in averagers.RULES}


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
    refuse(stored != experts, "its models are not those of its weights")
    if given is None or len(pool.check(given)) != stored:
        raise ValueError(
            f"models must be the {stored} fitted models of the estimator, which are not in its file: "
            "load(path, models=[...])"
        )
    return list(given)
