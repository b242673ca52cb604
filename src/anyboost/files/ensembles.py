"""The part of a file that is a fitted sum: its start, its coefficients, and its functions, all of one form."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.files import trees
from anyboost.files.codec import Place, Record
from anyboost.files.fields import MOST_PARTS, Fault, Fields, count, flag, refuse, text
from anyboost.files.tensors import Floats, Packed, Whole, entries
from anyboost.weak.dictionary import ColumnFunction
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction
from anyboost.weak.linear import LinearFunction
from anyboost.weak.net import NetFunction

_SUM = Record(
    features=Place(count(1, MOST_PARTS), "n_features"),
    outputs=count(1),
    needs_offset=flag,
    start=Floats("outputs", what="start scores"),
    shrinks=Floats("n_rounds", least=0, most=1),
    added=Floats("terms", what="coefficients"),
    rounds=Whole("terms", least=1, most="n_rounds", rise=0),
)
_COLUMNS = Record(
    "column.", index=Place(Whole("terms", below="features"), "column"), vector=Floats("terms", "outputs")
)


def pack(ensemble: Ensemble) -> Packed:
    """Entries and tensors of an ensemble."""
    form, functions = _pack_functions(ensemble.hypotheses)
    return _SUM.pack(ensemble) | entries(hypotheses=form) | functions


def unpack(part: Fields) -> Ensemble:
    """The ensemble; a Fault unless all that predictions index with is in range."""
    found = _SUM.take(part)
    refuse(found["needs_offset"] and found["start"].any(), "it starts at given scores and also at a constant")
    lists = {name: found[name].tolist() for name in ("added", "rounds", "shrinks")}
    sizes = {"terms": len(lists["added"]), "features": found["n_features"], "outputs": found.pop("outputs")}
    functions = _unpack_functions(part.take("hypotheses", text), part, **sizes)
    return Ensemble(**found | lists, hypotheses=functions)


def _pack_functions(functions: list[Any]) -> tuple[str, Packed]:
    """The form of these functions, and their tensors."""
    found = {type(function) for function in functions}
    if not found:
        return "none", Packed({}, {})
    for name, form in FORMS.items():
        if found == {form.cls}:
            return name, form.pack(functions)
    names = ", ".join(sorted(cls.__name__ for cls in found))
    raise ValueError(
        f"model cannot be saved: it is a sum of {names}; trees, linear functions, nets and columns of X can be saved, "
        "one kind in a sum"
    )


def _unpack_functions(form: str, part: Fields, terms: int, **sizes: int) -> list[Any]:
    if form == "none" and terms == 0:
        return []
    if form not in FORMS or terms == 0:
        raise Fault(f"it has {terms} hypotheses of the form {form!a}, which this version does not know")
    return FORMS[form].unpack(part, terms, **sizes)


def _pack_each(functions: list[EachFunction]) -> Packed:
    return trees.pack([tree for each in functions for tree in each.trees])


def _unpack_each(part: Fields, terms: int, features: int, outputs: int) -> list[EachFunction]:
    found = trees.unpack(part, terms * outputs, features, 1)
    return [EachFunction(tuple(found[i : i + outputs])) for i in range(0, len(found), outputs)]


def _pack_columns(functions: list[ColumnFunction]) -> Packed:
    if any(part.functions is not None for part in functions):
        raise ValueError(
            "model cannot be saved: it is a sum of functions of a Dictionary, which a file cannot hold"
        )
    return _COLUMNS.pack(
        index=[part.column for part in functions], vector=[part.vector for part in functions]
    )


def _unpack_columns(part: Fields, terms: int, **sizes: int) -> list[ColumnFunction]:
    columns, vectors = _COLUMNS.take(part, terms=terms, **sizes).values()
    return [ColumnFunction(*pair) for pair in zip(columns.tolist(), vectors, strict=True)]


class Form(NamedTuple):
    """A class of functions, the part of a file that many of them are, and the functions of a part."""

    cls: type
    pack: Callable[[list[Any]], Packed]
    unpack: Callable[..., list[Any]]


class Stacked(NamedTuple):
    """The same for dataclasses of arrays, of which the shapes are told: a field's arrays lie below each other."""

    cls: Any
    prefix: str
    shapes: dict[str, tuple[str, ...]]

    def pack(self, functions: list[Any]) -> Packed:
        """The tensors."""
        stacked = {name: [getattr(one, name) for one in functions] for name in self.shapes}
        if any(len({array.shape for array in arrays}) > 1 for arrays in stacked.values()):
            raise ValueError("model cannot be saved: its nets have different numbers of units")
        record = Record(self.prefix, **dict.fromkeys(self.shapes, Floats(None, None, what="weights")))
        return record.pack(**{name: np.vstack(arrays) for name, arrays in stacked.items()})

    def unpack(self, part: Fields, terms: int, **sizes: int) -> list[Any]:
        """The functions."""
        if "bias" in self.shapes:
            sizes["units"] = part.tensors.length(f"{self.prefix}bias", 1)
        shapes = {name: tuple(sizes[each] for each in shape) for name, shape in self.shapes.items()}
        refuse(sizes.get("units") == 0, "it has nets without units")
        below = {name: Floats(terms * math.prod(shape[:-1]), shape[-1]) for name, shape in shapes.items()}
        stacked = Record(self.prefix, **below).take(part)
        fields = [stacked[name].reshape(terms, *shape) for name, shape in shapes.items()]
        return [self.cls(*arrays) for arrays in zip(*fields, strict=True)]


FORMS: dict[str, Form | Stacked] = {
    "trees": Form(TreeFunction, trees.pack, trees.unpack),
    "trees an output": Form(EachFunction, _pack_each, _unpack_each),
    "columns": Form(ColumnFunction, _pack_columns, _unpack_columns),
    "linear functions": Stacked(
        LinearFunction, "linear.", {"weight": ("outputs", "features"), "constant": ("outputs",)}
    ),
    "nets": Stacked(
        NetFunction,
        "net.",
        {
            "hidden": ("units", "features"),
            "bias": ("units",),
            "output": ("outputs", "units"),
            "constant": ("outputs",),
        },
    ),
}
