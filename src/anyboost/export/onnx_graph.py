"""An ONNX graph of a model: columns to a table, the sum of its trees, its link, its labels.

Without categories the input is one table, "X". With them, every column is an input of its own, words as strings: they
are looked up, so that the file takes the words that the model took. A missing word is the empty string.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anyboost._version import __version__
from anyboost.explain.calibration import Temperature
from anyboost.export.onnx_trees import Places, Weighted, attributes
from anyboost.export.parts import INSTEAD, ModelParts
from anyboost.losses import links
from anyboost.tables import Levels

OPSETS = {"": 18, "ai.onnx.ml": 5}
_IR_VERSION = 10  # that of ONNX 1.16, whose TreeEnsemble this is
_ML = "ai.onnx.ml"
_BATCH = "rows"
_OUTPUTS = ("label", "prediction", "probabilities", "scores")


@dataclass
class Graph:
    """Nodes and constants, in the order in which they were asked for; every name is used once."""

    dtype: Any
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def node(self, operator: str, *given: str, name: str | None = None, domain: str = "", **more: Any) -> str:
        """The name of what an operator gives."""
        from onnx import helper, numpy_helper

        name = name or f"anyboost.{operator.lower()}_{len(self.nodes)}"
        values = {
            key: numpy_helper.from_array(value, key) if isinstance(value, np.ndarray) else value
            for key, value in more.items()
        }
        self.nodes.append(helper.make_node(operator, list(given), [name], domain=domain, **values))
        return name

    def constant(self, values: Any, dtype: Any = None) -> str:
        """The name of an array of the graph's type, or of another."""
        from onnx import numpy_helper

        name = f"anyboost.constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype or self.dtype), name))
        return name

    def input(self, name: str, columns: int, dtype: Any = None) -> str:
        self.inputs.append(self._info(name, dtype or self.dtype, [_BATCH, columns]))
        return name

    def output(self, value: str, name: str, shape: list[Any], dtype: Any = None) -> None:
        self.node("Identity", value, name=name)
        self.outputs.append(self._info(name, dtype or self.dtype, [_BATCH, *shape]))

    def _info(self, name: str, dtype: Any, shape: list[Any]) -> Any:
        from onnx import helper

        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    def model(self, metadata: dict[str, str]) -> Any:
        """The whole, checked by onnx."""
        from onnx import checker, helper

        graph = helper.make_graph(self.nodes, "anyboost", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid(*pair) for pair in OPSETS.items()]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="anyboost"
        )
        model.producer_version = __version__
        helper.set_model_props(model, metadata)
        checker.check_model(model)
        return model


def whole(parts: ModelParts, dtype: Any) -> tuple[Any, Places]:
    """The model, and how its trees are told the values of encoded columns."""
    parts.refuse_slopes()
    graph = Graph(dtype)
    places = places_of(parts)
    table = _table(graph, parts, places)
    scores = _scores(graph, parts, places, table)
    if parts.kind == "classifier":
        _classes(graph, parts, scores)
    else:
        _predictions(graph, parts, scores)
    return graph.model(_metadata(parts)), places


def places_of(parts: ModelParts) -> Places:
    """Those of the columns that are encoded, which have no values but the statistics of their levels."""
    encoded = [
        j for j, source in enumerate(parts.encoding.sources.tolist()) if source in parts.encoding.values
    ]
    if encoded and parts.linear is not None:
        if parts.terms:
            raise ValueError(
                "model cannot be exported: it is a sum of trees and linear functions of encoded categories; fit one or "
                f"the other, or {INSTEAD}"
            )
        encoded = []
    return Places([term.tree for term in parts.terms], encoded)


def decisions(parts: ModelParts, places: Places, dtype: Any) -> Any:
    """A model of the same trees whose outputs, one a tree, are the numbers of leaves instead of their values."""
    graph = Graph(dtype)
    trees = [
        Weighted(term.tree, np.arange(term.tree.n_leaves, dtype=np.float64), number)
        for number, term in enumerate(parts.terms)
    ]
    table = graph.input("X", len(parts.encoding.sources))
    found = graph.node("TreeEnsemble", table, domain=_ML, **attributes(trees, len(trees), places, dtype))
    graph.output(found, "leaves", [len(trees)])
    return graph.model({})


# --- columns to a table


def _table(graph: Graph, parts: ModelParts, places: Places) -> str:
    columns = parts.columns
    if not columns.levels:
        return graph.input("X", columns.n)
    names = parts.names or [f"column_{number}" for number in range(columns.n)]
    taken = next((name for name in names if name in _OUTPUTS or name.startswith("anyboost.")), None)
    if taken is not None:
        raise ValueError(
            f"model cannot be exported: its column {taken!r} has the name of an output of the file: rename it, "
            "and fit again"
        )
    first = {source: place for place, source in reversed(list(enumerate(parts.encoding.sources.tolist())))}
    found = []
    for number, name in enumerate(names):
        levels = columns.levels.get(number)
        if levels is None:
            found.append(graph.input(name, 1))
            continue
        told = _told(parts, number, levels)
        given = graph.input(name, 1, np.object_ if levels.words else None)
        for statistic, values in enumerate(told.T):
            place = first[number] + statistic
            found.append(_looked_up(graph, given, levels, places.of(place, values)))
    return graph.node("Concat", *found, axis=1)


def _told(parts: ModelParts, column: int, levels: Levels) -> np.ndarray:
    """What each level of a column becomes, (levels + 1, statistics), and at last one that is not known."""
    if column in parts.encoding.values:
        return parts.encoding.values[column]
    size = len(levels.values)
    unknown = float(size) if levels.rest or levels.apart else np.nan
    return np.append(np.arange(size, dtype=np.float64), unknown)[:, None]


def _looked_up(graph: Graph, given: str, levels: Levels, values: np.ndarray) -> str:
    """The value of each level, and the last for others; a missing one stays missing."""
    kept = values[:-1].astype(graph.dtype)
    default = values[-1:].astype(graph.dtype)
    if levels.words or not levels.values:
        keys: dict[str, float] = dict(zip(map(str, levels.values), kept.tolist(), strict=True))
        keys.setdefault("", float("nan"))
        words = np.array(list(keys), dtype=object)
        mapped = np.array(list(keys.values()), dtype=graph.dtype)
        return graph.node(
            "LabelEncoder", given, domain=_ML, keys_tensor=words, values_tensor=mapped, default_tensor=default
        )
    numbers = np.array(levels.values, dtype=np.float64)
    own = numbers.astype(graph.dtype)
    exact = own == numbers  # a level that the type has not is none that an input could have
    if not exact.any():
        exact[0] = True
        kept[0] = default[0]
    found = graph.node(
        "LabelEncoder",
        given,
        domain=_ML,
        keys_tensor=own[exact],
        values_tensor=kept[exact],
        default_tensor=default,
    )
    missing = graph.node("IsNaN", given)
    return graph.node("Where", missing, graph.constant(np.nan), found)


# --- the sum


def _scores(graph: Graph, parts: ModelParts, places: Places, table: str) -> str:
    """(rows, outputs)."""
    outputs = range(parts.outputs)
    trees = [
        Weighted(term.tree, term.values(output), output)
        for term in parts.terms
        for output in (outputs if term.output is None else (term.output,))
    ]
    constant, total = parts.start.copy(), None
    if parts.linear is not None:
        constant += parts.linear.constant
        total = graph.node("MatMul", table, graph.constant(parts.linear.weight.T))
    if trees or total is None:
        given = attributes(trees, parts.outputs, places, graph.dtype)
        found = graph.node("TreeEnsemble", table, domain=_ML, **given)
        total = found if total is None else graph.node("Add", total, found)
    return graph.node("Add", total, graph.constant(constant[None, :]))


# --- the link


def _one_column(graph: Graph, parts: ModelParts, value: str) -> tuple[str, list[Any]]:
    """(rows,) for one output, as the model gives it."""
    if parts.outputs > 1:
        return value, [parts.outputs]
    return graph.node("Squeeze", value, graph.constant([1], np.int64)), []


def _predictions(graph: Graph, parts: ModelParts, scores: str) -> None:
    made = _linked(graph, parts, scores)
    if parts.link.predict is links.largest:
        graph.output(made, "prediction", [], np.int64)
        return
    made, shape = _one_column(graph, parts, made)
    graph.output(made, "prediction", shape)


def _linked(graph: Graph, parts: ModelParts, scores: str) -> str:
    predict = parts.link.predict
    if predict is links.exponential:
        return graph.node("Exp", scores)
    if predict is links.largest:
        return graph.node("ArgMax", scores, axis=1, keepdims=0)
    if predict is links.sign:
        above = graph.node("Greater", scores, graph.constant(0.0))
        return graph.node("Where", above, graph.constant(1.0), graph.constant(-1.0))
    return _increasing(graph, scores, parts.outputs) if predict is links.increasing else scores


def _increasing(graph: Graph, scores: str, outputs: int) -> str:
    from onnx import helper

    names = [f"anyboost.{what}_{len(graph.nodes)}" for what in ("sorted", "order")]
    count = graph.constant([outputs], np.int64)
    graph.nodes.append(helper.make_node("TopK", [scores, count], names, axis=1, largest=0, sorted=1))
    return names[0]


def _classes(graph: Graph, parts: ModelParts, scores: str) -> None:
    assert parts.classes is not None
    chances = _probabilities(graph, parts, scores)
    if parts.calibration is not None and chances is not None:
        code = graph.node("ArgMax", chances, axis=1, keepdims=0)
    elif parts.outputs == 1:
        above = graph.node("Greater", scores, graph.constant(0.0))
        flat = graph.node("Squeeze", above, graph.constant([1], np.int64))
        code = graph.node("Cast", flat, to=7)  # int64
    else:
        code = graph.node("ArgMax", scores, axis=1, keepdims=0)
    labels = parts.classes
    kind = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}.get(labels.dtype.kind, np.object_)
    values = [str(label) for label in labels.tolist()] if kind is np.object_ else labels
    graph.output(graph.node("Gather", graph.constant(values, kind), code), "label", [], kind)
    if chances is not None:
        graph.output(chances, "probabilities", [len(labels)])
    raw, shape = _one_column(graph, parts, scores)
    graph.output(raw, "scores", shape)


def _probabilities(graph: Graph, parts: ModelParts, scores: str) -> str | None:
    """(rows, classes); None where the loss has none."""
    if parts.calibration is not None:
        if not isinstance(parts.calibration, Temperature):
            raise ValueError(
                'model cannot be exported: calibration="isotonic" is a table of steps that ONNX has no operator for; '
                f'fit it with calibration="temperature", or {INSTEAD}'
            )
        two = scores
        if parts.outputs == 1:
            zero = graph.node("Mul", scores, graph.constant(0.0))
            two = graph.node("Concat", zero, scores, axis=1)
        scaled = graph.node("Mul", two, graph.constant(parts.calibration.scale))
        shifted = graph.node("Add", scaled, graph.constant(parts.calibration.shifts[None, :]))
        return graph.node("Softmax", shifted, axis=1)
    found = _CHANCES.get(parts.link.probabilities)
    return None if found is None else found(graph, scores)


def _logistic(factor: float) -> Callable[[Graph, str], str]:
    def chances(graph: Graph, scores: str) -> str:
        scaled = scores if factor == 1.0 else graph.node("Mul", scores, graph.constant(factor))
        plus, minus = (graph.node("Sigmoid", side) for side in (scaled, graph.node("Neg", scaled)))
        return graph.node("Concat", minus, plus, axis=1)

    return chances


def _clipped(graph: Graph, scores: str) -> str:
    half = graph.node("Mul", graph.node("Add", scores, graph.constant(1.0)), graph.constant(0.5))
    plus = graph.node("Clip", half, graph.constant(0.0), graph.constant(1.0))
    return graph.node("Concat", graph.node("Sub", graph.constant(1.0), plus), plus, axis=1)


_CHANCES: dict[Any, Callable[[Graph, str], str]] = {
    links.SIGN_LOGISTIC.probabilities: _logistic(1.0),
    links.SIGN_HALF_LOGISTIC.probabilities: _logistic(2.0),
    links.SIGN_CLIPPED.probabilities: _clipped,
    links.softmax: lambda graph, scores: graph.node("Softmax", scores, axis=1),
}


def _metadata(parts: ModelParts) -> dict[str, str]:
    import json

    found = {"anyboost.version": __version__, "anyboost.kind": parts.kind, "anyboost.loss": parts.loss}
    if parts.names is not None:
        found["anyboost.columns"] = json.dumps(parts.names)
    if parts.classes is not None:
        found["anyboost.classes"] = json.dumps(parts.classes.tolist(), default=str)
    return found
