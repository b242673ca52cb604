"""The part of a file that is a team: its average, its experts, and the rows kept for them."""

from typing import Any

import numpy as np

from anyboost.files import estimators, fields, members, online_boosters
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields
from anyboost.files.parameters import simple
from anyboost.files.tensors import Packed, Tensors, finite, under, unsigned
from anyboost.losses import RowwiseLoss
from anyboost.online.features import Features
from anyboost.online.spreads import Spread
from anyboost.streams import rows_kept
from anyboost.streams.experts import ClassChains, NumberChain, Refit, Refitted
from anyboost.streams.kinds import ClassTeam, NumberTeam
from anyboost.streams.layout import Layout
from anyboost.streams.mixing import Parts, State
from anyboost.streams.mixture import MOST_MOVES, Mixture, Move
from anyboost.streams.rows_kept import RowsKept
from anyboost.streams.schedules import Schedule
from anyboost.streams.team import REFITS, Team

MOST_EXPERTS = 100
_KEPT = Record(**dict.fromkeys(("most", "recent", "seed", "seen", "width"), fields.count()))
_MOVE = fields.row(fields.count(1), fields.optional(fields.text), fields.text)
_SCHEDULE = fields.row(fields.count(), fields.optional(fields.count()), fields.count())


def pack(team: Team) -> Packed:
    """Header and tensors of a team; fits of the background are waited for."""
    team.await_refits()
    header: dict[str, Any] = {
        "named": team.features is not None,
        "refit": team.refit,
        "classes": team.classes,
        "moves": [list(move) for move in team.mixture.moves],
        "kept": _KEPT.encode(team.kept),
        "experts": [],
    }
    mixture = {**team.mixture.state._asdict(), **team.mixture.parts._asdict()}
    tensors = {f"mixture.{name}": finite(array, "weights") for name, array in mixture.items()}
    tensors |= under("kept.", _pack_kept(team.kept)) | {"spreads": finite(team.standard.spreads, "rows")}
    if team.classifies:
        tensors["class_weights"] = finite(team.class_weights, "weights")
    for place, expert in enumerate(team.experts):
        found, own = _pack_refitted(expert) if isinstance(expert, Refitted) else _pack_chain(expert)
        header["experts"].append({"name": expert.name, **found})
        tensors |= under(f"{place}.", own)
    return header, tensors


def unpack(
    header: Fields, tensors: Tensors, loss: RowwiseLoss, classifies: bool, features: Features | None
) -> Team:
    """The team, ready to go on; a Fault unless all of it fits together."""
    named, refit = header.take("named", fields.flag), header.take("refit", fields.choice(*REFITS))
    if named and features is None:
        raise Fault("its features have no names")
    classes = header.take("classes", fields.count(0, members.MOST_CLASSES))
    if classifies != (classes > 0):
        raise Fault("it has no classes, or some that it cannot have")
    kept = header.part("kept", _unpack_kept, tensors.under("kept."), classes)
    kind = ClassTeam if classifies else NumberTeam
    team = kind(loss, features if named else None, kept.most, refit, kept.seed, names=())
    team.kept, team.classes = kept, classes
    team.standard.spreads = tensors.floats("spreads", (None, len(Spread._fields)))
    team.class_weights = tensors.floats("class_weights", (classes,)) if classifies else np.zeros(0)
    for place, entry in enumerate(header.take("experts", fields.items(MOST_EXPERTS, Fields))):
        unpack_expert = _unpack_chain if entry.has("boosters") else _unpack_refitted
        name, own = entry.take("name", fields.text), tensors.under(f"{place}.")
        team.experts.append(unpack_expert(name, entry, own, team))
        entry.done()
    team.mixture = _unpack_mixture(tensors.under("mixture."), team)
    moves = header.take("moves", fields.items(MOST_MOVES, _MOVE))
    team.mixture.moves = [Move(*move) for move in moves]
    return team


def _unpack_mixture(tensors: Tensors, team: Team) -> Mixture:
    names = [expert.name for expert in team.experts]
    if len(set(names)) != len(names):
        raise Fault("it names an expert twice")
    mixture = Mixture(names, None if team.classifies else team.loss)
    shares = tensors.floats("shares", (None,))
    count = len(shares)
    boldness, priors = tensors.floats("boldness", (count,)), tensors.floats("priors", (count + 1,))
    shapes = {name: array.shape for name, array in mixture.state._asdict().items()}
    shapes |= {"weights": (count, len(names)), "past": priors.shape, "rates": shares.shape}
    mixture.parts = Parts(shares, boldness, priors)
    mixture.state = State(**{name: tensors.floats(name, shape) for name, shape in shapes.items()})
    leader, joined = mixture.totals.leader, mixture.state.joined
    if ((shares <= 0) | (shares >= 1)).any() or (priors[:-1] <= 0).any() or priors[-1] < 0 or not count:
        raise Fault("its average has shares that are none")
    if not np.isin(joined, (0.0, 1.0)).all() or (mixture.state.weights < 0).any():
        raise Fault("its experts have weights that are none")
    if leader != int(leader) or not -1 <= leader < len(names) or mixture.totals.rows != team.kept.seen:
        raise Fault("its average and its rows do not belong together")
    return mixture


# The rows ----------------------------------------------------------------------------------------------------------


def _pack_kept(kept: RowsKept) -> dict[str, np.ndarray]:
    used, pairs = kept.packed, int(kept.packed.starts[kept.n])
    return {
        "lengths": unsigned(np.diff(used.starts[: kept.n + 1])),
        "columns": unsigned(used.columns[:pairs]),
        "values": finite(used.values[:pairs], "rows"),
        "y": finite(used.y[: kept.n], "targets"),
        "weights": finite(used.weights[: kept.n], "weights"),
        "numbers": unsigned(used.numbers[: kept.n]),
    }


def _unpack_kept(entry: Fields, tensors: Tensors, classes: int) -> RowsKept:
    most, recent, seed, seen, width = _KEPT.take(entry).values()
    if not 0 < recent <= most or not width:
        raise Fault("it keeps an impossible number of rows")
    lengths = tensors.indices("lengths", None, 0, 2**32 - 1)
    n, starts = len(lengths), np.concatenate([[0], np.cumsum(lengths)])
    columns = tensors.indices("columns", int(starts[-1]), 0, width - 1).astype(np.int32)
    values = tensors.floats("values", (int(starts[-1]),))
    y, weights = tensors.floats("y", (n,)), tensors.floats("weights", (n,))
    numbers = tensors.indices("numbers", n, 0, 2**32 - 1)
    if classes and not np.isin(y, np.arange(classes)).all():
        raise Fault("its rows are of classes that it has not")
    if n > min(most, seen) or (weights <= 0).any() or (np.diff(numbers) <= 0).any():
        raise Fault("its rows are not what they have to be")
    kept = RowsKept(most, recent, seed)
    kept.n, kept.seen, kept.width = n, seen, width
    kept.packed = rows_kept.Packed(columns, values, starts, y, weights, numbers)
    return kept


# The experts -------------------------------------------------------------------------------------------------------


def _pack_chain(expert: Any) -> Packed:
    headers, tensors = online_boosters.pack_all(expert.boosters)
    header = {"boosters": headers, "standardized": expert.standardized}
    if isinstance(expert, NumberChain):
        return header, tensors
    more, own = members.pack(expert.members)
    return header | {"members": more}, tensors | own


def _unpack_chain(name: str, entry: Fields, tensors: Tensors, team: Team) -> Any:
    boosters: list[Any] = online_boosters.unpack_all(entry, tensors)
    if not boosters or any(type(each.loss) is not type(team.loss) for each in boosters):
        raise Fault("its experts learn another loss")
    standardized = entry.take("standardized", fields.flag)
    if team.classifies:
        chains = ClassChains(name, boosters[0], standardized)
        entry.part("members", members.unpack, chains.members, tensors, boosters, team.classes)
        return chains
    if len(boosters) != 1:
        raise Fault("it has several boosters where one predicts numbers")
    return NumberChain(name, boosters[0], standardized)


def _pack_refitted(expert: Refitted) -> Packed:
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
        tensors |= under("pending.", own)
    return header, tensors


def _unpack_refitted(name: str, entry: Fields, tensors: Tensors, team: Team) -> Refitted:
    schedule, later = Schedule(*entry.take("schedule", _SCHEDULE)), fields.count(team.kept.seen + 1)
    options = dict(entry.take("options", fields.items(MOST_EXPERTS, fields.row(fields.text, simple))))
    expert = Refitted(name, schedule, options, None if team.classifies else team.loss)
    expert.due = entry.take("due", later)
    expert.layout, expert.model = _unpack_model(entry, tensors, team)
    if entry.has("pending"):
        pending = entry.take("pending", Fields)
        layout, model = _unpack_model(pending, tensors.under("pending."), team)
        if layout is None:
            raise fields.refusal("pending")
        expert.pending = Refit(pending.take_all(row=later)["row"], layout, model)
    return expert


def _pack_model(layout: Layout | None, model: Any) -> tuple[dict[str, Any] | None, dict[str, np.ndarray]]:
    """A batch model and the layout of its table; None where it has none."""
    if layout is None:
        return None, {}
    tensors = {"places": unsigned(layout.places + 1), "texts": unsigned(layout.texts)}
    header: dict[str, Any] = {"width": layout.width, "missing": bool(np.isnan(layout.absent)), "fitted": None}
    if model is not None:
        header["fitted"], own = estimators.pack(model)
        tensors |= under("model.", own)
    return header, tensors


_MODEL = fields.record(width=fields.count(1), missing=fields.flag, fitted=fields.optional(Fields))


def _unpack_model(holder: Fields, tensors: Tensors, team: Team) -> tuple[Layout | None, Any]:
    entry = holder.take("model", fields.optional(_MODEL))
    if entry is None:
        return None, None
    width, missing, fitted = entry.values()
    places = tensors.indices("places", None, 0, width).astype(np.int32) - 1
    texts = tensors.indices("texts", len(places), 0, 1).astype(bool)
    layout = Layout(places.astype(np.int32), texts, width, np.nan if missing else 0.0)
    if fitted is None:
        return layout, None
    model = estimators.unpack(fitted, tensors.under("model."))
    fitted.done()
    codes = getattr(model, "classes_", None)
    if model.n_features_in_ != width or (codes is not None) != team.classifies:
        raise Fault("its batch models are of another table")
    if codes is not None and (codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= team.classes):
        raise Fault("its batch models know other classes")
    return layout, model
