"""Fits on 1, 2 and 4 workers: seconds, and how far predictions move with the number of workers.

    python -m benchmarks.dask_peers --rows 200000 --columns 20 --rounds 50

anyboost, `xgboost.dask` and `lightgbm.dask` with 31 leaves, rate 0.1 and 255 bins each, absolute loss, on the same
partitions, one after the other in turns. "Moved" is the largest difference of a prediction from that of one worker,
over the standard deviation of the targets.
"""

import argparse
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import anyboost as ab
from benchmarks.dask_speed import part

PARTS = 8
LEAVES, RATE, BINS = 31, 0.1, 255


def ours(client: Any, X: Any, y: Any, rounds: int) -> Callable[[np.ndarray], np.ndarray]:
    """A predictor."""
    model = ab.dask.DaskBoostingRegressor(
        "absolute", learning_rate=RATE, max_iter=rounds, max_leaf_nodes=LEAVES, max_bins=BINS, client=client
    )
    return model.fit(X, y).to_local().predict


def xgboost(client: Any, X: Any, y: Any, rounds: int) -> Callable[[np.ndarray], np.ndarray]:
    """A predictor."""
    from xgboost import dask as xgb

    model = xgb.DaskXGBRegressor(
        objective="reg:absoluteerror",
        n_estimators=rounds,
        learning_rate=RATE,
        max_leaves=LEAVES,
        max_depth=0,
        grow_policy="lossguide",
        tree_method="hist",
        max_bin=BINS,
    )
    model.client = client
    booster = model.fit(X, y).get_booster()
    return lambda table: booster.inplace_predict(table)


def lightgbm(client: Any, X: Any, y: Any, rounds: int) -> Callable[[np.ndarray], np.ndarray]:
    """A predictor."""
    import lightgbm as lgb

    model = lgb.DaskLGBMRegressor(
        objective="l1",
        n_estimators=rounds,
        learning_rate=RATE,
        num_leaves=LEAVES,
        max_bin=BINS,
        verbose=-1,
        client=client,
    )
    booster = model.fit(X, y).to_local()
    return lambda table: np.asarray(booster.predict(table))


WAYS = {"anyboost": ours, "xgboost.dask": xgboost, "lightgbm.dask": lightgbm}


def main() -> None:
    """Measure, and print a table."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster, wait

    asked = argparse.ArgumentParser()
    for name, default in (("rows", 200_000), ("columns", 20), ("rounds", 50), ("turns", 2)):
        asked.add_argument(f"--{name}", type=int, default=default)
    given = asked.parse_args()
    rows = given.rows // PARTS
    table = part(999, 10_000, given.columns)
    seconds: dict[tuple[str, int], list[float]] = {}
    found: dict[tuple[str, int], np.ndarray] = {}
    for workers in (1, 2, 4):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            made = [delayed(part)(seed, rows, given.columns) for seed in range(PARTS)]
            X = da.concatenate([da.from_delayed(one["X"], (rows, given.columns), np.float32) for one in made])
            y = da.concatenate([da.from_delayed(one["y"], (rows,), np.float64) for one in made])
            X, y = client.persist([X, y])
            wait([X, y])
            for turn in range(given.turns + 1):
                for name, way in WAYS.items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        began = perf_counter()
                        predict = way(client, X, y, given.rounds)
                        took = perf_counter() - began
                    if turn:  # the first warms up
                        seconds.setdefault((name, workers), []).append(took)
                    found[name, workers] = predict(table["X"])
    scale = float(table["y"].std())
    print(f"{'':<16}{'workers':>8}{'seconds':>10}{'moved':>12}{'test MAE':>12}")
    for (name, workers), times in seconds.items():
        moved = float(np.abs(found[name, workers] - found[name, 1]).max()) / scale
        error = float(np.abs(found[name, workers] - table["y"]).mean())
        print(f"{name:<16}{workers:>8}{np.median(times):>10.2f}{moved:>12.2g}{error:>12.5f}")


if __name__ == "__main__":
    main()
