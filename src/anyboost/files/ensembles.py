"""The part of a file that is a fitted sum: its start, its coefficients, its hypotheses."""

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.files import functions
from anyboost.files.fields import Fault, Fields, count, flag, text
from anyboost.files.tensors import Packed, Tensors, finite, unsigned

MOST_FEATURES = 2**31 - 1
_ENTRIES = {
    "features": count(1, MOST_FEATURES),
    "outputs": count(1),
    "needs_offset": flag,
    "hypotheses": text,
}


def pack(ensemble: Ensemble) -> Packed:
    """Header and tensors of an ensemble."""
    form, tensors = functions.pack(ensemble.hypotheses)
    values = (int(ensemble.n_features), ensemble.outputs, bool(ensemble.needs_offset), form)
    return dict(zip(_ENTRIES, values, strict=True)), tensors | {
        "start": finite(ensemble.start, "start scores"),
        "added": finite(ensemble.added, "coefficients"),
        "rounds": unsigned(ensemble.rounds),
        "shrinks": finite(ensemble.shrinks, "shrinks"),
    }


def unpack(header: Fields, tensors: Tensors) -> Ensemble:
    """The ensemble; a Fault unless all that predictions index with is in range."""
    n_features, outputs, needs_offset, form = header.take_all(**_ENTRIES).values()
    start = tensors.floats("start", (outputs,))
    if needs_offset and start.any():
        raise Fault("it starts at given scores and also at a constant")
    shrinks = tensors.floats("shrinks", (None,))
    if ((shrinks < 0) | (shrinks > 1)).any():
        raise Fault("it shrinks by a share that is none")
    added = tensors.floats("added", (None,))
    rounds = tensors.indices("rounds", len(added), 1, len(shrinks))
    if (np.diff(rounds) < 0).any():
        raise Fault("its rounds are not in order")
    hypotheses = functions.unpack(form, tensors, len(added), n_features, outputs)
    return Ensemble(
        start, n_features, needs_offset, hypotheses, added.tolist(), rounds.tolist(), shrinks.tolist()
    )
