"""The part of a file that is a certificate: its proofs, and the numbers that a gap is taken from."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from anyboost.certificates import WEIGHTINGS, Certificate, Witness
from anyboost.files.fields import Fault, Fields, choice, count, items, real, row
from anyboost.files.tensors import Packed

MOST_WITNESSES = 4 * 64  # four at each power of two


def pack(certificate: Certificate) -> Packed:
    """Header and, of them none, tensors."""
    numbers = known(**{name: getattr(certificate, name) for name in ("loss", "norm", "infimum")})
    return numbers | {"witnesses": pack_witnesses(certificate.witnesses)}, {}


def known(**numbers: float) -> dict[str, float]:
    """Numbers that may be unknown, which then are left out."""
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def unpack(header: Fields, rounds: int) -> Certificate:
    """The certificate of a fit of so many rounds."""
    loss, norm = header.take("loss", real), header.get("norm", real, math.nan)
    infimum = header.get("infimum", real, -math.inf)
    most = MOST_WITNESSES + len(WEIGHTINGS)
    witnesses = header.take("witnesses", items(most, partial(unpack_witness, rounds)))
    if norm < 0:
        raise Fault("its norm is negative")
    return Certificate(loss, norm, infimum, tuple(witnesses))


def pack_witnesses(witnesses: Iterable[Witness]) -> list[list[Any]]:
    """Each as a list."""
    return [[*map(float, each[:3]), each.weighting, int(each.rounds)] for each in witnesses]


def unpack_witness(rounds: int, values: Any, name: str) -> Witness:
    """A witness of one of so many rounds."""
    return Witness(*row(real, real, real, choice(*WEIGHTINGS), count(1, rounds))(values, name))
