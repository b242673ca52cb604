"""How much memory a team has on a long stream: `python -m benchmarks.stream_memory --rows 10000000`.

Generated rows, whose best function changes now and then, come in portions. At each doubling of their number a line says
how many there were, the private memory of the process then and at most so far, and the processor time of a row.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.out_of_core import Memory

PORTION = 10_000
COLUMNS = 8
NAMES = [f"x{j}" for j in range(COLUMNS)]
CONCEPT = 250_000  # rows until another function is the best
FIRST = 20_000


def portions(rows: int) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Tables of normal features with a missing value here and there, and their targets."""
    random = np.random.default_rng(0)
    for begin in range(0, rows, PORTION):
        X = random.normal(size=(min(PORTION, rows - begin), COLUMNS))
        concept = np.random.default_rng([1, begin // CONCEPT]).normal(size=COLUMNS)
        y = X @ concept + X[:, 0] * X[:, 1] + random.normal(size=len(X))
        X[random.random(X.shape) < 0.01] = np.nan
        yield pd.DataFrame(X, columns=NAMES), y


def lines(rows: int) -> Iterator[dict[str, Any]]:
    """One at each doubling, and at the end."""
    import anyboost as ab

    model, memory = ab.OnlineBoostingRegressor(), Memory()
    learnt, goal, seconds, loss = 0, FIRST, 0.0, 0.0
    for X, y in portions(rows):
        began = process_time()
        loss += float(np.sum(model.observe(X, y).losses))
        seconds += process_time() - began
        learnt += len(y)
        if learnt >= min(goal, rows):
            yield {
                "rows": learnt,
                "MiB": round(memory.now() / 2**20, 1),
                "MiB at most": round(memory.private / 2**20, 1),
                "microseconds a row": round(1e6 * seconds / learnt, 1),
                "loss": round(loss / learnt, 4),
            }
            goal *= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path, help="a file of JSON lines")
    given = parser.parse_args()
    found = []
    for line in lines(given.rows):
        print("  ".join(f"{name} {value:,}" for name, value in line.items()), flush=True)
        found.append(json.dumps(line))
    if given.out is not None:
        given.out.write_text("\n".join(found) + "\n")


if __name__ == "__main__":
    main()
