"""Rows for refits: the last ones, a fair sample of the others, bounded, and the same however they came."""

import numpy as np
import pytest

from anyboost.online.features import Features
from anyboost.online.rows import read
from anyboost.streams.layout import MOST_COLUMNS, layout_of
from anyboost.streams.rows_kept import RowsKept


def table(n, seed=0):
    return read(np.random.default_rng(seed).normal(size=(n, 3)), 0)


def filled(n, cuts=(), most=100, recent=40):
    kept, rows = RowsKept(most, recent, 0), table(n)
    for begin, end in zip([0, *cuts], [*cuts, n], strict=True):
        kept.add(rows.part(slice(begin, end)), np.arange(begin, end), np.ones(end - begin))
    return kept


@pytest.mark.parametrize("n", [1, 40, 99, 100, 101, 5000])
def test_never_more_than_most_and_always_the_last_ones(n):
    kept = filled(n)
    found = kept.last()
    assert kept.n == len(found.y) == found.rows.n <= 100
    recent = min(n, 40)
    np.testing.assert_array_equal(found.y[-recent:], np.arange(n - recent, n))
    for place, number in enumerate(found.y.astype(int).tolist()):
        np.testing.assert_array_equal(found.rows.row(place)[1], table(n).row(number)[1])
    assert (np.diff(found.y) > 0).all()


@pytest.mark.parametrize("cuts", [[100], [1, 2, 3, 999], list(range(7, 1000, 7))])
def test_portions_keep_the_same_rows(cuts):
    whole, parts = filled(1000), filled(1000, cuts)
    for a, b in zip(whole.last(), parts.last(), strict=True):
        for x, y in zip(*((a, b) if isinstance(a, tuple) else ((a,), (b,))), strict=True):
            np.testing.assert_array_equal(x, y)


def test_the_sample_is_fair_to_old_rows():
    found = []
    for seed in range(200):
        kept = RowsKept(100, 40, seed)
        kept.add(
            table(2001), np.arange(2001), np.ones(2001)
        )  # older rows were thinned out before the last one
        found.append(kept.last().y[:-41])
    shares = np.histogram(np.concatenate(found), bins=5, range=(0, 1960))[0] / sum(map(len, found))
    assert np.abs(shares - 0.2).max() < 0.03


def test_windows_are_the_last_rows():
    kept = filled(70)
    assert kept.last(10).y.tolist() == list(range(60, 70))
    assert kept.last(10).rows.row(0)[1].tolist() == table(70).row(60)[1].tolist()


def test_named_rows_become_numbers_texts_and_missing_cells():
    features = Features()
    rows = features.rows([{"a": 1.0, "b": "x"}, {"b": "y"}, {"a": 0.0}], True)
    layout = layout_of(rows, features)
    found = layout.table(rows)
    a, b = layout.places[features.names.index("a")], layout.places[features.names.index("b=x")]
    assert layout.width == 2
    assert layout.categorical == [b]
    np.testing.assert_array_equal(found[:, a], [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(
        found[:, b], [features.names.index("b=x"), features.names.index("b=y"), np.nan]
    )
    later = features.rows([{"a": 2.0, "b": "new", "c": 3.0}], True)
    np.testing.assert_array_equal(layout.table(later)[0, [a, b]], [2.0, np.nan])


def test_arrays_are_taken_as_they_are():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    rows = read(X, 0)
    np.testing.assert_array_equal(layout_of(rows, None).table(rows), X)


def test_columns_beyond_the_most_are_the_rarest():
    features = Features()
    names = [f"n{i:04d}" for i in range(MOST_COLUMNS + 5)]
    rows = features.rows([dict.fromkeys(names, 1.0), dict.fromkeys(names[5:], 1.0)], True)
    layout = layout_of(rows, features)
    assert layout.width == MOST_COLUMNS
    assert (layout.places[:5] == -1).all()


@pytest.mark.parametrize("kept", [True, False])
def test_of_wide_arrays_the_columns_that_say_something_are_seen(kept):
    """The edges of pictures are 0: else batch experts would see the first 512 columns, and none of the signal."""
    random = np.random.default_rng(0)
    X = np.where(random.uniform(size=(50, MOST_COLUMNS + 200)) < 0.1, np.nan, 0.0)
    X[:, 150:] = random.uniform(1, 2, size=(50, MOST_COLUMNS + 50))
    X[::2, 200:250] = 0.0
    rows = read(X, 0, True)
    if kept:
        store = RowsKept(100, 50, 0)
        store.add(rows, np.zeros(50), np.ones(50))
        rows = store.last().rows
    layout = layout_of(rows, None)
    seen = np.setdiff1d(np.arange(150, X.shape[1]), np.arange(200, 250))
    assert layout.width == MOST_COLUMNS
    np.testing.assert_array_equal(np.flatnonzero(layout.places >= 0), seen)
    np.testing.assert_array_equal(layout.table(rows), X[:, seen])
