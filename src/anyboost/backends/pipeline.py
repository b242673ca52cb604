"""An assembly line for threads: work pieces pass through all stages in order, several at a time.

A stage takes the pieces one by one, in their order, whichever thread does it; a piece comes to a stage when the
one before has passed it on. One thread alone can do it all, and one that comes late finds less to do: nobody waits
for a thread that has not come.

`sync` is an int64 array, which has for each stage, on cache lines of their own, how many pieces it has passed on, and
how many threads are at it or trying to be.
"""

import numpy as np

from anyboost.backends.atomics import add, load, store
from anyboost.backends.compiler import kernel

_PASSED, _THERE, _APART = 0, 8, 16


@kernel
def finished(sync, stage):
    """How many pieces a stage has passed on."""
    return load(sync, stage * _APART + _PASSED)


@kernel
def claim(sync, stages, pieces, slots):
    """A stage whose next piece has come, for this thread alone; -1 where there is none.

    No more than `slots` pieces are between the first stage and the last.
    """
    for stage in range(stages - 1, -1, -1):
        if _ready(sync, stage, stages, pieces, slots):
            if add(sync, stage * _APART + _THERE, 1) == 0 and _ready(sync, stage, stages, pieces, slots):
                return stage
            add(sync, stage * _APART + _THERE, -1)
    return -1


@kernel
def _ready(sync, stage, stages, pieces, slots):
    number = finished(sync, stage)
    if stage == 0:
        return number < pieces and number - finished(sync, stages - 1) < slots
    return number < finished(sync, stage - 1)


@kernel
def pass_on(sync, stage):
    """The claimed piece is done."""
    store(sync, stage * _APART + _PASSED, finished(sync, stage) + 1)
    add(sync, stage * _APART + _THERE, -1)


@kernel
def open_up(sync):
    """Let the first piece come."""
    add(sync, _THERE, -1)


def prepare(stages: int) -> np.ndarray:
    """A new `sync`, which lets no thread in before `open_up`."""
    sync = np.zeros(stages * _APART, dtype=np.int64)
    sync[_THERE] = 1
    return sync
