"""What each automatic dial of the estimators is worth: one of them changed at a time, against all of them as they are.

    ANYBOOST_DATA=... python -m benchmarks.dials --out dials.jsonl
    python -m benchmarks.dials --report dials.jsonl

Rows of the tuning sets alone, held out of their training parts (docs/accuracy.md): no test part is looked at. The file
goes on where it stopped, a line a fit.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import accuracy, accuracy_libraries, accuracy_sets
from benchmarks.accuracy_libraries import CLASSES

AS_IT_IS = "as it is"
CHANGES: dict[str, dict[str, Any]] = {
    AS_IT_IS: {},
    "no refit": {"early_stopping": True, "validation_fraction": 0.2},
    "half the rate": {"times": 0.5},
    "twice the rate": {"times": 2.0},
    "leaves of 5": {"min_leaf_weight": 5.0},
    "leaves of 20": {"min_leaf_weight": 20.0},
    "l2 0": {"l2_regularization": 0.0},
    "l2 10": {"l2_regularization": 10.0},
    "all columns": {"max_features": 1.0},
    "all rows": {"subsample": 1.0},
    "80 % of rows": {"subsample": 0.8},
    "memory 0": {"memory": 0.0},
    "memory 0.5": {"memory": 0.5},
    "first order": {"curvature": False},
    "all thresholds": {"random_thresholds": False},
    "random thresholds": {"random_thresholds": True},
    "15 leaves": {"max_leaf_nodes": 15},
    "63 leaves": {"max_leaf_nodes": 63},
}


class Line(NamedTuple):
    """A fit, and what came of it."""

    set: str
    seed: int
    fit: str
    family: str
    change: str
    loss: float
    seconds: float
    rounds: int


def _fits(sets: tuple[str, ...], seeds: int, rows: int) -> Iterator[tuple[Any, str, str]]:
    for name in sets:
        for seed in range(seeds):
            problem = accuracy_sets.problem(name, seed, rows, held_out=True)
            for fit in accuracy_libraries.fits_of(problem.task):
                several = "several classes" if problem.classes > 2 else "two classes"
                yield problem, fit, several if fit == CLASSES else fit


def _asked(change: str, problem: Any, fit: str, rates: dict[tuple[Any, ...], float]) -> dict[str, Any]:
    """The parameters of a change; a multiple of the rate is one of the rate as it is."""
    asked = dict(CHANGES[change])
    if "times" in asked:
        asked["learning_rate"] = asked.pop("times") * rates[problem.name, problem.seed, fit]
    return asked


def study(out: Path, sets: tuple[str, ...], seeds: int, rows: int) -> None:
    """Fit every change on every set, but for those that the file has."""
    done = {(*line[:3], line.change) for line in read(out)}
    for problem, fit, family in _fits(sets, seeds, rows):
        place = (problem.name, problem.seed, fit)
        rates = {place: _rate(problem, fit)}
        for change in CHANGES:
            if (*place, change) in done or (fit != CLASSES and change == "first order"):
                continue
            fitted = accuracy_libraries.learn(
                "anyboost", problem, fit, 1, _asked(change, problem, fit, rates)
            )
            loss = next(iter(accuracy.losses(fit, problem.test, fitted.predicted).values()))
            line = Line(*place, family, change, loss, fitted.cpu_seconds, fitted.rounds or 0)
            with out.open("a") as file:
                file.write(json.dumps(line._asdict()) + "\n")
            print(f"{problem.name} {problem.seed} {family}, {change}: {loss:.5g}", flush=True)


def _rate(problem: Any, fit: str) -> float:
    work = accuracy_libraries.Work(fit, tuple(problem.categorical), 1, problem.seed, problem.classes)
    model = accuracy_libraries.LIBRARIES["anyboost"].make(work, {"max_iter": 10**6, "early_stopping": True})
    model.set_params(callbacks=[lambda _step, _run: True])  # the dials are settled before the first round
    return float(model.fit(problem.train.X, problem.train.y).dials_["learning_rate"])


def read(path: Path) -> list[Line]:
    if not path.exists():
        return []
    return [Line(**json.loads(text)) for text in path.read_text().splitlines()]


def report(lines: list[Line]) -> str:
    """For each change and kind of fit: loss and time over those of the dials as they are, means over sets."""
    at = {(*line[:3], line.change): line for line in lines}
    families = sorted({line.family for line in lines})
    rows = ["| | " + " | ".join(families) + " |", "|---" * (len(families) + 1) + "|"]
    for change in CHANGES:
        cells = [_cell(at, family, change) for family in families]
        rows.append(f"| {change} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(at: dict[Any, Line], family: str, change: str) -> str:
    logs: dict[str, list[tuple[float, float]]] = {}
    for line in at.values():
        base = at.get((*line[:3], AS_IT_IS))
        if (line.family, line.change) == (family, change) and base is not None:
            ratio = math.log(line.loss / base.loss), math.log(line.seconds / base.seconds)
            logs.setdefault(line.set, []).append(ratio)
    if not logs:
        return ""
    means = [tuple(sum(part) / len(found) for part in zip(*found, strict=True)) for found in logs.values()]
    loss, time = (math.exp(sum(part) / len(means)) for part in zip(*means, strict=True))
    return f"{loss:.3f}, time {time:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("dials.jsonl"))
    parser.add_argument("--report", type=Path)
    parser.add_argument(
        "--sets", default="adult,bank,elec2,satimage,pendigits,covtype,cal_housing,casp,ames,abalone"
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--quick", action="store_true", help="one set, one seed, few rows")
    given = parser.parse_args()
    if given.report:
        print(report(read(given.report)))
        return
    if given.quick:
        study(given.out, ("abalone",), 1, 300)
    else:
        study(given.out, tuple(given.sets.split(",")), given.seeds, given.rows)
    print(report(read(given.out)))


if __name__ == "__main__":
    main()
