"""The part of a file that is an averager of stumps: its settings, its thresholds and what it has learned of them."""

from typing import Any

import numpy as np

from anyboost.files import parts
from anyboost.files.fields import Fault, Fields, choice, flag, make, number, real
from anyboost.files.mirror_averagers import MOST_EXPERTS, RULES, check_numbers, lipschitz
from anyboost.files.tensors import Packed, Tensors, finite, unsigned
from anyboost.mirror.averager import N_NUMBERS
from anyboost.mirror.stumps import Forest, StumpAverager


def pack(model: StumpAverager) -> Packed:
    """Header and tensors of an averager of stumps."""
    header = {
        "form": "stumps",
        "loss": parts.encode_loss(model.loss),
        "radius": model.radius,
        "schedule": RULES["schedule"].encode(model.schedule),
        "lipschitz": model.lipschitz,
        "label_bound": model.label_bound,
        "average": model.average,
        "max_thresholds": model.max_thresholds,
    }
    forest = model._forest
    if forest is None:
        return header, {}
    learned = forest._nodes if forest.by_trees else np.array(forest._arrays)
    return header, {
        "thresholds": finite(forest.thresholds, "thresholds", infinite=True),
        "counts": unsigned(np.diff(forest.starts)),
        "learned": finite(learned, "weights", infinite=True),
        "numbers": finite(forest.numbers, "numbers"),
    }


def unpack(header: Fields, tensors: Tensors, loss: Any = None) -> StumpAverager:
    """The averager; a Fault unless all that a kernel indexes with is in range."""
    header.take("form", choice("stumps"))
    loss, label_bound = parts.decode_loss(header.take("loss"), loss), header.take("label_bound", number)
    rules = {"schedule": RULES["schedule"].check, "lipschitz": lipschitz}
    values = header.take_all(radius=real, average=flag, max_thresholds=number, **rules)
    model: StumpAverager = make(StumpAverager, values | {"loss": loss})
    model.label_bound = label_bound
    if not tensors.has("thresholds"):
        return model
    thresholds = tensors.floats("thresholds", (None,), infinite=True)
    counts = tensors.indices("counts", None, 0, MOST_EXPERTS)
    if len(counts) < 2 or counts.sum() != len(thresholds) or counts[-1] != 1:
        raise Fault("its thresholds are not those of features and a constant")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    forest = Forest(thresholds, starts, model._by_trees)
    shape = forest._nodes.shape if forest.by_trees else (3, len(thresholds))
    learned = tensors.floats("learned", shape, infinite=forest.by_trees)
    forest.numbers[:] = tensors.floats("numbers", (N_NUMBERS,))
    check_numbers(forest.numbers)
    if forest.by_trees:
        forest._nodes = learned
    else:
        forest._arrays = learned[0].copy(), learned[1].copy(), learned[2].copy()
    model._forest = forest
    return model
