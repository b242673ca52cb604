"""Rows in deviations from their columns' running means: as the textbook says, for any cut of the rows."""

import numpy as np

from anyboost.online.rows import NONE, Table, sparse_table
from anyboost.streams.standardizing import Standard


def dense(X):
    return Table(len(X), X.shape[1], np.ascontiguousarray(X).reshape(-1), NONE, NONE)


def textbook(X):
    """Each row by the mean and deviation of those before it; 1 or 0 while a column has none."""
    found = np.empty_like(X)
    for i, row in enumerate(X):
        before = X[:i]
        deviation = before.std(axis=0) if i else np.zeros(len(row))
        mean = before.mean(axis=0) if i else row
        found[i] = np.where(deviation > 0, (row - mean) / np.where(deviation > 0, deviation, 1.0), row != 0)
    return np.clip(found, -10, 10)


def sample(n=200):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 3)) * [1.0, 100.0, 0.01] + [5.0, 0.0, 2.0]
    return np.column_stack([X, np.ones(n), np.zeros(n)])  # the last two never vary


def test_rows_are_standardized_as_the_textbook_says():
    X = sample()
    found = Standard().rows(dense(X), True).values.reshape(X.shape)
    # From the second row on: of two values the deviation is half their distance, and a third may lie far out.
    np.testing.assert_allclose(found[20:], textbook(X)[20:], rtol=1e-9, atol=1e-9)
    assert (found[:, 3] == 1.0).all()
    assert (found[:, 4] == 0.0).all()


def test_cuts_sparse_rows_and_questions_change_nothing():
    X = sample()
    whole, cut = Standard(), Standard()
    found = whole.rows(dense(X), True).values
    parts = []
    for begin, end in ((0, 1), (1, 50), (50, 200)):
        before = cut.spreads.copy()
        cut.rows(dense(X[begin:end]), False)
        np.testing.assert_array_equal(cut.spreads, before)
        parts.append(cut.rows(dense(X[begin:end]), True).values)
    np.testing.assert_array_equal(np.concatenate(parts), found)
    starts = np.arange(len(X) + 1) * X.shape[1]
    rows = sparse_table(X.shape[1], X.reshape(-1), np.tile(np.arange(X.shape[1]), len(X)), starts)
    np.testing.assert_array_equal(Standard().rows(rows, True).values, found)
