"""Whole numbers are what they were, whatever they travel as, and travel in few bytes."""

import numpy as np
import pytest

pytest.importorskip("distributed")

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anyboost.dask.parcels import pack, unpack

SHAPES = st.sampled_from([(), (0,), (5,), (64,), (9000,), (3, 70), (2, 9000), (200, 2), (2, 2, 100), (0, 3)])


def sent(array):
    pieces, body = pack(array)
    return unpack(pieces, bytes(body), array.dtype, array.shape), body.nbytes


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_numbers_are_what_they_were(data):
    bits, zeros = data.draw(st.integers(1, 63)), data.draw(st.integers(0, 62))
    few = st.integers(-(2**bits) + (bits == 63), 2**bits - 1)
    array = data.draw(arrays(np.int64, data.draw(SHAPES), elements=few, fill=st.just(0)))
    array = array << min(zeros, 63 - bits)
    found, _ = sent(array)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_the_least_number_of_all():
    array = np.full(100, -(2**63))
    np.testing.assert_array_equal(sent(array)[0], array)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint64, np.bool_, np.int32])
def test_other_kinds_travel_as_they_are(kind):
    array = np.arange(300).astype(kind).reshape(3, 100)
    found, size = sent(array)
    np.testing.assert_array_equal(found, array)
    assert (found.dtype, size) == (array.dtype, array.nbytes)


def test_counts_signs_and_what_is_mostly_zero_travel_in_few_bytes():
    random = np.random.default_rng(0)
    counts = random.integers(0, 200, 5000)
    assert sent(counts)[1] <= counts.nbytes / 4
    histogram = np.stack([counts, random.integers(-100, 100, 5000) << 44])
    assert sent(histogram)[1] <= histogram.nbytes / 5
    rare = np.where(random.random(5000) < 0.01, counts << 40, 0)
    assert sent(rare)[1] <= rare.nbytes / 100


@pytest.mark.parametrize(
    "pieces",
    [[["<i1", 0, -1]], [["<i8", 0, -1]] * 2, [["<f8", 0, -1]], [["<i2", 0, 40]], [["<i1", 0, 10**6]]],
)
def test_what_is_no_parcel_is_an_error_that_is_known(pieces):
    with pytest.raises((ValueError, KeyError, IndexError)):
        unpack(pieces, b"\xff\xff" * 40, np.dtype(np.int64), (100,))
