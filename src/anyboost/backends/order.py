"""Sorting a column of floats by the digits of its bits: three times as fast as comparing, for large columns.

With their sign bit turned, and all bits of negative ones, floats are ordered like unsigned integers. Missing
values become the largest of them, -0.0 becomes 0.0.
"""

import numpy as np

from anyboost.backends.compiler import kernel

_LARGE = 10_000  # rows from which on digits win


@kernel
def _as_keys(bits, sign, infinity, keys, counts):
    # `sign` is the sign bit and `infinity` the bits of inf, both of the type of the bits.
    for i in range(bits.shape[0]):
        if bits[i] & ~sign > infinity:
            key = ~(sign ^ sign)  # missing: all ones
        elif bits[i] & sign:
            key = ~bits[i] if bits[i] != sign else sign
        else:
            key = bits[i] | sign
        keys[i] = key
        for digit in range(counts.shape[0]):
            counts[digit, np.uint64(key >> (8 * digit)) & np.uint64(255)] += 1


@kernel
def _by_digits(keys, spare, counts):
    # From the lowest digit to the highest, keeping the order among equals; which of the two arrays is in order.
    turned = False
    for digit in range(counts.shape[0]):
        if counts[digit].max() == keys.shape[0]:
            continue
        places = np.zeros(256, dtype=np.uint64)
        for value in range(1, 256):
            places[value] = places[value - 1] + np.uint64(counts[digit, value - 1])
        for i in range(keys.shape[0]):
            key = keys[i]
            value = np.uint64(key >> (8 * digit)) & np.uint64(255)
            spare[places[value]] = key
            places[value] += np.uint64(1)
        keys, spare = spare, keys
        turned = not turned
    return turned


@kernel
def _as_bits(keys, sign):
    for i in range(keys.shape[0]):
        keys[i] = keys[i] ^ sign if keys[i] & sign else ~keys[i]


def sort(column: np.ndarray) -> np.ndarray:
    """The numbers of a column in order, missing ones last."""
    if len(column) < _LARGE or column.dtype not in (np.float32, np.float64):
        return np.sort(column)
    whole = np.dtype(f"u{column.itemsize}")
    sign = whole.type(1 << (8 * column.itemsize - 1))
    infinity = np.array(np.inf, dtype=column.dtype).view(whole)[()]
    keys, spare = np.empty((2, len(column)), dtype=whole)
    counts = np.zeros((column.itemsize, 256), dtype=np.int64)
    _as_keys(column.view(whole), sign, infinity, keys, counts)
    if _by_digits(keys, spare, counts):
        keys = spare
    _as_bits(keys, sign)
    return keys.view(column.dtype)
