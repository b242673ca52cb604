"""Whole fits of data frames: `python -m benchmarks.frames`.

Real frames with columns of categories, 100 rounds of 31 leaves with everyone's defaults, from the frame to the fitted
model, on one and on two threads: LightGBM's time over ours. And what a monotone constraint costs: a tree that keeps one
over one that does not. Medians of fits that take turns. Frames need ANYBOOST_DATA.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np

import anyboost as ab
from anyboost import datasets
from benchmarks import PLAIN_DIALS
from benchmarks.timing import interleaved

CLASSES = ("adult", "bank")
FRAMES = (*CLASSES, "ames", "diamonds")
ROUNDS = 100
TURNS = 7


def frame(name: str) -> tuple[Any, np.ndarray]:
    """A bundled set as users have it: categories as categories, in columns by name."""
    import pandas as pd

    data = datasets.load(name)
    table = pd.DataFrame(data.X, columns=list(data.feature_names))
    for column in np.flatnonzero(data.categorical):
        table.isetitem(column, pd.Categorical(table.iloc[:, column]))
    return table, np.asarray(data.y)


def race(name: str, threads: int, turns: int = TURNS) -> tuple[float, float]:
    """Seconds of a whole fit, ours and LightGBM's."""
    import lightgbm

    X, y = frame(name)
    ours: Any = ab.BoostingClassifier if name in CLASSES else ab.BoostingRegressor
    theirs: Any = lightgbm.LGBMClassifier if name in CLASSES else lightgbm.LGBMRegressor
    found = interleaved(
        {
            "ours": lambda: ours(**PLAIN_DIALS | {"max_iter": ROUNDS}, n_jobs=threads).fit(X, y),
            "theirs": lambda: theirs(n_estimators=ROUNDS, n_jobs=threads, verbose=-1).fit(X, y),
        },
        turns,
    )
    return found["ours"], found["theirs"]


def monotone(rows: int, threads: int, turns: int = TURNS) -> float:
    """The time of a fit with a monotone column over that of one without."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 50)).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + random.normal(size=rows)
    binned = ab.Binned(X)
    fit = partial(ab.boost, binned, y, "squared", descent=ab.descent.Naive(0.1), rounds=20, n_threads=threads)
    found = interleaved(
        {
            "plain": lambda: fit(learner=ab.weak.Tree(31)),
            "monotone": lambda: fit(learner=ab.weak.Tree(31, monotone=(1,) + 49 * (0,))),
        },
        turns,
    )
    return found["monotone"] / found["plain"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--quick", action="store_true", help="few turns and rows")
    arguments = parser.parse_args()
    turns = 2 if arguments.quick else arguments.turns
    print("| whole fit | threads | seconds | LightGBM's | LightGBM's / ours |")
    print("|---|---|---|---|---|")
    for name in FRAMES:
        for threads in (1, 2):
            ours, theirs = race(name, threads, turns)
            print(f"| {name} | {threads} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} |", flush=True)
    rows = 20_000 if arguments.quick else 500_000
    for threads in (1, 2):
        print(f"monotone / plain, {rows} x 50, {threads} threads: {monotone(rows, threads, turns):.2f}")


if __name__ == "__main__":
    main()
