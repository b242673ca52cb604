"""The part of a file that is an online booster: its arguments, and the arrays of its state.

A booster is made again from its arguments, and its state then has to fit the arrays it makes itself: no kernel meets
an array of another shape than it was written for.
"""

import json
from typing import Any

import numpy as np

from anyboost import online
from anyboost.files import parts
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite
from anyboost.online.booster import OnlineBooster
from anyboost.online.features import MOST_BITS, Features

BOOSTERS = {"span": online.SpanBooster, "hull": online.HullBooster}
NUMBERS = ("output_bound", "label_bound", "scale", "start", "forget")  # a number or null
LEARNERS: parts.Table = parts._table(
    online.LinearLearner,
    online.FeatureStumpLearner,
    online.NetLearner,
)
MOST_LEARNERS = 10_000
MOST_OUTPUTS = 100_000
MOST_FEATURES = 2**31 - 1


def pack(booster: OnlineBooster) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of a booster."""
    check(booster)
    header = {
        "algorithm": "hull" if booster._hull else "span",
        "learner": parts._by_class(booster.learner, LEARNERS[type(booster.learner).__name__][1]),
        "n_learners": booster.n_learners,
        "loss": parts.encode_loss(booster.loss),
        "mode": booster.mode,
        "prefix": booster.prefix,
        "outputs": booster.outputs,
        "random_state": booster.random_state,
        "features": booster.n_features,
        "named": booster.named,
        "hash_bits": booster.hash_bits,
        **{name: getattr(booster, name) for name in NUMBERS},
    }
    if not booster._hull:
        header["step"] = booster.step  # type: ignore[attr-defined]
    tensors = {} if booster.features is None else {"features": pack_names(booster.features.names)}
    state = booster.state
    if state is None:
        return header | {"begun": None}, tensors
    tensors |= {name: finite(array, "weights") for name, array in _arrays(state).items()}
    return header | {"begun": state.outputs}, tensors


def check(booster: OnlineBooster) -> None:
    """Refuse, before any work, a booster that a file cannot hold."""
    kind = LEARNERS.get(type(booster.learner).__name__)
    if kind is None or kind[0] is not type(booster.learner):
        raise ValueError(
            f"model cannot be saved: its learner is {type(booster.learner).__name__}, "
            f"and a file holds {', '.join(LEARNERS)}"
        )
    if parts.is_yours(parts.encode_loss(booster.loss)):
        raise ValueError(
            f"model cannot be saved: its loss {booster.loss} is your own, which a file cannot hold"
        )


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> OnlineBooster:
    """The booster; a Fault unless its arrays are those that its arguments ask for."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to a run, and the file holds an online booster: leave it out")
    booster = _unpack_arguments(header)
    width, named = header.count("features", 0, MOST_FEATURES), header.flag("named")
    outputs, bits = header.take("begun"), parts._number(header, "hash_bits")
    header.done()
    booster.named, booster.hash_bits = named, bits
    if tensors.has("features"):
        booster.features = unpack_features(tensors, bits)
        if width > booster.features.width:
            raise Fault("its booster has more columns than features")
    if outputs is None:
        if width:
            raise Fault("its booster has features and has learnt nothing")
        return booster
    if type(outputs) is not int or not 1 <= outputs <= MOST_OUTPUTS:
        raise Fault("its booster has an impossible number of outputs")
    if (outputs == 1) == booster.loss.vector and booster.loss.vector:
        raise Fault("its booster has one score where its loss has several")
    _check_sizes(booster, tensors, width, outputs)
    state = booster._begin(width, outputs)
    booster.state, booster.n_features = state, width
    for name, array in _arrays(state).items():
        array[...] = tensors.floats(name, array.shape)
    return booster


def _arrays(state: Any) -> dict[str, np.ndarray]:
    """All that a state has learnt, by name. The kernels' scratch space is none of it, and comes along."""
    own = {"chain": state.chain, "labels": state.labels, "shares": state.shares, "totals": state.totals}
    return own | {f"learner.{name}": array for name, array in state.arrays._asdict().items()}


def _check_sizes(booster: OnlineBooster, tensors: Tensors, width: int, outputs: int) -> None:
    """Before arrays are made: the file must be as large as they will be."""
    units = getattr(booster.learner, "units", 1)
    if tensors.length("learner.table") != width + 1 or tensors.length("shares") != outputs:
        raise Fault("its booster's arrays are not of its size")
    columns = tensors.width("learner.main")
    if columns != booster.n_learners * (units if units > 1 else outputs):
        raise Fault("its booster's arrays are not of its size")


def _unpack_arguments(header: Fields) -> OnlineBooster:
    algorithm = header.text("algorithm")
    if algorithm not in BOOSTERS:
        raise Fault(f"its booster is {algorithm!a}, which this version does not know")
    learner = _unpack_learner(header.take("learner"))
    loss = parts.decode_loss(header.take("loss"))
    if isinstance(loss, parts.AbsentLoss):
        raise Fault("its booster has a loss that is not in it")
    values: dict[str, Any] = {
        "n_learners": header.count("n_learners", 1, MOST_LEARNERS),
        "mode": header.text("mode"),
        "prefix": header.text("prefix"),
        "random_state": header.count("random_state", 0),
        "outputs": parts._number(header, "outputs"),
        **{name: parts._number(header, name) for name in NUMBERS},
    }
    if algorithm == "span":
        values["step"] = header.real("step")
    return parts._make(BOOSTERS[algorithm], {"learner": learner, "loss": loss, **values})


def _unpack_learner(entry: Any) -> Any:
    found = Fields(entry, "learner")
    cls, names = parts._look_up(LEARNERS, found.text("class"), "learner")
    values = {name: _parameter(found.take(name)) for name in names}
    found.done()
    return parts._make(cls, values)


def _parameter(value: Any) -> Any:
    if not isinstance(value, str | int | float | None):
        raise Fault("its learner has a parameter that is none")
    return value


def pack_names(names: list[Any]) -> np.ndarray:
    """Names as JSON in UTF-8: a header is too small for a million of them."""
    return np.frombuffer(json.dumps(names).encode(), dtype=np.uint8).copy()


def unpack_names(tensors: Tensors, name: str) -> list[Any]:
    """Names, each once, that are text or whole numbers."""
    raw = tensors.indices(name, None, 0, 255).astype(np.uint8).tobytes()
    try:
        names = json.loads(raw.decode())
    except (ValueError, RecursionError):
        raise Fault(f"its tensor {name!a} holds no names") from None
    if not isinstance(names, list) or not all(type(each) in (str, int) for each in names):
        raise Fault(f"its tensor {name!a} holds no names")
    if len(set(names)) != len(names):
        raise Fault(f"its tensor {name!a} names a feature twice")
    return names


def unpack_features(tensors: Tensors, bits: Any) -> Features:
    """The columns of named features."""
    if bits is not None and not (type(bits) is int and 1 <= bits <= MOST_BITS):
        raise Fault("it hashes into an impossible number of columns")
    names = unpack_names(tensors, "features")
    if bits is not None and names:
        raise Fault("it hashes its features and names them")
    return Features.of(names, bits)
