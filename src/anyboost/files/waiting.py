"""The part of a file that is examples which wait for their labels, in JSON, and what the experts said of them."""

import math
from typing import Any

import numpy as np

from anyboost.files.codec import Record
from anyboost.files.fields import Fields, count, items, optional, refusal, row, where
from anyboost.files.parameters import simple
from anyboost.files.tensors import Floats, Json, Packed
from anyboost.streams.team import Team
from anyboost.streams.waiting import AskedExample, Waiting

_KEY = where(lambda value: isinstance(value, str | int | float))
_NAME = where(lambda value: type(value) in (str, int))


def _record(most: int) -> Record:
    example = row(_key, items(each=row(_NAME, simple)), optional(items(2, count())))
    return Record("waiting.", examples=Json(items(most, example)), heard=Floats(None, nan=True))


def _key(value: Any, name: str) -> Any:
    return simple(_KEY(value, name), name)


def pack(waiting: Waiting, most: int) -> Packed:
    """The tensors of who waits."""
    waiting.keep(most)
    examples, heard = [], [np.zeros(0)]
    for key, asked in waiting.asked.items():
        cells = [[name, _cell(value)] for name, value in asked.x.items()]
        examples.append([key, cells, None if asked.heard is None else list(asked.heard.shape)])
        heard += [] if asked.heard is None else [asked.heard.ravel()]
    return _record(most).pack(examples=examples, heard=np.concatenate(heard))


def _cell(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def unpack(part: Fields, most: int, team: Team | None) -> Waiting:
    """Those who wait; a Fault unless each is an example with forecasts of this team."""
    examples, heard = _record(most).take(part).values()
    waiting, taken = Waiting(), 0
    for key, cells, sizes in examples:
        begin, taken = taken, taken + (math.prod(sizes) if sizes else 0)
        if not _fits(sizes, team) or taken > len(heard):
            raise refusal("waiting")
        said = None if sizes is None else heard[begin:taken].reshape(sizes)
        waiting.asked[key] = AskedExample({name: value for name, value in cells if value is not None}, said)
    if taken != len(heard):
        raise refusal("waiting")
    return waiting


def _fits(sizes: list[int] | None, team: Team | None) -> bool:
    """Whether forecasts of this shape are those of the team; where there is none, there are no forecasts."""
    if sizes is None or team is None:
        return sizes is None and team is None
    widest = max(team.classes, len(team.experts))
    return len(sizes) == 1 + team.classifies and sizes[0] == len(team.experts) and sizes[-1] <= widest
