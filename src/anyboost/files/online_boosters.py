"""The part of a file that is an online booster: its arguments, its settings and its arrays, as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost import online
from anyboost.backends.definitions import OTHER
from anyboost.files import fields, labels, parts
from anyboost.files.codec import Codec, Record
from anyboost.files.ensembles import MOST_FEATURES
from anyboost.files.fields import Fault, Fields, make
from anyboost.files.members import MOST_CLASSES
from anyboost.files.tensors import Packed, Tensors, as_json, finite, under
from anyboost.online.base import Arrays
from anyboost.online.booster import OnlineBooster
from anyboost.online.features import MOST_BITS, Features
from anyboost.online.regret import Sketch
from anyboost.online.settings import Chain, compiled_loss
from anyboost.online.state import ChainState, CompiledState, InterpretedState
from anyboost.online.trees import FIRST, TreeArrays

# The other lines follow from the arguments.
KEPT = [Chain._fields.index(line) for line in ("shrink", "loss", "score")]
LEARNERS = Codec(
    "learner",
    *(online.LinearLearner, online.FeatureStumpLearner, online.NetLearner, online.TreeLearner),
    order=("rate", "power", "update", "precision"),
)
BOOSTERS: dict[str, Any] = {cls.__name__: cls for cls in (online.SpanBooster, online.HullBooster)}
_ARGUMENTS = Record(
    n_learners=fields.count(1, 100_000),
    **dict.fromkeys(("mode", "prefix"), fields.text),
    **dict.fromkeys(("output_bound", "label_bound", "scale", "start", "forget"), fields.number),
)
_SUMS = ("labels", "shares", "totals")
_SETTINGS: dict[str, fields.Check] = {
    **dict.fromkeys(("located", "hull", "greedy", "best_prefix", "running_center"), fields.flag),
    **dict.fromkeys(("code", "center"), fields.count()),
}


def pack(booster: Any) -> Packed:
    """Header and tensors of a booster."""
    name, state = type(booster).__name__, booster.state
    if BOOSTERS.get(name) is not type(booster):
        raise ValueError(f"model {name} cannot be saved: only {' and '.join(BOOSTERS)} can")
    loss = parts.encode_loss(booster.loss)
    header = {
        "class": name,
        "learner": LEARNERS.encode(booster.learner),
        "loss": loss,
        "needs": ["loss"] if parts.is_yours(loss) else [],
        **_ARGUMENTS.encode(booster),
        **({"step": booster.step} if isinstance(booster, online.SpanBooster) else {}),
        "classes": booster.outputs,
        "random_state": booster.random_state,
        "features": booster.n_features,
        "outputs": 0 if state is None else state.outputs,
        "hash_bits": booster.hash_bits,
    }
    tensors = {} if booster.features is None else {"features": as_json(booster.features.names)}
    if state is None:
        return header, tensors
    return header | {"settings": state.settings._asdict()}, tensors | {
        "chain": finite(state.chain[KEPT], "losses"),
        **{key: finite(getattr(state, key), key) for key in _SUMS},
        "sketch": finite(state.sketch.points, "labels"),
        # The last edge of a tree's bins is infinite.
        "table": finite(state.arrays.table, "weights", infinite=True),
        **{key: finite(getattr(state.arrays, key), "weights") for key in ("main", "extra", "seen")},
    }


def pack_all(boosters: list[Any]) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Headers and tensors of boosters that belong together."""
    headers: list[dict[str, Any]] = []
    tensors: dict[str, np.ndarray] = {}
    for place, booster in enumerate(boosters):
        header, own = pack(booster)
        headers.append(header)
        tensors |= under(f"{place}.", own)
    return headers, tensors


def unpack_all(holder: Fields, tensors: Tensors) -> list[OnlineBooster]:
    """Those boosters, of the entry "boosters"."""
    found = []
    for place, header in enumerate(holder.take("boosters", fields.items(MOST_CLASSES, Fields))):
        found.append(unpack(header, tensors.under(f"{place}.")))
        header.done()
    return found


def unpack(header: Fields, tensors: Tensors, loss: Any = None) -> OnlineBooster:
    """The booster, ready to continue; without the functions of a loss of the user's unless that is given."""
    name = header.take("class", fields.text)
    if name not in BOOSTERS:
        raise Fault(f"it is a {name!a}, which this version does not know")
    values = _ARGUMENTS.take(header)
    values |= {"step": header.take("step", fields.real)} if name == "SpanBooster" else {}
    values |= {
        "learner": LEARNERS.decode(header.take("learner")),
        "loss": parts.decode_loss(header.take("loss"), loss),
        "outputs": header.take("classes", fields.number),
        "random_state": header.take("random_state", fields.count()),
    }
    header.take("needs", fields.items(1))
    booster: OnlineBooster = make(BOOSTERS[name], values)
    booster.n_features = header.take("features", fields.count(0, MOST_FEATURES))
    booster.hash_bits = header.take("hash_bits", fields.number)
    if tensors.has("features"):
        booster.features = unpack_features(tensors, booster.hash_bits)
        if booster.n_features > booster.features.width:
            raise Fault("its booster has more columns than features")
    outputs = header.take("outputs", fields.count())
    if outputs:
        booster.state = header.part("settings", _unpack_state, tensors, booster, outputs)
    return booster


def unpack_features(tensors: Tensors, bits: Any) -> Features:
    """The columns of named features."""
    if bits is not None and not (type(bits) is int and 1 <= bits <= MOST_BITS):
        raise Fault("it hashes into an impossible number of columns")
    found = labels.unpack_features(tensors, "features")
    if bits is not None and found:
        raise Fault("it hashes its features and names them")
    return Features.of(found, bits)


def _unpack_state(entry: Fields, tensors: Tensors, booster: OnlineBooster, outputs: int) -> ChainState:
    chain = tensors.floats("chain", (len(KEPT), booster.n_learners + 1))
    if ((chain[0] < 0) | (chain[0] > 1)).any():
        raise Fault("it shrinks by a share that is none")
    arrays = _unpack_arrays(tensors, booster, outputs)
    kind = CompiledState if compiled_loss(booster.loss) else InterpretedState
    state = kind(booster, booster.n_features, outputs, arrays)
    state.chain[KEPT] = chain
    for key in _SUMS:
        setattr(state, key, tensors.floats(key, getattr(state, key).shape))
    state.sketch = Sketch(tensors.floats("sketch", (2, None)))
    if state.sketch.points.shape[1] >= Sketch.SIZE or (state.sketch.points[1] <= 0).any():
        raise Fault("its labels are not what they have to be")
    # The settings as they were, which a later version may derive otherwise
    found = entry.take_all(**{key: _SETTINGS.get(key, fields.real) for key in state.settings._fields})
    if found["code"] != state.settings.code and state.settings.code != OTHER:
        raise Fault("its loss and its settings do not belong together")
    state.settings = type(state.settings)(**found)
    return state


def _unpack_arrays(tensors: Tensors, booster: OnlineBooster, outputs: int) -> Arrays:
    shapes = booster.learner.shapes(booster.n_features, booster.n_learners, outputs)
    main, extra = tensors.floats("main", shapes[0]), tensors.floats("extra", shapes[1])
    grown = isinstance(booster.learner, online.TreeLearner)
    table = tensors.floats("table", shapes[2], infinite=grown)
    if grown:
        _check_trees(booster.learner, booster.n_features, main, table)
    seen = tensors.floats("seen", shapes[4])
    if isinstance(booster.learner, online.LinearLearner) and booster.learner.precision == "single":
        main, extra = main.astype(np.float32), extra.astype(np.float32)
    return Arrays(main, extra, table, np.zeros(shapes[3]), seen)


def _check_trees(learner: online.TreeLearner, n_features: int, main: np.ndarray, table: np.ndarray) -> None:
    """A Fault unless kernels that follow the trees stay inside their arrays and come to an end."""
    nodes = 2 * learner.max_leaves - 1
    links = main[:, [TreeArrays._fields.index(name) for name in ("feature", "bin", "left", "slot", "used")]]
    own = np.arange(len(main)) % nodes
    feature, cut, left, slot, used = links.T
    split = feature > 0
    inside = (
        (links == np.floor(links)).all()
        and (links >= 0).all()
        and (feature <= n_features).all()
        and (cut < learner.bins).all()
        and (slot < learner.max_leaves).all()
        and (used < learner.max_leaves).all()
        and ((left[split] > own[split]) & (left[split] < nodes - 1)).all()
    )
    first = float(table[0, 0])
    if not inside or not (0 <= first <= FIRST and first == int(first)):
        raise Fault("its trees lead nowhere")
