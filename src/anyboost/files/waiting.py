"""The part of a file that is examples which wait for their labels, in JSON, and what the experts said of them."""

import math
from typing import Any

import numpy as np

from anyboost.files import fields
from anyboost.files.parameters import simple
from anyboost.files.tensors import Tensors, as_json
from anyboost.streams.team import Team
from anyboost.streams.waiting import Asked, Waiting


def pack(waiting: Waiting) -> dict[str, np.ndarray]:
    """The tensors of who waits."""
    entries, heard = [], [np.zeros(0)]
    for key, asked in waiting.asked.items():
        if not isinstance(key, str | int | float):
            raise ValueError(
                f"model cannot be saved: the key {key!r} of an example that waits is neither text nor a number"
            )
        cells = [[name, _cell(value)] for name, value in asked.x.items()]
        entries.append([key, cells, None if asked.heard is None else list(asked.heard.shape)])
        heard += [] if asked.heard is None else [asked.heard.ravel()]
    return {"waiting.examples": as_json(entries), "waiting.heard": np.concatenate(heard)}


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(value)


def unpack(tensors: Tensors, most: int, team: Team | None) -> Waiting:
    """Those who wait; a Fault unless each is an example with forecasts of this team."""
    heard = tensors.floats("waiting.heard", (None,), nan=True)
    shape = fields.optional(fields.items(2, fields.count()))
    example = fields.row(_key, fields.items(each=fields.row(_name, simple)), shape)
    waiting, taken = Waiting(most), 0
    for key, cells, sizes in fields.items(most, example)(tensors.json("waiting.examples"), "waiting"):
        begin, taken = taken, taken + (math.prod(sizes) if sizes else 0)
        if not _fits(sizes, team) or taken > len(heard):
            raise fields.refusal("waiting")
        said = None if sizes is None else heard[begin:taken].reshape(sizes)
        waiting.asked[key] = Asked(dict(cells), said)
    if taken != len(heard):
        raise fields.refusal("waiting")
    return waiting


def _key(value: Any, name: str) -> Any:
    if not isinstance(value, str | int | float):
        raise fields.refusal(name)
    return simple(value, name)


def _name(value: Any, name: str) -> str | int:
    if type(value) not in (str, int):
        raise fields.refusal(name)
    return value


def _fits(sizes: list[int] | None, team: Team | None) -> bool:
    """Whether forecasts of this shape are those of the team; where there is none, there are no forecasts."""
    if sizes is None or team is None:
        return sizes is None and team is None
    widest = max(team.classes, len(team.experts))
    return len(sizes) == 1 + team.classifies and sizes[0] == len(team.experts) and sizes[-1] <= widest
