"""The part of a file that is an online booster: its arguments, its settings and its arrays, as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost import online
from anyboost.backends.definitions import OTHER
from anyboost.files import names, parts
from anyboost.files.container import Fault
from anyboost.files.ensembles import MOST_FEATURES
from anyboost.files.fields import Fields, Tensors, finite
from anyboost.online import labels, trees
from anyboost.online.base import Arrays
from anyboost.online.booster import OnlineBooster
from anyboost.online.regret import Sketch
from anyboost.online.settings import Chain, Totals, compiled_loss
from anyboost.online.state import CompiledState, InterpretedState, State

MOST_LEARNERS = 100_000
# The other lines follow from the arguments.
KEPT = [Chain._fields.index(line) for line in ("shrink", "loss", "score")]
LEARNERS = {
    "LinearLearner": (online.LinearLearner, ("rate", "power"), ("update", "precision")),
    "FeatureStumpLearner": (online.FeatureStumpLearner, ("rate", "power"), ()),
    "NetLearner": (online.NetLearner, ("units", "rate", "power"), ()),
    "TreeLearner": (online.TreeLearner, ("max_leaves", "bins", "grace", "rate"), ()),
}
BOOSTERS = {"SpanBooster": online.SpanBooster, "HullBooster": online.HullBooster}
NUMBERS = ("output_bound", "label_bound", "scale", "start", "forget")
FLAGS = ("located", "hull", "greedy", "best_prefix", "running_center")
WHOLE = ("code", "center")


def pack(booster: OnlineBooster) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a booster."""
    name = type(booster).__name__
    if BOOSTERS.get(name) is not type(booster):
        raise ValueError(f"model {name} cannot be saved: only {' and '.join(BOOSTERS)} can")
    loss = parts.encode_loss(booster.loss)
    header = {
        "class": name,
        "learner": encode_learner(booster.learner),
        "loss": loss,
        "needs": ["loss"] if parts.is_yours(loss) else [],
        "n_learners": booster.n_learners,
        "mode": booster.mode,
        "prefix": booster.prefix,
        **{key: getattr(booster, key) for key in NUMBERS},
        **({"step": booster.step} if isinstance(booster, online.SpanBooster) else {}),
        "classes": booster.outputs,
        "random_state": booster.random_state,
        "features": booster.n_features,
        "outputs": 0 if booster.state is None else booster.state.outputs,
        "hash_bits": booster.hash_bits,
    }
    tensors = {} if booster.features is None else {"features": names.pack(booster.features.names)}
    if booster.state is None:
        return header, tensors
    header["settings"] = booster.state.settings._asdict()
    return header, tensors | _pack_state(booster.state)


def encode_learner(learner: Any) -> dict[str, Any]:
    """A learner by class and parameters; a sentence for one that cannot be stored."""
    made = LEARNERS.get(type(learner).__name__)
    if made is None or made[0] is not type(learner):
        raise ValueError(
            f"learner {learner!r} cannot be saved: only {', '.join(LEARNERS)} can; "
            "keep boosters of other learners with your own means"
        )
    return {"class": type(learner).__name__} | {key: getattr(learner, key) for key in made[1] + made[2]}


def _pack_state(state: Any) -> dict[str, np.ndarray]:
    arrays = state.arrays
    return {
        "chain": finite(state.chain[KEPT], "losses"),
        "labels": finite(state.labels, "labels"),
        "shares": finite(state.shares, "shares"),
        "totals": finite(state.totals, "totals"),
        "sketch": finite(state.sketch.points, "labels"),
        # The last edge of a tree's bins is infinite.
        "table": finite(arrays.table, "weights", infinite=True),
        **{key: finite(getattr(arrays, key), "weights") for key in ("main", "extra", "seen")},
    }


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> OnlineBooster:
    """The booster, ready to continue; without the functions of a loss of the user's unless that is given."""
    if given.get("descent") is not None:
        raise ValueError("descent belongs to a run, and the file holds an online booster: leave it out")
    name = header.text("class")
    if name not in BOOSTERS:
        raise Fault(f"it is a {name!a}, which this version does not know")
    learner = _decode_learner(header.fields("learner"))
    loss = _loss(header, given.get("loss"))
    values: dict[str, Any] = {
        "n_learners": header.count("n_learners", 1, MOST_LEARNERS),
        "mode": header.text("mode"),
        "prefix": header.text("prefix"),
        **{key: parts._number(header, key) for key in NUMBERS},
        **({"step": header.real("step")} if name == "SpanBooster" else {}),
        "outputs": parts._number(header, "classes"),
        "random_state": header.count("random_state"),
    }
    n_features = header.count("features", 0, MOST_FEATURES)
    outputs = header.count("outputs", 0)
    booster: OnlineBooster = parts._make(lambda **found: BOOSTERS[name](learner, loss=loss, **found), values)
    booster.n_features = n_features
    booster.hash_bits = parts._number(header, "hash_bits")
    if tensors.has("features"):
        booster.features = names.unpack_features(tensors, booster.hash_bits)
        if n_features > booster.features.width:
            raise Fault("its booster has more columns than features")
    if outputs:
        booster.state = _unpack_state(header.fields("settings"), tensors, booster, outputs)
    header.done()
    return booster


def _loss(header: Fields, given: Any) -> Any:
    loss = parts.decode_loss(header.take("loss"))
    header.items("needs", 1)
    if given is None:
        return loss
    if not isinstance(loss, parts.AbsentLoss):
        raise ValueError("loss is in the file: leave it out")
    return given


def _decode_learner(entry: Fields) -> Any:
    cls, numbers, words = parts._look_up(LEARNERS, entry.text("class"), "learner")  # type: ignore[arg-type, misc]
    values = {key: parts._number(entry, key) for key in numbers} | {key: entry.text(key) for key in words}
    entry.done()
    return parts._make(cls, values)


def _unpack_state(entry: Fields, tensors: Tensors, booster: OnlineBooster, outputs: int) -> State:
    stages = booster.n_learners
    chain = tensors.floats("chain", (len(KEPT), stages + 1))
    shrink = chain[0]
    if ((shrink < 0) | (shrink > 1)).any():
        raise Fault("it shrinks by a share that is none")
    arrays = _unpack_arrays(tensors, booster, outputs)
    kind = CompiledState if compiled_loss(booster.loss) else InterpretedState
    state = kind(booster, booster.n_features, outputs, arrays)
    state.chain[KEPT] = chain
    state.labels = tensors.floats("labels", (labels.SIZE,))
    state.shares = tensors.floats("shares", (outputs,))
    state.totals = tensors.floats("totals", (len(Totals._fields),))
    state.sketch = Sketch(tensors.floats("sketch", (2, None)))
    if state.sketch.points.shape[1] >= Sketch.SIZE or (state.sketch.points[1] <= 0).any():
        raise Fault("its labels are not what they have to be")
    state.settings = _settings(entry, state.settings)
    return state


def _unpack_arrays(tensors: Tensors, booster: OnlineBooster, outputs: int) -> Arrays:
    shapes = booster.learner.shapes(booster.n_features, booster.n_learners, outputs)
    main, extra = tensors.floats("main", shapes[0]), tensors.floats("extra", shapes[1])
    grown = isinstance(booster.learner, online.TreeLearner)
    table = tensors.floats("table", shapes[2], infinite=grown)
    if grown:
        _check_trees(booster.learner, booster.n_features, main, table)
    seen = tensors.floats("seen", shapes[4])
    if getattr(booster.learner, "precision", "double") == "single":
        main, extra = main.astype(np.float32), extra.astype(np.float32)
    return Arrays(main, extra, table, np.zeros(shapes[3]), seen)


def _check_trees(learner: online.TreeLearner, n_features: int, main: np.ndarray, table: np.ndarray) -> None:
    """A Fault unless kernels that follow the trees stay inside their arrays and come to an end."""
    nodes = 2 * learner.max_leaves - 1
    links = main[
        :, [trees.TreeArrays._fields.index(name) for name in ("feature", "bin", "left", "slot", "used")]
    ]
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
    if not inside or not (0 <= first <= trees.FIRST and first == int(first)):
        raise Fault("its trees lead nowhere")


def _settings(entry: Fields, like: Any) -> Any:
    """The settings as they were, which a later version may derive otherwise."""
    found = {
        key: entry.flag(key) if key in FLAGS else entry.count(key) if key in WHOLE else entry.real(key)
        for key in like._fields
    }
    entry.done()
    if found["code"] != like.code and like.code != OTHER:
        raise Fault("its loss and its settings do not belong together")
    return type(like)(**found)
