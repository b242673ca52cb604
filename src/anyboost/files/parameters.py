"""The parameters of a scikit-learn estimator, as its constructor was given them: values, mappings, and objects of ours.

What only a fit in this process can mean something by is not stored: callbacks, random generators, functions as scores.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anyboost.descent import Descent
from anyboost.files.codec import Place, Record, plain
from anyboost.files.fields import Fields, items, real, refusal, text
from anyboost.files.parts import DESCENTS, LEARNERS, LOSSES
from anyboost.losses import Loss

LEFT_OUT = ("callbacks",)
# Written only where they are something else: older files have none, and mean these
LATER = {
    "quantile": None,
    "conformal": None,
    "calibration": None,
    "curvature": "auto",
    "preset": None,
    "random_thresholds": False,
    "categorical_encoding": "subset",
    "max_rows_kept": 20_000,
    "refit": "inline",
    "max_waiting": 10_000,
}
MOST_DEPTH = 3
_OBJECTS = {"loss": LOSSES, "descent": DESCENTS, "learner": LEARNERS}


class _Value:
    """The value of a parameter, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, value: Any) -> Any:
        """The entry of a value."""
        if isinstance(value, Loss):
            return {"loss": LOSSES.encode(value)}
        if isinstance(value, Descent):
            return {"descent": DESCENTS.encode(value)}
        if self.name == "learner" and value is not None and not isinstance(value, str):
            return {"learner": LEARNERS.encode(value)}
        if self.name == "random_state" and not isinstance(value, int | np.integer):
            return None
        if self.name == "scoring" and value is not None:
            names = value if isinstance(value, list | tuple) else [value]
            return plain(value) if all(isinstance(part, str) for part in names) else "loss"
        if isinstance(value, Mapping):
            return {"pairs": [[plain(key), plain(value[key])] for key in value]}
        return plain(value)

    def __call__(self, value: Any, name: str) -> Any:
        """The value of an entry."""
        if not isinstance(value, dict):
            return simple(value, name)
        found = Fields(value, name)
        kind = next((kind for kind in ("pairs", *_OBJECTS) if found.has(kind)), "learner")
        inside = found.take(kind)
        found.done()
        return _mapping(inside, name) if kind == "pairs" else _OBJECTS[kind].decode(inside)


def pack(model: Any, left_out: tuple[str, ...] = LEFT_OUT) -> dict[str, Any]:
    """The parameters but for some."""
    return _record(type(model), left_out).pack(model).header


def unpack(part: Fields, cls: Any, left_out: tuple[str, ...] = LEFT_OUT) -> dict[str, Any]:
    """What the constructor is to be given again."""
    return _record(cls, left_out).take(part)


def _record(cls: Any, left_out: tuple[str, ...]) -> Record:
    names = [name for name in cls._get_param_names() if name not in left_out]
    return Record(**{name: Place(_Value(name), default=LATER.get(name, ...)) for name in names})


def _mapping(pairs: Any, name: str) -> dict[Any, Any]:
    for pair in items()(pairs, name):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str | int | float | bool):
            raise refusal("pairs")
    return {key: simple(value, name) for key, value in pairs}


def simple(value: Any, name: str, depth: int = 0) -> Any:
    """None, a truth value, text or a number as it stands, or lists of them."""
    if isinstance(value, list) and depth < MOST_DEPTH:
        return [simple(part, name, depth + 1) for part in items()(value, name)]
    if isinstance(value, str):
        return text(value, name)
    if value is not None and not isinstance(value, bool):
        if not isinstance(value, int | float):
            raise refusal(name)
        real(value, name)
    return value
