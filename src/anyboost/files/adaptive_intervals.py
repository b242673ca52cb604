"""The part of a file that is a stream model with adaptive intervals: the model, the level, the last residuals."""

from types import ModuleType

from anyboost.files import fields, online_boosters, online_estimators
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.tensors import Packed, Tensors, finite, under
from anyboost.online.booster import OnlineBooster
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.intervals import AdaptiveIntervals

_KINDS: dict[str, tuple[type, ModuleType]] = {
    "booster": (OnlineBooster, online_boosters),
    "online_model": (OnlineBoosting, online_estimators),
}
_GIVEN = {"coverage": fields.real, "rate": fields.real, "window": fields.count(1)}
_STATE = {"rows": fields.count(), "missed": fields.count(), "level": fields.real}


def pack(intervals: AdaptiveIntervals) -> Packed:
    """Header and tensors of a model and its intervals."""
    for kind, (cls, module) in _KINDS.items():
        if isinstance(intervals.model, cls):
            header, tensors = module.pack(intervals.model)
            own = {name: getattr(intervals, name) for name in _GIVEN}
            state = intervals.state()
            entries = own | {name: state[name] for name in _STATE} | {"kind": kind, "model": header}
            residuals = finite(state["residuals"], "residuals")
            return entries, {"residuals": residuals} | under("model.", tensors)
    raise ValueError(
        "model cannot be saved: its intervals are around one of the class "
        f"{type(intervals.model).__name__}, and a file holds online models of this library"
    )


def unpack(header: Fields, tensors: Tensors) -> AdaptiveIntervals:
    """The model and its intervals, ready to go on; a Fault unless they fit together."""
    kind = header.take("kind", fields.choice(*_KINDS))
    model = _KINDS[kind][1].unpack(header.take("model", Fields), tensors.under("model."))
    given = {name: header.take(name, check) for name, check in _GIVEN.items()}
    state = {name: header.take(name, check) for name, check in _STATE.items()}
    header.done()
    intervals = make(AdaptiveIntervals, {"model": model} | given)
    length = min(state["rows"], intervals.window)
    if state["missed"] > state["rows"] or not -1.0 <= state["level"] <= 2.0:
        raise Fault("its intervals have missed more than there was")
    intervals.go_on(residuals=tensors.floats("residuals", (length,)).tolist(), **state)
    return intervals
