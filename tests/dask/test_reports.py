"""Rounds are told to the client, whatever a fit is made of."""

import subprocess
import sys

SCRIPT = """
import anyboost as ab
import dask.array as da
from distributed import Client

def value(s, t):
    return (s - t) ** 2

def slope(s, t):
    return 2 * (s - t)

client = Client({address!r})
X = da.random.default_rng(0).random((400, 3), chunks=(100, 3))
loss = ab.losses.pointwise(value, slope, smoothness=2.0)
heard = []
run = ab.dask.boost(client, X, X[:, 0], loss, rounds=3, timeout=60.0, callbacks=[lambda s, r: heard.append(s.round)])
print(heard, len(run.steps))
"""


def test_the_loss_of_a_script_may_be_heard_of_by_its_callbacks(processes):
    """Its functions are those of `__main__`, which on a worker is another program."""
    code = SCRIPT.format(address=processes.scheduler.address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[1, 2, 3] 3", done.stderr
