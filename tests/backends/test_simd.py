"""Lanes do what numbers do, bit for bit."""

import math

import numpy as np
import pytest

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.elementary import bits_of, number_of
from anyboost.backends.simd import (
    WIDTH,
    alone,
    apart,
    beside,
    every,
    fill,
    load,
    load_some,
    load_upwards,
    select,
    some,
    store,
    total,
)

EDGES = [0.0, -0.0, 1.0, -1.0, 1e-320, -3e300, 1e300, math.inf, -math.inf, math.nan]


def numbers(rows, seed=0):
    """Many pairs and triples of ordinary numbers, and all pairs of extreme ones."""
    random = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in EDGES for b in EDGES])
    table = random.normal(size=(rows, 160)) * 10.0 ** random.integers(-3, 4, (rows, 160))
    table[:2, : len(pairs)] = pairs.T
    return table


@inlined
def formulas(a, b, c):
    quotient = a / b
    flag = ((a < b) & (c >= 0.5)) | (a == c) | (b <= -2.0) | (c > 3)
    return (
        a + b - c * a,
        min(max(a, -b), c),
        select(flag, quotient, -a),
        math.sqrt(abs(a)) * 2 + 0.1,
        max(a, 0.0) - min(1, b),
        a * b + c,  # no fused step
    )


@kernel
def by_lanes(table, out):
    for column in range(0, table.shape[1], WIDTH):
        found = formulas(load(table, 0, column), load(table, 1, column), load(table, 2, column))
        store(out, 0, column, found[0])
        store(out, 1, column, found[1])
        store(out, 2, column, found[2])
        store(out, 3, column, found[3])
        store(out, 4, column, found[4])
        store(out, 5, column, found[5])


@kernel
def one_by_one(table, out):
    for column in range(table.shape[1]):
        found = formulas(table[0, column], table[1, column], table[2, column])
        for k in range(6):
            out[k, column] = found[k]


def test_every_lane_has_the_bits_of_its_number_alone():
    table = numbers(3)
    together, alone = np.empty((6, 160)), np.empty((6, 160))
    by_lanes(table, together)
    one_by_one(table, alone)
    nan = np.isnan(alone)
    np.testing.assert_array_equal(nan, np.isnan(together))
    np.testing.assert_array_equal(together[~nan].view(np.int64), alone[~nan].view(np.int64))


@kernel
def flags(table, out):
    for row in range(len(table)):
        flag = load(table, row, 0) > 0.0
        out[row, 0], out[row, 1] = every(flag), some(flag)
        out[row, 2], out[row, 3] = every(table[row, 0] > 0.0), some(table[row, 0] > 0.0)


def test_every_and_some():
    table = np.array([[(number >> k) & 1 for k in range(WIDTH)] for number in range(2**WIDTH)], dtype=float)
    out = np.empty((len(table), 4), dtype=bool)
    flags(table, out)
    np.testing.assert_array_equal(out[:, 0], table.all(axis=1))
    np.testing.assert_array_equal(out[:, 1], table.any(axis=1))
    np.testing.assert_array_equal(out[:, 2:], table[:, [0, 0]] > 0)


@kernel
def moved(table, flat, out):
    for count in range(WIDTH + 1):
        store(out, count, 0, load_some(table, 1, 2, count))
    store(out, WIDTH + 1, 0, load_upwards(table, WIDTH, 3))
    store(out, WIDTH + 2, 0, load(flat, 0, 5))
    store(out, WIDTH + 3, 0, fill(2.5))
    out[WIDTH + 4, 0] = total(load(table, 0, 0))
    for lane in range(WIDTH):
        store(out, WIDTH + 5 + lane, 0, alone(7.0, lane))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loading_and_storing(dtype):
    table = np.random.default_rng(1).normal(size=(WIDTH + 2, WIDTH + 5)).astype(dtype)
    flat = table.reshape(-1).copy()
    out = np.full((2 * WIDTH + 5, WIDTH), np.nan, dtype=dtype)
    moved(table, flat, out)
    for count in range(WIDTH + 1):
        np.testing.assert_array_equal(out[count, :count], table[1, 2 : 2 + count])
        np.testing.assert_array_equal(out[count, count:], 0)
    if dtype == np.float64:
        np.testing.assert_array_equal(out[WIDTH + 1], [table[WIDTH - k, 3] for k in range(WIDTH)])
    np.testing.assert_array_equal(out[WIDTH + 2], flat[5 : 5 + WIDTH])
    np.testing.assert_array_equal(out[WIDTH + 3], 2.5)
    np.testing.assert_array_equal(out[WIDTH + 5 :], 7 * np.eye(WIDTH))
    first = table[0].astype(np.float64)
    assert out[WIDTH + 4, 0] == dtype((first[0] + first[1]) + (first[2] + first[3]))


@kernel
def doubled(a, b, c, d):
    return apart(beside(a, b, c, d) * 2.0)


def test_numbers_beside_each_other_and_apart_again():
    assert doubled(1.0, 2.0, 3.0, 4.0) == (2.0, 4.0, 6.0, 8.0)


@inlined
def formulas_of_bits(a, b):
    return ((a - b) >> 3) + ((b & 0xFFF) << 7) + 5


@kernel
def bits_by_lanes(x, out):
    for column in range(0, len(x) - WIDTH, WIDTH):
        found = formulas_of_bits(bits_of(load(x, 0, column)), bits_of(load(x, 0, column + WIDTH)))
        store(out, 0, column, number_of(found))


def test_whole_numbers_in_lanes():
    numbers = np.random.default_rng(2).integers(-(2**40), 2**40, 40)
    out = np.zeros(40 - WIDTH)
    bits_by_lanes(numbers.view(np.float64), out)
    expected = [
        formulas_of_bits.py_func(a, b) for a, b in zip(numbers[:-WIDTH], numbers[WIDTH:], strict=True)
    ]
    assert out.view(np.int64).tolist() == expected
