"""Examples that were answered and whose labels have not come yet: at most so many, the oldest forgotten first."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats, short
from anyboost.tables import is_missing


class AskedExample(NamedTuple):
    """An example, and what the experts said of it; None where there is no team."""

    x: dict[Any, Any]
    heard: Floats | None


class Waiting:
    """Examples by key, in the order in which they were asked about."""

    def __init__(self) -> None:
        self.asked: dict[str | float, AskedExample] = {}

    def put(self, key: str | float, x: Mapping[Any, Any], heard: Floats | None, most: int) -> None:
        """Keep an example, the last of so many; one of the same key is asked about anew."""
        key = checked_key(key)
        self.asked.pop(key, None)
        given = {name: value for name, value in x.items() if not is_missing(value)}
        self.asked[key] = AskedExample(given, heard)
        self.keep(most)

    def keep(self, most: int) -> None:
        """Forget all but the newest."""
        for old in list(islice(self.asked, max(0, len(self.asked) - most))):
            del self.asked[old]

    def get(self, key: str | float, most: int) -> AskedExample:
        """The example of a key; refused where there is none, or none any more."""
        asked = self.asked.get(checked_key(key))
        if asked is None:
            raise ValueError(
                f"key {key!r} has no example that waits for its label: call predict_one(x, key=...) first, once a "
                f"label; the last {most} are kept (max_waiting)"
            )
        return asked

    def done(self, key: str | float) -> None:
        """Forget an example: it was learnt."""
        del self.asked[checked_key(key)]


def checked_key(key: Any) -> str | float:
    """A key as Python's own text or number, which a file can hold too."""
    key = key.item() if isinstance(key, np.generic) else key
    if isinstance(key, bool) or not isinstance(key, str | int | float) or not _is_finite(key):
        raise ValueError(f"key must be text or a number, got {short(key)}: use str(...) of it")
    return key


def _is_finite(key: str | float) -> bool:
    return not isinstance(key, float) or isfinite(key)
