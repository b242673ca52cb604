"""`to_onnx`: models of trees and linear functions as ONNX files, checked by onnxruntime before they are written."""

from typing import Any

import numpy as np

from anyboost import checks, saving
from anyboost.export.parts import parts_of

_DTYPES = {"float32": np.float32, "float64": np.float64}


def to_onnx(model: Any, path: Any, *, dtype: str = "float32", verify: bool = True) -> None:
    """Write a model of trees, stumps or linear functions as an ONNX file.

    Its outputs are `prediction`, as `model.predict` gives it; of a classifier `label`, `probabilities` (where the loss
    gives any) and `scores`. Its input is one table `X`; where columns hold categories, one input a column, named as it
    is, words as strings. A missing number is NaN, a missing word the empty string,
    unless that is a level.

    For every input of the type `dtype` each tree decides as it does in the model; sums are rounded as `dtype` has them.

    Parameters
    ----------
    model : BoostingRegressor, BoostingClassifier, BoostingRanker, Run or Ensemble
        A fitted model. A sum's predictions are its raw scores.
    path : str or Path
        The file. An old file stays whole until the new one is.
    dtype : str, default "float32"
        "float32", which every runtime has, or "float64": thresholds as they are, sums to the last digits, twice as
        large.
    verify : bool, default True
        Whether onnxruntime runs the file, before it is written, on rows at the edges of its cuts; a file that decided
        otherwise would be refused.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> ab.export.to_onnx(ab.boost(X, y, rounds=5), "model.onnx")
    """
    checks.choice(dtype, "dtype", tuple(_DTYPES))
    saving.check(path)
    _need("onnx")
    if verify:
        _need("onnxruntime", ", or pass verify=False")
    from anyboost.export import onnx_check, onnx_graph, onnx_range

    parts, kind = parts_of(model), _DTYPES[dtype]
    if dtype == "float32":
        onnx_range.check(parts, kind)
    with checks.unicode_of("the model"):
        made, places = onnx_graph.whole(parts, kind)
    if verify:
        try:
            onnx_check.check(made, parts, places, kind)
        except onnx_check.Found as found:
            raise RuntimeError(f"the ONNX file is not the model, and was not written: {found}") from None
    saving.write(path, made.SerializeToString())


def _need(name: str, otherwise: str = "") -> None:
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise ImportError(f'to_onnx needs {name}: pip install "anyboost[onnx]"{otherwise}')
