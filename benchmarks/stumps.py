"""Time of a fit of stumps on a large table: `python -m benchmarks.stumps`."""

import argparse
from time import perf_counter

import numpy as np

import anyboost as ab


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, options.columns)).astype(np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + random.normal(size=options.rows)
    ab.boost(X[:1000], y[:1000], "absolute", rounds=2)  # compile or load the kernels
    print(f"{options.rows} x {options.columns} float32, {options.rounds} stumps, all cores")
    for loss in ("squared", "absolute"):
        totals, medians = [], []
        for _ in range(options.repeats):
            began = perf_counter()
            run = ab.boost(X, y, loss, "stump", "residual", options.rounds)
            totals.append(perf_counter() - began)
            medians.append(np.median([step.seconds for step in run.steps]))
        loss_now = run.steps[-1].loss
        print(
            f"{loss:>9}: {np.median(totals):.2f} s in all with binning, {1e3 * np.median(medians):.1f} ms a round, "
            f"loss {run.start_loss:.4f} -> {loss_now:.4f}"
        )


if __name__ == "__main__":
    main()
