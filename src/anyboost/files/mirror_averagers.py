"""The part of a file that is a mirror averager or a tracker: settings, weights and what is remembered."""

from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.codec import Codec
from anyboost.files.fields import Fault, Fields, choice, flag, items, make, number, real
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.mirror import domains, proxies, schedules
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.state import N_NUMBERS, NUMBERS, AveragerState
from anyboost.mirror.tracking import Tracker

MOST_EXPERTS = 2**31 - 1
MOST_GRID = 100
_NOT_NEGATIVE = ("clock", "squared_norms", "typical_norm", "norms_seen", "beta")
RULES = {
    "proxy": Codec("proxy", *proxies.NAMED.values()),
    "domain": Codec("domain", *domains.NAMED.values()),
    "schedule": Codec("schedule", *schedules.NAMED.values()),
}
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
    loss = {"loss": parts.encode_loss(averager.loss)}
    if isinstance(averager, Tracker):
        grid = {"rates": list(averager.rates), "shares": list(averager.shares)}
        return {**loss, "domain": RULES["domain"].encode(averager.domain), **grid}
    rules = {name: codec.encode(getattr(averager, name)) for name, codec in RULES.items()}
    numbers = ("lipschitz", "output_bound", "label_bound", "average")
    return {**loss, **rules, **{name: getattr(averager, name) for name in numbers}}


def unpack_settings(header: Fields, loss: Any) -> Any:
    """An averager or a tracker that has learned nothing."""
    values: dict[str, Any] = {"loss": parts.decode_loss(header.take("loss"), loss)}
    if header.has("rates"):
        grid = items(MOST_GRID, real)
        values |= header.take_all(domain=RULES["domain"].check, rates=grid, shares=grid)
        return make(Tracker, values)
    output_bound, label_bound = header.take("output_bound", number), header.take("label_bound", number)
    checks = {name: codec.check for name, codec in RULES.items()}
    values |= header.take_all(**checks, lipschitz=lipschitz, average=flag)
    averager = make(MirrorAverager, values)
    averager.output_bound, averager.label_bound = output_bound, label_bound
    return averager


def lipschitz(value: Any, name: str) -> float | str:
    """L; 0 stands for a running scale."""
    return real(value, name) or "running"


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
