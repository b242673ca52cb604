"""Thresholds of rows in portions and in parts: those that one sorted column has, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.trees.binning import column_thresholds
from anyboost.trees.cuts import thresholds
from anyboost.trees.questions import found_by
from anyboost.trees.rows import Rows
from parts import in_parts


def in_portions(column, masses, sizes):
    edges = np.cumsum([0, *sizes])

    def portions():
        for start, stop in zip(edges, [*edges[1:], len(column)], strict=True):
            yield column[start:stop], None if masses is None else masses[start:stop]

    return portions


def drawn(kind, n, dtype, generator):
    return {
        "smooth": lambda: generator.normal(size=n),
        "narrow": lambda: 1.7e9 + generator.uniform(0, 1e6, n),  # one first digit for all
        "tied": lambda: np.round(generator.normal(size=n), 2),
        "few": lambda: generator.integers(-3, 4, n),
        "wide": lambda: generator.normal(size=n) * 10.0 ** generator.integers(-37, 37, n),
        "ends": lambda: np.r_[np.full(n // 3, -np.inf), generator.normal(size=n - 2 * (n // 3)), [np.inf] * (n // 3)],
        "zeros": lambda: np.where(generator.random(n) < 0.5, -0.0, 0.0) + 0 * generator.normal(size=n),
        "missing": lambda: np.where(generator.random(n) < 0.3, np.nan, generator.normal(size=n)),
        "nothing": lambda: np.full(n, np.nan),
    }[kind]().astype(dtype)  # fmt: skip


def masses_of(kind, n, generator):
    # "heavy" ones are as large as fixed point makes them: their sums are rounded where they are compared
    most = {"none": 0, "small": 5, "heavy": 2**62 // max(n, 1)}[kind]
    return None if kind == "none" else generator.integers(0 if n > 1 else 1, most, n)


KINDS = ["smooth", "narrow", "tied", "few", "wide", "ends", "zeros", "missing", "nothing"]


@pytest.mark.parametrize("weights", ["none", "small", "heavy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_portions_have_the_thresholds_of_the_whole(kind, dtype, weights):
    generator = np.random.default_rng(len(kind))
    column = drawn(kind, 3000, dtype, generator)
    masses = masses_of(weights, len(column), generator)
    for max_bins in (2, 7, 255):
        cuts, missing = found_by(
            thresholds(in_portions(column, masses, [1, 0, 900]), max_bins, dtype), Rows(3000)
        )
        expected, blank = column_thresholds(column, masses, max_bins)
        np.testing.assert_array_equal(cuts, expected)
        assert missing == blank


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(KINDS), st.integers(1, 400), st.integers(2, 255), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_any_column_in_any_portions(kind, n, max_bins, weighted, seed):
    generator = np.random.default_rng(seed)
    column = drawn(kind, n, np.float32, generator)
    masses = masses_of("small" if weighted else "none", n, generator)
    sizes = np.diff(np.sort(generator.integers(0, n + 1, 4)))
    cuts, missing = found_by(thresholds(in_portions(column, masses, sizes), max_bins, np.float32), Rows(n))
    expected, blank = column_thresholds(column, masses, max_bins)
    np.testing.assert_array_equal(cuts, expected)
    assert missing == blank


@pytest.mark.parametrize("kind", ["smooth", "tied", "few", "missing"])
def test_parts_agree_on_the_thresholds_of_all_rows(kind):
    generator = np.random.default_rng(1)
    column, masses = drawn(kind, 2000, np.float64, generator), generator.integers(1, 9, 2000)
    expected, blank = column_thresholds(column, masses, 100)

    def own(rows):
        search = thresholds(in_portions(column[rows.own], masses[rows.own], [100]), 100, np.float64)
        return found_by(search, rows)

    for cuts, missing in in_parts(own, [0, 150, 150, 1200, 2000]):
        np.testing.assert_array_equal(cuts, expected)
        assert missing == blank
