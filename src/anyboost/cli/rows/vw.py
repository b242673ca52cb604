"""Vowpal Wabbit's text format, a line an example:

    [label] [weight] ['tag]|namespace[:scale] feature[:value] feature[:value] |namespace ...

A feature without a value has value 1. In namespace `n` feature `f` is named "n^f", as VW's own audit shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from anyboost.cli.rows.cells import NOT_UTF8, TableError, is_text
from anyboost.cli.rows.tables import ROWS
from anyboost.cli.rows.text import Lines, batches, opened_bytes


class Example(NamedTuple):
    """One line."""

    label: str | None  # as written; None: an example to predict only
    weight: float
    tag: str
    features: dict[str, float]
    line: int


def read(path: str, skip: int = 0, rows: int = ROWS) -> Iterator[list[Example]]:
    """The examples in batches; the ones before a bad line come first, then the line is refused."""
    with opened_bytes(path) as file:
        # A blank line ends a multiline example.
        lines = Lines(file)
        filled = ((line, number) for number, line in enumerate(lines, 1) if line.strip())
        yield from batches((parse(*one) for one in islice(filled, skip, None)), lines, rows)


def parse(line: str, number: int) -> Example:
    """One line of the format."""
    head, bar, rest = line.partition("|")
    if not bar:
        raise TableError(f"line {number} has no '|': features follow one in Vowpal Wabbit's format")
    if not is_text(line):
        raise TableError(f"line {number} {NOT_UTF8}")
    words = head.split()
    tag = ""
    # A tag begins with a quote, or touches the bar.
    if words and (words[-1].startswith("'") or not head[-1].isspace()):
        tag = words.pop().lstrip("'")
    label = words[0] if words else None
    weight = _number(words[1], "weight", number) if len(words) > 1 else 1.0
    if weight < 0:
        raise TableError(f"line {number}: the weight must not be negative, got {words[1]}")
    if len(words) > 2:
        raise TableError(
            f"line {number} has {' '.join(words)!a} before its features: "
            "a label and a weight can be read, not a base prediction"
        )
    features: dict[str, float] = {}
    for part in rest.split("|"):
        _namespace(part, number, features)
    return Example(label, weight, tag, features, number)


def _namespace(part: str, number: int, features: dict[str, float]) -> None:
    """Add the features of one namespace; a feature that comes twice counts twice."""
    words = part.split()
    prefix, scale = "", 1.0
    if words and not part[0].isspace():
        name, colon, text = words.pop(0).partition(":")
        prefix = f"{name}^"
        scale = _number(text, f"scale of namespace {name!a}", number) if colon else 1.0
    for word in words:
        name, colon, text = word.rpartition(":")
        value = scale * _number(text, f"value of feature {name!a}", number) if colon else scale
        key = prefix + (name if colon else text)
        features[key] = features.get(key, 0.0) + value


def _number(text: str, what: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise TableError(f"line {line}: the {what} must be a finite number, got {text!a}")
    return value
