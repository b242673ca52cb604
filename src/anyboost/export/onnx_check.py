"""An ONNX file against the model it was made of, by onnxruntime: every decision the same, scores within rounding.

    |score in the file - score| <= (m + 4) u (|start| + sum of the largest |value| of each of the m trees)

with u = 2^-24 in float32 and 2^-53 in float64, in whatever order the trees are added. Linear functions of d columns
have d + m and also sum |weight x|.
"""

import warnings
from typing import Any

import numpy as np

from anyboost import tables
from anyboost.explain import calibration
from anyboost.export import onnx_graph
from anyboost.export.edges import Edges
from anyboost.export.onnx_trees import Places
from anyboost.export.parts import ModelParts
from anyboost.losses import links

ROWS = 4_000  # about so many edges are tried
_BATCH = 2_000
UNIT = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


class Found(Exception):
    """What is different, in words that follow "the ONNX file is not the model: "."""


def check(model: Any, parts: ModelParts, places: Places, dtype: Any, rows: int = ROWS) -> int:
    """How many decisions were the same; Found where one is not, or a result is further off than rounding explains."""
    draw = np.random.default_rng(0)
    edges = Edges([term.tree for term in parts.terms], len(parts.encoding.sources), known(parts), dtype)
    tried = 0
    if parts.terms:
        table = np.vstack([edges.rows(rows, draw), edges.random(rows // 4, draw)])
        session = opened(onnx_graph.decisions(parts, places, dtype))
        for begin in range(0, len(table), _BATCH):
            tried += _same_leaves(session, parts, places, table[begin : begin + _BATCH], dtype)
    _same_results(opened(model), parts, edges, dtype, draw)
    return tried


def opened(model: Any) -> Any:
    """A session on one processor core's worth of threads, of a model in memory."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def known(parts: ModelParts) -> dict[int, np.ndarray]:
    """The values of columns of categories, as the sum sees them."""
    found: dict[int, np.ndarray] = {}
    for place, source in enumerate(parts.encoding.sources.tolist()):
        if source in parts.encoding.values:
            first = int(np.argmax(parts.encoding.sources == source))
            found[place] = parts.encoding.values[source][:, place - first]
        elif source in parts.columns.levels:
            levels = parts.columns.levels[source]
            found[place] = np.arange(len(levels.values) + (levels.rest or levels.apart), dtype=np.float64)
    for term in parts.terms:  # of a sum, whose table has codes that nobody named
        categories = term.tree.categories
        if categories is not None:
            for column in np.flatnonzero(categories.first >= 0).tolist():
                found.setdefault(column, np.arange(categories.size[column] + 2, dtype=np.float64))
    return found


def _same_leaves(session: Any, parts: ModelParts, places: Places, table: np.ndarray, dtype: Any) -> int:
    (leaves,) = session.run(None, {"X": places.table(table).astype(dtype)})
    for number, term in enumerate(parts.terms):
        order = np.cumsum(term.tree.feature < 0) - 1
        differ = leaves[:, number] != order[term.tree.apply(table)]
        if differ.any():
            row = table[int(np.argmax(differ))]
            raise Found(f"onnxruntime sends the row {row.tolist()} to another leaf of tree {number}")
    return leaves.size


def _same_results(
    session: Any, parts: ModelParts, edges: Edges, dtype: Any, draw: np.random.Generator
) -> None:
    given, table = _rows(parts, edges, dtype, draw)
    names = [output.name for output in session.get_outputs()]
    results = dict(zip(names, session.run(None, given), strict=True))
    scores, off = expected(parts, table, dtype)
    for name, wanted, bound in _wanted(parts, scores, off, UNIT[np.dtype(dtype)]):
        got = results[name].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            own = wanted.astype(dtype).astype(np.float64)
            far = ~(np.abs(got - own) <= bound) & (got != own)  # so that nan is far from all
        if far.any():
            raise Found(f"{name} is {got[far][0]:.9g} where the model has {wanted[far][0]:.9g}")


def expected(parts: ModelParts, table: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Raw scores (n, k) of a table as the sum sees it, and how far off those of the file may be."""
    scores = np.tile(parts.start, (len(table), 1))
    size, terms = np.tile(parts.size(), (len(table), 1)), len(parts.terms) + 4
    for term in parts.terms:
        own = term.coefficient * term.tree.at(table, term.tree.apply(table))
        if term.output is None:
            scores += own
        else:
            scores[:, term.output] += own[:, 0]
    if parts.linear is not None:
        scores += table @ parts.linear.weight.T + parts.linear.constant
        size += np.abs(table) @ np.abs(parts.linear.weight.T) + np.abs(parts.linear.constant)
        terms += table.shape[1]
    return scores, 1.01 * terms * UNIT[np.dtype(dtype)] * size


def _rows(
    parts: ModelParts, edges: Edges, dtype: Any, draw: np.random.Generator, count: int = 500
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Inputs of the file, and the table that the model makes of them."""
    n = parts.columns.n
    pools: list[Any] = []
    for column in range(n):
        levels = parts.columns.levels.get(column)
        if levels is not None:
            strange: list[Any] = [None, "never seen"] if levels.words or not levels.values else [np.nan, -7.5]
            if "" in levels.values:  # which then is what the file takes for the empty string
                strange = strange[1:]
            pools.append([*levels.values, *strange])
        elif parts.linear is not None:
            pools.append([0.0, -1.0, 0.5, 2.0, 1e3])
        else:
            pools.append(edges.pool[int(np.argmax(parts.encoding.sources == column))].tolist())
    columns = [[pool[number] for number in draw.integers(len(pool), size=count)] for pool in pools]
    if not parts.columns.levels:
        table = np.array(columns, dtype=np.float64).T
        return {"X": table.astype(dtype)}, table
    words = {j for j, levels in parts.columns.levels.items() if levels.words or not levels.values}
    names = parts.names or [f"column_{number}" for number in range(n)]
    given: dict[str, np.ndarray] = {}
    for number, name in enumerate(names):
        if number in words:
            spelled: Any = ["" if word is None else word for word in columns[number]]
            given[name] = np.array(spelled, dtype=np.object_)[:, None]
        else:
            given[name] = np.array(columns[number], dtype=dtype)[:, None]
            columns[number] = given[name][:, 0].astype(np.float64).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of levels never seen
        raw = np.empty((count, n), dtype=object)
        for number in range(n):
            raw[:, number] = columns[number]
        table, _ = tables.read(raw, parts.columns)
    return given, parts.encoding.encode(table)


def _wanted(
    parts: ModelParts, scores: np.ndarray, off: np.ndarray, unit: float
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """The outputs that are numbers, what the model has there, and how far off they may be."""
    one = parts.outputs == 1
    raw, bound = (scores[:, 0], off[:, 0]) if one else (scores, off)
    if parts.kind == "classifier":
        found = [("scores", raw, bound)]
        if parts.calibration is not None:
            chances = parts.calibration.probabilities(calibration.by_class(raw))
            assert isinstance(parts.calibration, calibration.Temperature)
            factor = 2.0 * parts.calibration.scale
        elif parts.link.probabilities is not None:
            chances, factor = parts.link.probabilities(raw), 2.0
        else:
            return found
        worst = factor * off.max(axis=1, keepdims=True) + 32 * parts.outputs * unit
        return [*found, ("probabilities", chances, np.broadcast_to(worst, chances.shape))]
    predictions = np.asarray(parts.link.predict(raw))
    if parts.link.predict is links.exponential:
        bound = predictions * (np.expm1(np.minimum(bound, 700.0)) + 8 * unit)
    elif parts.link.predict in (links.sign, links.largest):
        return []  # decisions at a tie: no number says how far off
    elif parts.link.predict is links.increasing:
        bound = np.broadcast_to(off.max(axis=1, keepdims=True), predictions.shape)
    return [("prediction", predictions, bound)]
