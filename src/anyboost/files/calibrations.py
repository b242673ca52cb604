"""The part of a file that makes probabilities of raw scores."""

import numpy as np

from anyboost.explain.calibration import ISOTONIC, TEMPERATURE, Calibration, Isotonic, Temperature
from anyboost.files import fields
from anyboost.files.fields import Fault, Fields
from anyboost.files.tensors import Packed, Tensors, finite, unsigned


def pack(calibration: Calibration) -> Packed:
    """Header and tensors."""
    if isinstance(calibration, Temperature):
        header = {"way": TEMPERATURE, "scale": float(calibration.scale)}
        return header, {"calibration.shifts": finite(calibration.shifts, "shifts")}
    tensors = {
        "calibration.sizes": unsigned([len(knots) for knots in calibration.knots]),
        "calibration.knots": finite(np.concatenate(calibration.knots), "knots"),
        "calibration.values": finite(np.concatenate(calibration.values), "probabilities"),
    }
    return {"way": ISOTONIC}, tensors


def unpack(header: Fields, tensors: Tensors, classes: int) -> Calibration:
    """The calibration of so many classes; a Fault unless it gives probabilities."""
    way = header.take("way", fields.choice(TEMPERATURE, ISOTONIC))
    if way == TEMPERATURE:
        return Temperature(
            header.take("scale", fields.real), tensors.floats("calibration.shifts", (classes,))
        )
    total = tensors.length("calibration.knots")
    sizes = tensors.indices("calibration.sizes", 1 if classes == 2 else classes, 1, total)
    if sizes.sum() != total:
        raise Fault("its calibration has not as many knots as it says")
    ends = np.cumsum(sizes)[:-1]
    knots = np.split(tensors.floats("calibration.knots", (total,)), ends)
    values = np.split(tensors.floats("calibration.values", (total,)), ends)
    for x, p in zip(knots, values, strict=True):
        if (np.diff(x) <= 0).any() or (np.diff(p) < 0).any() or p[0] <= 0 or p[-1] >= 1:
            raise Fault("its calibration does not rise between 0 and 1")
    return Isotonic(tuple(knots), tuple(values))
