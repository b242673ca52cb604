"""What a fit takes beside its table: users choose machines by that."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost.estimators.base import BaseBoosting

ROWS, COLUMNS = 150_000, 20
X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
SMALL = {"max_iter": 3, "random_state": 0, "n_jobs": 1}


def taken(fit):
    """Bytes a row, at most at once, beside the table."""
    fit()  # kernels, imports
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1] / ROWS
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("model", "most"),
    [
        (ab.BoostingRegressor(**SMALL), 215),
        (ab.BoostingRegressor(early_stopping=True, **SMALL), 235),
        (ab.BoostingClassifier(early_stopping=True, **SMALL), 265),
    ],
    ids=["all rows", "rows held out", "classes, rows held out"],
)
def test_a_fit_makes_no_copy_of_the_table(model, most, order):
    """Where rows were held out, those to fit were copied: 205 MB beside a table of 80, 400 bytes a row."""
    table = np.asarray(X, order=order)
    y = Y if isinstance(model, ab.BoostingRegressor) else Y > 0.5
    found = taken(lambda: model.fit(table, y))
    assert found < most, found


def frame(n=400):
    table = pd.DataFrame({"a": X[:n, 0], "b": X[:n, 1], "c": X[:n, 2].round(1)})
    table["kind"] = pd.Categorical(np.array(list("uvwxyz"))[np.arange(n) * 7 % 6])
    table.loc[::9, "b"] = np.nan
    return table, Y[:n] + (table["kind"] == "u"), np.arange(n) // 8


EARLY = {"early_stopping": True, "max_iter": 12, "max_leaf_nodes": 5, "random_state": 0}
FITS = {
    "numbers by row": lambda t, y, q: ab.BoostingRegressor(**EARLY).fit(
        np.ascontiguousarray(t[["a", "b", "c"]]), y
    ),
    "numbers by column": lambda t, y, q: ab.BoostingRegressor(**EARLY).fit(
        np.asfortranarray(t[["a", "b", "c"]]), y
    ),
    "numbers of 32 bits": lambda t, y, q: ab.BoostingRegressor(**EARLY).fit(
        np.float32(t[["a", "b", "c"]]), y
    ),
    "categories": lambda t, y, q: ab.BoostingRegressor(categorical_encoding="subset", **EARLY).fit(t, y),
    "encoded": lambda t, y, q: ab.BoostingRegressor(categorical_encoding="target", **EARLY).fit(t, y),
    "subsample": lambda t, y, q: ab.BoostingRegressor(subsample=0.5, **EARLY).fit(
        t, y, np.arange(len(y)) % 3
    ),
    "hazards": lambda t, y, q: ab.BoostingRegressor("cox", **EARLY).fit(t, np.exp(y)),
    "classes": lambda t, y, q: ab.BoostingClassifier(calibration="temperature", **EARLY).fit(
        t, np.digitize(y, [0, 1])
    ),
    "split": lambda t, y, q: ab.BoostingRegressor("multi_quantile:0.1,0.9", conformal="split", **EARLY).fit(
        t, y
    ),
    "folds": lambda t, y, q: ab.BoostingRegressor(max_leaf_nodes=5).fit(t[:100], y[:100]),
    "offset": lambda t, y, q: ab.BoostingRegressor(**EARLY).fit(t, y, offset=np.asarray(t["a"])),
    "queries": lambda t, y, q: ab.BoostingRanker(**EARLY).fit(t, np.digitize(y, [0, 1]), qid=q),
    "linear leaves": lambda t, y, q: ab.BoostingRegressor(leaf="linear", **EARLY).fit(t[["a", "c"]], y),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_to_rows_of_a_table_is_that_to_a_copy_of_them(monkeypatch, name):
    lent = FITS[name](*frame())
    monkeypatch.setattr(BaseBoosting, "_lends", False)
    copied = FITS[name](*frame())
    assert [step.loss for step in lent.steps_] == [step.loss for step in copied.steps_]
    one, other = (ab.files.packed(model)[1] for model in (lent, copied))
    assert set(one) == set(other)
    for part in set(one) - {found for found in one if "seconds" in found}:
        np.testing.assert_array_equal(one[part], other[part], err_msg=part)
