"""A model as text for people: what its trees ask, in the names and levels of the table, and what they add."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from anyboost.export.onnx_trees import codes_apart
from anyboost.export.parts import ModelParts, Term, parts_of


def to_text(model: Any) -> str:
    """A model as text: every question of its trees, and what each leaf adds to the score.

    Parameters
    ----------
    model : BoostingRegressor, BoostingClassifier, BoostingRanker, Run or Ensemble
        A fitted model of trees, stumps or linear functions.

    Returns
    -------
    str
        Lines, indented as the questions follow each other.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(0.5), rounds=1)
    >>> print(ab.export.to_text(run))
    run, squared loss, 1 column
    score = 1 + 1 tree
    tree 1
      column 0 <= 1.5 (missing: left)
        -0.5
      else
        +1
    """
    parts = parts_of(model)
    names = parts.encoding.names(parts.names)
    return "\n".join(_lines(parts, names))


def _lines(parts: ModelParts, names: list[str]) -> Iterator[str]:
    columns = f"{parts.columns.n} column{'s' if parts.columns.n != 1 else ''}"
    yield ", ".join(
        part for part in (parts.kind, f"{parts.loss} loss" if parts.loss else "", columns) if part
    )
    trees = f"{len(parts.terms)} tree{'s' if len(parts.terms) != 1 else ''}"
    sums = [trees] if parts.terms or parts.linear is None else []
    sums += [] if parts.linear is None else ["a linear function"]
    yield " + ".join([f"score = {_vector(parts.start)}", *sums])
    if parts.classes is not None:
        yield "classes: " + ", ".join(str(label) for label in parts.classes.tolist())
    if parts.linear is not None:
        yield f"constant {_vector(parts.linear.constant)}"
        for name, weight in zip(names, parts.linear.weight.T, strict=True):
            yield f"  {_vector(weight)} * {name}"
    for number, term in enumerate(parts.terms, start=1):
        yield f"tree {number}" + ("" if term.output is None else f", output {term.output}")
        yield from _tree(parts, term, names)


def _tree(parts: ModelParts, term: Term, names: list[str]) -> Iterator[str]:
    """The nodes, a left child before its sibling; without recursion, for trees may be deep."""
    tree, waiting = term.tree, [(0, 1, "")]
    while waiting:
        node, depth, before = waiting.pop()
        if before:
            yield "  " * (depth - 1) + before
        if tree.feature[node] < 0:
            yield "  " * depth + _leaf(term, node, names)
            continue
        yield "  " * depth + _question(parts, term, node, names)
        waiting.append((int(tree.right[node]), depth + 1, "else"))
        waiting.append((int(tree.left[node]), depth + 1, ""))


def _question(parts: ModelParts, term: Term, node: int, names: list[str]) -> str:
    tree = term.tree
    column, name = int(tree.feature[node]), names[int(tree.feature[node])]
    if tree.category_set[node] < 0:
        if tree.threshold[node] == np.inf:
            return f"{name} is not missing"
        side = "left" if tree.missing_left[node] else "right"
        return f"{name} <= {tree.threshold[node]:.12g} (missing: {side})"
    codes, missing_left = codes_apart(tree, node)
    levels = parts.columns.levels.get(int(parts.encoding.sources[column]))
    known = [] if levels is None else list(levels.values)
    words = [
        str(known[code]) if code < len(known) else ("the rest" if known else str(code)) for code in codes
    ]
    listed = "{" + ", ".join(words) + "}"
    return f"{name} not in {listed}, or missing" if missing_left else f"{name} in {listed}"


def _leaf(term: Term, node: int, names: list[str]) -> str:
    found = _vector(term.coefficient * term.tree.value[node], sign=True)
    slopes = term.tree.slopes
    if slopes is None:
        return found
    for e in np.flatnonzero(slopes.node == node).tolist():
        low, width = slopes.low[e], slopes.width[e]
        name = names[int(slopes.feature[e])]
        shown = f"{name} within [{low:.6g}, {low + width:.6g}]" if slopes.clamped else name
        slope = term.coefficient * slopes.slope[e] / width
        found += f" {_vector(slope, sign=True)} * ({shown} - {_vector(low + slopes.center[e] * width)})"
    return found


def _vector(values: np.ndarray, sign: bool = False) -> str:
    words = [f"{value:+.6g}" if sign else f"{value:.6g}" for value in np.atleast_1d(values).tolist()]
    return words[0] if len(words) == 1 else "[" + ", ".join(words) + "]"
