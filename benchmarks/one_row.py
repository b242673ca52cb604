"""What one row costs: `python -m benchmarks.one_row`.

A fitted regressor of 100 trees predicts a single row, as an array, as a pandas frame of numbers, and as one with two
columns of categories; beside it our own ensemble on the array, and LightGBM on the same row. Medians of calls that
take turns.
"""

from functools import partial

import numpy as np

import anyboost as ab
from benchmarks import PLAIN_DIALS
from benchmarks.timing import interleaved

CALLS, TURNS = 300, 5


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
        ours = ab.BoostingRegressor(**PLAIN_DIALS, n_jobs=1).fit(table, y)
        theirs = lightgbm.LGBMRegressor(n_jobs=1, verbose=-1).fit(table, y)
        row, plain = table[:1], np.ascontiguousarray(ours._table(table[:1]))
        found = interleaved(
            {
                "ours": partial(ours.predict, row),
                "theirs": partial(theirs.predict, row),
                "ensemble": partial(ours.ensemble_.predict, plain),
            },
            TURNS,
            CALLS // TURNS,
        )
        print(
            f"| {name} | {1e6 * found['ours']:.0f} | {1e6 * found['theirs']:.0f} "
            f"| {found['ours'] / found['theirs']:.2f} | {found['ours'] / found['ensemble']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
