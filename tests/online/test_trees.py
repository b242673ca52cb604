"""Streaming trees of wide rows: memory that does not grow with the columns, and models of the time when it did."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import anyboost as ab
from anyboost.online.base import Arrays
from anyboost.online.trees import FIRST, MOST_COLUMNS, TreeLearner

SMALL = TreeLearner(max_leaves=4, bins=8, grace=50)


def booster(n_learners=3):
    return ab.online.SpanBooster(SMALL, n_learners)


def wide(n, columns, signal, seed=0):
    """Sparse rows whose label is in one column, which is there in every second row."""
    random = np.random.default_rng(seed)
    X = np.zeros((n, columns))
    X[np.arange(n), random.integers(0, 300, n)] = 1.0
    X[::2, signal] = random.normal(size=len(X[::2]))
    return X, np.where(X[:, signal] > 0, 1.0, -1.0) * (X[:, signal] != 0)


def size(model):
    return sum(array.nbytes for array in model.state.arrays)


def test_memory_does_not_grow_with_the_columns_beyond_the_most():
    """2^18 hashed columns were 40 GiB."""
    few, many = booster(), booster()
    for model, columns in ((few, MOST_COLUMNS), (many, 1 << 18)):
        model.partial_fit(csr_matrix(([1.0], ([0], [columns - 1])), shape=(1, columns)), [1.0])
    assert size(many) == size(few) + FIRST * 8


@pytest.mark.parametrize("columns", [600, 1 << 14])
def test_of_wide_rows_the_columns_that_come_first_are_seen(columns):
    X, y = wide(1500, columns, columns - 1)
    model = booster().partial_fit(X[:1000], y[:1000])
    assert np.abs(model.predict(X[1000:]) - y[1000:]).mean() < 0.4
    sparse = booster()
    for begin in range(0, 1000, 300):
        sparse.partial_fit(csr_matrix(X[begin : min(begin + 300, 1000)]), y[begin : min(begin + 300, 1000)])
    np.testing.assert_array_equal(sparse.predict(X), model.predict(X))


def test_answering_and_rows_of_no_weight_take_no_place():
    X, y = wide(400, 600, 599)
    model, asked = booster().partial_fit(X, y), booster()
    other = csr_matrix(np.eye(600))
    asked.partial_fit(other, np.ones(600), np.zeros(600))
    asked.predict(other)
    np.testing.assert_array_equal(asked.partial_fit(X, y).predict(X), model.predict(X))


@pytest.mark.parametrize("before", [100, 200, MOST_COLUMNS])
@pytest.mark.parametrize("rows", [10, 600])
def test_columns_keep_their_places_where_more_come(tmp_path, before, rows):
    X, y = wide(1200, 900, before - 1)
    X[:rows, before:] = 0.0
    narrow = booster().partial_fit(X[:rows, :before], y[:rows])
    grown = booster().partial_fit(csr_matrix(X[:rows, :before]), y[:rows])
    grown.partial_fit(csr_matrix(X[rows:]), y[rows:])
    if before == MOST_COLUMNS:
        narrow.partial_fit(X[rows:, :before], y[rows:])
        np.testing.assert_array_equal(grown.predict(csr_matrix(X)), narrow.predict(X[:, :before]))
    ab.save(grown, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    for model in (grown, loaded):
        model.partial_fit(csr_matrix(X), y)
    np.testing.assert_array_equal(loaded.predict(csr_matrix(X)), grown.predict(csr_matrix(X)))


def test_a_model_of_an_earlier_version_that_sees_all_columns_goes_on_as_it_was(tmp_path):
    X, y = wide(900, 300, 299)
    arrays = Arrays(*(np.zeros(shape) for shape in SMALL.shapes(300, 1, 1, columns=300)))
    model = booster(1)
    model.state = model._begin(300, 1)
    model.n_features, model.state.arrays, model.state._model = 300, arrays, None
    model.partial_fit(X[:500], y[:500])
    ab.save(model, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for each in (model, loaded):
        each.partial_fit(csr_matrix(np.pad(X[500:], ((0, 0), (0, 500)))), y[500:])
    assert loaded.state.arrays.extra.shape == arrays.extra.shape
    np.testing.assert_array_equal(loaded.predict(csr_matrix(X)), model.predict(csr_matrix(X)))
    assert np.abs(loaded.predict(csr_matrix(X)) - y).mean() < 0.4


@pytest.mark.parametrize("bits", [None, 14])
def test_teams_of_many_names_are_learnt_in_any_portions(tmp_path, bits):
    """A user's name a row, as hashing is for."""
    rows = [{"x": float(i % 7), "user": f"u{i}", "kind": "ab"[i % 2]} for i in range(700)]
    y = np.arange(700) % 7 + 3.0 * (np.arange(700) % 2)
    whole = ab.OnlineBoostingRegressor("tree", hash_bits=bits)
    whole.learn_many(rows, y)
    parts = ab.OnlineBoostingRegressor("tree", hash_bits=bits)
    for begin in range(0, 700, 90):
        parts.learn_many(rows[begin : begin + 90], y[begin : begin + 90])
    for name, model in (("whole", whole), ("parts", parts)):
        ab.save(model, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert whole.booster_.state.arrays.table.shape == (MOST_COLUMNS + 2, FIRST)
