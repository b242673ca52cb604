"""The part of a file that is a team: its average, its experts, the rows kept for them, and who waits for a label."""

import json
from typing import Any

import numpy as np

from anyboost.files import estimators, fields, members, online_boosters
from anyboost.files.fields import Fault, Fields
from anyboost.files.parameters import simple
from anyboost.files.tensors import Packed, Tensors, finite, unsigned
from anyboost.losses import RowwiseLoss
from anyboost.online.features import Features
from anyboost.streams import rows_kept
from anyboost.streams.experts import ClassChains, NumberChain, Refit, Refitted
from anyboost.streams.kinds import ClassTeam, NumberTeam
from anyboost.streams.layout import Layout
from anyboost.streams.mixing import Parts, State
from anyboost.streams.mixture import MOST_MOVES, Mixture, Move
from anyboost.streams.rows_kept import RowsKept
from anyboost.streams.schedules import Schedule
from anyboost.streams.team import REFITS, Team
from anyboost.streams.waiting import Asked, Waiting

MOST_EXPERTS = 100
_TEAM = {
    "named": fields.flag,
    "refit": fields.choice(*REFITS),
    "classes": fields.count(0, members.MOST_CLASSES),
}
_KEPT = dict.fromkeys(("most", "recent", "seed", "seen", "width"), fields.count())
_BATCH = {"due": fields.count(1), "schedule": fields.items(3, fields.number)}


def _under(prefix: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {prefix + name: array for name, array in tensors.items()}


def pack(team: Team) -> Packed:
    """Header and tensors of a team; fits of the background are waited for."""
    team.settle()
    header: dict[str, Any] = {
        "named": team.features is not None,
        "refit": team.refit,
        "classes": team.classes,
        "moves": [list(move) for move in team.mixture.moves],
        "kept": {name: int(getattr(team.kept, name)) for name in _KEPT},
        "experts": [],
    }
    tensors = _pack_mixture(team.mixture) | _pack_kept(team.kept)
    if team.classifies:
        tensors["class_weights"] = finite(team.class_weights, "weights")
    for place, expert in enumerate(team.experts):
        found, own = _pack_batch(expert) if isinstance(expert, Refitted) else _pack_chain(expert)
        header["experts"].append({"name": expert.name, **found})
        tensors |= _under(f"{place}.", own)
    return header, tensors


def unpack(
    header: Fields, tensors: Tensors, loss: RowwiseLoss, classifies: bool, features: Features | None
) -> Team:
    """The team, ready to go on; a Fault unless all of it fits together."""
    given = {name: header.take(name, check) for name, check in _TEAM.items()}
    if given["named"] and features is None:
        raise Fault("its features have no names")
    team: Team = (ClassTeam if classifies else NumberTeam).__new__(ClassTeam if classifies else NumberTeam)
    team.loss, team.classifies, team.refit = loss, classifies, given["refit"]
    team.features = features if given["named"] else None
    team.classes, team.heard, team._threads = given["classes"], None, None
    if classifies != (team.classes > 0):
        raise Fault("it has no classes, or some that it cannot have")
    team.class_weights = tensors.floats("class_weights", (team.classes,)) if classifies else np.zeros(0)
    team.kept = _unpack_kept(header.take("kept", Fields), tensors, team.classes)
    entries = header.take("experts", fields.items(MOST_EXPERTS, Fields))
    team.experts = [
        _unpack_expert(entry, tensors.under(f"{place}."), team) for place, entry in enumerate(entries)
    ]
    team.mixture = _unpack_mixture(header, tensors, team)
    header.done()
    return team


# The average -------------------------------------------------------------------------------------------------------


def _pack_mixture(mixture: Mixture) -> dict[str, np.ndarray]:
    named = {name: finite(array, "weights") for name, array in mixture.state._asdict().items()}
    return _under("mixture.", named | {"parts": finite(np.array(mixture.parts), "weights")})


def _unpack_mixture(header: Fields, tensors: Tensors, team: Team) -> Mixture:
    names = [expert.name for expert in team.experts]
    if len(set(names)) != len(names):
        raise Fault("it names an expert twice")
    mixture, own = Mixture(names, None if team.classifies else team.loss), tensors.under("mixture.")
    parts = own.floats("parts", (len(Parts._fields), None))
    shapes = {name: array.shape for name, array in mixture.state._asdict().items()}
    shapes |= {"weights": (parts.shape[1], len(names)), "past": parts.shape[1:], "rates": parts.shape[1:]}
    mixture.parts = Parts(*(line.copy() for line in parts))
    mixture.state = State(**{name: own.floats(name, shape) for name, shape in shapes.items()})
    shares, _, priors = parts
    leader, joined = mixture.totals.leader, mixture.state.joined
    if ((shares <= 0) | (shares >= 1)).any() or (priors <= 0).any() or not len(shares):
        raise Fault("its average has shares that are none")
    if not np.isin(joined, (0.0, 1.0)).all() or (mixture.state.weights < 0).any():
        raise Fault("its experts have weights that are none")
    if leader != int(leader) or not -1 <= leader < len(names) or mixture.totals.rows != team.kept.seen:
        raise Fault("its average and its rows do not belong together")
    mixture.moves = header.take("moves", fields.items(MOST_MOVES, _move))
    return mixture


def _move(value: Any, name: str) -> Move:
    row, before, leader = _of_length(3)(value, name)
    return Move(
        fields.count(1)(row, name), fields.optional(fields.text)(before, name), fields.text(leader, name)
    )


def _of_length(length: int) -> fields.Check:
    def check(value: Any, name: str) -> list[Any]:
        if len(fields.items(length)(value, name)) != length:
            raise fields.refusal(name)
        return list(value)

    return check


# The rows ----------------------------------------------------------------------------------------------------------


def _pack_kept(kept: RowsKept) -> dict[str, np.ndarray]:
    used = kept.packed
    pairs = int(used.starts[kept.n])
    return {
        "kept.lengths": unsigned(np.diff(used.starts[: kept.n + 1])),
        "kept.columns": unsigned(used.columns[:pairs]),
        "kept.values": finite(used.values[:pairs], "rows"),
        "kept.y": finite(used.y[: kept.n], "targets"),
        "kept.weights": finite(used.weights[: kept.n], "weights"),
        "kept.numbers": unsigned(used.numbers[: kept.n]),
    }


def _unpack_kept(entry: Fields, tensors: Tensors, classes: int) -> RowsKept:
    given = entry.take_all(**_KEPT)
    if not 0 < given["recent"] <= given["most"] or not given["width"]:
        raise Fault("it keeps an impossible number of rows")
    kept, own = RowsKept(given["most"], given["recent"], given["seed"]), tensors.under("kept.")
    lengths = own.indices("lengths", None, 0, 2**32 - 1)
    n, starts = len(lengths), np.concatenate([[0], np.cumsum(lengths)])
    kept.n, kept.seen, kept.width = n, given["seen"], given["width"]
    kept.packed = rows_kept.Packed(
        own.indices("columns", int(starts[-1]), 0, kept.width - 1).astype(np.int32),
        own.floats("values", (int(starts[-1]),)),
        starts,
        own.floats("y", (n,)),
        own.floats("weights", (n,)),
        own.indices("numbers", n, 0, 2**32 - 1),
    )
    codes = kept.packed.y
    if (classes and not (codes == np.floor(codes)).all()) or (
        classes and not ((codes >= 0) & (codes < classes)).all()
    ):
        raise Fault("its rows are of classes that it has not")
    if (
        n > kept.most
        or n > kept.seen
        or (kept.packed.weights <= 0).any()
        or (np.diff(kept.packed.numbers) <= 0).any()
    ):
        raise Fault("its rows are not what they have to be")
    return kept


# The experts -------------------------------------------------------------------------------------------------------


def _pack_chain(expert: Any) -> Packed:
    headers: list[dict[str, Any]] = []
    tensors: dict[str, np.ndarray] = {}
    for place, booster in enumerate(expert.boosters):
        header, own = online_boosters.pack(booster)
        headers.append(header)
        tensors |= _under(f"{place}.", own)
    if isinstance(expert, NumberChain):
        return {"boosters": headers}, tensors
    more, own = members.pack(expert.members)
    return {"boosters": headers, "members": more}, tensors | own


def _pack_batch(expert: Refitted) -> Packed:
    model, tensors = _pack_model(expert.layout, expert.model)
    header = {
        "due": expert.due,
        "schedule": list(expert.schedule),
        "options": [[name, value] for name, value in expert.options.items()],
        "model": model,
    }
    if expert.pending is not None:
        pending, own = _pack_model(expert.pending.layout, expert.pending.model)
        header["pending"] = {"row": expert.pending.row, "model": pending}
        tensors |= _under("pending.", own)
    return header, tensors


def _pack_model(layout: Layout | None, model: Any) -> tuple[dict[str, Any] | None, dict[str, np.ndarray]]:
    """A batch model and the layout of its table; None where it has none."""
    if layout is None:
        return None, {}
    tensors = {"places": unsigned(layout.places + 1), "texts": unsigned(layout.texts)}
    header: dict[str, Any] = {"width": layout.width, "missing": bool(np.isnan(layout.absent)), "fitted": None}
    if model is not None:
        header["fitted"], own = estimators.pack(model)
        tensors |= _under("model.", own)
    return header, tensors


def _unpack_expert(entry: Fields, tensors: Tensors, team: Team) -> Any:
    name = entry.take("name", fields.text)
    expert = (_unpack_chain if entry.has("boosters") else _unpack_batch)(name, entry, tensors, team)
    entry.done()
    return expert


def _unpack_chain(name: str, entry: Fields, tensors: Tensors, team: Team) -> Any:
    headers = entry.take("boosters", fields.items(members.MOST_CLASSES, Fields))
    boosters: list[Any] = [
        online_boosters.unpack(header, tensors.under(f"{place}.")) for place, header in enumerate(headers)
    ]
    if not boosters or any(type(each.loss) is not type(team.loss) for each in boosters):
        raise Fault("its experts learn another loss")
    if not team.classifies:
        if len(boosters) != 1:
            raise Fault("it has several boosters where one predicts numbers")
        return NumberChain(name, boosters[0])
    chains = ClassChains(name, boosters[0])
    more = entry.take("members", Fields)
    members.unpack(chains.members, more, tensors, boosters, team.classes)
    more.done()
    return chains


def _unpack_batch(name: str, entry: Fields, tensors: Tensors, team: Team) -> Refitted:
    given = {each: entry.take(each, check) for each, check in _BATCH.items()}
    first, window, every = (
        each if each is None else fields.count()(each, "schedule") for each in given["schedule"]
    )
    options = dict(entry.take("options", fields.items(MOST_EXPERTS, _pair)))
    if first is None or every is None or given["due"] <= team.kept.seen:
        raise fields.refusal("schedule")
    expert = Refitted(name, Schedule(first, window, every), options, None if team.classifies else team.loss)
    expert.due = given["due"]
    expert.layout, expert.model = _unpack_model(entry.take("model"), tensors, team)
    if entry.has("pending"):
        pending = entry.take("pending", Fields)
        row = pending.take("row", fields.count(team.kept.seen + 1))
        layout, model = _unpack_model(pending.take("model"), tensors.under("pending."), team)
        if layout is None:
            raise fields.refusal("pending")
        expert.pending = Refit(row, layout, model)
        pending.done()
    return expert


def _pair(value: Any, name: str) -> tuple[str, Any]:
    key, given = _of_length(2)(value, name)
    return fields.text(key, name), simple(given, name)


def _unpack_model(value: Any, tensors: Tensors, team: Team) -> tuple[Layout | None, Any]:
    if value is None:
        return None, None
    entry = Fields(value, "model")
    width, missing = entry.take("width", fields.count(1)), entry.take("missing", fields.flag)
    places = tensors.indices("places", None, 0, width).astype(np.int32) - 1
    texts = tensors.indices("texts", len(places), 0, 1).astype(bool)
    layout = Layout(places.astype(np.int32), texts, width, np.nan if missing else 0.0)
    fitted = entry.take("fitted")
    entry.done()
    if fitted is None:
        return layout, None
    model = estimators.unpack(Fields(fitted, "fitted"), tensors.under("model."))
    codes = getattr(model, "classes_", None)
    if model.n_features_in_ != width or (codes is not None) != team.classifies:
        raise Fault("its batch models are of another table")
    if codes is not None and (codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= team.classes):
        raise Fault("its batch models know other classes")
    return layout, model


# Who waits ---------------------------------------------------------------------------------------------------------


def pack_waiting(waiting: Waiting) -> dict[str, np.ndarray]:
    """Examples that wait for their labels, in JSON, and what the experts said of them."""
    entries, heard = [], [np.zeros(0)]
    for key, asked in waiting.asked.items():
        if not isinstance(key, str | int | float):
            raise ValueError(
                f"model cannot be saved: the key {key!r} of an example that waits is neither text nor a number"
            )
        cells = [
            [name, value if value is None or isinstance(value, str) else float(value)]
            for name, value in asked.x.items()
        ]
        entries.append([key, cells, None if asked.heard is None else list(asked.heard.shape)])
        heard += [] if asked.heard is None else [asked.heard.ravel()]
    return {
        "waiting.examples": np.frombuffer(json.dumps(entries).encode(), dtype=np.uint8).copy(),
        "waiting.heard": np.concatenate(heard),
    }


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(value)


def unpack_waiting(tensors: Tensors, most: int, team: Team | None) -> Waiting:
    """Those who wait; a Fault unless each is an example with forecasts of this team."""
    waiting, own = Waiting(most), tensors.under("waiting.")
    raw = own.indices("examples", None, 0, 255).astype(np.uint8).tobytes()
    heard = own.floats("heard", (None,), nan=True)
    try:
        entries = json.loads(raw.decode())
    except (ValueError, RecursionError):
        raise Fault("its waiting examples are none") from None
    taken = 0
    for entry in fields.items(most)(entries, "waiting"):
        key, cells, shape = _of_length(3)(entry, "waiting")
        simple(key, "waiting")
        x = {}
        for cell in fields.items()(cells, "waiting"):
            name, value = _of_length(2)(cell, "waiting")
            if type(name) not in (str, int):
                raise fields.refusal("waiting")
            x[name] = simple(value, "waiting")
        said = None
        if shape is not None:
            _check_heard(shape, team)
            size = int(np.prod(shape))
            said, taken = heard[taken : taken + size], taken + size
            if len(said) != size:
                raise fields.refusal("waiting")
            said = said.reshape(shape)
        if (said is None) != (team is None) or isinstance(key, list):
            raise fields.refusal("waiting")
        waiting.asked[key] = Asked(x, said)
    if taken != len(heard):
        raise fields.refusal("waiting")
    return waiting


def _check_heard(shape: Any, team: Team | None) -> None:
    sizes = fields.items(2, fields.count())(shape, "waiting")
    if (
        team is None
        or len(sizes) != 1 + team.classifies
        or sizes[0] != len(team.experts)
        or sizes[-1] > max(team.classes, len(team.experts))
    ):
        raise fields.refusal("waiting")
