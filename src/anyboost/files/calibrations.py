"""The parts of a file that answers are calibrated by: what makes probabilities of raw scores, and, for quantiles and
intervals, the ranks of rows that were not fitted."""

from typing import Any

import numpy as np

from anyboost.estimators.held_out import CV, SPLIT
from anyboost.explain.calibration import ISOTONIC, TEMPERATURE, Calibration, Isotonic, Temperature
from anyboost.explain.intervals import Conformal, Distributions
from anyboost.files import labels
from anyboost.files.codec import Place, Record
from anyboost.files.fields import Fault, Fields, bounded, choice, real, refuse, row
from anyboost.files.tensors import POSITIVE, Floats, Packed, Whole, entries

_TEMPERATURE = Record("calibration.", scale=real, shifts=Floats("classes"))
_ISOTONIC = Record(
    "calibration.",
    sizes=Whole("functions", least=1),
    knots=Floats("knots"),
    values=Floats("knots", least=POSITIVE, most=float(np.nextafter(1.0, 0.0)), what="probabilities"),
)
_RANKS = Record(
    "conformal.",
    way=choice(CV, SPLIT),
    tails=Place(row(bounded(0.0), bounded(0.0)), "distributions.tails"),
    ranks=Floats("rows", rise=0.0),
    weights=Floats("rows", least=POSITIVE),
)
_GROUPS = Record("conformal.", groups=Whole("rows", below="labels"))


def pack(calibration: Calibration) -> Packed:
    """Entries and tensors of what makes probabilities."""
    if isinstance(calibration, Temperature):
        return entries(way=TEMPERATURE) | _TEMPERATURE.pack(calibration)
    sizes = [len(knots) for knots in calibration.knots]
    joined = {name: np.concatenate(getattr(calibration, name)) for name in ("knots", "values")}
    return entries(way=ISOTONIC) | _ISOTONIC.pack(sizes=sizes, **joined)


def unpack(part: Fields, classes: int) -> Calibration:
    """The calibration of so many classes; a Fault unless it gives probabilities."""
    if part.take("way", choice(TEMPERATURE, ISOTONIC)) == TEMPERATURE:
        return Temperature(**_TEMPERATURE.take(part, classes=classes))
    sizes, *joined = _ISOTONIC.take(part, functions=1 if classes == 2 else classes).values()
    refuse(sizes.sum() != len(joined[0]), "its calibration has not as many knots as it says")
    knots, values = (tuple(np.split(array, np.cumsum(sizes)[:-1])) for array in joined)
    if any((np.diff(x) <= 0).any() or (np.diff(p) < 0).any() for x, p in zip(knots, values, strict=True)):
        raise Fault("its calibration does not rise")
    return Isotonic(knots, values)


def pack_ranks(conformal: Conformal) -> Packed:
    """Entries and tensors of what intervals are calibrated by."""
    found = _RANKS.pack(conformal)
    if conformal.groups is None:
        return found
    return found | entries(groups=labels.pack_classes(np.array(conformal.labels))) | _GROUPS.pack(conformal)


def unpack_ranks(part: Fields, levels: tuple[float, ...]) -> Conformal:
    """What a model of quantiles at these levels, or of none, is calibrated by."""
    found: dict[str, Any] = _RANKS.take(part)
    found["distributions"] = Distributions(levels, tuple(found.pop("tails")))
    if not part.has("groups"):
        return Conformal(**found)
    known = tuple(part.take("groups", labels.classes()).tolist())
    groups = _GROUPS.take(part, labels=len(known), rows=len(found["ranks"]))
    return Conformal(**found, labels=known, **groups)
