"""How the estimators' defaults were chosen: `python -m anyboost.benchmarks.defaults`.

Three-fold cross-validation on at most 6,000 rows of each set's training part; the other rows, and every test part,
are left alone. For each set and loss, the validation loss after 100 rounds of 31 leaves and step 0.1, for leaf
values "mean" and "exact" and several memories, relative to the first setting. Needs ANYBOOST_DATA.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost import datasets
from anyboost.descent import Residual
from anyboost.steps import LineSearch
from anyboost.weak import Tree

ROWS = 6000
FOLDS = 3
REGRESSION = ("cal_housing", "casp", "abalone", "ames", "wine_quality", "diamonds")
TASKS = {
    **{
        f"{name}, {loss}": (name, loss)
        for name in REGRESSION
        for loss in ("squared", "absolute", "quantile:0.9")
    },
    **{
        f"{name}, {loss}": (name, loss)
        for name in ("adult", "bank", "elec2")
        for loss in ("logistic", "hinge")
    },
    **{
        f"{name}, {loss}": (name, loss)
        for name in ("satimage", "pendigits", "letter")
        for loss in ("softmax",)
    },
    **{f"mq2008, {loss}": ("mq2008", loss) for loss in ("rank_logistic", "rank_hinge")},
}


class Setting(NamedTuple):
    """One choice of the dials; `search` is a line search a round instead of a constant step."""

    leaf: str
    memory: float
    search: bool = False

    def __str__(self) -> str:
        return f"{self.leaf}{' search' if self.search else ''} {self.memory:g}"


ROWWISE = [Setting(leaf, memory) for leaf in ("mean", "exact") for memory in (0.0, 0.5, 0.7, 0.85)]
COUPLED = [Setting("mean", memory, search) for search in (False, True) for memory in (0.0, 0.5, 0.85)]


def training_part(name: str, loss: str) -> dict[str, Any]:
    """At most ROWS rows that no reported figure is computed on; targets of regressions have deviation one."""
    data = datasets.load(name)
    if data.qid is not None:  # whole queries: the training parts of fold 1
        assert data.split is not None
        kept = np.flatnonzero(data.split <= 3)
        return {"X": data.X[kept], "y": data.y[kept], "groups": data.qid[kept]}
    allowed = np.arange(len(data.y)) if data.split is None else np.flatnonzero(data.split == 0)
    order = np.random.default_rng(0).permutation(allowed)
    kept = order[: min(ROWS, int(0.8 * len(order)))]
    X, y = data.X[kept], data.y[kept]
    if loss in ("logistic", "hinge"):
        y = np.where(y > 0, 1.0, -1.0)
    elif loss != "softmax":
        y = (y - y.mean()) / y.std()
    return {"X": X, "y": y}


def folds(part: dict[str, Any]) -> list[np.ndarray]:
    """A fold for each row; the rows of a query share one."""
    random = np.random.default_rng(1)
    if "groups" in part:
        queries = np.unique(part["groups"])
        fold = dict(zip(queries.tolist(), random.permutation(len(queries)) % FOLDS, strict=True))
        number = np.array([fold[query] for query in part["groups"].tolist()])
    else:
        number = random.permutation(len(part["y"])) % FOLDS
    return [number == k for k in range(FOLDS)]


def validation_loss(part: dict[str, Any], loss: str, setting: Setting, rounds: int) -> list[float]:
    """The mean validation loss over the folds, at the start and after each round."""
    step = LineSearch(0.1) if setting.search else 0.1
    curves = []
    for held_out in folds(part):
        run = ab.boost(
            **{name: values[~held_out] for name, values in part.items()},
            loss=loss,
            learner=Tree(max_leaves=31, leaf=setting.leaf),
            descent=Residual(step, memory=setting.memory),
            rounds=rounds,
            valid={name: values[held_out] for name, values in part.items()},
        )
        assert run.watch is not None
        curves.append(run.watch.losses)
    return np.mean(curves, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", help="tasks whose name has this in it")
    parser.add_argument("--output", type=Path, help="a JSON file for the curves")
    options = parser.parse_args()
    results: dict[str, dict[str, list[float]]] = {}
    for task, (name, loss) in TASKS.items():
        if options.only and options.only not in task:
            continue
        part = training_part(name, loss)
        results[task] = {}
        for setting in COUPLED if "groups" in part else ROWWISE:
            curve = validation_loss(part, loss, setting, options.rounds)
            results[task][str(setting)] = curve
            first = next(iter(results[task].values()))[-1]
            print(
                f"{task:32s} {setting!s:18s} {curve[-1]:.5f} ({curve[-1] / first - 1:+.2%}), "
                f"lowest {min(curve):.5f} in round {int(np.argmin(curve))}",
                flush=True,
            )
        if options.output:
            options.output.write_text(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
