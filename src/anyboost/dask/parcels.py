"""Whole numbers on their way: what sums are made of is small, or mostly zero, and travels in as few bytes as it needs.

A block of numbers is sent without the zeros that all of them end with, in the narrowest kind that holds them; where few
are not zero, these and their places.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from anyboost.backends.compiler import kernel

# Of a block: the kind of its numbers, the zeros that all end with, how many are listed; -1: all in their order
Piece = tuple[str, int, int]

_BLOCK = 2**15
_SMALL = 64  # numbers that are sent as they are
_KINDS = tuple(np.dtype(kind) for kind in ("<i1", "<i2", "<i4", "<i8"))
_NAMED = {kind.str: kind for kind in _KINDS}
_MOST_BITS = (7, 15, 31)  # without the sign; more are of the last kind
_PLACE = np.dtype("<u2")


def pack(array: np.ndarray) -> tuple[list[Piece], memoryview]:
    """An array's bytes, and how they are to be read; no pieces where they are those that it has.

    Parameters
    ----------
    array : ndarray
        Of any numbers, in one piece.

    Returns
    -------
    tuple of (list of Piece, memoryview)
        The blocks, and what is sent.

    Examples
    --------
    >>> import numpy as np
    >>> from anyboost.dask.parcels import pack, unpack
    >>> pieces, body = pack(np.arange(100))
    >>> pieces, len(body)
    ([('<i1', 0, -1)], 100)
    >>> unpack(pieces, body, np.dtype(np.int64), (100,))[-1]
    np.int64(99)
    """
    if array.dtype != np.int64 or array.size < _SMALL:
        return [], array.reshape(-1).view(np.uint8).data
    numbers, pieces = array.reshape(-1), []
    body: list[np.ndarray] = []
    for own in _blocks(array.shape):
        block = numbers[own]
        low, high, bits, listed = _look_at(block)
        shift = max((bits & -bits).bit_length() - 1, 0)
        kind = _KINDS[bisect_left(_MOST_BITS, max(high, ~low).bit_length() - shift)]
        if listed * (_PLACE.itemsize + kind.itemsize) < len(block) * kind.itemsize:
            places = np.flatnonzero(block)
            body.append(places.astype(_PLACE))
            block = block[places]
        else:
            listed = -1
        body.append((block >> shift if shift else block).astype(kind))
        pieces.append((kind.str, shift, listed))
    return pieces, memoryview(b"".join([own.data for own in body]))


def _blocks(shape: Sequence[int]) -> list[slice]:
    """Where they lie: one has numbers of a kind, and those of another row of an array are of another kind."""
    n = math.prod(shape)
    row = shape[-1] if shape[-1] >= _SMALL else n
    return [
        slice(start, min(start + _BLOCK, first + row))
        for first in range(0, n, row)
        for start in range(first, first + row, _BLOCK)
    ]


@kernel
def _look_at(block):
    # The smallest and the largest, all bits that any has, and how many are not zero.
    low, high, bits, listed = block[0], block[0], np.int64(0), 0
    for i in range(block.shape[0]):
        number = block[i]
        low, high = min(low, number), max(high, number)
        bits |= number
        listed += number != 0
    return low, high, bits, listed


def unpack(pieces: Sequence[Piece], body: bytes, dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
    """The array that was packed; a ValueError or an IndexError where nothing was.

    Parameters
    ----------
    pieces : sequence of Piece
        The blocks.
    body : bytes
        What was sent.
    dtype : dtype
        That of the array.
    shape : sequence of int
        That of the array.

    Returns
    -------
    ndarray
        The array.
    """
    if not pieces:
        return np.frombuffer(body, dtype).reshape(shape)
    numbers, at = np.zeros(math.prod(shape), dtype), 0
    for own, (name, shift, listed) in zip(_blocks(shape), pieces, strict=True):
        block, kind = numbers[own], _NAMED[name]
        places: np.ndarray | slice = slice(None)
        if listed >= 0:
            places = np.frombuffer(body, _PLACE, listed, at)
            at += places.nbytes
        found = np.frombuffer(body, kind, len(block) if listed < 0 else listed, at)
        at += found.nbytes
        block[places] = found
        if shift:
            block <<= shift
    return numbers.reshape(shape)
