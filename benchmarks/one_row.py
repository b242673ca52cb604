"""What one row costs: `python -m benchmarks.one_row`.

A fitted regressor of 100 trees predicts a single row, as an array, as a pandas frame of numbers, and as one with two
columns of categories; beside it our own ensemble on the array, and LightGBM on the same row. Medians of calls that
take turns.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import anyboost as ab

CALLS = 300
TURNS = 5


def interleaved(
    calls: dict[str, Callable[[], Any]], turns: int = TURNS, in_a_turn: int = CALLS // TURNS
) -> dict[str, float]:
    """The median seconds of each call, over turns in which they alternate."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(turns):
        for name, call in calls.items():
            for _ in range(in_a_turn):
                began = perf_counter()
                call()
                seconds[name].append(perf_counter() - began)
    return {name: float(np.median(found)) for name, found in seconds.items()}


def main() -> None:
    import lightgbm
    import pandas as pd

    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 20))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    numbers = pd.DataFrame(X, columns=[f"column {number}" for number in range(20)])
    mixed = numbers.assign(
        color=pd.Categorical(random.choice(list("abcdef"), 5000)),
        size=pd.Categorical(random.choice(list("uvw"), 5000)),
    )
    print("| one row | microseconds | LightGBM's | ours / LightGBM's | ours / our ensemble's |")
    print("|---|---|---|---|---|")
    for name, table in {"array": X, "frame of numbers": numbers, "frame with categories": mixed}.items():
        ours = ab.BoostingRegressor(n_jobs=1).fit(table, y)
        theirs = lightgbm.LGBMRegressor(n_jobs=1, verbose=-1).fit(table, y)
        row, plain = table[:1], np.ascontiguousarray(ours._table(table[:1]))
        found = interleaved(
            {
                "ours": partial(ours.predict, row),
                "theirs": partial(theirs.predict, row),
                "ensemble": partial(ours.ensemble_.predict, plain),
            }
        )
        print(
            f"| {name} | {1e6 * found['ours']:.0f} | {1e6 * found['theirs']:.0f} "
            f"| {found['ours'] / found['theirs']:.2f} | {found['ours'] / found['ensemble']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
