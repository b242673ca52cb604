"""The part of a file that is a mirror averager, a tracker or an averager of stumps: settings, weights, what is
remembered."""

from typing import Any

import numpy as np

from anyboost.files.codec import Codec, Record
from anyboost.files.fields import MOST_PARTS, Fault, Fields, choice, flag, items, make, number, real, refuse
from anyboost.files.parts import LOSSES, loss_of
from anyboost.files.tensors import Floats, Packed, Whole, entries
from anyboost.mirror import domains, proxies, schedules
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.state import LAPSE, N_LAPSE, N_NUMBERS, NUMBERS, UNKNOWN, AveragerState
from anyboost.mirror.stumps import StumpAverager, Trees
from anyboost.mirror.tracking import Tracker


def lipschitz(value: Any, name: str) -> float | str:
    """L; 0 stands for a running scale."""
    return real(value, name) or "running"


MOST_GRID = 100
_NOT_NEGATIVE = ("clock", "squared_norms", "typical_norm", "norms_seen", "beta")
RULES = {
    "proxy": Codec("proxy", *proxies.NAMED.values()),
    "domain": Codec("domain", *domains.NAMED.values()),
    "schedule": Codec("schedule", *schedules.NAMED.values()),
}
_SETTINGS = {
    MirrorAverager: Record(
        loss=LOSSES, **RULES, lipschitz=lipschitz, output_bound=number, label_bound=number, average=flag
    ),
    Tracker: Record(
        loss=LOSSES, domain=RULES["domain"], **dict.fromkeys(("rates", "shares"), items(MOST_GRID, real))
    ),
    StumpAverager: Record(
        loss=LOSSES,
        radius=real,
        schedule=RULES["schedule"],
        lipschitz=lipschitz,
        label_bound=number,
        average=flag,
        max_thresholds=number,
    ),
}
_STUMPS = Record(thresholds=Floats("stumps", infinite=True), counts=Whole("columns", most=MOST_PARTS))


def _weights(prefix: str) -> Record:
    """What averagers have learned, below each other; a memory has several rows."""
    return Record(
        prefix,
        theta=Floats("averagers", "experts", what="weights"),
        total=Floats("averagers", "experts", what="sums"),
        memory=Floats("rows", "length", what="memories"),
        numbers=Floats("averagers", N_NUMBERS),
    )


def _lapses(prefix: str) -> Record:
    """What ended the averagers' bounds, absent from older files: the row, the cause's number, and the size."""
    return Record(prefix, lapses=Floats("averagers", N_LAPSE))


def _unpack_lapses(part: Fields, prefix: str, averagers: int) -> np.ndarray:
    """A record each."""
    lapses = np.tile([0.0, UNKNOWN, 0.0], (averagers, 1))
    if part.tensors.has(f"{prefix}lapses"):
        lapses = _lapses(prefix).take(part, averagers=averagers)["lapses"]
        causes = lapses[:, 1]
        refuse(
            ((causes % 1 != 0) | (causes < 0) | (causes >= UNKNOWN)).any(), "its bound ended for no reason"
        )
    return lapses.view(LAPSE)


def _sums(infinite: bool) -> Record:
    """What is learned of stumps; a tree has logarithms of nothing."""
    return Record(
        learned=Floats("rows", "width", infinite=infinite, what="weights"), numbers=Floats(N_NUMBERS)
    )


def pack(averager: Any) -> Packed:
    """Entries and tensors of an averager of any kind."""
    if isinstance(averager, StumpAverager):
        return entries(form="stumps") | pack_settings(averager) | _pack_stumps(averager)
    return entries(form="averager") | pack_settings(averager) | pack_states([averager])


def unpack(part: Fields, loss: Any = None) -> Any:
    """The averager; a Fault unless all that a kernel indexes with is in range."""
    if part.take("form", choice("averager", "stumps")) == "stumps":
        model = unpack_settings(part, loss, StumpAverager)
        _unpack_stumps(part, model)
        return model
    averager = unpack_settings(part, loss)
    unpack_states([averager], part)
    return averager


def pack_settings(averager: Any) -> Packed:
    """What the constructor was given."""
    return _SETTINGS[type(averager)].pack(averager)


def unpack_settings(part: Fields, loss: Any, kind: Any = None) -> Any:
    """An averager of a kind, or of the two that combine forecasts, that has learned nothing."""
    kind = kind or (Tracker if part.has("rates") else MirrorAverager)
    values = _SETTINGS[kind].take(part)
    part.done()
    values["loss"] = loss_of(values["loss"], loss)
    # The constructor takes L or bounds, and the file has both.
    bounds = {name: values.pop(name) for name in ("output_bound", "label_bound") if name in values}
    averager = make(kind, values)
    averager.__dict__.update(bounds)
    return averager


def pack_states(averagers: list[Any]) -> Packed:
    """What was learned by averagers, or trackers, that share their settings; nothing where nothing was."""
    found = Packed({}, {})
    if not all(averager.started for averager in averagers):
        return found
    for prefix, group in _groups(averagers).items():
        states: list[Any] = [each._state for each in group]
        stacked = {
            name: np.vstack([getattr(state, name) for state in states]) for name in AveragerState._fields[:3]
        }
        stacked["numbers"] = np.vstack([state.numbers.view(np.float64) for state in states])
        found |= _weights(prefix).pack(**stacked)
        lapses = np.vstack([state.lapse.view(np.float64) for state in states])
        if group[0].lipschitz > 0 and (lapses[:, 1] != UNKNOWN).all():
            found |= _lapses(prefix).pack(lapses=lapses)
    return found


def unpack_states(averagers: list[Any], part: Fields) -> None:
    """Give each averager what it had learned; they share settings and the number of experts."""
    if not part.tensors.has("theta"):
        return
    for prefix, group in _groups(averagers).items():
        rule, domain = group[0].schedule, group[0].domain
        found = _weights(prefix).take(part, averagers=len(group), rows=len(group) * rule.arrays)
        theta, total, memory, numbers = found.values()
        experts = theta.shape[1]
        refuse(not 1 <= experts <= MOST_PARTS, "it is an averager of nothing")
        if memory.shape[1] != (domain.vertices(experts) if rule.by_vertex else experts):
            raise Fault("its memory is not that of its experts")
        rows, lapses = _as_numbers(numbers).reshape(-1, 1), _unpack_lapses(part, prefix, len(group))
        for averager, *own in zip(
            group, np.split(memory, len(group)), theta, total, rows, lapses, strict=True
        ):
            averager._state = AveragerState(*(each.copy() for each in own))
    if isinstance(averagers[0], Tracker) and averagers[0].over.n_experts_ != len(averagers[0].parts):
        raise Fault("its tracker weights other parts than it has")


def _groups(averagers: list[Any]) -> dict[str, list[MirrorAverager]]:
    """The averagers whose tensors lie below each other, by how the names of these begin."""
    if not isinstance(averagers[0], Tracker):
        return {"": averagers}
    parts = [part for tracker in averagers for part in tracker.parts]
    return {"": parts, "over.": [tracker.over for tracker in averagers]}


def _pack_stumps(model: StumpAverager) -> Packed:
    state = model._state
    if state is None:
        return Packed({}, {})
    learned = _sums(isinstance(state, Trees)).pack(state, numbers=state.numbers.view(np.float64))
    return _STUMPS.pack(state, counts=np.diff(state.starts)) | learned


def _unpack_stumps(part: Fields, model: StumpAverager) -> None:
    if not part.tensors.has("thresholds"):
        return
    thresholds, counts = _STUMPS.take(part).values()
    if len(counts) < 2 or counts.sum() != len(thresholds) or counts[-1] != 1:
        raise Fault("its thresholds are not those of features and a constant")
    state = model._fresh(thresholds, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    rows, width = state.learned.shape
    learned, numbers = _sums(isinstance(state, Trees)).take(part, rows=rows, width=width).values()
    state.learned[:], state.numbers[:] = learned, _as_numbers(numbers)
    model._state = state


def _as_numbers(values: np.ndarray) -> np.ndarray:
    """Records of counts and scales that are ones; the number of norms seen is an index."""
    numbers = values.view(NUMBERS).reshape(-1)
    seen = numbers["norms_seen"]
    # Beyond 2^53 a count no longer grows, and one beyond 64 bits would be a negative index.
    if any((numbers[each] < 0).any() for each in _NOT_NEGATIVE) or (seen % 1).any() or (seen > 2**53).any():
        raise Fault("its counts are not counts")
    return numbers
