"""The part of a file that is a fitted planner: its costs as a sum, how it plans, its parameters and its rounds.

The demonstrations are not stored: they are the sample.
"""

from sklearn.utils.validation import check_is_fitted

from anyboost.ensemble import Ensemble
from anyboost.files import ensembles, history, parameters
from anyboost.files.codec import Codec
from anyboost.files.fields import Fault, Fields, make, optional, refuse, text
from anyboost.files.tensors import Packed, entries
from anyboost.planning import planners
from anyboost.planning.estimator import MaxMarginPlanner

PLANNERS = Codec("planner", planners.GridPlanner, planners.LatticePlanner)
LEFT_OUT = ("callbacks", "planner")
_OF_STEPS = ("loss", "gradient_norm", "edge", "step_size", "coefficient", "seconds")


def pack(model: MaxMarginPlanner) -> Packed:
    """Entries and tensors of a fitted planner."""
    check_is_fitted(model)
    if not PLANNERS.knows(model.planner_):
        raise ValueError(
            f"model cannot be saved: its planner is {type(model.planner_).__name__}, and only "
            f"{' and '.join(PLANNERS.classes)} have a place in a file"
        )
    found = entries(
        parameters=parameters.pack(model, LEFT_OUT),
        named=model.planner if isinstance(model.planner, str) else None,
        planner=PLANNERS.encode(model.planner_),
        best_iteration=int(model.best_iteration_),
    )
    return ensembles.pack(model.ensemble_).within("ensemble") | found | history.pack(model.steps_, _OF_STEPS)


def unpack(part: Fields) -> MaxMarginPlanner:
    """The planner; a Fault unless all it predicts with fits together."""
    values = part.part("parameters", parameters.unpack, MaxMarginPlanner, LEFT_OUT)
    planner = part.take("planner", PLANNERS)
    name = part.take("named", optional(text))
    if name is not None and make(planners.get, {"planner": name}) != planner:
        raise Fault("its planner is not the one that it names")
    ensemble: Ensemble = part.part("ensemble", ensembles.unpack)
    refuse(ensemble.outputs != 1, "its cells have several costs")
    steps = history.unpack(part, _OF_STEPS)
    best = history.unpack_best(part, ensemble.n_rounds, len(steps))
    model = MaxMarginPlanner(planner=planner if name is None else name, **values)
    make(model._checked, {})
    fitted = {"ensemble_": ensemble, "planner_": planner, "steps_": steps, "n_iter_": len(steps)}
    model.__dict__.update(fitted | {"best_iteration_": best, "n_features_in_": ensemble.n_features})
    return model
