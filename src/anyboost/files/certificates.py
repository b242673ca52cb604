"""The part of a file that is a certificate: its proofs, and the numbers that a gap is taken from."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from anyboost.certificates import WEIGHTINGS, Certificate, Witness
from anyboost.files.fields import Fault, Fields, items, real

MOST_WITNESSES = 4 * 64  # four at each power of two


def pack(certificate: Certificate) -> dict[str, Any]:
    """The header; what is not known of a model is left out."""
    numbers = {name: float(getattr(certificate, name)) for name in ("loss", "norm", "infimum")}
    known = {name: value for name, value in numbers.items() if math.isfinite(value)}
    return known | {"witnesses": pack_witnesses(certificate.witnesses)}


def unpack(header: Fields, rounds: int) -> Certificate:
    """The certificate of a fit of so many rounds."""
    loss = header.take("loss", real)
    norm = header.take("norm", real) if header.has("norm") else math.nan
    infimum = header.take("infimum", real) if header.has("infimum") else -math.inf
    witnesses = header.take(
        "witnesses", items(MOST_WITNESSES + len(WEIGHTINGS), partial(unpack_witness, rounds))
    )
    header.done()
    if norm < 0:
        raise Fault("its norm is negative")
    return Certificate(loss, norm, infimum, tuple(witnesses))


def pack_witnesses(witnesses: Iterable[Witness]) -> list[list[Any]]:
    """Each as a list."""
    return [[*map(float, each[:3]), each.weighting, int(each.rounds)] for each in witnesses]


def unpack_witness(rounds: int, values: Any, name: str) -> Witness:
    """A witness of one of so many rounds."""
    if not isinstance(values, list) or len(values) != 5 or values[3] not in WEIGHTINGS:
        raise Fault("it has a witness that is none")
    if type(values[4]) is not int or not 1 <= values[4] <= rounds:
        raise Fault("it has a witness of a round that was not run")
    intercept, reach, reach_found = (real(value, name) for value in values[:3])
    return Witness(intercept, reach, reach_found, values[3], values[4])
