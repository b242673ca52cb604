"""How losses of many sets and seeds become one ratio: docs/accuracy.md, "How losses are pooled".

exp( mean over sets of the mean over seeds of the mean over losses of log(ours / theirs) )
"""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_sets import RANKING, REGRESSION, SEVERAL, TWO

US = "anyboost"
TIE = 0.01
DRAWS = 10_000
_LEAST_LOSS = 1e-12
_LEAST_SECONDS = 1e-4
PINBALL = "pinball"
# A line of the tables: the task, and the losses that have equal shares in it.
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "regression": (REGRESSION, ("RMSE", "MAE", PINBALL)),
    "RMSE": (REGRESSION, ("RMSE",)),
    "MAE": (REGRESSION, ("MAE",)),
    "pinball": (REGRESSION, (PINBALL,)),
    "two classes, log loss": (TWO, ("log loss",)),
    "two classes, error": (TWO, ("error",)),
    "several classes, log loss": (SEVERAL, ("log loss",)),
    "several classes, error": (SEVERAL, ("error",)),
    "ranking, 1 - NDCG@10": (RANKING, ("1 - NDCG@10",)),
    "ranking, disagreement": (RANKING, ("disagreement",)),
}

Logs = dict[str, dict[int, float]]  # set -> seed -> logarithm of a ratio


class Pooled(NamedTuple):
    """Our loss over theirs with its interval, on how many sets we win, lose and tie, and our time over theirs."""

    ratio: float
    low: float
    high: float
    wins: int
    losses: int
    ties: int
    time: float


def value(line: dict[str, Any], loss: str) -> float:
    """A loss that has a logarithm, also next to zero: of classes, one more row counts that costs a half."""
    found, rows = line["losses"][loss], line["test_rows"]
    if loss in ("error", "log loss"):
        found = (found * rows + 0.5) / (rows + 1)
    return max(found, _LEAST_LOSS)


def time(line: dict[str, Any]) -> float:
    """Seconds of a fit: on one thread those of the processor, which a busy machine does not stretch."""
    return max(line["cpu_seconds"] if line["threads"] == 1 else line["seconds"], _LEAST_SECONDS)


def log_ratios(lines: list[dict[str, Any]], peer: str, family: str) -> tuple[Logs, Logs]:
    """Of losses and of seconds, ours over theirs, a number a set and seed; fits that both have done alone count."""
    task, shares = FAMILIES[family]
    ours, theirs = (_by_fit(lines, task, library) for library in (US, peer))
    losses: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, seed, loss), line in ours.items():
        share = PINBALL if loss.startswith(PINBALL) else loss
        if share in shares and (other := theirs.get((name, seed, loss))) is not None:
            losses[name, seed][share].append(np.log(value(line, loss) / value(other, loss)))
            seconds[name, seed][share].append(np.log(time(line) / time(other)))
    return _mean_of_shares(losses), _mean_of_shares(seconds)


def _by_fit(
    lines: list[dict[str, Any]], task: str, library: str
) -> dict[tuple[str, int, str], dict[str, Any]]:
    return {
        (line["set"], line["seed"], loss): line
        for line in lines
        if line["library"] == library and line.get("task") == task
        for loss in line.get("losses", ())
    }


def _mean_of_shares(found: dict[tuple[str, int], dict[str, list[float]]]) -> Logs:
    pooled: Logs = defaultdict(dict)
    for (name, seed), shares in found.items():
        pooled[name][seed] = float(np.mean([np.mean(values) for values in shares.values()]))
    return dict(pooled)


def geometric(logs: Logs) -> float:
    """Every set with the same share, every seed of a set too."""
    return float(np.exp(np.mean([np.mean(list(seeds.values())) for seeds in logs.values()])))


def interval(logs: Logs, draws: int = DRAWS, seed: int = 0) -> tuple[float, float]:
    """95 % of the bootstrap: sets are drawn, then seeds within each."""
    random = np.random.default_rng(seed)
    values = [np.array(list(seeds.values())) for seeds in logs.values()]
    # The mean of the seeds of each set, drawn anew for each place that the set is drawn to.
    chosen = random.integers(len(values), size=(draws, len(values)))
    means = np.empty(chosen.shape)
    for place, of_seeds in enumerate(values):
        here = chosen == place
        drawn = random.integers(len(of_seeds), size=(int(here.sum()), len(of_seeds)))
        means[here] = of_seeds[drawn].mean(axis=1)
    low, high = np.quantile(means.mean(axis=1), [0.025, 0.975])
    return float(np.exp(low)), float(np.exp(high))


def pooled(lines: list[dict[str, Any]], peer: str, family: str) -> Pooled | None:
    """All of it for a peer and a line of the tables; None where there is nothing to compare."""
    losses, seconds = log_ratios(lines, peer, family)
    if not losses:
        return None
    ratios = np.exp([np.mean(list(seeds.values())) for seeds in losses.values()])
    wins, lost = int((ratios < 1 - TIE).sum()), int((ratios > 1 + TIE).sum())
    return Pooled(
        geometric(losses), *interval(losses), wins, lost, len(ratios) - wins - lost, geometric(seconds)
    )


def mean_ranks(lines: list[dict[str, Any]]) -> tuple[dict[str, float], int]:
    """Mean ranks of the libraries over sets, by RMSE or log loss, and how many sets; ties share ranks.

    Libraries that have fewer sets than others are left out, and sets that a library left does not have.
    """
    from scipy.stats import rankdata

    logs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for loss in ("RMSE", "log loss"):
            if loss in line.get("losses", ()):
                logs[line["library"]][line["set"]].append(np.log(value(line, loss)))
    most = max((len(found) for found in logs.values()), default=0)
    libraries = [name for name, found in logs.items() if len(found) == most]
    if len(libraries) < 2:
        raise ValueError("ranks need two libraries that have the same sets")
    shared = [name for name in logs[libraries[0]] if all(name in logs[library] for library in libraries)]
    table = np.array([[np.mean(logs[library][name]) for library in libraries] for name in shared])
    ranks = rankdata(table, axis=1).mean(axis=0)
    return dict(zip(libraries, ranks.tolist(), strict=True)), len(shared)


def critical_difference(libraries: int, number: int) -> float:
    """Nemenyi's: mean ranks over that many sets that differ by less may differ by chance, at 5 %."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(0.95, libraries, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(libraries * (libraries + 1) / (6 * number)))
