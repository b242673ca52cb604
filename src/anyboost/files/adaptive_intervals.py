"""The part of a file that is a stream model with adaptive intervals: models, the level, the last residuals."""

from types import ModuleType
from typing import Any

from anyboost.files import chains, online_estimators
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, bounded, choice, count, make, real
from anyboost.files.tensors import Floats, Packed, entries, listed
from anyboost.online.booster import OnlineBooster
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.intervals import AdaptiveIntervals

_KINDS: dict[str, tuple[type, ModuleType]] = {
    "booster": (OnlineBooster, chains),
    "online_model": (OnlineBoosting, online_estimators),
}
_GIVEN = Record(coverage=real, rate=real, window=count(1))
_STATE = Record(rows=count(), missed=count(), level=bounded(-1.0, 2.0), residuals=Floats("last"))
_OF_TWO = Record(above=Floats("last"))


def pack(intervals: AdaptiveIntervals) -> Packed:
    """Entries and tensors of the models, and how far off their answers were."""
    state = intervals.state()
    found = _GIVEN.pack(intervals) | _STATE.pack(**state) | _pack_model(intervals.model)
    if intervals.ends is None:
        return found
    return found | _OF_TWO.pack(**state) | listed("ends", map(_pack_model, intervals.ends))


def _pack_model(model: Any) -> Packed:
    for kind, (cls, module) in _KINDS.items():
        if isinstance(model, cls):
            return entries(kind=kind) | module.pack(model).within("model", "model.")
    raise ValueError(
        "model cannot be saved: its intervals are around one of the class "
        f"{type(model).__name__}, and a file holds online models of this library"
    )


def unpack(part: Fields) -> AdaptiveIntervals:
    """The models and their intervals, ready to go on; a Fault unless they fit together."""
    given = {"model": _unpack_model(part)} | _GIVEN.take(part)
    state = _STATE.take(part) | {"above": []}
    if part.has("ends"):  # older files have one answer
        given["ends"] = tuple(part.parts("ends", 2, _unpack_model))
        state |= _OF_TWO.take(part, last=len(state["residuals"]))
    intervals = make(AdaptiveIntervals, given)
    if state["missed"] > state["rows"] or len(state["residuals"]) != min(state["rows"], intervals.window):
        raise Fault("its intervals have missed more than there was")
    intervals.go_on(**state | {name: list(map(float, state[name])) for name in ("residuals", "above")})
    return intervals


def _unpack_model(part: Fields) -> Any:
    return part.part("model", _KINDS[part.take("kind", choice(*_KINDS))][1].unpack, under="model.")
