"""The part of a file that is a fitted sum: its start, its coefficients, its hypotheses."""

from typing import Any

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.files import forest, functions
from anyboost.files.container import Fault
from anyboost.files.fields import Fields, Tensors, finite, unsigned
from anyboost.weak.dictionary import ColumnFunction
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction
from anyboost.weak.linear import LinearFunction
from anyboost.weak.net import NetFunction

MOST_ROUNDS = 2**32 - 1
MOST_FEATURES = 2**31 - 1


def pack(ensemble: Ensemble) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and tensors of an ensemble."""
    form, tensors = _pack_hypotheses(ensemble.hypotheses)
    tensors |= {
        "start": finite(ensemble.start, "start scores"),
        "added": finite(ensemble.added, "coefficients"),
        "rounds": unsigned(ensemble.rounds),
        "shrinks": finite(ensemble.shrinks, "shrinks"),
    }
    header = {
        "features": int(ensemble.n_features),
        "outputs": ensemble.outputs,
        "needs_offset": bool(ensemble.needs_offset),
        "hypotheses": form,
    }
    return header, tensors


def unpack(header: Fields, tensors: Tensors, given: dict[str, Any]) -> Ensemble:
    """The ensemble; a Fault unless all that predictions index with is in range."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} belongs to a run, and the file holds an ensemble: leave it out")
    n_features = header.count("features", 1, MOST_FEATURES)
    outputs = header.count("outputs", 1)
    needs_offset = header.flag("needs_offset")
    form = header.text("hypotheses")
    header.done()
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
    hypotheses = _unpack_hypotheses(form, tensors, len(added), n_features, outputs)
    return Ensemble(
        start, n_features, needs_offset, hypotheses, added.tolist(), rounds.tolist(), shrinks.tolist()
    )


def _pack_hypotheses(hypotheses: list[Any]) -> tuple[str, dict[str, np.ndarray]]:
    kinds = {type(hypothesis) for hypothesis in hypotheses}
    if not kinds:
        return "none", {}
    if kinds == {TreeFunction}:
        return "trees", forest.pack(hypotheses)
    if kinds == {EachFunction}:
        return "trees an output", forest.pack([tree for each in hypotheses for tree in each.trees])
    if kinds == {ColumnFunction}:
        if any(part.functions is not None for part in hypotheses):
            raise ValueError(
                "model cannot be saved: it is a sum of functions of a Dictionary, which a file cannot hold"
            )
        vectors = finite([part.vector for part in hypotheses], "vectors")
        return "columns", {"column.index": unsigned([p.column for p in hypotheses]), "column.vector": vectors}
    if kinds == {LinearFunction}:
        return "linear functions", functions.pack_linear(hypotheses)
    if kinds == {NetFunction}:
        return "nets", functions.pack_nets(hypotheses)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ValueError(
        f"model cannot be saved: it is a sum of {names}; trees, linear functions, nets and columns of X can be saved"
    )


def _unpack_hypotheses(form: str, tensors: Tensors, count: int, n_features: int, outputs: int) -> list[Any]:
    if form == "none" and count == 0:
        return []
    if form == "trees" and count > 0:
        return list(forest.unpack(tensors, count, n_features, outputs))
    if form == "trees an output" and count > 0:
        trees = forest.unpack(tensors, count * outputs, n_features, 1)
        return [EachFunction(tuple(trees[i : i + outputs])) for i in range(0, len(trees), outputs)]
    if form == "columns" and count > 0:
        columns = tensors.indices("column.index", count, 0, n_features - 1)
        vectors = tensors.floats("column.vector", (count, outputs))
        return [ColumnFunction(*pair) for pair in zip(columns.tolist(), vectors, strict=True)]
    if form == "linear functions" and count > 0:
        return list(functions.unpack_linear(tensors, count, n_features, outputs))
    if form == "nets" and count > 0:
        return list(functions.unpack_nets(tensors, count, n_features, outputs))
    raise Fault(f"it has {count} hypotheses of the form {form!a}, which this version does not know")
