"""The part of a file that is the functions of a sum, all of one form: their numbers, one function after another."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anyboost.files import trees
from anyboost.files.container import Fault
from anyboost.files.tensors import Tensors, finite, unsigned
from anyboost.weak.dictionary import ColumnFunction
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction
from anyboost.weak.linear import LinearFunction
from anyboost.weak.net import NetFunction


class Form(NamedTuple):
    """A class of functions, their tensors, and the functions of tensors, their number, features and outputs."""

    cls: type
    pack: Callable[[list[Any]], dict[str, np.ndarray]]
    unpack: Callable[[Tensors, int, int, int], list[Any]]


def pack(functions: list[Any]) -> tuple[str, dict[str, np.ndarray]]:
    """The form of these functions, and their tensors."""
    found = {type(function) for function in functions}
    if not found:
        return "none", {}
    for name, form in FORMS.items():
        if found == {form.cls}:
            return name, form.pack(functions)
    names = ", ".join(sorted(cls.__name__ for cls in found))
    raise ValueError(
        f"model cannot be saved: it is a sum of {names}; trees, linear functions, nets and columns of X can be saved"
    )


def unpack(form: str, tensors: Tensors, count: int, n_features: int, outputs: int) -> list[Any]:
    """The functions, `count` of them."""
    if form == "none" and count == 0:
        return []
    if form not in FORMS or count == 0:
        raise Fault(f"it has {count} hypotheses of the form {form!a}, which this version does not know")
    return FORMS[form].unpack(tensors, count, n_features, outputs)


def _pack_each(functions: list[EachFunction]) -> dict[str, np.ndarray]:
    return trees.pack([tree for each in functions for tree in each.trees])


def _unpack_each(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[EachFunction]:
    found = trees.unpack(tensors, count * outputs, n_features, 1)
    return [EachFunction(tuple(found[i : i + outputs])) for i in range(0, len(found), outputs)]


def _pack_columns(functions: list[ColumnFunction]) -> dict[str, np.ndarray]:
    if any(part.functions is not None for part in functions):
        raise ValueError(
            "model cannot be saved: it is a sum of functions of a Dictionary, which a file cannot hold"
        )
    vectors = finite([part.vector for part in functions], "vectors")
    return {"column.index": unsigned([part.column for part in functions]), "column.vector": vectors}


def _unpack_columns(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[ColumnFunction]:
    columns = tensors.indices("column.index", count, 0, n_features - 1).tolist()
    vectors = tensors.floats("column.vector", (count, outputs))
    return [ColumnFunction(*pair) for pair in zip(columns, vectors, strict=True)]


def _pack_linear(functions: list[LinearFunction]) -> dict[str, np.ndarray]:
    return {
        "linear.weight": finite(np.concatenate([part.weight for part in functions]), "weights"),
        "linear.constant": finite([part.constant for part in functions], "constants"),
    }


def _unpack_linear(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[LinearFunction]:
    weights = tensors.floats("linear.weight", (count * outputs, n_features))
    constants = tensors.floats("linear.constant", (count, outputs))
    return [LinearFunction(*parts) for parts in zip(np.split(weights, count), constants, strict=True)]


def _pack_nets(nets: list[NetFunction]) -> dict[str, np.ndarray]:
    if len({len(net.bias) for net in nets}) > 1:
        raise ValueError("model cannot be saved: its nets have different numbers of units")
    return {
        "net.hidden": finite(np.concatenate([net.hidden for net in nets]), "weights"),
        "net.bias": finite([net.bias for net in nets], "weights"),
        "net.output": finite(np.concatenate([net.output for net in nets]), "weights"),
        "net.constant": finite([net.constant for net in nets], "constants"),
    }


def _unpack_nets(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[NetFunction]:
    units = tensors.length("net.bias", 1)
    if units == 0:
        raise Fault("it has nets without units")
    hidden = tensors.floats("net.hidden", (count * units, n_features))
    bias = tensors.floats("net.bias", (count, units))
    output = tensors.floats("net.output", (count * outputs, units))
    constant = tensors.floats("net.constant", (count, outputs))
    parts = zip(np.split(hidden, count), bias, np.split(output, count), constant, strict=True)
    return [NetFunction(*part) for part in parts]


FORMS = {
    "trees": Form(TreeFunction, trees.pack, trees.unpack),
    "trees an output": Form(EachFunction, _pack_each, _unpack_each),
    "columns": Form(ColumnFunction, _pack_columns, _unpack_columns),
    "linear functions": Form(LinearFunction, _pack_linear, _unpack_linear),
    "nets": Form(NetFunction, _pack_nets, _unpack_nets),
}
