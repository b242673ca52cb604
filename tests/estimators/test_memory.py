"""What a fit takes beside its table: users choose machines by that."""

import tracemalloc

import numpy as np
import pytest

import anyboost as ab

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
