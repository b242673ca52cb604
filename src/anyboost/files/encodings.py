"""The part of a file that says what encoded categories become: levels and numbers, which may be many, as tensors."""

from itertools import pairwise
from typing import Any

import numpy as np

from anyboost.estimators.encoding import Encoding
from anyboost.files import fields
from anyboost.files.fields import Fault, Fields
from anyboost.files.tensors import Packed, Tensors, finite, unsigned
from anyboost.tables import Columns, Levels


def pack(encoding: Encoding, columns: Columns) -> Packed:
    """Header and tensors of an encoding and the levels of its columns."""
    tensors: dict[str, np.ndarray] = {}
    entries = []
    for column, values in sorted(encoding.values.items()):
        levels = columns.levels[column]
        entries.append({"column": column, "words": levels.words})
        tensors[f"encoding.{column}.values"] = finite(values, "encoded categories")
        if levels.words:
            texts = [str(word).encode() for word in levels.values]
            tensors[f"encoding.{column}.text"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
            tensors[f"encoding.{column}.lengths"] = unsigned([len(text) for text in texts])
        else:
            tensors[f"encoding.{column}.levels"] = finite(levels.values, "categories")
    return {"features": encoding.n, "statistics": list(encoding.words), "columns": entries}, tensors


def unpack(header: Fields, tensors: Tensors, n_features: int) -> tuple[Encoding, dict[int, Levels]]:
    """The encoding and the levels of its columns; a Fault unless it gives a sum its columns."""
    n = header.take("features", fields.count(1, n_features))
    words = tuple(header.take("statistics", fields.items(n_features, fields.text)))
    entry = fields.record(column=fields.count(0, n - 1), words=fields.flag)
    values: dict[int, np.ndarray] = {}
    levels: dict[int, Levels] = {}
    for found in header.take("columns", fields.items(n, entry)):
        column, named = found.values()
        if column in levels:
            raise Fault("it names an encoded column twice")
        own = tensors.under(f"encoding.{column}.")
        levels[column] = Levels(in_order(_texts(own) if named else _numbers(own)), apart=True)
        values[column] = own.floats("values", (len(levels[column].values) + 1, len(words)))
    encoding = Encoding(n, words, values)
    if len(encoding.sources) != n_features:
        raise Fault("its encoding has another number of columns than its sum")
    return encoding, levels


def _numbers(tensors: Tensors) -> list[Any]:
    return tensors.floats("levels", (None,)).tolist()


def _texts(tensors: Tensors) -> list[Any]:
    text = tensors.indices("text", None, 0, 255).astype(np.uint8).tobytes()
    ends = np.cumsum(tensors.indices("lengths", None, 0, len(text))).tolist()
    if (ends[-1] if ends else 0) != len(text):
        raise fields.refusal("lengths")
    try:
        return [text[start:end].decode() for start, end in pairwise([0, *ends])]
    except UnicodeDecodeError:
        raise fields.refusal("text") from None


def in_order(values: list[Any]) -> Any:
    """Levels, words or numbers, in order and each once; a Fault where they are not."""
    words = bool(values) and all(isinstance(value, str) for value in values)
    levels = [fields.text(value, "levels") if words else fields.real(value, "levels") for value in values]
    if any(not a < b for a, b in pairwise(levels)):  # type: ignore[operator]
        raise Fault("its categories are not in order")
    return tuple(levels)
