"""Steps a second of mirror averaging: `anyboost bench combine`.

Fifty experts against the same algorithm in NumPy, once as it is written down, with every theta kept and (12) taken
over all of them, and once with running sums; against River's EWA; and then stumps by the hundred thousand on the
stream of cal_housing (from ANYBOOST_DATA; a generated table where that is not set), and by the million.
"""

from functools import partial
from typing import Any

import numpy as np

from anyboost import datasets
from anyboost.machine import machine
from anyboost.mirror import MirrorAverager, StumpAverager
from benchmarks.timing import median_seconds, seconds

EXPERTS = 50
HEAD = ("| work | by | rows | steps a second | ours / its |", "|---|---|---|---|---|")


def keeps_history(H: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(11) and (12) in NumPy, every theta kept; predictions before each row."""
    beta = 1.0 / np.sqrt(np.log(H.shape[1]))
    zeta, scores = np.zeros(H.shape[1]), np.empty(len(y))
    history = np.empty((len(y) + 1, H.shape[1]))
    history[0] = 1.0 / H.shape[1]
    for i in range(len(y)):
        scores[i] = history[: i + 1].mean(axis=0) @ H[i]
        u = (history[i] @ H[i] - y[i]) * H[i]
        zeta += u * min(1.0, 1.0 / max(np.abs(u).max(), 1e-300))
        weights = np.exp((zeta.min() - zeta) / (beta * np.sqrt(i + 2)))
        history[i + 1] = weights / weights.sum()
    return scores


def running_sums(H: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same with one theta and one sum."""
    beta = 1.0 / np.sqrt(np.log(H.shape[1]))
    zeta, theta = np.zeros(H.shape[1]), np.full(H.shape[1], 1.0 / H.shape[1])
    total, scores = np.zeros(H.shape[1]), np.empty(len(y))
    for i in range(len(y)):
        h = H[i]
        score = theta @ h
        scores[i] = (total @ h + score) / (i + 1)
        u = (score - y[i]) * h
        zeta += u * min(1.0, 1.0 / max(np.abs(u).max(), 1e-300))
        total += theta
        theta = np.exp((zeta.min() - zeta) / (beta * np.sqrt(i + 2)))
        theta /= theta.sum()
    return scores


def ours(H: np.ndarray, y: np.ndarray) -> np.ndarray:
    return MirrorAverager().predict_then_fit(H, y)


def river_ewa(H: np.ndarray, y: np.ndarray) -> np.ndarray:
    from anyboost import losses
    from benchmarks.pool_streams import PoolStream
    from benchmarks.pools import river_ewa as run

    return run(PoolStream([], H, y, np.empty(0, dtype=int), losses.Squared()), 0.05)


def pool(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Fifty forecasts of a random walk, from good to bad."""
    random = np.random.default_rng(0)
    y = np.cumsum(random.normal(size=rows)) / np.sqrt(rows)
    return y[:, None] + random.normal(size=(rows, EXPERTS)) * np.linspace(0.1, 1.0, EXPERTS), y


def housing() -> tuple[str, np.ndarray, np.ndarray]:
    """cal_housing with the four ratios people make of its columns: over 100,000 thresholds."""
    try:
        data = datasets.load("cal_housing")
    except FileNotFoundError:
        random = np.random.default_rng(0)
        X = random.normal(size=(20_000, 6))
        return "generated table", X, np.sin(X[:, 0]) + 0.1 * random.normal(size=len(X))
    rooms, bedrooms, people, homes = data.X[:, 3:7].T
    ratios = np.column_stack([rooms / homes, bedrooms / homes, people / homes, bedrooms / rooms])
    return "cal_housing", np.hstack([data.X, ratios]), (data.y - data.y.mean()) / data.y.std()


def race(quick: bool = False, repeats: int = 5, say: Any = print) -> dict[str, Any]:
    """All of it in one run; speeds are medians of the repeats, taken in turns."""
    results: dict[str, Any] = {"machine": machine(), "work": {}}
    ours(*pool(100))  # compile
    results["work"][f"{EXPERTS} experts"] = fifty(quick, repeats, say)
    name, X, y = housing()
    if quick:
        X, y = X[:2000], y[:2000]
    for schedule in ("doubling", f"known_horizon:{len(y)}", "anytime"):
        found = stumps(X, y, schedule, 1 if quick else repeats)
        results["work"][f"{name}, stumps, {schedule}"] = found
        say(
            f"| {name}, {found['stumps']:,} stumps | {schedule} | {found['rows']:,} "
            f"| {found['steps a second']:,.0f} | |"
        )
    random = np.random.default_rng(0)
    rows = 1000 if quick else 20_000
    X = random.normal(size=(rows, 50))
    found = stumps(X, X[:, 0], "doubling", 1)
    results["work"]["a million stumps"] = found
    say(
        f"| {found['stumps']:,} stumps, {found['MiB']:,.0f} MiB | doubling | {found['rows']:,} "
        f"| {found['steps a second']:,.0f} | |"
    )
    return results


def fifty(quick: bool, repeats: int, say: Any) -> dict[str, Any]:
    """Everyone on the same forecasts; those who slow down with the rows get fewer of them."""
    sizes = {"anyboost": 200_000, "NumPy, keeps its history": 5_000, "NumPy, running sums": 20_000}
    work: dict[str, Any] = dict(zip(sizes, (ours, keeps_history, running_sums), strict=True))
    try:
        import river  # noqa: F401

        sizes["River EWA"], work["River EWA"] = 5_000, river_ewa
    except ImportError:
        say("| 50 experts | River EWA | not installed | | |")
    if quick:
        sizes = {name: rows // 10 for name, rows in sizes.items()}
    H, y = pool(max(sizes.values()))
    small = {name: run(H[:200], y[:200]) for name, run in work.items() if name != "River EWA"}
    for name, scores in small.items():
        assert np.allclose(scores, small["anyboost"], atol=1e-12), f"{name} computes something else"
    found: dict[str, Any] = {}
    turns: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, run in work.items():
            rows = sizes[name]
            turns[name].append(rows / seconds(partial(run, H[:rows], y[:rows])))
    for name, rates in turns.items():
        ratios = [a / b for a, b in zip(turns["anyboost"], rates, strict=True)]
        found[name] = {
            "rows": sizes[name],
            "steps a second": float(np.median(rates)),
            "ratio": [float(q) for q in np.quantile(ratios, [0.0, 0.5, 1.0])],
        }
        low, middle, high = found[name]["ratio"]
        say(
            f"| {EXPERTS} experts | {name} | {sizes[name]:,} | {np.median(rates):,.0f} "
            f"| {middle:.1f} ({low:.1f} to {high:.1f}) |"
        )
    return found


def stumps(X: np.ndarray, y: np.ndarray, schedule: str, repeats: int) -> dict[str, Any]:
    """One pass over the rows."""
    rows = len(y) if schedule != "anytime" else min(len(y), 2000)
    StumpAverager("squared", 5.0, schedule).start(X[:50]).partial_fit(X[:2], y[:2])  # compile
    models = [StumpAverager("squared", 5.0, schedule, label_bound=3.0).start(X) for _ in range(repeats)]
    losses = []

    def once() -> None:
        scores = models.pop().predict_then_fit(X[:rows], y[:rows])
        losses.append(float(np.mean((scores - y[:rows]) ** 2) / 2))

    count, memory = models[0].n_stumps_, models[0].memory_ / 2**20
    took = median_seconds(once, repeats)
    return {
        "stumps": count,
        "rows": rows,
        "steps a second": rows / took,
        "progressive loss": losses[0],
        "MiB": memory,
    }
