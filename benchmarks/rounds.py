"""Rounds alone against LightGBM: the bins are given to both. `python -m benchmarks.rounds`.

Normal features, the same leaves, rate and threads; fits take turns in one process, and a ratio is LightGBM's time over
ours in the same turn. With classes, both go on to the training loss that LightGBM has after its rounds.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from benchmarks.peers import Work, of_lightgbm, rate
from benchmarks.speed import TableWork, data


class Lap(NamedTuple):
    """A task, whether we follow the loss's curvature, and what we record."""

    task: TableWork
    curvature: bool = False
    record: str = "light"


FULL = {
    "500,000 x 50, stumps": Lap(TableWork(Work("squared", 2, 30), 500_000, 50)),
    "500,000 x 50, stumps, all recorded": Lap(TableWork(Work("squared", 2, 30), 500_000, 50), record="full"),
    "500,000 x 50, 31 leaves": Lap(TableWork(Work("squared", 31, 20), 500_000, 50)),
    "500,000 x 50, stumps, absolute": Lap(TableWork(Work("absolute", 2, 30), 500_000, 50)),
    "500,000 x 50, 31 leaves, absolute": Lap(TableWork(Work("absolute", 31, 20), 500_000, 50)),
    "10,000 x 20, stumps": Lap(TableWork(Work("squared", 2, 500), 10_000, 20)),
    "10,000 x 20, 31 leaves": Lap(TableWork(Work("squared", 31, 200), 10_000, 20)),
    "2,000,000 x 20, stumps": Lap(TableWork(Work("squared", 2, 15), 2_000_000, 20)),
    "2,000,000 x 20, 31 leaves": Lap(TableWork(Work("squared", 31, 10), 2_000_000, 20)),
    "500,000 x 50, 31 leaves, logistic": Lap(
        TableWork(Work("logistic", 31, 20), 500_000, 50), curvature=True
    ),
    "letter, 26 classes, to LightGBM's loss": Lap(
        TableWork(Work("softmax", 31, 50, classes=26), 16_000, 16, "letter"), curvature=True
    ),
}
QUICK = {
    name: lap._replace(
        task=lap.task._replace(rows=min(lap.task.rows, 3000), work=lap.task.work._replace(rounds=4))
    )
    for name, lap in FULL.items()
}
MOST_ROUNDS = 20  # times LightGBM's, to its loss


def ours(X: np.ndarray, y: np.ndarray, lap: Lap, below: float | None) -> Callable[[], float]:
    """Seconds of our rounds, or of those that lead below a loss."""
    work = lap.task.work
    binned = ab.Binned(X, max_bins=work.bins, n_threads=work.threads)
    targets = np.where(y > 0, 1.0, -1.0) if work.loss == "logistic" else y
    learner = ab.weak.Tree(
        work.leaves,
        leaf="exact" if work.loss == "absolute" else "mean",
        outputs="each" if work.classes else "joint",
    )
    descent = ab.descent.Naive(rate(work), curvature=lap.curvature)
    rounds = work.rounds if below is None else MOST_ROUNDS * work.rounds

    def stop(step: Any, _run: Any) -> bool:
        return below is not None and step.loss <= below

    def once() -> float:
        run = ab.boost(
            binned, targets, work.loss, learner, descent, rounds,
            callbacks=[stop], n_threads=work.threads, record=lap.record,
        )  # fmt: skip
        return sum(step.seconds for step in run.steps)

    return once


def theirs(X: np.ndarray, y: np.ndarray, lap: Lap) -> tuple[Callable[[], float], Callable[[], float]]:
    """Seconds of LightGBM's rounds, and the training loss that its last ones reached."""
    import lightgbm as lgb

    work = lap.task.work
    parameters = of_lightgbm(work)
    labels = (y > 0).astype(int) if work.loss == "logistic" else y
    sample = lgb.Dataset(X, labels, params=parameters).construct()
    last: list[Any] = [None]

    def once() -> float:
        booster = last[0] = lgb.Booster(parameters, sample)
        began = perf_counter()
        for _ in range(work.rounds):
            booster.update()
        return perf_counter() - began

    return once, lambda: float(last[0].eval_train()[0][2])


def race(quick: bool = False, turns: int = 5, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Every lap in turns; milliseconds a round of ours, and LightGBM's time over ours: least, median, largest."""
    results: dict[str, Any] = {}
    for line in HEAD:
        say(line)
    for name, lap in (QUICK if quick else FULL).items():
        X, y = data(lap.task)
        they, reached = theirs(X, y, lap)
        they()
        we = ours(X, y, lap, reached() if lap.task.work.classes else None)
        we()
        times = np.array([(we(), they()) for _ in range(turns)])
        ratios = times[:, 1] / times[:, 0]
        results[name] = {
            "seconds": float(np.median(times[:, 0])),
            "theirs": float(np.median(times[:, 1])),
            "ratio": [float(q) for q in np.quantile(ratios, [0.0, 0.5, 1.0])],
            "rounds": lap.task.work.rounds,
        }
        say(line_of(name, results[name]))
    return results


HEAD = ("| rounds alone | ours | LightGBM's | LightGBM's time / ours (range) |", "|---|---|---|---|")


def line_of(name: str, row: dict[str, Any]) -> str:
    low, middle, high = row["ratio"]
    mine, other = (1000 * row[key] / row["rounds"] for key in ("seconds", "theirs"))
    return f"| {name} | {mine:.2f} ms | {other:.2f} ms | {middle:.2f} ({low:.2f} to {high:.2f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few rows and rounds")
    arguments = parser.parse_args()
    race(arguments.quick, arguments.turns)


if __name__ == "__main__":
    main()
