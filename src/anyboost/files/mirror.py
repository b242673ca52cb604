"""The part of a file that is a mirror averager, or one of its estimators: settings, weights and what is remembered.

Models that an estimator combines are not stored: `load(path, models=[...])` takes them back.
"""

from dataclasses import fields as parameters_of
from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite, real, unsigned
from anyboost.mirror import domains, proxies, schedules
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.state import N_NUMBERS, NUMBERS, AveragerState
from anyboost.mirror.stumps import StumpAverager, Trees
from anyboost.mirror.tracking import Tracker

MOST_EXPERTS = 2**31 - 1
MOST_NAMES = 100_000
MOST_GRID = 100
_NOT_NEGATIVE = ("clock", "squared_norms", "typical_norm", "norms_seen", "beta")
_RULES: dict[str, dict[str, Any]] = {
    room: {kind.__name__: kind for kind in named.values()}
    for room, named in (
        ("proxy", proxies.NAMED),
        ("domain", domains.NAMED),
        ("schedule", schedules.NAMED),
    )
}


def pack(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of an averager, a dictionary of stumps, or an estimator."""
    if isinstance(model, MirrorAverager | Tracker):
        return {"form": "averager", **pack_settings(model)}, pack_states([model])
    if isinstance(model, StumpAverager):
        return _pack_stumps(model)
    from anyboost.files import mirror_estimators

    return mirror_estimators.pack(model)


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> Any:
    """The model; a Fault unless all that a kernel indexes with is in range."""
    if given.get("descent") is not None:
        raise ValueError("descent belongs to a run, and the file holds a mirror averager: leave it out")
    form = header.text("form")
    if form not in ("averager", "stumps"):
        from anyboost.files import mirror_estimators

        return mirror_estimators.unpack(form, header, tensors, given)
    if given.get("models") is not None:
        raise ValueError("models belong to an estimator, and the file holds an averager: leave them out")
    if form == "stumps":
        return _unpack_stumps(header, tensors, given)
    averager = unpack_settings(header, given)
    header.done()
    unpack_states([averager], tensors)
    return averager


def pack_settings(averager: Any) -> dict[str, Any]:
    """What the constructor of an averager or a tracker was given."""
    if isinstance(averager, Tracker):
        grid = {"rates": list(averager.rates), "shares": list(averager.shares)}
        shared = {"loss": parts.encode_loss(averager.loss), "domain": encode_rule(averager.domain, "domain")}
        return {**shared, **grid}
    return {
        "loss": parts.encode_loss(averager.loss),
        "proxy": encode_rule(averager.proxy, "proxy"),
        "domain": encode_rule(averager.domain, "domain"),
        "schedule": encode_rule(averager.schedule, "schedule"),
        "lipschitz": averager.lipschitz,
        "output_bound": averager.output_bound,
        "label_bound": averager.label_bound,
        "average": averager.average,
    }


def unpack_settings(header: Fields, given: dict[str, Any]) -> Any:
    """An averager or a tracker that has learned nothing."""
    loss = decode_loss(header.take("loss"), given)
    if header.has("rates"):
        grid = {
            name: [real(value, name) for value in header.items(name, MOST_GRID)]
            for name in ("rates", "shares")
        }
        return make(Tracker, loss=loss, domain=decode_rule(header.take("domain"), "domain"), **grid)
    rules = {room: decode_rule(header.take(room), room) for room in _RULES}
    longest = _longest(header)
    bounds = {name: optional(header, name) for name in ("output_bound", "label_bound")}
    average = header.flag("average")
    averager = make(MirrorAverager, loss=loss, **rules, lipschitz=longest, average=average)
    averager.output_bound, averager.label_bound = bounds["output_bound"], bounds["label_bound"]
    return averager


def _longest(header: Fields) -> float | str:
    """L; 0 stands for a running scale."""
    return header.real("lipschitz") or "running"


def decode_loss(entry: Any, given: dict[str, Any]) -> Any:
    """The stored loss, a stand-in for one of the user's, or what `load` was given for it."""
    loss = parts.decode_loss(entry)
    if given.get("loss") is None:
        return loss
    from anyboost import losses

    own = losses.get(given["loss"])
    if parts.encode_loss(own) != entry:
        raise ValueError(f"loss must be that of the file, {parts.spell(entry)}, got {own}")
    return own


def encode_rule(rule: Any, room: str) -> dict[str, Any]:
    """A proxy, set or schedule by class and parameters."""
    if _RULES[room].get(type(rule).__name__) is not type(rule):
        raise ValueError(f"model cannot be saved: its {room} is {rule!r}, which is not one of the library's")
    return {"class": type(rule).__name__} | {
        field.name: getattr(rule, field.name) for field in parameters_of(rule)
    }


def decode_rule(entry: Any, room: str) -> Any:
    found = Fields(entry, room)
    name = found.text("class")
    if name not in _RULES[room]:
        raise Fault(f"its {room} is {name!a}, which this version does not know")
    kind: Any = _RULES[room][name]
    values = {field.name: optional(found, field.name) for field in parameters_of(kind)}
    found.done()
    return make(kind, **values)


def optional(found: Fields, name: str) -> Any:
    """A number as it stands, or None."""
    value = found.take(name)
    if value is not None:
        real(value, name)
    return value


def make(kind: Any, **values: Any) -> Any:
    try:
        return kind(**values)
    except (ValueError, TypeError, OverflowError) as error:
        raise Fault(f"its header says {error}") from None


def pack_states(averagers: list[Any]) -> dict[str, np.ndarray]:
    """What was learned by averagers, or trackers, that share their settings; nothing where nothing was."""
    if not all(averager.started for averager in averagers):
        return {}
    if isinstance(averagers[0], Tracker):
        own = _stacked([part for tracker in averagers for part in tracker.parts], "")
        return own | _stacked([tracker.over for tracker in averagers], "over.")
    return _stacked(averagers, "")


def _stacked(averagers: list[MirrorAverager], prefix: str) -> dict[str, np.ndarray]:
    states: list[Any] = [averager._state for averager in averagers]
    return {
        f"{prefix}memory": finite(np.concatenate([state.memory for state in states]), "memories"),
        f"{prefix}theta": finite([state.theta for state in states], "weights"),
        f"{prefix}total": finite([state.total for state in states], "sums"),
        f"{prefix}numbers": finite([state.numbers.view(np.float64) for state in states], "numbers"),
    }


def unpack_states(averagers: list[Any], tensors: Tensors) -> None:
    """Give each averager what it had learned; they share settings and the number of experts."""
    if not tensors.has("theta"):
        return
    if isinstance(averagers[0], Tracker):
        _unstack([part for tracker in averagers for part in tracker.parts], tensors, "")
        _unstack([tracker.over for tracker in averagers], tensors, "over.")
        if averagers[0].over.n_experts_ != len(averagers[0].parts):
            raise Fault("its tracker weights other parts than it has")
    else:
        _unstack(averagers, tensors, "")


def _unstack(averagers: list[MirrorAverager], tensors: Tensors, prefix: str) -> None:
    count = len(averagers)
    theta = tensors.floats(f"{prefix}theta", (count, None))
    experts = theta.shape[1]
    if not 1 <= experts <= MOST_EXPERTS:
        raise Fault("it is an averager of nothing")
    total = tensors.floats(f"{prefix}total", (count, experts))
    rule, domain = averagers[0].schedule, averagers[0].domain
    length = domain.vertices(experts) if rule.by_vertex else experts
    memory = tensors.floats(f"{prefix}memory", (count * rule.arrays, length))
    numbers = as_numbers(tensors.floats(f"{prefix}numbers", (count, N_NUMBERS)))
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


def _pack_stumps(model: StumpAverager) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header = {
        "form": "stumps",
        "loss": parts.encode_loss(model.loss),
        "radius": model.radius,
        "schedule": encode_rule(model.schedule, "schedule"),
        "lipschitz": model.lipschitz,
        "label_bound": model.label_bound,
        "average": model.average,
        "max_thresholds": model.max_thresholds,
    }
    state = model._state
    if state is None:
        return header, {}
    return header, {
        "thresholds": finite(state.thresholds, "thresholds", infinite=True),
        "counts": unsigned(np.diff(state.starts)),
        "learned": finite(state.learned, "weights", infinite=True),
        "numbers": finite(state.numbers.view(np.float64), "numbers"),
    }


def _unpack_stumps(header: Fields, tensors: Tensors, given: dict[str, Any]) -> StumpAverager:
    longest = _longest(header)
    most = header.take("max_thresholds")
    model = make(
        StumpAverager,
        loss=decode_loss(header.take("loss"), given),
        radius=header.real("radius"),
        schedule=decode_rule(header.take("schedule"), "schedule"),
        max_thresholds=most,
        lipschitz=longest,
        average=header.flag("average"),
    )
    model.label_bound = optional(header, "label_bound")
    header.done()
    if not tensors.has("thresholds"):
        return model
    thresholds = tensors.floats("thresholds", (None,), infinite=True)
    counts = tensors.indices("counts", None, 0, MOST_EXPERTS)
    if len(counts) < 2 or counts.sum() != len(thresholds) or counts[-1] != 1:
        raise Fault("its thresholds are not those of features and a constant")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    state = model._fresh(thresholds, starts)
    state.learned[:] = tensors.floats("learned", state.learned.shape, infinite=True)
    state.numbers[:] = as_numbers(tensors.floats("numbers", (N_NUMBERS,)))
    if not isinstance(state, Trees) and not np.isfinite(state.learned).all():
        raise Fault("its weights are not finite")
    model._state = state
    return model
