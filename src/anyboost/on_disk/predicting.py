"""Predictions of rows in files, a portion at a time: never more of them in memory than pyarrow reads at once."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from anyboost import saving, tables
from anyboost.on_disk.files import Files


def predict_portions(
    model: Any, paths: Any, *, method: str = "predict", like: Any = None
) -> Iterator[np.ndarray]:
    """Predict the rows of Parquet or CSV files, a portion at a time.

    Parameters
    ----------
    model : estimator, Run or Ensemble
        An estimator that was fitted to named columns, or what `boost` made of a `Binned` from files.
    paths : path, str or sequence
        Files, a pattern or a folder; other columns than the model's are ignored.
    method : str, default "predict"
        The estimator's method, as "predict_proba".
    like : Binned or None, default None
        For a `Run` or an `Ensemble`: the table it was fitted to, which knows names and levels of the columns.

    Yields
    ------
    ndarray
        Predictions of the next rows, in the order of the files.

    Examples
    --------
    >>> import anyboost as ab
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 3.0]}), "rows.parquet")
    >>> model = ab.BoostingRegressor(max_iter=5).fit(ab.Binned.from_parquet("rows.parquet", target="y"))
    >>> sum(len(part) for part in ab.predict_portions(model, "rows.parquet"))
    3
    """
    files = Files(paths)
    names, function = _function(model, method, like)
    files.check(names, False)
    return (function(part) for _, part in files.portions(names) if part.num_rows)


def predict_files(model: Any, paths: Any, output: Any, *, method: str = "predict", like: Any = None) -> int:
    """Predict the rows of Parquet or CSV files into a Parquet file, a portion at a time.

    Parameters
    ----------
    model : estimator, Run or Ensemble
        As for `predict_portions`.
    paths : path, str or sequence
        Files, a pattern or a folder.
    output : path or str
        The file to write: one column "prediction", or "prediction_0", "prediction_1" and so on; whole or not at all.
    method : str, default "predict"
        The estimator's method, as "predict_proba".
    like : Binned or None, default None
        For a `Run` or an `Ensemble`: the table it was fitted to.

    Returns
    -------
    int
        How many rows were predicted.

    Examples
    --------
    >>> import anyboost as ab
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 3.0]}), "rows.parquet")
    >>> model = ab.BoostingRegressor(max_iter=5).fit(ab.Binned.from_parquet("rows.parquet", target="y"))
    >>> ab.predict_files(model, "rows.parquet", "answers.parquet")
    3
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    portions = predict_portions(model, paths, method=method, like=like)
    place = Path(output)
    building = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    writer, total = None, 0
    try:
        for part in portions:
            table = pa.table(named_columns("prediction", part))
            writer = pq.ParquetWriter(building, table.schema) if writer is None else writer
            writer.write_table(table)
            total += len(part)
        if writer is None:
            raise ValueError("paths have no rows to predict: give at least one")
        writer.close()
        saving.put_in_place(building, place)
    finally:
        if writer is not None:
            writer.close()
        with suppress(OSError):
            building.unlink()
    return total


def named_columns(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Answers as columns of a table: one, or several that are numbered."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{number}": column for number, column in enumerate(values.T)}


def _function(model: Any, method: str, like: Any) -> tuple[list[str], Any]:
    """The columns that a model needs, and what makes predictions of a pyarrow table of them."""
    ensemble = getattr(model, "ensemble", model)
    if hasattr(ensemble, "hypotheses"):
        if like is None or getattr(like, "names", None) is None:
            raise ValueError(
                "like must be the Binned that the model was fitted to: a sum of functions has no names of columns"
            )
        return like.names, lambda part: ensemble.predict(
            tables.contiguous(tables.read(part, like.columns)[0])
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "model must be fitted to named columns: fit it to a data frame, or to Binned.from_parquet"
        )
    function = getattr(model, method, None)
    if not callable(function):
        raise ValueError(f"method {method!r} is none of {type(model).__name__}: use 'predict'")
    return [str(name) for name in names], function
