"""The part of a file that is an online booster: its arguments, its settings and its arrays, as they stand; and what
boosters of two-class losses make up a classifier of many classes with."""

from typing import Any

import numpy as np

from anyboost import online
from anyboost.backends.definitions import NOTHING, OTHER
from anyboost.files import fields, labels
from anyboost.files.codec import Codec, Place, Record
from anyboost.files.fields import MOST_PARTS, Fault, Fields, count, make, number, refuse, text
from anyboost.files.parts import LOSSES, is_yours, loss_of
from anyboost.files.tensors import POSITIVE, Floats, Packed, entries
from anyboost.online.base import Arrays
from anyboost.online.booster import OnlineBooster
from anyboost.online.features import MOST_BITS, Features
from anyboost.online.labels import SIZE
from anyboost.online.one_vs_rest import Member, OneVsRest
from anyboost.online.regret import Sketch
from anyboost.online.settings import (
    BEYOND,
    HEAVY,
    N_SUMS,
    NO_LAPSE,
    RESET,
    UNKNOWN,
    Chain,
    ChainSettings,
    compiled_loss,
)
from anyboost.online.state import ChainState, CompiledState, InterpretedState
from anyboost.online.trees import FIRST, MOST_COLUMNS, TreeArrays, columns_of

MOST_CLASSES = 1000
# The other lines follow from the arguments.
KEPT = [Chain._fields.index(line) for line in ("shrink", "loss", "score")]
LEARNERS = Codec(
    "learner",
    *(online.LinearLearner, online.FeatureStumpLearner, online.NetLearner, online.TreeLearner),
    order=("rate", "power", "update", "precision"),
)
BOOSTERS: dict[str, Any] = {cls.__name__: cls for cls in (online.SpanBooster, online.HullBooster)}
_MADE_OF = Record(learner=LEARNERS, loss=LOSSES)
_ARGUMENTS = {
    "n_learners": count(1, 100_000),
    **dict.fromkeys(("mode", "prefix"), text),
    **dict.fromkeys(("output_bound", "label_bound", "scale", "start", "forget"), number),
    "offset_step": Place(number, default=None),  # older files have none
}
_MORE = {"classes": Place(number, "outputs"), "random_state": fields.seed}
_GIVEN = {
    "SpanBooster": Record(**_ARGUMENTS, step=fields.real, **_MORE),
    "HullBooster": Record(**_ARGUMENTS, **_MORE),
}
_SIZES = Record(features=Place(count(0, MOST_PARTS), "n_features"), outputs=count(), hash_bits=number)
_SETTINGS = Record(
    **dict.fromkeys(ChainSettings._fields, fields.real)
    | dict.fromkeys(("located", "hull", "greedy", "best_prefix", "running_center"), fields.flag)
    | {"code": count(), "center": count(0, NOTHING)}
    | {"multiplier": Place(fields.real, default=1.0)}  # older files have none, and scaled D alone
    | {"offset_step": Place(fields.bounded(0.0), default=0.0)}
)
_SUMS = Record(
    chain=Floats(len(KEPT), "prefixes", what="losses"),
    labels=Floats(SIZE),
    shares=Floats("outputs"),
    totals=Floats(N_SUMS),
    sketch=Place(Floats(2, None, what="labels"), "sketch.points"),
)
# The first row that ended the bound on the regret, and why; null where there was none, absent from older files
_CAUSES = {"weight": HEAVY, "label": BEYOND, "restart": RESET}
_LAPSE = fields.optional(
    fields.record(row=count(1), cause=fields.known(_CAUSES, "its bound was ended by a"), value=fields.real)
)
_NAMES = Record(features=Place(labels.NAMES, "names"))
_MEMBERS = Record(
    "classes.",
    rows=count(),
    signs=fields.items(MOST_CLASSES, fields.real),
    weights=Floats("classes"),
    past=Floats(3, what="losses"),
    before=Floats("boosters", 3, what="losses"),
)


def _shapes(booster: OnlineBooster, outputs: int, columns: int | None) -> dict[str, tuple[int, ...]]:
    """Of the learners' arrays; `columns`: how many trees see."""
    given = booster.n_features, booster.n_learners, outputs
    shapes = booster.learner.shapes(*given, *([] if columns is None else [columns]))
    return dict(zip(Arrays._fields, shapes, strict=True))


def _arrays(booster: OnlineBooster, outputs: int, columns: int | None) -> Record:
    """The learners' arrays but for the scratch; the last edge of a tree's bins is infinite."""
    grown = isinstance(booster.learner, online.TreeLearner)
    kinds = {
        name: Floats(*shape, infinite=grown and name == "table", what="weights")
        for name, shape in _shapes(booster, outputs, columns).items()
        if name != "scratch"
    }
    return Record(**kinds)


def pack(booster: Any) -> Packed:
    """Entries and tensors of a booster."""
    name, state = type(booster).__name__, booster.state
    if BOOSTERS.get(name) is not type(booster):
        raise ValueError(f"model {name} cannot be saved: only {' and '.join(BOOSTERS)} can")
    made_of = _MADE_OF.pack(booster)
    needs = ["loss"] if is_yours(made_of.header["loss"]) else []
    found = entries(**{"class": name}) | made_of | entries(needs=needs) | _GIVEN[name].pack(booster)
    outputs = 0 if state is None else state.outputs
    found |= _SIZES.pack(booster, outputs=outputs) | pack_features(booster.features)
    if state is None:
        return found
    found |= _SETTINGS.pack(state.settings).within("settings") | _pack_lapse(state)
    found |= _SUMS.pack(state, chain=state.chain[KEPT], totals=state.totals[:N_SUMS])
    trees = isinstance(booster.learner, online.TreeLearner)
    columns = columns_of(booster.learner, state.arrays) if trees else None
    return found | _arrays(booster, outputs, columns).pack(state.arrays)


def unpack(part: Fields, loss: Any = None) -> OnlineBooster:
    """The booster, ready to continue; without the functions of a loss of the user's unless that is given."""
    cls = part.take("class", fields.known(BOOSTERS, "it is a"))
    values = _MADE_OF.take(part) | _GIVEN[cls.__name__].take(part)
    values["loss"] = loss_of(values["loss"], loss)
    part.take("needs", fields.items(1))
    booster: OnlineBooster = make(cls, values)
    booster.n_features, outputs, booster.hash_bits = _SIZES.take(part).values()
    booster.features = unpack_features(part, booster.hash_bits)
    if booster.features is not None and booster.n_features > booster.features.width:
        raise Fault("its booster has more columns than features")
    if outputs:
        booster.state = _unpack_state(part, booster, outputs)
    return booster


def _pack_lapse(state: ChainState) -> Packed:
    """The row that ended the bound; nothing where an older file did not tell."""
    row, cause, value = state.totals[N_SUMS:].tolist()
    if cause == UNKNOWN:
        return Packed({}, {})
    words = {code: word for word, code in _CAUSES.items()}
    lapse = None if cause == NO_LAPSE else {"row": int(row), "cause": words[int(cause)], "value": value}
    return entries(lapse=lapse)


def _unpack_lapse(part: Fields) -> list[float]:
    if not part.has("lapse"):
        return [0.0, UNKNOWN, 0.0]
    lapse = part.take("lapse", _LAPSE)
    return [0.0, NO_LAPSE, 0.0] if lapse is None else [lapse["row"], lapse["cause"], lapse["value"]]


def pack_features(features: Features | None) -> Packed:
    """The names of features; nothing where they have none."""
    return Packed({}, {}) if features is None else _NAMES.pack(features)


def unpack_features(part: Fields, bits: Any) -> Features | None:
    """The columns of named features."""
    if not part.tensors.has("features"):
        return None
    if bits is not None and not (type(bits) is int and 1 <= bits <= MOST_BITS):
        raise Fault("it hashes into an impossible number of columns")
    names = _NAMES.take(part)["names"]
    refuse(bits is not None and names, "it hashes its features and names them")
    return Features.of(names, bits)


def _unpack_state(part: Fields, booster: OnlineBooster, outputs: int) -> ChainState:
    chain, *sums, sketch = _SUMS.take(part, outputs=outputs, prefixes=booster.n_learners + 1).values()
    refuse(((chain[0] < 0) | (chain[0] > 1)).any(), "it shrinks by a share that is none")
    if sketch.shape[1] >= Sketch.SIZE or (sketch[1] < POSITIVE).any():
        raise Fault("its labels are not what they have to be")
    kind = CompiledState if compiled_loss(booster.loss) else InterpretedState
    state = kind(booster, booster.n_features, outputs, _unpack_arrays(part, booster, outputs))
    state.chain[KEPT], state.sketch = chain, Sketch(sketch)
    state.labels, state.shares, totals = sums
    state.totals = np.append(totals, _unpack_lapse(part))
    # The settings as they were, which a later version may derive otherwise
    settings = ChainSettings(**part.part("settings", _SETTINGS.take))
    if settings.code != state.settings.code and state.settings.code != OTHER:
        raise Fault("its loss and its settings do not belong together")
    refuse(
        settings.multiplier not in (1.0, booster.scale), "it scales its learners' answers by another number"
    )
    state.use(settings)
    return state


def _unpack_arrays(part: Fields, booster: OnlineBooster, outputs: int) -> Arrays:
    learner, columns = booster.learner, None
    if isinstance(learner, online.TreeLearner):
        columns = _columns_of_trees(part, learner, booster.n_features, outputs)
    found = _arrays(booster, outputs, columns).take(part)
    if isinstance(learner, online.TreeLearner) and columns is not None:
        _check_trees(learner, columns, found["main"], found["table"])
    if isinstance(learner, online.LinearLearner) and learner.precision == "single":
        found |= {name: found[name].astype(np.float32) for name in ("main", "extra")}
    return Arrays(**found, scratch=np.zeros(_shapes(booster, outputs, columns)["scratch"]))


def _columns_of_trees(part: Fields, learner: online.TreeLearner, n_features: int, outputs: int) -> int:
    """How many columns trees see: the most that they see now, or with an earlier version's model more."""
    columns = part.tensors.length("extra", 1) // (learner.bins * (1 + outputs)) - 1
    usual = min(n_features, MOST_COLUMNS)
    return columns if usual <= columns <= n_features else usual


def _check_trees(learner: online.TreeLearner, columns: int, main: np.ndarray, table: np.ndarray) -> None:
    """A Fault unless kernels that follow the trees stay inside their arrays and come to an end."""
    nodes, leaves = 2 * learner.max_leaves - 1, learner.max_leaves - 1
    most = {"feature": columns, "bin": learner.bins - 1, "left": np.inf, "slot": leaves, "used": leaves}
    links = {name: main[:, TreeArrays._fields.index(name)] for name in most}
    whole = all(
        ((own == np.floor(own)) & (own >= 0) & (own <= most[name])).all() for name, own in links.items()
    )
    place, split, left = np.arange(len(main)) % nodes, links["feature"] > 0, links["left"]
    inside = whole and ((left[split] > place[split]) & (left[split] < nodes - 1)).all()
    first = float(table[0, 0])
    refuse(not inside or not (0 <= first <= FIRST and first == int(first)), "its trees lead nowhere")


def pack_members(own: OneVsRest) -> Packed:
    """What a classifier has beside its boosters."""
    return _MEMBERS.pack(own)


def unpack_members(part: Fields, own: OneVsRest, boosters: list[Any], classes: int) -> None:
    """Fill in a classifier of so many classes with its boosters; without classes the one there is only an example."""
    refuse(len(boosters) != (1 if classes <= 2 else classes), "it has not a booster for each class")
    boosters = boosters if classes else []
    own.classes, own.members = classes, [Member(booster) for booster in boosters]
    own.__dict__.update(_MEMBERS.take(part, classes=classes, boosters=len(boosters)))
    own.before = list(own.before)
    if len(own.signs) != len(boosters) or any(abs(sign) != 1 for sign in own.signs):
        raise Fault("its boosters have signs that are none")
