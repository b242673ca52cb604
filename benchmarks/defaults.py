"""How the estimators' automatic dials were chosen: `python -m benchmarks.defaults`.

Three-fold cross-validation on at most 6,000 rows of each set's training part; the other rows, and every test part,
are left alone. For each set and loss: the validation loss after 100 rounds of 31 leaves at rate 0.1, with mean and
exact leaf values, several steps and several memories. With `--curvature`, the same of the estimators with and without
curvature. Needs ANYBOOST_DATA.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost import datasets
from anyboost.descent import Residual
from anyboost.estimators.parameters import mean_step
from anyboost.steps import Constant, LineSearch
from anyboost.weak import Tree
from benchmarks import PLAIN_DIALS

ROWS = 6000
FOLDS = 3
RATE = 0.1
REGRESSION = ("cal_housing", "casp", "abalone", "ames", "wine_quality", "diamonds")
TASKS = (
    [(name, loss) for loss in ("squared", "absolute", "quantile:0.9") for name in REGRESSION]
    + [("abalone", "poisson"), ("wine_quality", "poisson"), ("ames", "gamma"), ("diamonds", "gamma")]
    + [(name, "multi_quantile:0.05,0.5,0.95") for name in ("cal_housing", "casp", "abalone")]
    + [(name, loss) for loss in ("logistic", "hinge") for name in ("adult", "bank", "elec2")]
    + [(name, "softmax") for name in ("satimage", "pendigits", "letter")]
    + [("mq2008", "rank_logistic"), ("mq2008", "rank_hinge")]
)
SMOOTH = ("logistic", "softmax")


class Setting(NamedTuple):
    """One choice of the dials; `step` is "rate", "scaled" (by the loss's curvature) or "search"."""

    leaf: str
    memory: float
    step: str = "rate"

    def __str__(self) -> str:
        return f"{self.leaf}, {self.step}, {self.memory:g}"

    def descent(self, loss: str, outputs: int) -> Residual:
        if self.step == "search":
            return Residual(LineSearch(RATE), memory=self.memory)
        scaled = self.step == "scaled"
        step = mean_step(ab.losses.get(loss), RATE, outputs) if scaled else Constant(RATE)
        return Residual(step, memory=self.memory)


EXACT = [Setting("exact", memory) for memory in (0.0, 0.5, 0.85)]
PLAIN = [Setting("mean", 0.0), *EXACT]
SCALED = [Setting("mean", 0.0), Setting("mean", 0.0, "scaled"), Setting("mean", 0.5, "scaled"), *EXACT[:2]]
COUPLED = [Setting("mean", memory, step) for step in ("rate", "search") for memory in (0.0, 0.5)]


def settings(loss: str) -> list[Setting]:
    """What is compared for a loss; exact leaf steps of losses that couple rows would take too long."""
    if loss.startswith("rank"):
        return COUPLED
    return SCALED if loss in SMOOTH else PLAIN


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
    elif loss not in ("softmax", "poisson", "gamma"):
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
    outputs = ab.losses.get(loss).outputs(part["y"].astype(int))
    curves = []
    for held_out in folds(part):
        run = ab.boost(
            **{name: values[~held_out] for name, values in part.items()},
            loss=loss,
            learner=Tree(max_leaves=31, leaf=setting.leaf),
            descent=setting.descent(loss, outputs),
            rounds=rounds,
            valid={name: values[held_out] for name, values in part.items()},
        )
        assert run.watch is not None
        curves.append(run.watch.losses)
    return np.mean(curves, axis=0).tolist()


CURVED = (
    [(name, "logistic") for name in ("adult", "bank", "elec2")]
    + [(name, "softmax") for name in ("satimage", "pendigits", "letter")]
    + [(name, "huber") for name in ("cal_housing", "ames", "casp")]
    + [(name, "poisson") for name in ("abalone", "wine_quality")]
    + [(name, "gamma") for name in ("ames", "diamonds")]
    + [("mq2008", "rank_logistic")]
)
DIALS: dict[str, dict[str, Any]] = {
    "flat": {"curvature": False},
    "curvature": {"curvature": True},
    "curvature, memory 0.5": {"curvature": True, "memory": 0.5},
}


def with_curvature(part: dict[str, Any], loss: str, dials: dict[str, Any], rounds: int) -> float:
    """The mean validation loss over the folds of an estimator with these dials."""
    makers: dict[str, Any] = {
        "logistic": ab.BoostingClassifier,
        "softmax": ab.BoostingClassifier,
        "rank_logistic": ab.BoostingRanker,
    }
    found = []
    for held_out in folds(part):
        X, y = part["X"], part["y"].astype(int) if loss == "softmax" else part["y"]
        queries = {"qid": part["groups"][~held_out]} if "groups" in part else {}
        model = makers.get(loss, ab.BoostingRegressor)(
            loss=loss, **PLAIN_DIALS | {"max_iter": rounds} | dials
        )
        model.fit(X[~held_out], y[~held_out], **queries)
        targets = np.searchsorted(model.classes_, y[held_out]) if loss == "softmax" else y[held_out]
        groups = part["groups"][held_out] if "groups" in part else None
        functional = model.loss_.on(targets, ab.space.Space(X[held_out]), groups)
        found.append(functional.value(model.ensemble_.predict(X[held_out])))
    return float(np.mean(found))


def compare_curvature(rounds: int, only: str) -> None:
    print("| loss | set | " + " | ".join(DIALS) + " |")
    print("|---" * (2 + len(DIALS)) + "|")
    for name, loss in CURVED:
        if only in loss:
            part = training_part(name, loss)
            values = [with_curvature(part, loss, dials, rounds) for dials in DIALS.values()]
            print(f"| {loss} | {name} | " + " | ".join(f"{value:.4f}" for value in values) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", default="", help="losses whose name has this in it")
    parser.add_argument("--output", type=Path, help="a JSON file for the curves")
    parser.add_argument("--curvature", action="store_true", help="estimators with and without curvature")
    options = parser.parse_args()
    if options.curvature:
        compare_curvature(options.rounds, options.only)
        return
    results: dict[str, dict[str, list[float]]] = {}
    before = None
    for name, loss in TASKS:
        if options.only not in loss:
            continue
        if loss != before:
            print(f"\n| {loss} | " + " | ".join(map(str, settings(loss))) + " |")
            print("|---" * (1 + len(settings(loss))) + "|")
            before = loss
        part = training_part(name, loss)
        curves = {str(s): validation_loss(part, loss, s, options.rounds) for s in settings(loss)}
        print(f"| {name} | " + " | ".join(f"{curve[-1]:.4f}" for curve in curves.values()) + " |", flush=True)
        results[f"{name}, {loss}"] = curves
        if options.output:
            options.output.write_text(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
