"""Many small arrays as one large array, for pickles.

A model of a thousand trees has ten thousand small arrays. `joblib.load(path, mmap_mode="r")` opens the file once for
each array, and a process has only so many descriptors. So the arrays go into one, and come back as views of it.
"""

import pickle
from typing import Any, NamedTuple

import numpy as np

ALIGNMENT = 64  # bytes: more than any dtype needs


class Together(NamedTuple):
    """Objects without their arrays' data, the data of all arrays, and where each array begins and ends there."""

    objects: bytes
    data: np.ndarray
    places: list[tuple[int, int]]


def together(objects: Any) -> Together:
    """These objects, with the data of all their arrays in one."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(objects, protocol=5, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    places, end = [], 0
    for own in raw:
        places.append((end, end + own.nbytes))
        end += -(-own.nbytes // ALIGNMENT) * ALIGNMENT
    data = np.zeros(end, dtype=np.uint8)
    for (begin, stop), own in zip(places, raw, strict=True):
        data[begin:stop] = own
    return Together(text, data, places)


def apart(packed: Together) -> Any:
    """The objects again, with views of the one array."""
    return pickle.loads(packed.objects, buffers=[packed.data[begin:stop] for begin, stop in packed.places])
