"""anyboost against its peers on the same work: times as ratios, with memory and training loss beside them.

Every measurement runs in a process of its own, so that peak memory is its own, and libraries take turns, so
that a busy machine is busy for all of them. A peer that is not installed is left out, and said to be.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anyboost.machine import machine
from benchmarks.peers import PEERS, Work
from benchmarks.processes import in_own_process

COMMAND = "anyboost bench speed"


class TableWork(NamedTuple):
    """Work on a table: of normal features, or a data set by name."""

    work: Work
    rows: int
    columns: int
    data: str = ""


FULL = {
    "stumps, squared": TableWork(Work("squared", 2, 200), 500_000, 50),
    "stumps, absolute": TableWork(Work("absolute", 2, 200), 500_000, 50),
    "31 leaves, squared": TableWork(Work("squared", 31, 100), 500_000, 50),
    "letter, 26 classes, 31 leaves": TableWork(Work("softmax", 31, 50, classes=26), 16_000, 16, "letter"),
}
QUICK = {
    name: task._replace(rows=min(task.rows, 5000), work=task.work._replace(rounds=5))
    for name, task in FULL.items()
}
# What time may grow with: rows, features and classes, each from a small to a large table.
SCALES = {
    "rows": (
        TableWork(Work("squared", 31, 20), 100_000, 20),
        TableWork(Work("squared", 31, 20), 2_000_000, 20),
    ),
    "features": (
        TableWork(Work("squared", 31, 20), 50_000, 10),
        TableWork(Work("squared", 31, 20), 50_000, 500),
    ),
    "classes": (
        TableWork(Work("softmax", 31, 10, classes=2), 20_000, 16),
        TableWork(Work("softmax", 31, 10, classes=100), 20_000, 16),
    ),
}
QUICK_SCALES = {
    "rows": (TableWork(Work("squared", 7, 2), 2_000, 4), TableWork(Work("squared", 7, 2), 8_000, 4)),
}


def data(task: TableWork) -> tuple[np.ndarray, np.ndarray]:
    """The same table for everyone; the named set where ANYBOOST_DATA has it, else one of its shape."""
    if task.data and os.environ.get("ANYBOOST_DATA"):
        from anyboost import datasets

        found = datasets.load(task.data)
        return found.X[: task.rows].astype(np.float32), np.asarray(found.y)[: task.rows].astype(np.int64)
    random = np.random.default_rng(0)
    X = random.normal(size=(task.rows, task.columns)).astype(np.float32)
    if task.work.classes:
        centers = random.normal(size=(task.work.classes, task.columns))
        return X, np.argmax(X @ centers.T + random.normal(size=(task.rows, task.work.classes)), axis=1)
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + random.normal(size=task.rows)


def race(quick: bool = False, repeats: int = 5, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Every task by every peer, in turns; then how our own time grows, and what a first fit costs."""
    results: dict[str, Any] = {"machine": machine(), "command": COMMAND, "repeats": repeats, "tasks": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, task in (QUICK if quick else FULL).items():
            rows = _turns(task, Path(folder), repeats)
            ours = rows["anyboost"]
            results["tasks"][name] = {
                peer: summary(found, ours) if found else None for peer, found in rows.items()
            }
            for line in table(name, results["tasks"][name]):
                say(line)
        results["growth"] = {}
        for name, (small, large) in (QUICK_SCALES if quick else SCALES).items():
            results["growth"][name] = _growth(small, large, Path(folder), min(repeats, 3))
            say(growth_line(name, results["growth"][name]))
    results["rounds"] = _rounds_alone(quick, repeats, say)
    results["first_fit"] = first_fit()
    say(first_fit_line(results["first_fit"]))
    return results


def _rounds_alone(quick: bool, repeats: int, say: Callable[[str], Any]) -> dict[str, Any]:
    from benchmarks import rounds

    try:
        import lightgbm  # noqa: F401
    except ImportError:
        say("rounds alone are raced against lightgbm, which is not installed")
        return {}
    return rounds.race(quick, repeats, say)


def _turns(task: TableWork, folder: Path, repeats: int) -> dict[str, list[dict[str, float]]]:
    X, y = data(task)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    rows: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
    for repeat in range(repeats):
        for peer in [peer for peer, found in rows.items() if repeat == 0 or found]:
            one = _one(peer, task, folder)
            if one is not None:
                rows[peer].append(one)
    return rows


def _one(peer: str, task: TableWork, folder: Path) -> dict[str, float] | None:
    arguments = (peer, str(folder), json.dumps(task.work))
    return in_own_process("one", *arguments, OMP_NUM_THREADS=str(task.work.threads))


def _growth(small: TableWork, large: TableWork, folder: Path, repeats: int) -> dict[str, float]:
    """How much longer the large table takes, and how much larger it is."""
    times = []
    for task in (small, large):
        X, y = data(task)
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        found = [_one("anyboost", task, folder) for _ in range(repeats)]
        times.append(float(np.median([one["fit"] for one in found if one])))
    size = (
        max(1, large.work.classes)
        * large.rows
        * large.columns
        / (max(1, small.work.classes) * small.rows * small.columns)
    )
    return {"small": times[0], "large": times[1], "size": size, "time": times[1] / times[0]}


def first_fit() -> dict[str, float]:
    """Seconds from a new process to the end of a small first fit, kernels compiled before and not."""
    code = (
        "import numpy as np, anyboost as ab; X = np.random.default_rng(0).normal(size=(200, 3));"
        "ab.boost(X, X[:, 0], 'absolute', 'stump', rounds=10)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        times = []
        for _ in range(4):
            began = os.times().elapsed
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
            times.append(os.times().elapsed - began)
    return {"cold": times[0], "warm": float(np.median(times[1:]))}


def summary(found: list[dict[str, float]], ours: list[dict[str, float]]) -> dict[str, Any]:
    """Medians, and ratios to ours repeat by repeat: above 1 means that we are ahead."""
    answer: dict[str, Any] = {key: float(np.median([row[key] for row in found])) for key in found[0]}
    for key in ("fit", "bin", "predict", "one_row"):
        if key in found[0]:
            ratios = [a[key] / b[key] for a, b in zip(found, ours, strict=False)]
            answer[f"{key}_ratio"] = [float(q) for q in np.quantile(ratios, [0.0, 0.5, 1.0])]
    return answer


HEAD = (
    "| work | library | fit | its time / ours (range) | binning | predict all | one row | memory | training loss |",
    "|---|---|---|---|---|---|---|---|---|",
)


def table(name: str, peers: dict[str, Any]) -> list[str]:
    """Rows of a Markdown table: seconds and memory are the library's, ratios its time over ours."""
    lines = []
    for peer, row in peers.items():
        if row is None:
            lines.append(f"| {name} | {peer} | not installed, or failed | | | | | | |")
            continue
        low, middle, high = row["fit_ratio"]
        cells = [
            f"{row['fit']:.2f} s",
            f"{middle:.2f} ({low:.2f} to {high:.2f})",
            *(_ratio(row.get(f"{key}_ratio")) for key in ("bin", "predict", "one_row")),
            f"{row['memory']:.0f} MiB",
            f"{row['loss']:.4f}",
        ]
        lines.append(f"| {name} | {peer} | {' | '.join(cells)} |")
    return lines


def _ratio(ratio: list[float] | None) -> str:
    return "" if ratio is None else f"{ratio[1]:.2f}"


def growth_line(name: str, growth: dict[str, float]) -> str:
    return (
        f"{name}: {growth['size']:.0f} times as large takes {growth['time']:.1f} times as long "
        f"({growth['small']:.2f} s to {growth['large']:.2f} s)"
    )


def first_fit_line(first: dict[str, float]) -> str:
    return (
        f"new process to the end of a small first fit: {first['warm']:.2f} s; with nothing compiled yet "
        f"{first['cold']:.1f} s"
    )


def page(results: dict[str, Any]) -> str:
    """The results as a Markdown page."""
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        "# Speed against other libraries",
        "",
        f"`{results['command']}` on {about['cpu']}, {about['cores']} cores, Python {about['python']}.",
        f"{versions}.",
        "",
        f"Libraries took turns, {results['repeats']} times, each time in a new process, with the same table, bins,",
        "leaves, rounds and threads. Ratios are its time over ours in the same turn (median and range): above 1 we",
        "are ahead. `fit` includes binning. Memory is what the fit added at its peak. A run that learns less is not",
        "faster: compare training losses. What the engine does, and where its limits are: [engine.md](engine.md).",
        "Other races: [accuracy](accuracy.md), [streams](streams-benchmark.md).",
        "",
        *HEAD,
    ]
    for name, peers in results["tasks"].items():
        lines += table(name, peers)
    if results.get("rounds"):
        from benchmarks import rounds

        lines += ["", "## Rounds alone", ""]
        lines += ["The bins are given to both, and we record lightly unless said.", "", *rounds.HEAD]
        lines += [rounds.line_of(name, row) for name, row in results["rounds"].items()]
    lines += ["", "## How our time grows", ""]
    lines += [f"- {growth_line(name, growth)}" for name, growth in results["growth"].items()]
    lines += ["", "## A first fit", "", f"- {first_fit_line(results['first_fit'])}", ""]
    return "\n".join(lines)
