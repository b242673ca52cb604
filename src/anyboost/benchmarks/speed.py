"""anyboost against its peers on the same work: times as ratios, with memory and training loss beside them.

Every measurement runs in a process of its own, so that peak memory is its own, and libraries take turns, so
that a busy machine is busy for all of them. A peer that is not installed is left out, and said to be.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from anyboost.benchmarks.peers import PEERS, Work, training_loss


class Task(NamedTuple):
    """Work on a table of normal features, or on classes drawn from them."""

    work: Work
    rows: int
    columns: int


FULL = {
    "stumps, squared": Task(Work("squared", 2, 200), 500_000, 50),
    "stumps, absolute": Task(Work("absolute", 2, 200), 500_000, 50),
    "31 leaves, squared": Task(Work("squared", 31, 100), 500_000, 50),
    "26 classes, 31 leaves": Task(Work("softmax", 31, 30, classes=26), 16_000, 16),
}
QUICK = {
    name: task._replace(rows=min(task.rows, 5000), work=task.work._replace(rounds=5))
    for name, task in FULL.items()
}


def data(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """The same table for everyone."""
    random = np.random.default_rng(0)
    X = random.normal(size=(task.rows, task.columns)).astype(np.float32)
    signal = np.sin(X[:, 0]) + X[:, 1] ** 2 + random.normal(size=task.rows)
    if task.work.classes:
        centers = random.normal(size=(task.work.classes, task.columns))
        return X, np.argmax(X @ centers.T + random.normal(size=(task.rows, task.work.classes)), axis=1)
    return X, signal


def measure(peer: str, task: Task) -> dict[str, float]:
    """Seconds to fit and to predict, the memory that fitting added at its peak, and the training loss."""
    X, y = data(task)
    fit = PEERS[peer]
    small = task._replace(rows=2000, work=task.work._replace(rounds=2))
    fit(X[:2000], y[:2000], small.work)  # load, compile, start threads: paid once by a user, not by the work
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = perf_counter()
    model = fit(X, y, task.work)
    fitted = perf_counter()
    scores = np.asarray(model.predict(X))
    done = perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "fit": fitted - began,
        "predict": done - fitted,
        "memory": (peak - before) / 1024,
        "loss": training_loss(scores, y, task.work),
    }


def _in_own_process(peer: str, name: str, quick: bool, threads: int) -> dict[str, float] | None:
    arguments = [
        sys.executable,
        "-m",
        "anyboost.benchmarks.speed",
        "--one",
        peer,
        name,
        *(["--quick"] * quick),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def race(quick: bool = False, repeats: int = 5, say: Any = print) -> dict[str, Any]:
    """Every task by every peer, in turns."""
    tasks = QUICK if quick else FULL
    results: dict[str, Any] = {"machine": machine(), "tasks": {}}
    for name, task in tasks.items():
        rows: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
        for repeat in range(repeats):
            for peer in [peer for peer, found in rows.items() if repeat == 0 or found]:
                one = _in_own_process(peer, name, quick, task.work.threads)
                if one is not None:
                    rows[peer].append(one)
        results["tasks"][name] = {
            peer: summary(found, rows["anyboost"]) for peer, found in rows.items() if found
        }
        for line in table(name, results["tasks"][name]):
            say(line)
        for peer in (peer for peer, found in rows.items() if not found):
            say(f"| {name} | {peer} | not installed, or failed | | | |")
    return results


def summary(found: list[dict[str, float]], ours: list[dict[str, float]]) -> dict[str, Any]:
    """Medians, and ratios to ours repeat by repeat: above 1 means that we are ahead."""
    answer: dict[str, Any] = {key: float(np.median([row[key] for row in found])) for key in found[0]}
    for key in ("fit", "predict"):
        ratios = [a[key] / b[key] for a, b in zip(found, ours, strict=False)]
        answer[f"{key}_ratio"] = [float(q) for q in np.quantile(ratios, [0.0, 0.5, 1.0])]
    return answer


def table(name: str, peers: dict[str, Any]) -> list[str]:
    """Rows of a Markdown table."""
    return [
        f"| {name} | {peer} | {row['fit']:.2f} s | {row['fit_ratio'][1]:.2f} ({row['fit_ratio'][0]:.2f} to "
        f"{row['fit_ratio'][2]:.2f}) | {row['predict_ratio'][1]:.2f} | {row['memory']:.0f} MiB | {row['loss']:.4f} |"
        for peer, row in peers.items()
    ]


HEAD = (
    "| work | library | fit | its time / ours (range) | predict, its time / ours | memory | training loss |",
    "|---|---|---|---|---|---|---|",
)


def machine() -> dict[str, Any]:
    """What this ran on, with what."""
    versions = {}
    for package in ("anyboost", "numpy", "numba", "lightgbm", "xgboost", "scikit-learn", "catboost"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count(), "versions": versions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows, five rounds")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--one", nargs=2, metavar=("PEER", "TASK"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        peer, name = options.one
        print(json.dumps(measure(peer, (QUICK if options.quick else FULL)[name])))
        return
    for line in HEAD:
        print(line)
    results = race(options.quick, options.repeats)
    if options.output:
        options.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
