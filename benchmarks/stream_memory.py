"""Whether a team's memory stays flat: what the process holds at 10,000, 20,000, 40,000, ... rows of a generated stream.

`python -m benchmarks.stream_memory --rows 1000000`.
"""

import argparse
import os
from pathlib import Path
from time import process_time

import numpy as np

from anyboost import OnlineBoostingClassifier
from benchmarks.accuracy_report import table

FIRST = 10_000
FEATURES = 10


def held() -> float:
    """MiB that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def growth(rows: int) -> list[tuple[int, float, float]]:
    """Rows learnt, MiB held and seconds of processors, at doublings; the concept turns slowly."""
    random = np.random.default_rng(0)
    model, learnt, found = OnlineBoostingClassifier(), 0, []
    next_look = FIRST
    while learnt < rows:
        X = random.normal(size=(FIRST, FEATURES))
        angle = learnt / 1e5
        y = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.3 * random.normal(size=FIRST) > 0
        model.partial_fit(X, y, classes=[False, True])
        learnt += FIRST
        if learnt >= next_look:
            found.append((learnt, held(), process_time()))
            next_look *= 2
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=320_000)
    found = growth(parser.parse_args().rows)
    rows = [[f"{learnt:,}", f"{mebibytes:.0f}", f"{seconds:.0f}"] for learnt, mebibytes, seconds in found]
    print(table(["rows learnt", "MiB held", "seconds of processors"], rows))


if __name__ == "__main__":
    main()
