"""The part of a file that is a fitted planner: its costs as a sum, how it plans, its parameters and its rounds.

The demonstrations are not stored: they are the sample.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from anyboost.descent import Step
from anyboost.files import ensembles, history
from anyboost.files.container import Fault
from anyboost.files.estimators import _pack_parameters, _unpack_parameter
from anyboost.files.fields import Fields, Tensors, finite, real, unsigned
from anyboost.planning.estimator import MaxMarginPlanner
from anyboost.planning.planners import GridPlanner, LatticePlanner, get

PLANNERS: dict[str, Any] = {cls.__name__: cls for cls in (GridPlanner, LatticePlanner)}
LEFT_OUT = ("callbacks", "planner")
_OF_STEPS = ("loss", "gradient_norm", "edge", "step_size", "coefficient", "seconds")


def pack(model: MaxMarginPlanner) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a fitted planner."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    planner = model.planner_
    if type(planner) not in PLANNERS.values():
        raise ValueError(
            f"model cannot be saved: its planner is {type(planner).__name__}, and only GridPlanner and LatticePlanner "
            "have a place in a file"
        )
    ensemble, tensors = ensembles.pack(model.ensemble_)
    steps = model.steps_
    tensors |= {
        "steps": history.pack(steps, _OF_STEPS),
        "step.learners": unsigned([step.learners for step in steps]),
    }
    if steps and steps[0].valid_loss is not None:
        tensors["valid.losses"] = finite([step.valid_loss for step in steps], "validation losses")
    parameters = _pack_parameters(model)
    header = {
        "ensemble": ensemble,
        "parameters": {name: value for name, value in parameters.items() if name not in LEFT_OUT},
        "named": model.planner if isinstance(model.planner, str) else None,
        "planner": {"class": type(planner).__name__}
        | {field.name: getattr(planner, field.name) for field in fields(planner)},
        "best_iteration": int(model.best_iteration_),
    }
    return header, tensors


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> MaxMarginPlanner:
    """The planner; a Fault unless all it predicts with fits together."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to a run, and the file holds a planner: leave it out")
    parameters = header.fields("parameters")
    names = [name for name in MaxMarginPlanner._get_param_names() if name not in LEFT_OUT]
    values = {name: _unpack_parameter(parameters.take(name), name) for name in names}
    parameters.done()
    planner = _unpack_planner(header.fields("planner"))
    values["planner"] = _unpack_name(header.take("named"), planner)
    ensemble = ensembles.unpack(header.fields("ensemble"), tensors, {})
    if ensemble.outputs != 1:
        raise Fault("its cells have several costs")
    steps = _unpack_steps(tensors)
    best = header.count("best_iteration", 0, len(steps))
    header.done()
    if ensemble.n_rounds not in (best, len(steps)):
        raise Fault("its sum is neither that of its best round nor that of its last")
    model = MaxMarginPlanner(**values)
    try:
        model._checked()
    except (ValueError, TypeError, OverflowError) as error:
        raise Fault(f"its header says {error}") from None
    model.__dict__.update(
        ensemble_=ensemble,
        planner_=planner,
        steps_=steps,
        n_iter_=len(steps),
        best_iteration_=best,
        n_features_in_=ensemble.n_features,
    )
    return model


def _unpack_planner(header: Fields) -> Any:
    name = header.text("class")
    if name not in PLANNERS:
        raise Fault(f"its planner is {name!a}, which this version does not know")
    values: dict[str, Any] = {}
    for field in fields(PLANNERS[name]):
        values[field.name] = header.take(field.name)
        real(values[field.name], field.name)
    header.done()
    try:
        return PLANNERS[name](**values)
    except (ValueError, TypeError) as error:
        raise Fault(f"its header says {error}") from None


def _unpack_name(name: Any, planner: Any) -> Any:
    """The planner as the parameter had it: itself, or its name."""
    try:
        if name is None or (isinstance(name, str) and get(name) == planner):
            return planner if name is None else name
    except ValueError:
        pass
    raise Fault("its planner is not the one that it names")


def _unpack_steps(tensors: Tensors) -> list[Step]:
    found = history.unpack(tensors, _OF_STEPS)
    learners = tensors.indices("step.learners", len(found), 0, 2**32 - 1).tolist()
    valid: list[Any] = [None] * len(found)
    if tensors.has("valid.losses"):
        valid = tensors.floats("valid.losses", (len(found),)).tolist()
    return [
        Step(round=t + 1, learners=learners[t], valid_loss=valid[t], **row) for t, row in enumerate(found)
    ]
