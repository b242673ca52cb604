"""One measurement in a process of its own: `python -m benchmarks.one PEER FOLDER WORK`."""

import contextlib
import json
import resource
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers import BINNERS, PEERS, Work, training_loss

_ONE_ROWS = 200


def measure(peer: str, X: np.ndarray, y: np.ndarray, work: Work) -> dict[str, float]:
    """Seconds to bin, to fit (binning included) and to predict, memory that fitting added, training loss."""
    fit = PEERS[peer]
    # Loading, compiling and starting threads are paid once by a user, not by the work.
    fit(X[:2000], y[:2000], work._replace(rounds=2)).predict(X[:10])
    before = _peak_from_here()
    began = perf_counter()
    model = fit(X, y, work)
    found = {"fit": perf_counter() - began, "memory": (_peak() - before) / 1024}
    if peer in BINNERS:
        began = perf_counter()
        BINNERS[peer](X, y, work)
        found["bin"] = perf_counter() - began
    began = perf_counter()
    scores = np.asarray(model.predict(X))
    found["predict"] = perf_counter() - began
    found["one_row"] = _one_row(model.predict, X)
    found["loss"] = training_loss(scores, y, work)
    return found


def _one_row(predict, X: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    times = []
    for i in range(_ONE_ROWS):
        row = X[i % len(X)][None, :].copy()
        began = perf_counter()
        predict(row)
        times.append(perf_counter() - began)
    return float(np.median(times))


def _peak() -> float:
    """Peak memory in KiB."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return float(line.split()[1])
    except OSError:
        pass
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _peak_from_here() -> float:
    """Forget the peak so far, where the system can, and say what it is now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def main() -> None:
    peer, folder, work = sys.argv[1:]
    X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    print(json.dumps(measure(peer, X, y, Work(*json.loads(work)))))


if __name__ == "__main__":
    main()
