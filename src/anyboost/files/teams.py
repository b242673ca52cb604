"""The part of a file that is a team: its average, its experts, and the rows kept for them."""

from typing import Any

import numpy as np

from anyboost.files import chains, estimators, fields
from anyboost.files.codec import Place, Record
from anyboost.files.fields import Fault, Fields, count, flag, refuse
from anyboost.files.parameters import simple
from anyboost.files.parts import LOSSES
from anyboost.files.tensors import POSITIVE, Floats, Packed, Whole, entries, listed
from anyboost.losses import RowwiseLoss
from anyboost.online.features import Features
from anyboost.online.spreads import Spread
from anyboost.streams.experts import ClassChains, NumberChain, Refit, Refitted
from anyboost.streams.kinds import ClassTeam, NumberTeam
from anyboost.streams.layout import Layout
from anyboost.streams.mixing import MOST_SWITCHES, TOTALS, Averages, MixtureState, TeamTotals
from anyboost.streams.mixture import MOST_MOVES, Mixture, Move
from anyboost.streams.rows_kept import RowArrays, RowsKept
from anyboost.streams.schedules import RefitSchedule
from anyboost.streams.team import REFITS, Team

MOST_EXPERTS = 100
_MOVE = fields.row(count(1), fields.optional(fields.text), fields.text)
_TEAM = Record(
    refit=fields.choice(*REFITS),
    classes=count(0, chains.MOST_CLASSES),
    moves=Place(fields.items(MOST_MOVES, _MOVE), "mixture.moves"),
)
_SEEN = Record(spreads=Place(Floats(None, len(Spread._fields), what="rows"), "standard.spreads"))
_CLASSES = Record(class_weights=Floats("classes", what="weights"))
_KEPT = Record(
    "kept.",
    most=count(1),
    recent=count(1),
    seed=fields.seed,
    seen=count(),
    width=count(1),
    lengths=Whole("rows"),
    columns=Whole("pairs", below="width"),
    values=Floats("pairs", nan=True, what="rows"),
    y=Floats("rows", what="targets"),
    weights=Floats("rows", least=POSITIVE),
    numbers=Whole("rows", rise=1),
)
_CHAIN = Record(name=fields.text, standardized=flag)
_REFITTED = Record(
    name=fields.text,
    due=count(),
    schedule=fields.row(count(), fields.optional(count()), count()),
    options=fields.items(MOST_EXPERTS, fields.row(fields.text, simple)),
)
_LAYOUT = Record(
    width=count(1), missing=flag, places=Whole("columns", most="width"), texts=Whole("columns", most=1)
)
_NAMED = {"smoothed": "calm"}  # in files


def _mixture(mixture: Mixture) -> Record:
    """What an average of experts remembers, and the averages under it."""
    kinds = {name: Floats(*array.shape, what="weights") for name, array in mixture.state._asdict().items()}
    kinds |= {
        "totals": Floats(len(TeamTotals._fields), what="weights"),
        "weights": Floats("parts", len(mixture.names), least=0.0, what="weights"),
        "past": Floats("answers", what="losses"),
        "rates": Floats("parts", what="rates"),
    }
    places = {_NAMED.get(name, name): Place(kind, f"state.{name}") for name, kind in kinds.items()}
    places["paths"] = places["paths"]._replace(default=None)  # older files have none
    return Record(
        "mixture.",
        **places,
        fees=Place(Floats("parts", len(mixture.names), least=0.0, what="weights"), default=None),  # nor these
        shares=Place(Floats("parts", least=POSITIVE, most=float(np.nextafter(1.0, 0.0))), "parts.shares"),
        boldness=Place(Floats("parts"), "parts.boldness"),
        priors=Place(Floats("answers", least=0.0), "parts.priors"),
    )


def pack(team: Team) -> Packed:
    """Entries and tensors of a team; fits of the background are waited for."""
    team.await_refits()
    kept, mixture = team.kept, team.mixture
    found = entries(named=team.features is not None) | _TEAM.pack(team) | _pack_kept(kept).within("kept")
    experts = [
        _pack_refitted(each) if isinstance(each, Refitted) else _pack_chain(each) for each in team.experts
    ]
    totals = mixture.state.totals.view(np.float64)
    found |= listed("experts", experts) | _mixture(mixture).pack(mixture, totals=totals) | _SEEN.pack(team)
    if team.classifies:
        found |= _CLASSES.pack(team)
    return found | entries(loss=LOSSES.encode(team.loss))


def unpack(part: Fields, classifies: bool, features: Features | None) -> Team:
    """The team, ready to go on; a Fault unless all of it fits together."""
    loss = part.take("loss", LOSSES)
    refuse(not isinstance(loss, RowwiseLoss), "its loss is not one of rows")
    named = part.take("named", flag)
    refuse(named and features is None, "its features have no names")
    refit, classes, moves = _TEAM.take(part).values()
    refuse(classes > 0 and not classifies, "it has classes that it cannot have")
    kept = part.part("kept", _unpack_kept, classes if classifies else None)
    kind = ClassTeam if classifies else NumberTeam
    team = kind(loss, features if named else None, kept.most, refit, kept.seed, names=())
    team.kept, team.classes, team.standard.spreads = kept, classes, _SEEN.take(part)["spreads"]
    if classifies:
        team.class_weights = _CLASSES.take(part, classes=classes)["class_weights"]
    team.experts = part.parts("experts", MOST_EXPERTS, _unpack_expert, team)
    team.mixture = _unpack_mixture(part, team)
    team.mixture.moves = [Move(*move) for move in moves]
    return team


def _unpack_mixture(part: Fields, team: Team) -> Mixture:
    names = [expert.name for expert in team.experts]
    refuse(len(set(names)) != len(names), "it names an expert twice")
    mixture = Mixture(names, None if team.classifies else team.loss)
    found = _mixture(mixture).take(part)
    mixture.parts = Averages(**{name: found.pop(name) for name in Averages._fields})
    if found["paths"] is None:
        found["paths"] = np.tile(found["own"] - found["beside"], (MOST_SWITCHES, 1))  # nobody switched yet
    found["totals"] = found["totals"].view(TOTALS)
    fees = found.pop("fees")
    mixture.state = MixtureState(**found)
    mixture.fees = mixture.usual_fees() if fees is None else fees
    shares, priors = mixture.parts.shares, mixture.parts.priors
    if not len(shares) or len(priors) != len(shares) + 1 or (priors[:-1] <= 0).any():
        raise Fault("its average has shares that are none")
    leader = mixture.totals.leader
    refuse(not np.isin(mixture.state.joined, (0.0, 1.0)).all(), "its experts have weights that are none")
    if leader != int(leader) or not -1 <= leader < len(names) or mixture.totals.rows != team.kept.seen:
        raise Fault("its average and its rows do not belong together")
    return mixture


# The rows ----------------------------------------------------------------------------------------------------------


def _pack_kept(kept: RowsKept) -> Packed:
    used, n = kept.packed, kept.n
    pairs = int(used.starts[n])
    rows = {name: getattr(used, name)[:n] for name in ("y", "weights", "numbers")}
    cells = {name: getattr(used, name)[:pairs] for name in ("columns", "values")}
    return _KEPT.pack(kept, **rows, **cells, lengths=np.diff(used.starts[: n + 1]))


def _unpack_kept(part: Fields, classes: int | None) -> RowsKept:
    found = _KEPT.take(part)
    most, recent, seen, lengths = (found[name] for name in ("most", "recent", "seen", "lengths"))
    n, starts = len(lengths), np.concatenate([[0], np.cumsum(lengths)])
    if recent > most or n > min(most, seen) or starts[-1] != len(found["columns"]):
        raise Fault("it keeps an impossible number of rows")
    if classes is not None and not np.isin(found["y"], np.arange(classes)).all():
        raise Fault("its rows are of classes that it has not")
    kept = RowsKept(most, recent, found["seed"])
    kept.n, kept.seen, kept.width = n, seen, found["width"]
    columns = found["columns"].astype(np.int32)
    kept.packed = RowArrays(columns, found["values"], starts, found["y"], found["weights"], found["numbers"])
    return kept


# The experts -------------------------------------------------------------------------------------------------------


def _pack_chain(expert: Any) -> Packed:
    # Before the first class there is the booster only that others are made after.
    boosters = expert.boosters or [expert.model]
    found = entries(name=expert.name) | listed("boosters", map(chains.pack, boosters))
    found |= entries(standardized=expert.standardized)
    if isinstance(expert, NumberChain):
        return found
    return found | chains.pack_members(expert.members).within("members")


def _unpack_expert(part: Fields, team: Team) -> Any:
    return (_unpack_chain if part.has("boosters") else _unpack_refitted)(part, team)


def _unpack_chain(part: Fields, team: Team) -> Any:
    name, standardized = _CHAIN.take(part).values()
    boosters: list[Any] = part.parts("boosters", chains.MOST_CLASSES, chains.unpack)
    if not boosters or any(type(each.loss) is not type(team.loss) for each in boosters):
        raise Fault("its experts learn another loss")
    if team.classifies:
        found = ClassChains(name, boosters[0], standardized)
        part.part("members", chains.unpack_members, found.members, boosters, team.classes)
        return found
    refuse(len(boosters) != 1, "it has several boosters where one predicts numbers")
    return NumberChain(name, boosters[0], standardized)


def _pack_refitted(expert: Refitted) -> Packed:
    found = _REFITTED.pack(expert, options=[*expert.options.items()])
    found |= _pack_model(expert.layout, expert.model)
    if expert.pending is None:
        return found
    row, layout, model = expert.pending
    return found | (entries(row=row) | _pack_model(layout, model)).within("pending", "pending.")


def _unpack_refitted(part: Fields, team: Team) -> Refitted:
    name, due, schedule, options = _REFITTED.take(part).values()
    expert = Refitted(name, RefitSchedule(*schedule), dict(options), None if team.classifies else team.loss)
    expert.due = due
    expert.layout, expert.model = _unpack_model(part, team)
    expert.pending = part.part("pending", _unpack_pending, team, under="pending.", later=True)
    next_row = min(due, expert.pending.row if expert.pending else due)
    team.behind |= next_row == team.kept.seen  # the fit was interrupted
    if next_row < team.kept.seen:
        raise Fault("it fits its experts at a row that is past")
    return expert


def _unpack_pending(part: Fields, team: Team) -> Refit:
    layout, model = _unpack_model(part, team)
    if layout is None:
        raise fields.refusal("pending")
    return Refit(part.take("row", count()), layout, model)


def _pack_model(layout: Layout | None, model: Any) -> Packed:
    """A batch model and the layout of its table; null where it has none."""
    if layout is None:
        return entries(model=None)
    found = _LAYOUT.pack(layout, missing=bool(np.isnan(layout.absent)), places=layout.places + 1)
    fitted = entries(fitted=None) if model is None else estimators.pack(model).within("fitted", "model.")
    return (found | fitted).within("model")


def _unpack_model(part: Fields, team: Team) -> tuple[Layout | None, Any]:
    return part.maybe("model", _unpack_fitted, team) or (None, None)


def _unpack_fitted(part: Fields, team: Team) -> tuple[Layout, Any]:
    width, missing, places, texts = _LAYOUT.take(part).values()
    layout = Layout(places.astype(np.int32) - 1, texts.astype(bool), width, np.nan if missing else 0.0)
    model = part.maybe("fitted", estimators.unpack, under="model.")
    if model is None:
        return layout, None
    codes = getattr(model, "classes_", None)
    if model.n_features_in_ != width or (codes is not None) != team.classifies:
        raise Fault("its batch models are of another table")
    if codes is not None and (codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= team.classes):
        raise Fault("its batch models know other classes")
    return layout, model
