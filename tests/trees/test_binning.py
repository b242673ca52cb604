"""Bins: thresholds and codes against the oracle, value by value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from anyboost.trees.binning import bin_table
from anyboost.trees.table import MISSING


def code(words, feature, n):
    return words.view(np.uint8).reshape(-1, n, 8)[feature // 8, :, feature % 8]


def check_column(column, mass, max_bins):
    words, thresholds, _, n_cuts, *_ = bin_table(column[:, None], mass, max_bins, 1)
    expected = reference.thresholds(column, mass, max_bins)
    np.testing.assert_array_equal(thresholds[0, : n_cuts[0]], expected)
    finite = np.array([t for t in expected if t < np.inf])
    bins = np.array([MISSING if np.isnan(x) else np.sum(finite < x) for x in column.astype(float)])
    np.testing.assert_array_equal(code(words, 0, len(column)), bins)


values = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-(2.0**90), 2.0**90, allow_nan=False, width=32),
    st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1.0000001192092896]),
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(deadline=None, max_examples=80)
@given(
    st.lists(values, min_size=1, max_size=40), st.integers(2, 255), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_column_matches_the_oracle(dtype, column, max_bins, weighted, seed):
    column = np.array(column, dtype=dtype)
    mass = np.random.default_rng(seed).integers(1, 5, len(column)).astype(float) if weighted else None
    check_column(column, mass, max_bins)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_distinct_values_share_quantile_bins(weighted):
    random = np.random.default_rng(1)
    column = random.lognormal(size=3000)
    mass = random.integers(1, 4, 3000).astype(float) if weighted else None
    check_column(column, mass, 255)
    n_cuts = bin_table(column[:, None], mass, 255, 1).n_cuts
    assert n_cuts[0] == 254


def test_neighbouring_floats_are_told_apart():
    a = 0.1
    column = np.array([a, np.nextafter(a, 1), a, 5.0])
    words, thresholds, _, n_cuts, *_ = bin_table(column[:, None], None, 255, 1)
    assert n_cuts[0] == 2
    assert code(words, 0, 4).tolist() == [0, 1, 0, 2]
    assert thresholds[0, 0] == a


@pytest.mark.parametrize("order", ["C", "F"])
def test_layout_and_threads_do_not_matter(order):
    X = np.random.default_rng(2).normal(size=(500, 19)).astype(np.float32, order=order)
    one = bin_table(X, None, 255, 1)
    two = bin_table(np.ascontiguousarray(X), None, 255, 2)
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left, right)
