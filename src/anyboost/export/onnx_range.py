"""What a type has no numbers for: scores and predictions that a file could only call infinite, or nothing.

|score| <= |start| + sum of the largest |value| of each tree
"""

from typing import Any

import numpy as np

from anyboost.export import onnx_check
from anyboost.export.edges import Edges
from anyboost.export.parts import ModelParts
from anyboost.losses import links

_SWEEPS = 2
_TRIED = 30  # values of a column, in each sweep


def check(parts: ModelParts, dtype: Any) -> None:
    """A ValueError where the scores of trees, or predictions that are their exponentials, leave the type's range."""
    room, most = np.finfo(dtype), float(parts.size().max(initial=0.0))
    end = float(room.max)
    if parts.linear is not None:
        own = np.abs(np.concatenate([parts.linear.weight.ravel(), parts.linear.constant.ravel()]))
        most = max(most, float(own.max(initial=0.0)))
    if most > end:
        _refuse(f"its scores are as large as {most:.3g}, and those of float32 end at {end:.3g}")
    if 0 < most < float(room.tiny) / float(room.eps) and parts.linear is None:
        _refuse(f"its scores are no larger than {most:.3g}, where float32 has no digits left")
    exponential = parts.kind == "regressor" and parts.link.predict is links.exponential
    if exponential and most > np.log(end) and parts.terms and parts.linear is None:
        largest = _largest(parts, dtype)
        if largest > np.log(end):
            with np.errstate(over="ignore"):
                found = np.exp(largest)
            _refuse(f"its predictions are as large as {found:.3g}, and those of float32 end at {end:.3g}")


def _refuse(reason: str) -> None:
    raise ValueError(f'model cannot be exported in float32: {reason}: pass dtype="float64"')


def _largest(parts: ModelParts, dtype: Any) -> float:
    """A large score that some row has: from the largest of many rows, column by column to larger ones."""
    draw = np.random.default_rng(0)
    edges = Edges(
        [term.tree for term in parts.terms], len(parts.encoding.sources), onnx_check.known(parts), dtype
    )
    rows = np.vstack([edges.rows(1_000, draw), edges.random(1_000, draw)])
    largest, row = _best(parts, rows, dtype)
    for _ in range(_SWEEPS):
        for column, pool in enumerate(edges.pool):
            tried = np.repeat(row[None, :], _TRIED, axis=0)
            tried[:, column] = draw.choice(pool, _TRIED, replace=True)
            tried[0] = row
            largest, row = _best(parts, tried, dtype)
    return largest


def _best(parts: ModelParts, rows: np.ndarray, dtype: Any) -> tuple[float, np.ndarray]:
    scores = onnx_check.expected(parts, rows, dtype)[0].max(axis=1)
    best = int(np.argmax(scores))
    return float(scores[best]), rows[best]
