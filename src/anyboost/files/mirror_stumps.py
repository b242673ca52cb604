"""The part of a file that is an averager of stumps: its settings, its thresholds and what it has learned of them."""

from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, choice, flag, number, real
from anyboost.files.mirror_averagers import MOST_EXPERTS, RULES, as_numbers, lipschitz, with_bounds
from anyboost.files.tensors import Packed, Tensors, finite, unsigned
from anyboost.mirror.state import N_NUMBERS
from anyboost.mirror.stumps import StumpAverager, Trees

_SETTINGS = Record(
    radius=real,
    schedule=RULES["schedule"],
    lipschitz=lipschitz,
    label_bound=number,
    average=flag,
    max_thresholds=number,
)


def pack(model: StumpAverager) -> Packed:
    """Header and tensors of an averager of stumps."""
    header = {
        "form": "stumps",
        "loss": parts.encode_loss(model.loss),
        **_SETTINGS.encode(model),
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


def unpack(header: Fields, tensors: Tensors, loss: Any = None) -> StumpAverager:
    """The averager; a Fault unless all that a kernel indexes with is in range."""
    header.take("form", choice("stumps"))
    values = _SETTINGS.take(header) | {"loss": parts.decode_loss(header.take("loss"), loss)}
    model: StumpAverager = with_bounds(StumpAverager, values)
    if not tensors.has("thresholds"):
        return model
    thresholds = tensors.floats("thresholds", (None,), infinite=True)
    counts = tensors.indices("counts", None, 0, MOST_EXPERTS)
    if len(counts) < 2 or counts.sum() != len(thresholds) or counts[-1] != 1:
        raise Fault("its thresholds are not those of features and a constant")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    state = model._fresh(thresholds, starts)
    infinite = isinstance(state, Trees)
    state.learned[:] = tensors.floats("learned", state.learned.shape, infinite=infinite)
    state.numbers[:] = as_numbers(tensors.floats("numbers", (N_NUMBERS,)))
    model._state = state
    return model
