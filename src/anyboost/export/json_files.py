"""JSON that people and other programs read, and back: `to_json`, `from_json`.

A document has the header and the tensors of a model file (see `files`), with trees as lists of nodes. Reading turns
nodes into tensors again and goes on as for a model file, so that every claim is checked in one place. Numbers are
written such that they come back to the last bit; "nan", "inf" and "-inf" stand for what JSON has no number for.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from anyboost import files, saving
from anyboost.export import json_trees
from anyboost.files import container
from anyboost.files.container import DTYPES, Contents
from anyboost.files.fields import MOST_PARTS, Fault, Fields, choice, count, items, make, record, refusal

_MOST_DIMENSIONS = 2


def to_json(model: Any, path: Any) -> None:
    """Write a model as JSON, which `from_json` reads and docs/export.md describes.

    Parameters
    ----------
    model : Any
        A model that `anyboost.save` takes.
    path : str or Path
        The file. An old file stays whole until the new one is.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> ab.export.to_json(run, "run.json")
    >>> len(ab.export.from_json("run.json").steps)
    5
    """
    saving.check(path)
    saving.write(path, as_text(model).encode())


def as_text(model: Any) -> str:
    """The document, a tree a line."""
    header, tensors = files.packed(model)
    parts = {name: json.dumps(value, allow_nan=False) for name, value in header.items()}
    trees, categories, tensors = json_trees.split_off(header, tensors)
    if trees:
        parts["categories"] = json.dumps(categories)
        parts["trees"] = (
            "[\n" + ",\n".join(json.dumps(spelled(tree), allow_nan=False) for tree in trees) + "\n]"
        )
    written = {name: json.dumps(_entry(array), allow_nan=False) for name, array in sorted(tensors.items())}
    parts["tensors"] = _by_line(written)
    return _by_line(parts) + "\n"


def _by_line(parts: dict[str, str]) -> str:
    """An object of JSON, an entry a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {text}" for name, text in parts.items()) + "\n}"


def from_json(path: Any, loss: Any = None, descent: Any = None, models: Any = None) -> Any:
    """The model that `to_json` wrote, the same to the last bit. Other files raise ModelFileError.

    Parameters
    ----------
    path : str or Path
        The file.
    loss : Loss or None, default None
        The user's own loss that the run was made with; only needed to continue training.
    descent : Descent or None, default None
        The descent with a step of the user's own that the run was made with; only needed to continue training.
    models : list or None, default None
        The fitted models that a mirror averaging estimator combines, in their order.

    Returns
    -------
    Any
        A model of the kind that was written.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> model = ab.boost(X, y, rounds=5).ensemble
    >>> ab.export.to_json(model, "sum.json")
    >>> (ab.export.from_json("sum.json").predict(X) == model.predict(X)).all()
    np.True_
    """
    with container.naming(path):
        container.check_regular(path)
        contents = _contents(Path(path).read_bytes())
        return files.unpacked(contents, loss, descent, models)


def _contents(text: bytes) -> Contents:
    """Header and tensors of a document, as a model file has them."""
    document = Fields(container.parse(text), "the document")
    header = {name: document.take(name) for name in ("format", "kind", "library", "model")}
    arrays = {name: _array(entry, name) for name, entry in document.take("tensors", _object).items()}
    if document.has("trees"):
        trees, categories = document.take("trees", items()), document.take("categories", items())
        joined = make(json_trees.joined, {"trees": trees, "categories": categories})
        for name, array in joined.items():
            if name in arrays:
                raise Fault(f"it has the tensor {name!a} beside trees that say it too")
            arrays[name] = array
    document.done()
    return container.held(header, arrays)


def _entry(array: np.ndarray) -> dict[str, Any]:
    return {
        "dtype": container.word_of(array.dtype),
        "shape": list(array.shape),
        "values": spelled(array.reshape(-1).tolist()),
    }


def spelled(value: Any) -> Any:
    """A value with words in the place of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {name: spelled(part) for name, part in value.items()}
    return [spelled(part) for part in value] if isinstance(value, list) else value


_TENSOR = record(
    dtype=choice(*DTYPES), shape=items(_MOST_DIMENSIONS, count(0, MOST_PARTS)), values=items(2**40)
)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > container.MOST_TENSORS:
        raise refusal(name)
    return value


def _array(entry: Any, name: str) -> np.ndarray:
    dtype, shape, values = _TENSOR(entry, name).values()
    if math.prod(shape) != len(values):
        raise Fault(f"its tensor {name!a} has not as many values as its shape says")
    if dtype == "F64":
        return np.array([json_trees.number(value, name) for value in values], dtype=np.float64).reshape(shape)
    whole = count(0, 256 ** np.dtype(DTYPES[dtype]).itemsize - 1)
    return np.array([whole(value, name) for value in values], dtype=DTYPES[dtype]).reshape(shape)
