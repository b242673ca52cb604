"""The root search behind every exact step, on slopes whose zeros are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.losses.leaves import Leaves
from anyboost.losses.search import monotone_zeros


class Counted:
    def __init__(self, slope):
        self.slope, self.calls = slope, 0

    def __call__(self, x):
        self.calls += 1
        return self.slope(x)


roots = st.one_of(st.floats(-10, 10), st.sampled_from([0.0, 1.0, -1.0, 1e-8, -3e-8, 1e8, -7e7, 1e15]))


@settings(max_examples=60, deadline=None)
@given(st.lists(roots, min_size=1, max_size=6).map(np.array))
def test_zeros_of_smooth_and_jumping_slopes(zeros):
    for slope in (
        lambda x: x - zeros,
        lambda x: np.sign(x - zeros),
        lambda x: np.where(x > zeros, 5.0, -0.1),
        lambda x: (x - zeros) ** 3,
        lambda x: np.arctan(x - zeros) + 0.01 * (x - zeros),
    ):
        np.testing.assert_allclose(monotone_zeros(slope, len(zeros)), zeros, rtol=1e-12, atol=1e-25)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(roots, st.floats(1e-3, 1e3)), min_size=1, max_size=6).map(np.array))
def test_midpoint_of_flat_parts(pairs):
    start, length = pairs.T
    stop = start + length

    def slope(x):
        return np.where(x < start, -1.0, np.where(x > stop, 2.0, 0.0))

    middle = (start + stop) / 2
    np.testing.assert_allclose(monotone_zeros(slope, len(pairs)), middle, rtol=1e-12, atol=1e-12)


def test_half_lines_give_their_finite_end():
    def slope(x):
        return np.array(
            [min(x[0] - 3, 0), -float(x[1] < 3), max(x[2] + 7, 0), float(x[3] > -7), -float(x[4] < -2)]
        )

    np.testing.assert_allclose(monotone_zeros(slope, 5), [3, 3, -7, -7, -2], rtol=1e-12)


def test_zero_everywhere_gives_zero():
    assert monotone_zeros(np.zeros_like, 3).tolist() == [0, 0, 0]


def test_fading_slopes_stop_at_a_millionth_of_their_start():
    def slope(x):
        return np.array([-np.exp(-x[0]), np.exp(2 * x[1]), -1 / (1 + max(x[2], 0)), -np.exp(-np.exp(x[3]))])

    x = monotone_zeros(slope, 4)
    np.testing.assert_allclose(slope(x) / slope(np.zeros(4)), 1e-6, rtol=1e-4)


def test_a_slope_without_zero_is_refused():
    with pytest.raises(ValueError, match="no minimum"):
        monotone_zeros(lambda x: np.array([x[0], 1.0]), 2)


def test_smooth_slopes_take_few_passes_even_for_many_leaves():
    """A pass is a sweep over all rows: bisection alone would take fifty or more."""
    zeros = np.random.default_rng(0).normal(size=200)
    slope = Counted(lambda x: np.tanh(x - zeros))
    np.testing.assert_allclose(monotone_zeros(slope, 200), zeros, rtol=1e-10)
    assert slope.calls <= 35


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_weighted_quantiles_equal_the_slow_definition(data):
    n, groups = 12, 4
    values = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=n, max_size=n)), float)
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    group = np.array(data.draw(st.lists(st.integers(0, groups - 1), min_size=n, max_size=n)))
    level = data.draw(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]))
    found = Leaves(group, groups, times / 3).quantiles(values, level)
    for k in range(groups):
        sorted_rows = np.sort(np.repeat(values[group == k], times[group == k]))
        size = len(sorted_rows)
        if size == 0:
            assert found[k] == 0
            continue
        share = level * size
        whole = round(share)
        if abs(share - whole) < 1e-9 and 0 < whole < size:
            expected = (sorted_rows[whole - 1] + sorted_rows[whole]) / 2
        else:
            expected = sorted_rows[min(int(np.ceil(share - 1e-9)) - 1, size - 1) if share > 1e-9 else 0]
        assert found[k] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_weighted_quantiles_of_any_numbers_equal_those_of_a_sort(data):
    """Both signs, all magnitudes, equal numbers, heavy and light rows, many groups or one."""
    n, groups = data.draw(st.integers(1, 400)), data.draw(st.integers(1, 40))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = random.normal(size=n) * 10.0 ** random.integers(-300, 300, n)
    values = np.where(
        random.random(n) < data.draw(st.sampled_from([0.0, 0.5, 1.0])), np.round(values), values
    )
    weights = random.random(n) ** data.draw(st.sampled_from([0, 1, 5])) * (random.random(n) < 0.9)
    group, level = random.integers(0, groups, n), random.random(groups)
    found = Leaves(group, groups, weights).quantiles(values, level)
    for k in range(groups):
        order = np.argsort(values[group == k])
        own, passed = values[group == k][order], np.cumsum(weights[group == k][order])
        if len(own) == 0 or passed[-1] == 0:
            assert found[k] == 0
            continue
        if passed[-1] < 2.0**-50 * weights.max():  # it may be lost against the others' weights in fixed point
            continue
        # A random level is no tie; where it is near one, either side of the running sum's rounding will do.
        near = np.searchsorted(passed, (level[k] + np.array([-1e-9, 0, 1e-9])) * passed[-1])
        assert found[k] in own[np.minimum(near, len(own) - 1)]


def test_ties_survive_a_million_rows_before_them():
    """A plain running sum has drifted by more than a small group's weight allows by then."""
    n = 1_000_000
    values = np.concatenate([np.arange(n), [0.0, 1.0]])
    group = np.concatenate([np.zeros(n, int), [1, 1]])
    weights = np.full(n + 2, 1 / (n + 2))
    np.testing.assert_array_equal(Leaves(group, 2, weights).quantiles(values, 0.5), [(n - 1) / 2, 0.5])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_leaf_sums_are_precise_and_ignore_the_order(data):
    n = 30
    values = np.array(data.draw(st.lists(st.floats(-1e12, 1e12), min_size=n, max_size=n)))
    leaf = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(n))))
    from math import fsum

    sums = Leaves(leaf, 3, np.ones(n)).sums(values)
    np.testing.assert_array_equal(sums, Leaves(leaf[order], 3, np.ones(n)).sums(values[order]))
    exact = [fsum(values[leaf == k]) for k in range(3)]
    np.testing.assert_allclose(sums, exact, rtol=1e-15, atol=1e-14 * np.abs(values).max())


def test_sums_of_leaves_without_bounds():
    leaf = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    values = np.array([1.0, np.inf, -np.inf, 3.0, np.inf, -np.inf, np.nan, np.inf, 0.1, 0.2])
    sums = Leaves(leaf, 5, np.ones(10)).sums(values)
    np.testing.assert_array_equal(sums, [np.inf, -np.inf, np.nan, np.nan, 0.1 + 0.2])


def test_balance_sees_through_rounding():
    one = Leaves.one(np.ones(3))
    assert np.sum([0.1, 0.2, -0.3]) != 0
    assert one.balance(np.array([0.1, 0.2, -0.3]))[0] == 0
    assert one.balance(np.array([0.1, 0.2, -0.3 + 1e-9]))[0] > 0
    assert one.balance(np.array([np.inf, 1.0, -1.0]))[0] == np.inf


def test_log_sums_reach_beyond_overflow():
    leaf, powers = np.array([0, 0, 1]), np.array([1000.0, 1000.0, -1000.0])
    found = Leaves(leaf, 3, np.ones(3)).log_sums(powers)
    np.testing.assert_allclose(found, [1000 + np.log(2), -1000, -np.inf])
