"""The part of a file that is a certificate: its proofs, and the numbers that a gap is taken from."""

import math

from anyboost.certificates import WEIGHTINGS, Certificate, Witness
from anyboost.files.codec import Place, Record
from anyboost.files.fields import Check, Fields, bounded, choice, count, items, real, row
from anyboost.files.tensors import Packed

MOST_WITNESSES = 4 * 64  # four at each power of two
UNKNOWN = {"norm": Place(bounded(0), default=math.nan), "infimum": Place(real, default=-math.inf)}


def witness(rounds: int) -> Check:
    """One of a run of so many rounds, as a list."""
    listed = row(real, real, real, choice(*WEIGHTINGS), count(1, rounds))
    return lambda value, name: Witness(*listed(value, name))


def proofs(rounds: int) -> Record:
    """All witnesses of such a run."""
    return Record(witnesses=items(MOST_WITNESSES + len(WEIGHTINGS), witness(rounds)))


_NUMBERS = Record(loss=real, **UNKNOWN)


def pack(certificate: Certificate) -> Packed:
    """Its entries."""
    return _NUMBERS.pack(certificate) | proofs(0).pack(certificate)


def unpack(part: Fields, rounds: int) -> Certificate:
    """The certificate of a fit of so many rounds."""
    found, witnesses = _NUMBERS.take(part), proofs(rounds).take(part)["witnesses"]
    return Certificate(**found, witnesses=tuple(witnesses))
