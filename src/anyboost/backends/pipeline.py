"""An assembly line for threads: work pieces pass through all stations in order, several at a time.

A station takes the pieces one by one, in their order, whichever thread does it; a piece comes to a station when the
one before has passed it on. One thread alone can do it all, and one that comes late finds less to do: nobody waits
for a thread that has not come.

`sync` is an int64 array, which has for each station, on cache lines of their own, how many pieces it has passed on, and
how many threads are at it or trying to be.
"""

import numpy as np

from anyboost.backends.atomics import add, load, store
from anyboost.backends.compiler import kernel

_PASSED, _THERE, _APART = 0, 8, 16


@kernel
def finished(sync, station):
    """How many pieces a station has passed on."""
    return load(sync, station * _APART + _PASSED)


@kernel
def claim(sync, stations, pieces, slots):
    """A station whose next piece has come, for this thread alone; -1 where there is none.

    No more than `slots` pieces are between the first station and the last.
    """
    for station in range(stations - 1, -1, -1):
        if _ready(sync, station, stations, pieces, slots):
            if add(sync, station * _APART + _THERE, 1) == 0 and _ready(
                sync, station, stations, pieces, slots
            ):
                return station
            add(sync, station * _APART + _THERE, -1)
    return -1


@kernel
def _ready(sync, station, stations, pieces, slots):
    number = finished(sync, station)
    if station == 0:
        return number < pieces and number - finished(sync, stations - 1) < slots
    return number < finished(sync, station - 1)


@kernel
def pass_on(sync, station):
    """The claimed piece is done."""
    store(sync, station * _APART + _PASSED, finished(sync, station) + 1)
    add(sync, station * _APART + _THERE, -1)


@kernel
def open_up(sync):
    """Let the first piece come."""
    add(sync, _THERE, -1)


def prepare(stations: int) -> np.ndarray:
    """A new `sync`, which lets no thread in before `open_up`."""
    sync = np.zeros(stations * _APART, dtype=np.int64)
    sync[_THERE] = 1
    return sync
