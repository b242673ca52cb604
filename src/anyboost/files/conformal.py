"""The part of a file that quantiles and intervals are calibrated by: ranks of rows that were not fitted."""

from typing import Any

import numpy as np

from anyboost.estimators.held_out import CV, SPLIT
from anyboost.explain.intervals import Conformal, Distributions
from anyboost.files import fields, labels
from anyboost.files.fields import Fault, Fields
from anyboost.files.tensors import Packed, Tensors, finite, unsigned


def pack(conformal: Conformal) -> Packed:
    """Header and tensors."""
    header: dict[str, Any] = {"way": conformal.way, "tails": list(conformal.distributions.tails)}
    tensors = {"conformal.ranks": finite(conformal.ranks, "ranks")}
    tensors["conformal.weights"] = finite(conformal.weights, "weights")
    if conformal.groups is not None:
        header["groups"] = labels.pack_classes(np.array(conformal.labels))
        tensors["conformal.groups"] = unsigned(conformal.groups)
    return header, tensors


def unpack(header: Fields, tensors: Tensors, levels: tuple[float, ...]) -> Conformal:
    """What a model of quantiles at these levels, or of none, is calibrated by."""
    way = header.take("way", fields.choice(CV, SPLIT))
    tails = header.take("tails", fields.row(fields.real, fields.real))
    ranks = tensors.floats("conformal.ranks", (None,))
    weights = tensors.floats("conformal.weights", (len(ranks),))
    if min(tails) < 0 or (np.diff(ranks) < 0).any() or not (weights > 0).all():
        raise Fault("what its intervals are calibrated by is out of order")
    distributions = Distributions(levels, (tails[0], tails[1]))
    if not header.has("groups"):
        return Conformal(way, distributions, ranks, weights)
    found = labels.unpack_classes(header.take("groups")).tolist()
    groups = tensors.indices("conformal.groups", len(ranks), 0, len(found) - 1)
    return Conformal(way, distributions, ranks, weights, tuple(found), groups)
