"""The part of a file that is a fitted estimator: its sum, its loss, its columns, its classes, its parameters.

What only training needs is not stored: callbacks, a scorer that is a function, the state behind `warm_start`.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from anyboost import losses
from anyboost.descent import Descent, Step
from anyboost.estimators import BoostingClassifier, BoostingRanker, BoostingRegressor, measures, parameters
from anyboost.estimators.base import BaseBoosting
from anyboost.files import ensembles, history, parts
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite, is_text, real, unsigned
from anyboost.losses import Cox, Loss, MultiQuantile
from anyboost.tables import MOST_LEVELS, Columns, Levels

CLASSES = {cls.__name__: cls for cls in (BoostingClassifier, BoostingRanker, BoostingRegressor)}
KINDS_OF_LABELS: dict[str, Any] = {"text": np.str_, "whole": np.int64, "real": np.float64, "flag": np.bool_}
LEFT_OUT = ("callbacks",)  # parameters that only a fit in this process can mean something by
LATER = {"quantile": None, "curvature": "auto"}  # written only where set, for older files have none
_OF_STEPS = ("gradient_norm", "edge", "step_size", "coefficient")
MOST_NAMES = 1 << 20
MOST_DEPTH = 3


def pack(model: BaseBoosting) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a fitted estimator."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if getattr(model, "init_", None) is not None:
        raise ValueError("model cannot be saved: it starts at the predictions of another estimator, its init")
    ensemble, tensors = ensembles.pack(model.ensemble_)
    steps = model.steps_
    tensors |= {
        "train.scores": finite(model.train_score_, "training losses"),
        "steps": history.pack(steps, _OF_STEPS),
        "step.learners": unsigned([step.learners for step in steps]),
        "seconds": finite([step.seconds for step in steps], "seconds"),
    }
    if steps and steps[0].valid_loss is not None:
        tensors["valid.losses"] = np.array([step.valid_loss for step in steps], dtype=np.float64)
    header = {
        "estimator": type(model).__name__,
        "ensemble": ensemble,
        "loss": parts.encode_loss(model.loss_),
        "parameters": _pack_parameters(model),
        "columns": _pack_columns(model),
        "classes": _pack_labels(model.classes_) if hasattr(model, "classes_") else None,
        "best_iteration": int(model.best_iteration_),
        "validation": _pack_validation(model, tensors),
    }
    if isinstance(model.loss_, Cox):
        tensors["event.times"] = finite(model.event_times_, "times")
        tensors["event.hazard"] = finite(model.baseline_hazard_, "hazards")
    return header, tensors


def _pack_parameters(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        if name in LEFT_OUT or (name in LATER and value == LATER[name]):
            continue
        if isinstance(value, Loss):
            found[name] = {"loss": parts.encode_loss(value)}
        elif isinstance(value, Descent):
            found[name] = {"descent": parts.encode_descent(value)}
        elif name == "learner" and value is not None and not isinstance(value, str):
            found[name] = {"learner": parts.encode_learner(value)}
        elif name == "random_state" and not isinstance(value, int | np.integer | None):
            found[name] = None
        elif name == "scoring" and not _plain_names(value):
            found[name] = "loss"
        elif isinstance(value, Mapping):
            found[name] = {"pairs": [[_plain(key), _plain(value[key])] for key in value]}
        else:
            found[name] = _plain(value)
    return found


def _plain_names(value: Any) -> bool:
    return value is None or all(isinstance(part, str) for part in _listed(value))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _pack_columns(model: BaseBoosting) -> dict[str, Any]:
    columns = model._columns
    names = getattr(model, "feature_names_in_", None)
    levels = [
        {"column": number, "levels": list(found.values), "rest": found.rest}
        for number, found in sorted(columns.levels.items())
    ]
    return {"names": None if names is None else [str(name) for name in names], "categories": levels}


def _pack_labels(classes: np.ndarray) -> dict[str, Any]:
    kinds = {"U": "text", "O": "text", "i": "whole", "u": "whole", "f": "real", "b": "flag"}
    kind = kinds.get(classes.dtype.kind)
    values = classes.tolist()
    if kind is None or (kind == "text" and not all(isinstance(value, str) for value in values)):
        raise ValueError("model cannot be saved: its classes must be words, numbers or truth values")
    return {"kind": kind, "values": values}


def _pack_validation(model: BaseBoosting, tensors: dict[str, np.ndarray]) -> list[list[str]]:
    """The names of sets and scores, in the order of the rows of the tensor with their values."""
    found = getattr(model, "validation_scores_", {})
    names = [[name, scoring] for name, scores in found.items() for scoring in scores]
    if names:
        rows = [found[name][scoring] for name, scoring in names]
        tensors["validation.scores"] = np.array(rows, dtype=np.float64)
        tensors["validation.decides"] = np.array(model.validation_score_, dtype=np.float64)
    return names


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> BaseBoosting:
    """The estimator; a Fault unless all it predicts with fits together."""
    if given["descent"] is not None:
        raise ValueError("descent belongs to a run, and the file holds an estimator: leave it out")
    name = header.text("estimator")
    if name not in CLASSES:
        raise Fault(f"its estimator is {name!a}, which this version does not know")
    loss = _unpack_loss(header.take("loss"), given["loss"])
    values = _unpack_parameters(header.fields("parameters"), CLASSES[name])
    ensemble = ensembles.unpack(header.fields("ensemble"), tensors, {})
    fitted: dict[str, Any] = {"loss_": loss, "ensemble_": ensemble, "n_features_in_": ensemble.n_features}
    fitted |= _unpack_columns(header.fields("columns"), ensemble.n_features)
    classes = header.take("classes")
    if (classes is not None) != (name == "BoostingClassifier"):
        raise header.refusal("classes")
    if classes is not None:
        fitted["classes_"] = _unpack_labels(Fields(classes, "classes"))
        if len(fitted["classes_"]) != max(2, ensemble.outputs):
            raise Fault("it has not as many classes as outputs")
    _check_outputs(loss, ensemble.outputs)
    fitted |= _unpack_history(header, tensors, ensemble.n_rounds)
    if isinstance(loss, Cox):
        fitted |= _unpack_survival(tensors)
    header.done()
    return _made(CLASSES[name], values, fitted)


def _unpack_loss(entry: Any, own: Any) -> Loss:
    loss = parts.decode_loss(entry)
    if own is None:
        return loss
    chosen = losses.get(own)
    if parts.encode_loss(chosen) != entry:
        raise ValueError(f"loss must be that of the file, {parts.spell(entry)}, got {chosen}")
    return chosen


def _unpack_parameters(header: Fields, cls: type[BaseBoosting]) -> dict[str, Any]:
    values = {
        name: _unpack_parameter(header.take(name), name)
        for name in cls._get_param_names()
        if name not in LEFT_OUT and (name not in LATER or header.has(name))
    }
    header.done()
    return values


def _unpack_parameter(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        return _checked(value, name)
    found = Fields(value, name)
    made: Any
    if found.has("pairs"):
        pairs = found.items("pairs", MOST_NAMES)
        if not all(isinstance(pair, list) and len(pair) == 2 and _is_key(pair[0]) for pair in pairs):
            raise found.refusal("pairs")
        made = {pair[0]: _checked(pair[1], name) for pair in pairs}
    elif found.has("loss"):
        made = parts.decode_loss(found.take("loss"))
    elif found.has("descent"):
        made = parts.decode_descent(found.take("descent"))
    else:
        made = parts.decode_learner(found.take("learner"))
    found.done()
    return made


def _is_key(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _checked(value: Any, name: str, depth: int = 0) -> Any:
    """A plain value, or lists of them."""
    if isinstance(value, list):
        if depth == MOST_DEPTH or len(value) > MOST_NAMES:
            raise Fault(f"its parameter {name!a} is not what it has to be")
        return [_checked(part, name, depth + 1) for part in value]
    if isinstance(value, dict):
        raise Fault(f"its parameter {name!a} is not what it has to be")
    if isinstance(value, int | float) and not isinstance(value, bool):
        real(value, name)
    if isinstance(value, str) and not is_text(value):
        raise Fault(f"its parameter {name!a} is not what it has to be")
    return value


def _unpack_columns(header: Fields, n: int) -> dict[str, Any]:
    names = header.take("names")
    fitted: dict[str, Any] = {}
    if names is not None:
        good = isinstance(names, list) and len(names) == n and all(is_text(name) for name in names)
        if not good or len(set(names)) < n:
            raise header.refusal("names")
        fitted["feature_names_in_"] = np.array(names, dtype=object)
    levels: dict[int, Levels] = {}
    for entry in header.items("categories", n):
        found = Fields(entry, "categories")
        number, rest = found.count("column", 0, n - 1), found.flag("rest")
        if number in levels:
            raise Fault("it names a column of categories twice")
        levels[number] = Levels(_unpack_levels(found.items("levels", MOST_LEVELS)), rest)
        found.done()
    header.done()
    columns = Columns(n, levels)
    return fitted | {"_columns": columns, "is_categorical_": columns.categorical}


def _unpack_levels(values: list[Any]) -> Any:
    words = bool(values) and all(is_text(value) for value in values)
    if not words:
        values = [real(value, "levels") for value in values]
    if any(not a < b for a, b in pairwise(values)):
        raise Fault("its categories are not in order")
    return tuple(values)


def _unpack_labels(header: Fields) -> np.ndarray:
    kind, values = header.text("kind"), header.items("values", MOST_NAMES)
    header.done()
    types = {"text": str, "whole": int, "real": float, "flag": bool}
    if kind not in types or not all(type(value) is types[kind] for value in values):
        raise Fault("its classes are not what they have to be")
    if kind == "text" and not all(is_text(value) for value in values):
        raise Fault("its classes are not what they have to be")
    try:
        labels = np.array(values, dtype=KINDS_OF_LABELS[kind])
    except (OverflowError, ValueError):
        raise Fault("its classes are not what they have to be") from None
    if not np.array_equal(np.unique(labels), labels) or (kind == "real" and not np.isfinite(labels).all()):
        raise Fault("its classes are not in order")
    return labels


def _check_outputs(loss: Loss, outputs: int) -> None:
    if isinstance(loss, parts.AbsentLoss):
        return
    if loss.vector != (outputs > 1) or (isinstance(loss, MultiQuantile) and len(loss.taus) != outputs):
        raise Fault("its loss has another number of outputs than its sum")


def _unpack_history(header: Fields, tensors: Tensors, kept: int) -> dict[str, Any]:
    found = history.unpack(tensors, _OF_STEPS)
    rounds = len(found)
    train = tensors.floats("train.scores", (rounds + 1,))
    learners = tensors.indices("step.learners", rounds, 0, 2**32 - 1).tolist()
    seconds = tensors.floats("seconds", (rounds,)).tolist()
    valid: list[float | None] = [None] * rounds
    if tensors.has("valid.losses"):  # older files have none
        valid = tensors.floats("valid.losses", (rounds,), infinite=True, nan=True).tolist()
    steps = [
        Step(
            round=t + 1,
            learners=learners[t],
            loss=-float(train[t + 1]),
            valid_loss=valid[t],
            seconds=seconds[t],
            **found[t],
        )
        for t in range(rounds)
    ]
    best = header.count("best_iteration", 0, rounds)
    if kept not in (best, rounds):
        raise Fault("its sum is neither that of its best round nor that of its last")
    fitted: dict[str, Any] = {
        "steps_": steps,
        "train_score_": train,
        "n_iter_": rounds,
        "best_iteration_": best,
        "validation_scores_": {},
        "validation_score_": np.array([]),
    }
    names = header.items("validation", MOST_NAMES)
    if not names:
        return fitted
    values = tensors.floats("validation.scores", (len(names), rounds + 1), nan=True)
    scores: dict[str, dict[str, np.ndarray]] = {}
    for pair, row in zip(names, values, strict=True):
        if not (isinstance(pair, list) and len(pair) == 2 and all(is_text(name) for name in pair)):
            raise header.refusal("validation")
        scores.setdefault(pair[0], {})[pair[1]] = row
    decides = tensors.floats("validation.decides", (rounds + 1,), nan=True)
    return fitted | {"validation_scores_": scores, "validation_score_": decides}


def _unpack_survival(tensors: Tensors) -> dict[str, Any]:
    times = tensors.floats("event.times", (None,))
    hazard = tensors.floats("event.hazard", (len(times),))
    if (np.diff(times) <= 0).any() or (np.diff(hazard) < 0).any() or (hazard < 0).any():
        raise Fault("its hazard is none")
    return {"event_times_": times, "baseline_hazard_": hazard}


def _made(cls: type[BaseBoosting], values: dict[str, Any], fitted: dict[str, Any]) -> BaseBoosting:
    model = cls(**values)
    try:
        parameters.check(model)
        measures.check_scoring(model.scoring)
    except (ValueError, TypeError, OverflowError, KeyError) as error:
        raise Fault(f"its header says {error}") from None
    model.__dict__.update(fitted)
    model._continuation = None
    return model
