"""The part of a file that is a stream model with adaptive intervals: the model, the level, the last residuals."""

from types import ModuleType

from anyboost.files import chains, online_estimators
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, bounded, choice, count, make, real
from anyboost.files.tensors import Floats, Packed, entries
from anyboost.online.booster import OnlineBooster
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.intervals import AdaptiveIntervals

_KINDS: dict[str, tuple[type, ModuleType]] = {
    "booster": (OnlineBooster, chains),
    "online_model": (OnlineBoosting, online_estimators),
}
_GIVEN = Record(coverage=real, rate=real, window=count(1))
_STATE = Record(rows=count(), missed=count(), level=bounded(-1.0, 2.0), residuals=Floats("last"))


def pack(intervals: AdaptiveIntervals) -> Packed:
    """Entries and tensors of a model and its intervals."""
    for kind, (cls, module) in _KINDS.items():
        if isinstance(intervals.model, cls):
            found = _GIVEN.pack(intervals) | _STATE.pack(**intervals.state()) | entries(kind=kind)
            return found | module.pack(intervals.model).within("model", "model.")
    raise ValueError(
        "model cannot be saved: its intervals are around one of the class "
        f"{type(intervals.model).__name__}, and a file holds online models of this library"
    )


def unpack(part: Fields) -> AdaptiveIntervals:
    """The model and its intervals, ready to go on; a Fault unless they fit together."""
    kind = part.take("kind", choice(*_KINDS))
    model = part.part("model", _KINDS[kind][1].unpack, under="model.")
    intervals = make(AdaptiveIntervals, {"model": model} | _GIVEN.take(part))
    state = _STATE.take(part)
    residuals = state.pop("residuals").tolist()
    if state["missed"] > state["rows"] or len(residuals) != min(state["rows"], intervals.window):
        raise Fault("its intervals have missed more than there was")
    intervals.go_on(residuals=residuals, **state)
    return intervals
