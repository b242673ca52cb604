"""Fits that are killed and resumed until they end: `python killed.py FOLDER KILLS SEED`.

One process imports the library and forks a child for each attempt, which is killed after a random time (KILLS
times), or kills itself at a given moment of a save. After each kill the file must load. Prints what happened as JSON.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import anyboost as ab
from anyboost import saving

ROUNDS = 40
MOMENTS = ("half written", "written", "flushed", "replaced")


def fit(path, resume=None):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 5))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * generator.normal(size=200)
    return ab.boost(
        X[:150],
        y[:150],
        "absolute",
        ab.weak.Tree(max_leaves=6),
        ab.descent.Residual(ab.steps.InverseSqrt(0.1), memory=0.5),
        ROUNDS,
        valid=(X[150:], y[150:]),
        row_fraction=0.7,
        random_state=5,
        n_threads=1,
        callbacks=[ab.Checkpoint(path, every_rounds=1)],
        resume=resume,
    )


def attempt(work, moment, after):
    """Fork a child that does the work; True once it has ended by itself."""
    child = os.fork()
    if child == 0:
        try:
            if moment is not None:
                die_at(moment, after)
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.__stderr__, flush=True)
            os._exit(1)
    if moment is None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "a child failed"
        return True
    return False


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


class HalfFile:
    """A file that takes half of what is written, and then the process is gone."""

    def __init__(self, handle, mode):
        self.file = open(handle, mode)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, blob):
        self.file.write(blob[: len(blob) // 2])
        self.file.flush()
        kill()


def die_at(moment, save_number):
    """Make this process kill itself at a moment of its save of that number."""
    real_fsync, real_replace = os.fsync, os.replace
    left = [save_number]

    def due():
        left[0] -= 1
        return left[0] == 0

    def half_open(handle, mode):
        return HalfFile(handle, mode) if due() else open(handle, mode)

    def fsync(handle):
        if due():
            kill()
        real_fsync(handle)

    def replace(source, target):
        if moment == "flushed" and due():
            kill()
        real_replace(source, target)
        if moment == "replaced" and due():
            kill()

    if moment == "half written":
        saving.open = half_open
    elif moment == "written":
        os.fsync = fsync
    else:
        os.replace = replace


def report_of(program, folder, kills, seed):
    """What such a program prints, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program, folder, str(kills), str(seed)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(report)
    assert report["kills"]["timed"] >= kills
    return report


def main(folder, kills, seed):
    draw = random.Random(seed)
    fit(folder / "whole")
    done = {"timed": 0, **dict.fromkeys(MOMENTS, 0)}
    fits = 0
    while done["timed"] < kills:
        path = folder / f"killed-{fits}"
        while True:
            moment = draw.choice([None, None, None, *MOMENTS])
            after = draw.uniform(0.0, 0.1) if moment is None else draw.randint(1, 6)
            if attempt(lambda path=path: fit(path, ab.load(path) if path.exists() else None), moment, after):
                break
            done[moment or "timed"] += 1
            if path.exists():
                ab.load(path)
        fits += 1
    print(json.dumps({"kills": done, "fits": fits}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
