"""The part of a file that is a mirror averager or a tracker: settings, weights and what is remembered."""

from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.codec import Codec
from anyboost.files.fields import Fault, Fields, choice, flag, items, make, number, real
from anyboost.files.tensors import Packed, Tensors, finite
from anyboost.mirror import domains, proxies, schedules
from anyboost.mirror.averager import BETA, CLOCK, N_NUMBERS, MirrorAverager
from anyboost.mirror.tracking import Tracker
from anyboost.mirror.uncompiled import State

MOST_EXPERTS = 2**31 - 1
MOST_GRID = 100
_SQUARES, _TYPICAL, _SEEN = 1, 2, 3
RULES = {
    "proxy": Codec("proxy", *proxies.NAMED.values()),
    "domain": Codec("domain", *domains.NAMED.values()),
    "schedule": Codec("schedule", *schedules.NAMED.values()),
}
_LEARNED = {"memory": "memories", "theta": "weights", "total": "sums", "numbers": "numbers"}


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
    return {
        prefix + name: finite(np.vstack([getattr(each._state, name) for each in averagers]), shown)
        for name, shown in _LEARNED.items()
    }


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
    numbers = tensors.floats("numbers", (count, N_NUMBERS))
    for k, averager in enumerate(averagers):
        check_numbers(numbers[k])
        own = memory[k * rule.arrays : (k + 1) * rule.arrays].copy()
        averager._state = State(own, theta[k].copy(), total[k].copy(), numbers[k].copy())


def check_numbers(numbers: np.ndarray) -> None:
    """Counts and scales that are ones; the number of norms seen is an index."""
    seen = numbers[_SEEN]
    # Beyond 2^53 a count no longer grows, and one beyond 64 bits would be a negative index.
    if (numbers[[CLOCK, _SQUARES, _TYPICAL, _SEEN, BETA]] < 0).any() or seen % 1 or seen > 2**53:
        raise Fault("its counts are not counts")
