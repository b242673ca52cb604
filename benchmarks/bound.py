"""Theorem 1 and (38) on simulated streams: `python -m benchmarks.bound`.

A stream draws rows from a fixed population, so the risk of any weights is a finite mean and the least risk a convex
program with a certificate. Base functions are +-1; the first agrees with the label in 70 % of the population, the
others are coin flips. The excess risk is compared with the bound in the mean over streams, as the theorem says.
"""

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anyboost.mirror import Anytime, KnownHorizon, MirrorAverager
from anyboost.mirror.regret import best_combination

LOSSES = ("hinge", "logistic", "exponential", "squared")
SIZES = (10, 100, 1000)
TIMES = (10, 100, 1000)
SLOPE_TIMES = (100, 1000, 10_000)
POPULATION = 400


class Case(NamedTuple):
    """A population: forecasts (N, M), labels, and a certified lower bound on the least risk of the simplex."""

    H: np.ndarray
    y: np.ndarray
    least: float


@cache
def case(loss: str, size: int) -> Case:
    """The same population for every stream."""
    random = np.random.default_rng(size)
    y = random.choice([-1.0, 1.0], POPULATION)
    H = random.choice([-1.0, 1.0], (POPULATION, size))
    agrees = np.arange(POPULATION) < 0.7 * POPULATION
    H[:, 0] = np.where(random.permutation(agrees), y, -y)
    best = best_combination(H, y, loss)
    return Case(H, y, best.loss - best.gap)


def excess(loss: str, size: int, time: int, streams: int, known: bool = False) -> tuple[float, float]:
    """Mean excess risk of the estimate for forecast number `time`, learned from time - 1 rows, and its bound."""
    population = case(loss, size)
    random = np.random.default_rng([size, time])
    found = []
    for _ in range(streams):
        schedule = KnownHorizon(time) if known else Anytime()
        averager = MirrorAverager(loss, schedule=schedule, output_bound=1.0, label_bound=1.0).start(size)
        rows = random.integers(0, POPULATION, time - 1)
        averager.partial_fit(population.H[rows], population.y[rows])
        found.append(averager.loss.value(population.H @ averager.weights_, population.y) - population.least)
    return float(np.mean(found)), averager.bound(time)


def report(streams: int, times: tuple[int, ...] = TIMES, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Every case, and for each loss the slopes of log excess in log t (M = 100) and in log ln M (t = 1000)."""
    results: dict[str, Any] = {"streams": streams, "cases": [], "slopes": {}}
    for known in (False, True):
        for loss in LOSSES:
            table = {(size, t): excess(loss, size, t, streams, known) for size in sizes for t in times}
            for (size, t), (mean, bound) in table.items():
                entry = {"loss": loss, "M": size, "t": t, "known horizon": known}
                results["cases"].append({**entry, "excess": mean, "bound": bound})
            in_t = [excess(loss, 100, t, streams, known)[0] for t in SLOPE_TIMES]
            in_size = [table[size, times[-1]][0] for size in sizes]
            results["slopes"][f"{loss}, {'known horizon' if known else 'anytime'}"] = {
                "t": float(np.polyfit(np.log(SLOPE_TIMES), np.log(in_t), 1)[0]),
                "ln M": float(np.polyfit(np.log(np.log(sizes)), np.log(in_size), 1)[0]),
            }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    results = report(options.streams)
    print("| loss | M | t | horizon | mean excess | bound | ratio |\n|---|---|---|---|---|---|---|")
    for row in results["cases"]:
        ratio = row["excess"] / row["bound"]
        horizon = "known" if row["known horizon"] else "any"
        print(
            f"| {row['loss']} | {row['M']} | {row['t']} | {horizon} "
            f"| {row['excess']:.4f} | {row['bound']:.4f} | {ratio:.2f} |"
        )
    print("\n| loss | slope in t | slope in ln M |\n|---|---|---|")
    for name, row in results["slopes"].items():
        print(f"| {name} | {row['t']:.2f} | {row['ln M']:.2f} |")
    if options.output:
        options.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
