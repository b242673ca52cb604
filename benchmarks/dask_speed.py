"""Two workers of one thread against one process of two, and what workers send each other.

    python -m benchmarks.dask_speed --rows 2000000 --columns 50 --rounds 10 --turns 3
    python -m benchmarks.dask_speed --traffic          bytes a tree for 2, 4 and 8 workers

Turns alternate between the two, and seconds are medians over the rounds of all turns. Rows are generated where they are
fitted: nothing but the model travels to the client.
"""

import argparse
import statistics
from typing import Any

import numpy as np

import anyboost as ab
from anyboost.boosting import boost

LEAVES = 31


def part(seed: int, rows: int, columns: int) -> dict[str, np.ndarray]:
    """Some rows, the same wherever they are made."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + random.standard_normal(rows, dtype=np.float32)
    return {"X": X, "y": y.astype(np.float64)}


def how(rounds: int) -> dict[str, Any]:
    """The fit that is timed."""
    descent = ab.descent.Naive(0.1)
    return {"learner": ab.weak.Tree(LEAVES), "descent": descent, "rounds": rounds, "record": "light"}


def work(rounds: int, sets: Any, here: Any) -> tuple[list[float], int, int]:
    """On a worker: the seconds of each round, and what was sent."""
    from anyboost.dask.collections import joined
    from anyboost.dask.workers import without_rows

    parts = sets["train"]
    rows = joined(parts, without_rows(parts[0]), "")
    run = boost(rows["X"], rows["y"], n_threads=here.n_threads, **how(rounds))
    return [step.seconds for step in run.steps], here.mesh.sent, here.mesh.messages


def on_cluster(client: Any, parts: int, rows: int, columns: int, rounds: int) -> tuple[list[float], int, int]:
    """A fit of so many partitions."""
    from functools import partial

    from distributed import wait

    from anyboost.dask import fits

    workers = sorted(client.nthreads())
    places = [
        workers[seed % len(workers)] for seed in range(parts)
    ]  # Dask may put small ones all in one place
    sizes = (rows // parts, columns)
    made = [client.submit(part, seed, *sizes, workers=[place]) for seed, place in enumerate(places)]
    wait(made)
    held = fits.Held({"train": made}, {"train": {}})
    return fits.run(client, partial(work, rounds), held, 600.0)


def here(parts: int, rows: int, columns: int, rounds: int) -> list[float]:
    """The same rows in this process, on two threads."""
    made = [part(seed, rows // parts, columns) for seed in range(parts)]
    X, y = (np.concatenate([one[name] for one in made]) for name in ("X", "y"))
    return [step.seconds for step in boost(X, y, n_threads=2, **how(rounds)).steps]


def main() -> None:
    """Measure, and print a table."""
    from distributed import Client, LocalCluster

    asked = argparse.ArgumentParser()
    for name, default in (("rows", 2_000_000), ("columns", 50), ("rounds", 10), ("turns", 3), ("parts", 2)):
        asked.add_argument(f"--{name}", type=int, default=default)
    asked.add_argument("--traffic", action="store_true")
    given = asked.parse_args()
    if given.traffic:
        for workers in (2, 4, 8):
            with (
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0"
                ) as cluster,
                Client(cluster) as client,
            ):
                for rows in (8000 * workers, 1_000_000):  # more are counted in larger numbers
                    (_, early, few), (_, late, many) = (
                        on_cluster(client, workers, rows, given.columns, rounds) for rounds in (1, 11)
                    )
                    sent, parcels = (late - early) / 1e7, (many - few) / 10
                    print(f"{workers} workers, {rows} rows: {sent:.2f} MB and {parcels:.0f} parcels a tree")
        return
    found: dict[str, list[float]] = {"two threads": [], "two workers": []}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for turn in range(given.turns):
            sizes = (given.parts, given.rows, given.columns, given.rounds)
            found["two threads"] += here(*sizes)
            found["two workers"] += on_cluster(client, *sizes)[0]
            medians = {name: statistics.median(seconds) for name, seconds in found.items()}
            ratio = medians["two workers"] / medians["two threads"]
            print(f"turn {turn + 1}: {medians}, ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
