"""Examples that were answered and whose labels have not come yet: at most so many, the oldest forgotten first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from anyboost.checks import Floats


class Asked(NamedTuple):
    """An example, and what the experts said of it; None where there is no team."""

    x: dict[Any, Any]
    heard: Floats | None


class Waiting:
    """Examples by key, in the order in which they were asked about."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: dict[Hashable, Asked] = {}

    def put(self, key: Hashable, x: Mapping[Any, Any], heard: Floats | None) -> None:
        """Keep an example; one of the same key is asked about anew."""
        self.asked.pop(key, None)
        self.asked[key] = Asked(dict(x), heard)
        if len(self.asked) > self.most:
            del self.asked[next(iter(self.asked))]

    def get(self, key: Hashable) -> Asked:
        """The example of a key; refused where there is none, or none any more."""
        if key not in self.asked:
            raise ValueError(
                f"key {key!r} has no example that waits for its label: call predict_one(x, key=...) first, once a "
                f"label; the last {self.most} are kept (max_waiting)"
            )
        return self.asked[key]

    def done(self, key: Hashable) -> None:
        """Forget an example: it was learnt."""
        del self.asked[key]
