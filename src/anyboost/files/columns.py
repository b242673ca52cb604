"""The part of a file that says what the columns of an estimator's table are: names and categories, what categories are
encoded as, and how training rows were distributed over the cells of a column."""

from itertools import pairwise
from typing import Any

import numpy as np

from anyboost.estimators.encoding import Encoding
from anyboost.estimators.marginals import level_names
from anyboost.explain.marginals import Marginal, Marginals
from anyboost.files import fields
from anyboost.files.codec import Record
from anyboost.files.fields import Fault, Fields, refuse
from anyboost.files.tensors import POSITIVE, Floats, Packed, Whole, entries
from anyboost.tables import MOST_LEVELS, Columns, Levels

_ROUNDING = 1e-9  # by which shares may miss one


def pack(model: Any) -> Packed:
    """The entries of the columns that are not encoded, and of all names."""
    names = getattr(model, "feature_names_in_", None)
    levels = [
        {"column": number, "levels": list(found.values), "rest": found.rest}
        for number, found in sorted(model._columns.levels.items())
        if number not in model._encoding.values
    ]
    return entries(names=None if names is None else [str(name) for name in names], categories=levels)


def unpack(part: Fields, n: int, encoded: dict[int, Levels]) -> dict[str, Any]:
    """What a fitted estimator has of its `n` columns, some of which are encoded."""
    category = fields.record(
        column=fields.count(0, n - 1), levels=fields.items(MOST_LEVELS), rest=fields.flag
    )
    categories = part.take("categories", _by_column(n, category))
    names = part.take("names", fields.optional(fields.distinct(fields.items(each=fields.text))))
    levels = dict(encoded)
    for number, values, rest in map(dict.values, categories):
        refuse(number in encoded, "it names a column of categories that are encoded")
        levels[number] = Levels(_in_order(values), rest)
    columns = Columns(n, levels)
    fitted = {"_columns": columns, "is_categorical_": columns.categorical}
    if names is None:
        return fitted
    if len(names) != n:
        raise fields.refusal("names")
    return fitted | {"feature_names_in_": np.array(names, dtype=object)}


def _by_column(n: int, entry: fields.Check) -> fields.Check:
    return fields.distinct(fields.items(n, entry), lambda found: found["column"])


def _in_order(values: list[Any]) -> Any:
    """Levels, words or numbers, in order and each once; a Fault where they are not."""
    words = bool(values) and all(isinstance(value, str) for value in values)
    levels = [fields.text(value, "levels") if words else fields.real(value, "levels") for value in values]
    refuse(any(not a < b for a, b in pairwise(levels)), "its categories are not in order")
    return tuple(levels)


# What categories are encoded as: levels and numbers, which may be many ---------------------------------------------


def _encoded(column: int, words: bool) -> Record:
    kinds: dict[str, Any] = {"values": Floats(None, "statistics", what="encoded categories")}
    if words:
        return Record(f"encoding.{column}.", **kinds, text=Whole(None, most=255), lengths=Whole(None))
    return Record(f"encoding.{column}.", **kinds, levels=Floats(None, what="categories"))


def pack_encoding(encoding: Encoding, columns: Columns) -> Packed:
    """Entries and tensors of an encoding and the levels of its columns."""
    listed, tensors = [], Packed({}, {})
    for column, values in sorted(encoding.values.items()):
        levels = columns.levels[column]
        listed.append({"column": column, "words": levels.words})
        texts = [str(value).encode() for value in levels.values] if levels.words else []
        tensors |= _encoded(column, levels.words).pack(
            values=values,
            levels=levels.values,
            text=np.frombuffer(b"".join(texts), dtype=np.uint8),
            lengths=[len(text) for text in texts],
        )
    return entries(features=encoding.n, statistics=list(encoding.words), columns=listed) | tensors


def unpack_encoding(part: Fields, n_features: int) -> tuple[Encoding, dict[int, Levels]]:
    """The encoding and the levels of its columns; a Fault unless it gives a sum its columns."""
    n = part.take("features", fields.count(1, n_features))
    words = tuple(part.take("statistics", fields.items(n_features, fields.text)))
    entry = fields.record(column=fields.count(0, n - 1), words=fields.flag)
    values: dict[int, np.ndarray] = {}
    levels: dict[int, Levels] = {}
    for column, named in map(dict.values, part.take("columns", _by_column(n, entry))):
        own = _encoded(column, named).take(part, statistics=len(words))
        found = _texts(**own) if named else own["levels"].tolist()
        levels[column], values[column] = Levels(_in_order(found), apart=True), own["values"]
        refuse(len(values[column]) != len(found) + 1, "it encodes another number of categories than it has")
    encoding = Encoding(n, words, values)
    refuse(len(encoding.sources) != n_features, "its encoding has another number of columns than its sum")
    return encoding, levels


def _texts(text: np.ndarray, lengths: np.ndarray, **_: Any) -> list[str]:
    letters, ends = text.astype(np.uint8).tobytes(), np.cumsum(lengths).tolist()
    if (ends[-1] if ends else 0) != len(letters):
        raise fields.refusal("lengths")
    try:
        return [letters[start:end].decode() for start, end in pairwise([0, *ends])]
    except UnicodeDecodeError:
        raise fields.refusal("text") from None


# How the training rows were distributed, for explanations ----------------------------------------------------------


def _marginal(column: int) -> Record:
    return Record(
        f"marginal.{column}.",
        edges=Floats("edges", rise=POSITIVE, what="thresholds"),
        mass=Floats("cells", least=0.0, what="shares of rows"),
        bounds=Floats(2, rise=0.0),
    )


def _means(known: bool) -> Record:
    return Record("marginal.", **({"means": Floats("features")} if known else {}))


def pack_marginals(marginals: Marginals) -> Packed:
    """Entries and tensors of what is known of training rows."""
    known = marginals.means is not None
    found = entries(columns=sorted(marginals.columns), means=known) | _means(known).pack(marginals)
    for column, own in marginals.columns.items():
        found |= _marginal(column).pack(own)
    return found


def unpack_marginals(part: Fields, columns: Columns, n_features: int) -> Marginals:
    """What was packed; a Fault unless it fits the columns of the table, and those that the sum takes."""
    column = fields.count(0, columns.n - 1)
    numbers = part.take("columns", fields.distinct(fields.items(columns.n, column)))
    means = _means(part.take("means", fields.flag)).take(part, features=n_features)
    return Marginals({column: _unpack_marginal(part, column, columns) for column in numbers}, **means)


def _unpack_marginal(part: Fields, column: int, columns: Columns) -> Marginal:
    levels = columns.levels.get(column)
    known = {} if levels is None else {"edges": 0, "cells": len(level_names(levels)) + 1}
    found = _marginal(column).take(part, **known)
    cells = known.get("cells", len(found["edges"]) + 2)
    if len(found["mass"]) != cells or abs(found["mass"].sum() - 1) > _ROUNDING:
        raise Fault("its shares of rows are none")
    return Marginal(**found | {"bounds": tuple(found["bounds"].tolist())})
