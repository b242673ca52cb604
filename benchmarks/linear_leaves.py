"""Linear leaves against constant ones, ours and LightGBM's: `python -m benchmarks.linear_leaves [--judge | --predict]`.

RMSE and log loss on rows held out of the training parts of tuning sets, or on the test parts of the judging sets.
Over the defaults: `leaf="linear"`; LightGBM, and LightGBM with `linear_tree`. Needs ANYBOOST_DATA. `--predict`: the
time of predictions of 20,000 rows by 100 trees of 31 leaves, in turns.
"""

from time import process_time
from typing import Any

import numpy as np

import anyboost as ab
from anyboost.descent import Naive
from anyboost.weak import Tree
from benchmarks import changes
from benchmarks.accuracy_sets import REGRESSION, TUNING, Problem, judging, problem
from benchmarks.changes import AS_IT_IS, Line

WAYS = (AS_IT_IS, "linear leaves", "LightGBM", "LightGBM, linear_tree")


def model_of(way: str, given: Problem) -> Any:
    """A library's model of the set, with its defaults but for the leaves."""
    numbers = given.task == REGRESSION
    if way.startswith("LightGBM"):
        from lightgbm import LGBMClassifier, LGBMRegressor

        peer = LGBMRegressor if numbers else LGBMClassifier
        return peer(n_jobs=1, verbose=-1, random_state=given.seed, linear_tree=way.endswith("linear_tree"))
    kind = ab.BoostingRegressor if numbers else ab.BoostingClassifier
    return kind(leaf="linear" if way == "linear leaves" else "auto", n_jobs=1, random_state=given.seed)


def measure(way: str, given: Problem) -> tuple[float, float]:
    """The loss and seconds of a fit."""
    began = process_time()
    model = model_of(way, given).fit(given.train.X, given.train.y)
    seconds = process_time() - began
    truth = given.test.y
    if given.task == REGRESSION:
        return float(np.sqrt(np.mean((model.predict(given.test.X) - truth) ** 2))), seconds
    p = np.clip(model.predict_proba(given.test.X), 1e-15, 1.0)
    codes = np.searchsorted(model.classes_, truth)
    return float((0.5 - np.log(p[np.arange(len(p)), codes]).sum()) / (len(p) + 1)), seconds


def predicting(columns: int, threads: int, turns: int = 15) -> str:
    """Processor time of linear leaves over that of constant ones, medians of turns taken one after the other."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, columns))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2 % columns] + 0.3 * random.normal(size=len(X))
    sums = [
        ab.boost(X, y, "squared", Tree(31, leaf=leaf), Naive(0.1), rounds=100, record="light").ensemble
        for leaf in ("mean", "linear")
    ]
    leaves = sum((tree.feature < 0).sum() for tree in sums[1].hypotheses)
    slopes = sum(len(tree.slopes.node) for tree in sums[1].hypotheses) / leaves
    seconds = np.empty((turns + 1, 2))  # the first turn compiles
    for turn in seconds:
        for number, each in enumerate(sums):
            began = process_time()
            each.predict(X, n_threads=threads)
            turn[number] = process_time() - began
    plain, inclined = np.median(seconds[1:], axis=0)
    times = f"{1e3 * plain:.1f} | {1e3 * inclined:.1f} | {inclined / plain:.2f}"
    return f"| {columns} | {slopes:.2f} | {threads} | {times} |"


def main() -> None:
    parser = changes.options(__doc__, "linear-leaves.jsonl", ",".join(TUNING[:-1]))
    parser.add_argument("--judge", action="store_true", help="the judging sets, once")
    parser.add_argument("--predict", action="store_true", help="how long predictions take")
    given = parser.parse_args()
    if given.predict:
        print(
            "| columns | slopes a leaf | threads | constant, ms | linear, ms | ratio |\n|---|---|---|---|---|---|"
        )
        for columns in (2, 4, 10):
            for threads in (1, 2):
                print(predicting(columns, threads), flush=True)
        return
    path = given.report or given.out
    if given.report is None:
        sets = judging() if given.judge else given.sets.split(",")
        done = changes.done(path)
        for name in sets[: 1 if given.quick else None]:
            for seed in range(1 if given.quick else given.seeds):
                one = problem(name, seed, 500 if given.quick else given.rows, held_out=not given.judge)
                for way in WAYS:
                    if (name, seed, one.task, way) not in done:
                        loss, seconds = measure(way, one)
                        changes.note(path, Line(name, seed, one.task, one.task, way, loss, seconds, 0))
    lines = changes.read(path)
    print(changes.report(lines, dict.fromkeys(line.family for line in lines), WAYS))


if __name__ == "__main__":
    main()
