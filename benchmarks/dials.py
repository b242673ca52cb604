"""What each automatic dial of the estimators is worth: one of them changed at a time, against all of them as they are.

    ANYBOOST_DATA=... python -m benchmarks.dials --out dials.jsonl
    python -m benchmarks.dials --report dials.jsonl

Rows of the tuning sets alone, held out of their training parts (docs/accuracy.md): no test part is looked at. The file
goes on where it stopped, a line a fit.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import accuracy, accuracy_libraries, accuracy_sets, changes
from benchmarks.accuracy_libraries import CLASSES
from benchmarks.changes import AS_IT_IS, Line

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
    done = changes.done(out)
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
            changes.note(out, Line(*place, family, change, loss, fitted.cpu_seconds, fitted.rounds or 0))


def _rate(problem: Any, fit: str) -> float:
    work = accuracy_libraries.Work(fit, tuple(problem.categorical), 1, problem.seed, problem.classes)
    model = accuracy_libraries.LIBRARIES["anyboost"].make(work, {"max_iter": 10**6, "early_stopping": True})
    model.set_params(callbacks=[lambda _step, _run: True])  # the dials are settled before the first round
    return float(model.fit(problem.train.X, problem.train.y).dials_["learning_rate"])


def main() -> None:
    sets = "adult,bank,elec2,satimage,pendigits,covtype,cal_housing,casp,ames,abalone"
    given = changes.options(__doc__, "dials.jsonl", sets).parse_args()
    if not given.report and given.quick:
        study(given.out, ("abalone",), 1, 300)
    elif not given.report:
        study(given.out, tuple(given.sets.split(",")), given.seeds, given.rows)
    lines = changes.read(given.report or given.out)
    print(changes.report(lines, sorted({line.family for line in lines}), CHANGES))


if __name__ == "__main__":
    main()
