"""The part of a file that is a mirror averager or a tracker: settings, weights and what is remembered."""

from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.codec import Codec, Record
from anyboost.files.fields import Fault, Fields, choice, flag, items, make, number, real
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.mirror import domains, proxies, schedules
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.state import N_NUMBERS, NUMBERS, AveragerState
from anyboost.mirror.tracking import Tracker


def lipschitz(value: Any, name: str) -> float | str:
    """L; 0 stands for a running scale."""
    return real(value, name) or "running"


MOST_EXPERTS = 2**31 - 1
MOST_GRID = 100
_NOT_NEGATIVE = ("clock", "squared_norms", "typical_norm", "norms_seen", "beta")
RULES = {
    "proxy": Codec("proxy", *proxies.NAMED.values()),
    "domain": Codec("domain", *domains.NAMED.values()),
    "schedule": Codec("schedule", *schedules.NAMED.values()),
}
_AVERAGER = Record(**RULES, lipschitz=lipschitz, output_bound=number, label_bound=number, average=flag)
_TRACKER = Record(domain=RULES["domain"], **dict.fromkeys(("rates", "shares"), items(MOST_GRID, real)))
_LEARNED = {"memory": "memories", "theta": "weights", "total": "sums"}


def pack(averager: Any) -> Packed:
    """Header and tensors of an averager or a tracker."""
    return {"form": "averager", **pack_settings(averager)}, pack_states([averager])


def unpack(header: Fields, tensors: Tensors, loss: Any = None) -> Any:
    """The averager; a Fault unless all that a kernel indexes with is in range."""
    header.take("form", choice("averager"))
    averager = unpack_settings(header, loss)
    unpack_states([averager], tensors)
    return averager


def pack_settings(averager: Any) -> dict[str, Any]:
    """What the constructor of an averager or a tracker was given."""
    settings = _TRACKER if isinstance(averager, Tracker) else _AVERAGER
    return {"loss": parts.encode_loss(averager.loss), **settings.encode(averager)}


def unpack_settings(header: Fields, loss: Any) -> Any:
    """An averager or a tracker that has learned nothing."""
    loss = parts.decode_loss(header.take("loss"), loss)
    if header.has("rates"):
        return make(Tracker, {"loss": loss, **_TRACKER.take(header)})
    return with_bounds(MirrorAverager, {"loss": loss, **_AVERAGER.take(header)})


def with_bounds(cls: Any, values: dict[str, Any]) -> Any:
    """An averager of these values; the constructor takes L or bounds, and the file has both."""
    bounds = {name: values.pop(name) for name in ("output_bound", "label_bound") if name in values}
    averager = make(cls, values)
    averager.__dict__.update(bounds)
    return averager


def pack_states(averagers: list[Any]) -> dict[str, np.ndarray]:
    """What was learned by averagers, or trackers, that share their settings; nothing where nothing was."""
    if not all(averager.started for averager in averagers):
        return {}
    if isinstance(averagers[0], Tracker):
        own = _stacked([part for tracker in averagers for part in tracker.parts], "")
        return own | _stacked([tracker.over for tracker in averagers], "over.")
    return _stacked(averagers, "")


def _stacked(averagers: list[MirrorAverager], prefix: str) -> dict[str, np.ndarray]:
    """What each has learned, below each other; a memory has several rows."""
    states = [each._state for each in averagers]
    found = {name: [getattr(state, name) for state in states] for name in _LEARNED}
    found["numbers"] = [state.numbers.view(np.float64) for state in states if state is not None]
    shown = _LEARNED | {"numbers": "numbers"}
    return {prefix + name: finite(np.vstack(arrays), shown[name]) for name, arrays in found.items()}


def unpack_states(averagers: list[Any], tensors: Tensors) -> None:
    """Give each averager what it had learned; they share settings and the number of experts."""
    if not tensors.has("theta"):
        return
    if isinstance(averagers[0], Tracker):
        _unstack([part for tracker in averagers for part in tracker.parts], tensors)
        _unstack([tracker.over for tracker in averagers], tensors.under("over."))
        if averagers[0].over.n_experts_ != len(averagers[0].parts):
            raise Fault("its tracker weights other parts than it has")
    else:
        _unstack(averagers, tensors)


def _unstack(averagers: list[MirrorAverager], tensors: Tensors) -> None:
    count = len(averagers)
    theta = tensors.floats("theta", (count, None))
    experts = theta.shape[1]
    if not 1 <= experts <= MOST_EXPERTS:
        raise Fault("it is an averager of nothing")
    total = tensors.floats("total", (count, experts))
    rule, domain = averagers[0].schedule, averagers[0].domain
    length = domain.vertices(experts) if rule.by_vertex else experts
    memory = tensors.floats("memory", (count * rule.arrays, length))
    numbers = as_numbers(tensors.floats("numbers", (count, N_NUMBERS)))
    for k, averager in enumerate(averagers):
        own = memory[k * rule.arrays : (k + 1) * rule.arrays].copy()
        averager._state = AveragerState(own, theta[k].copy(), total[k].copy(), numbers[k : k + 1].copy())


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Records of counts and scales that are ones; the number of norms seen is an index."""
    numbers = values.view(NUMBERS).reshape(-1)
    seen = numbers["norms_seen"]
    # Beyond 2^53 a count no longer grows, and one beyond 64 bits would be a negative index.
    if any((numbers[each] < 0).any() for each in _NOT_NEGATIVE) or (seen % 1).any() or (seen > 2**53).any():
        raise Fault("its counts are not counts")
    return numbers
