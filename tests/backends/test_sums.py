"""Sums in integers: exact where floats are, and the same bits in any order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.backends import few, fixed_point, sums
from anyboost.trees.rows import Rows

finite = st.one_of(st.just(0.0), st.floats(1e-6, 1e6), st.floats(-1e6, -1e-6))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(finite, finite, st.floats(0.01, 100)), min_size=1, max_size=60), st.randoms())
def test_dot_equals_exact_sum_and_ignores_order(rows, random):
    a, b, mass = (np.array(column) for column in zip(*rows, strict=True))
    exact = math.fsum(mass * a * b)
    found, exponent = sums.dot(a[:, None], b[:, None], mass, Rows(len(a)))
    largest = np.abs(mass * a * b).max()
    assert found == pytest.approx(exact, rel=1e-15, abs=largest * 1e-15)
    order = list(range(len(rows)))
    random.shuffle(order)
    turned = a[order][:, None], b[order][:, None], mass[order]
    for guess in (0, exponent, exponent + 3, 900, -900):
        assert sums.dot(*turned, Rows(len(a)), guess) == (found, exponent)


def test_dot_is_the_same_on_any_number_of_threads():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 130_000, 2))
    found = [sums.dot(a, b, None, Rows(len(a), n_threads)) for n_threads in (1, 2, 3)]
    assert found[0] == found[1] == found[2]


def test_dot_of_nothing_and_of_what_is_not_finite():
    assert sums.dot(np.zeros((3, 1)), None, None, Rows(3))[0] == 0.0
    for bad in (np.inf, -np.inf, np.nan):
        for guess in (0, 40, -300):
            assert math.isnan(sums.dot(np.array([[1.0], [bad], [2.0]]), None, None, Rows(3), guess)[0])


def unpacked(fixed):
    channels = fixed.channels
    if not fixed.shift:
        return channels[:, :-1], channels[:, -1]
    return channels >> fixed.shift, (channels & (2**fixed.shift - 1))[:, 0]


def in_fixed_point(a, mass=None, whole=True):
    rows = Rows(len(a))
    masses = np.ones(len(a), dtype=np.int64) if mass is None else fixed_point.fixed_mass(mass, whole, rows)[0]
    return fixed_point.fixed(a, None, mass, whole, masses, masses.sum(), (None, None), rows)


@settings(deadline=None, max_examples=60)
@given(st.lists(finite, min_size=1, max_size=60), st.integers(-900, 900))
def test_fixed_rounds_by_at_most_half_a_unit(values, exponent):
    a = np.ldexp(np.array(values), exponent)[:, None]
    fixed = in_fixed_point(a)
    q, mass = unpacked(fixed)
    largest = np.abs(a).max()
    assert np.all(mass == 1)
    assert math.frexp(fixed.unit)[0] == 0.5  # a power of two
    assert np.all(np.abs(q * fixed.unit - a) <= max(fixed.unit / 2, sums.SMALLEST))
    assert (
        fixed.unit <= max(2 * largest * 2.0 ** -fixed_point.target_bits(len(a)), sums.SMALLEST) or not q.any()
    )


def test_fixed_sums_cannot_overflow():
    for n in (1, 2, 3, 1000, 1025, 2**14 - 1, 2**14, 10**8, 2**31):
        assert n * 2 ** sums.sum_bits(n) < 2**63
        assert n * 2 ** fixed_point.target_bits(n) < 2**63
        rows = min(n, 2**fixed_point.PACKED_BITS - 1)  # what packed counters hold before they are emptied
        shift = min(fixed_point.PACKED_BITS, n.bit_length())
        assert (rows * 2 ** fixed_point.target_bits(n) << shift) + rows < 2**63
    assert fixed_point.target_bits(10**8) >= 30  # at most 2^-30 of the largest


def test_huge_and_tiny_terms_in_one_vector():
    fixed = in_fixed_point(np.array([[1e300], [1e-300], [-1e300]]))
    q, _ = unpacked(fixed)
    assert (q[0], q[1], q[2]) == (-q[2], 0, -q[0])
    assert q[0, 0] * fixed.unit == pytest.approx(1e300, rel=1e-14)


def test_few_floats_are_added_up_alike_on_every_python():
    # 1 + eps/2 rounds to 1 each time; a compensated sum, as the built-in one from Python 3.12 on, keeps the rest.
    half = np.finfo(float).eps / 2
    assert few.left_to_right([1.0, half, half]) == 1.0
    assert few.left_to_right([half, half, 1.0]) == 1.0 + 2 * half
    assert few.left_to_right(iter(())) == 0.0
