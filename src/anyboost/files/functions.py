"""The part of a file that is the functions of a sum, all of one form: their numbers, one function after another."""

import math
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anyboost.files import trees
from anyboost.files.fields import Fault
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
        f"model cannot be saved: it is a sum of {names}; trees, linear functions, nets and columns of X can be saved, "
        "one kind in a sum"
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


def _pack_arrays(prefix: str, functions: list[Any]) -> dict[str, np.ndarray]:
    """The tensors of functions that are dataclasses of arrays: a field's arrays lie below each other."""
    return {
        f"{prefix}.{field.name}": finite(
            np.vstack([getattr(one, field.name) for one in functions]), "weights"
        )
        for field in fields(functions[0])
    }


def _unpack_arrays(
    prefix: str, cls: Any, tensors: Tensors, count: int, **shapes: tuple[int, ...]
) -> list[Any]:
    """These functions, of the shapes of their fields."""
    stacked = [
        tensors.floats(f"{prefix}.{name}", (count * math.prod(shape[:-1]), shape[-1])).reshape(count, *shape)
        for name, shape in shapes.items()
    ]
    return [cls(*arrays) for arrays in zip(*stacked, strict=True)]


def _unpack_linear(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[LinearFunction]:
    shapes = {"weight": (outputs, n_features), "constant": (outputs,)}
    return _unpack_arrays("linear", LinearFunction, tensors, count, **shapes)


def _pack_nets(nets: list[NetFunction]) -> dict[str, np.ndarray]:
    if len({len(net.bias) for net in nets}) > 1:
        raise ValueError("model cannot be saved: its nets have different numbers of units")
    return _pack_arrays("net", nets)


def _unpack_nets(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[NetFunction]:
    units = tensors.length("net.bias", 1)
    if units == 0:
        raise Fault("it has nets without units")
    first = {"hidden": (units, n_features), "bias": (units,)}
    second = {"output": (outputs, units), "constant": (outputs,)}
    return _unpack_arrays("net", NetFunction, tensors, count, **first, **second)


FORMS = {
    "trees": Form(TreeFunction, trees.pack, trees.unpack),
    "trees an output": Form(EachFunction, _pack_each, _unpack_each),
    "columns": Form(ColumnFunction, _pack_columns, _unpack_columns),
    "linear functions": Form(LinearFunction, partial(_pack_arrays, "linear"), _unpack_linear),
    "nets": Form(NetFunction, _pack_nets, _unpack_nets),
}
