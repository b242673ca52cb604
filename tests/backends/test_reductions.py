"""Sums in the order that is written down, to the bit, and extremes."""

import math

import numpy as np
import pytest

from anyboost.backends import reductions

LENGTHS = [*range(36), 1000]


def in_order(terms):
    """Sixteen running sums, four for what fills no sixteen, by pairs, then what fills no four."""
    sums = [0.0] * 16
    sixteens, fours = len(terms) // 16 * 16, len(terms) // 4 * 4
    for j, term in enumerate(terms[:fours]):
        sums[j % 16 if j < sixteens else j % 4] += term
    lanes = [(sums[k] + sums[k + 4]) + (sums[k + 8] + sums[k + 12]) for k in range(4)]
    found = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    for term in terms[fours:]:
        found += term
    return found


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(2, length)) * 10.0 ** rng.integers(-8, 8, (2, length)) for length in LENGTHS]


def test_sums_have_the_bits_of_their_order(vectors):
    for a, b in vectors:
        assert reductions.dot(a, b) == in_order((a * b).tolist())
        assert reductions.sum_between(a, 0, len(a)) == in_order(a.tolist())


def test_a_sum_between_two_places_is_that_of_the_piece(vectors):
    vector = vectors[-1][0]
    for begin in (0, 1, 7, 500):
        for end in (begin, begin + 3, begin + 37, 1000):
            assert reductions.sum_between(vector, begin, end) == in_order(vector[begin:end].tolist())


def test_roots_are_summed_whatever_the_length(vectors):
    for a, _ in vectors:
        expected = math.fsum(math.sqrt(x * x + 0.3) for x in a.tolist())
        assert reductions.sum_of_roots(a, 0.3) == pytest.approx(expected, rel=1e-13)


def test_extremes_are_those_of_numpy_and_of_nothing_the_neutral_ones(vectors):
    for a, _ in vectors:
        assert reductions.smallest(a) == a.min(initial=np.inf)
        assert reductions.largest_size(a) == np.abs(a).max(initial=0.0)
