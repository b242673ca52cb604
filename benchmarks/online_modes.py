"""Two ways to fit the stages of an online chain: mode "greedy" and mode "offset", supplement C.1 as printed.

`python -m benchmarks.online_modes -o FILE` measures on the data sets of `anyboost reproduce online`, with its base
learners and its protocol: parameters are chosen on the first half of the rows by progressive squared loss, and the
progressive squared loss on the other half is reported, learned from scratch. Streams have at most 50,000 rows, in
several random orders. `--report FILE` prints the tables of docs/experiments/online.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from anyboost.experiments import online
from anyboost.experiments.frame import markdown
from anyboost.online import FeatureStumpLearner, HullBooster, LinearLearner, NetLearner, SpanBooster

MOST_ROWS = 50_000
ORDERS = 3
ALPHAS = (1.0, 3.0, 10.0)  # times the smallest step of the chain, the default of alpha
ALGORITHMS = {"Algorithm 1": SpanBooster, "Algorithm 2": HullBooster}
VARIANTS = ("greedy", "offset", "offset, alpha chosen")
PREFIXES = ("best", "all")
DEFAULTS = {"SGD": LinearLearner(), "stumps": FeatureStumpLearner(), "nets": NetLearner()}
KEYS = ("data", "base", "order", "variant")
Options = dict[str, Any]


def stream(name: str, order: int) -> online.Stream:
    """The stream of the experiment in another order, cut off."""
    data = online.stream(name)
    rows = np.random.default_rng(order).permutation(len(data.y))[:MOST_ROWS]
    return online.Stream(data.X[rows], data.y[rows])


def candidates(algorithm: str, mode: str) -> list[Options]:
    """What a variant chooses from, besides the rate of its learners."""
    steps = [{"step": step} for step in online.STEPS] if algorithm == "Algorithm 1" else [{}]
    if mode == "greedy":
        return [{"mode": mode} | own for own in steps]
    smallest = 2 / (online.N_LEARNERS + 1)
    return [
        {"mode": mode, "offset_step": times * own.get("step", smallest)} | own
        for own, times in product(steps, ALPHAS)
    ]


def loss(make: Callable[[], Any], X: Any, y: np.ndarray) -> float:
    """Mean squared error of answers given before each row is learned."""
    return float(np.mean((make().progressive_predict(X, y, n_threads=1) - y) ** 2))


def measure(data: str, base: str, order: int) -> Iterator[dict[str, Any]]:
    """A line for each algorithm and variant."""
    X, y = stream(data, order)
    half, (learner, rates) = len(y) // 2, online.BASES[base]
    for algorithm, cls in ALGORITHMS.items():
        tuned: dict[str, list[tuple[float, float, Options]]] = {}
        for mode in ("greedy", "offset"):
            tuned[mode] = [
                (loss(partial(cls, learner(rate), online.N_LEARNERS, **own), X[:half], y[:half]), rate, own)
                for rate, own in product(rates, candidates(algorithm, mode))
            ]
        tuned["offset, alpha chosen"] = tuned["offset"]
        first = candidates(algorithm, "offset")[:: len(ALPHAS)]
        tuned["offset"] = [each for each in tuned["offset"] if each[2] in first]
        for variant in VARIANTS:
            _, rate, own = min(tuned[variant], key=lambda each: each[0])
            make = partial(cls, learner(rate), online.N_LEARNERS, **own)
            yield {
                "data": data, "base": base, "order": order, "rows": len(y), "algorithm": algorithm,
                "variant": variant, "rate": rate, **own, "loss": loss(make, X[half:], y[half:]),
            }  # fmt: skip


def untuned(data: str, base: str, order: int) -> Iterator[dict[str, Any]]:
    """A line for each algorithm, mode and prefix rule, all else at its default; on the same half."""
    X, y = stream(data, order)
    half = len(y) // 2
    for (algorithm, cls), prefix, mode in product(ALGORITHMS.items(), PREFIXES, ("greedy", "offset")):
        make = partial(cls, DEFAULTS[base], online.N_LEARNERS, mode=mode, prefix=prefix)
        yield {
            "data": data, "base": base, "order": order, "rows": len(y), "algorithm": algorithm,
            "variant": f"{mode}, {prefix}", "loss": loss(make, X[half:], y[half:]),
        }  # fmt: skip


def by_cell(lines: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, np.ndarray]]:
    """(algorithm, base, data) -> variant -> losses, by order."""
    cells: dict[tuple[str, str, str], dict[str, np.ndarray]] = {}
    for line in sorted(lines, key=lambda line: line["order"]):
        cell = cells.setdefault((line["algorithm"], line["base"], line["data"]), {})
        cell[line["variant"]] = np.append(cell.get(line["variant"], []), line["loss"])
    return cells


def shown(ratios: np.ndarray) -> list[str]:
    """Of ratios by data set and order: their mean over data sets, averaged over orders, with the least and the
    greatest order; and on how many data sets they are below 1."""
    lower = int((ratios.mean(axis=1) < 1).sum())
    return [percents(np.exp(np.log(ratios).mean(axis=0))), f"{lower} of {len(ratios)}"]


def percents(ratios: np.ndarray) -> str:
    """The mean over orders, with the least and the greatest."""
    low, mean, high = (f"{100 * (ratio - 1):+.1f}" for ratio in (ratios.min(), ratios.mean(), ratios.max()))
    return f"{mean} % ({low}, {high})"


def report(lines: list[dict[str, Any]]) -> str:
    """By how much losses are higher than those of greedy mode: in the mean over data sets, and by data set."""
    cells = by_cell(lines)
    names = list(dict.fromkeys(name for _, _, name in cells))
    ratios = {key: {own: cell[own] / cell["greedy"] for own in VARIANTS[1:]} for key, cell in cells.items()}
    summary, single, plain = [], [], []
    for algorithm, base in product(ALGORITHMS, online.BASES):
        row = [algorithm, base]
        for variant in VARIANTS[1:]:
            row += shown(np.array([ratios[algorithm, base, name][variant] for name in names]))
        summary.append(row)
    for algorithm, base in product(ALGORITHMS, online.BASES):
        row = [algorithm, base]
        for prefix in PREFIXES:
            own = [cells[algorithm, base, name] for name in names]
            row += shown(np.array([cell[f"offset, {prefix}"] / cell[f"greedy, {prefix}"] for cell in own]))
        plain.append(row)
    for base, name in product(online.BASES, names):
        row = [base, name]
        for algorithm in ALGORITHMS:
            key = algorithm, base, name
            row.append(f"{cells[key]['greedy'].mean():.4f}")
            row += [f"{100 * (ratios[key][variant].mean() - 1):+.1f} %" for variant in VARIANTS[1:]]
        single.append(row)
    heading = "algorithm | base | offset, its default alpha | lower on | offset, alpha chosen | lower on"
    parts = "base | data | 1: greedy | offset | alpha chosen | 2: greedy | offset | alpha chosen"
    usual = 'algorithm | base | prefix="best" | lower on | prefix="all" | lower on'
    tables = (markdown(heading, summary), markdown(usual, plain), markdown(parts, single))
    return "\n\n".join("\n".join(table) for table in tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="a file of lines, continued where it has some")
    parser.add_argument("--report", type=Path, help="print the tables of such a file")
    options = parser.parse_args()
    if options.report:
        print(report([json.loads(line) for line in options.report.read_text("utf-8").splitlines()]))
        return
    text = options.output.read_text("utf-8") if options.output.exists() else ""
    done = {tuple(line[key] for key in KEYS) for line in map(json.loads, text.splitlines())}
    for order, data, base in product(range(ORDERS), online.PAPER, online.BASES):
        for make, variant in ((measure, VARIANTS[0]), (untuned, f"greedy, {PREFIXES[0]}")):
            if (data, base, order, variant) not in done:
                lines = [json.dumps(line) for line in make(data, base, order)]
                with options.output.open("a", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
