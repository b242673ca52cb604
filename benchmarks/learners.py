"""What other learners are worth: `python -m benchmarks.learners optima | classes`. Needs ANYBOOST_DATA.

`optima`: linear functions boosted with a loss that has kinks, beside the linear program's optimum (HiGHS) and
scikit-learn's LinearSVC; the gap is the run's own certificate, for linear functions up to twice as far from the start
as the model is. `classes`: test losses and seconds of one estimator with different learners, all else its default.
"""

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import anyboost as ab
from anyboost import datasets

ROUNDS = 1000
STEPS = {"real": 3.0, "sign": 10.0}  # over sqrt(t); the best of 1, 3 and 10
MOST_SIGNS = 8000  # rows of a9a: with more, the linear program of the hinge takes many minutes
LEARNERS: dict[str, dict[str, Any]] = {
    "stumps": {"max_leaf_nodes": 2},
    "trees of 31 leaves": {},
    "linear functions": {"learner": "linear"},
    "nets of 5 units": {"learner": "net"},
}


def _standard(X: np.ndarray) -> np.ndarray:
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _regression(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers, and targets of deviation one; house values by their logarithm."""
    data = datasets.load(name)
    y = np.log(data.y) if name == "cal_housing" else data.y
    return data.X[:, ~data.categorical], (y - y.mean()) / y.std()


def _signs(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = datasets.load(name)
    return data.X[:MOST_SIGNS], 2.0 * data.y[:MOST_SIGNS] - 1


def linear_program(X: np.ndarray, y: np.ndarray, above: Any, below: Any, weight: np.ndarray) -> float:
    """min over linear f of the mean of above (y - f)+ + below (f - y)+, where f is weighted row by row."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    n = len(y)
    columns = weight[:, None] * np.hstack([np.ones((n, 1)), X])
    A = hstack([csr_array(columns), eye_array(n), -eye_array(n)])
    cost = np.concatenate([np.zeros(columns.shape[1]), np.full(n, above / n), np.full(n, below / n)])
    bounds = [(None, None)] * columns.shape[1] + [(0, None)] * (2 * n)
    return float(linprog(cost, A_eq=A, b_eq=y, bounds=bounds, method="highs").fun)


def optima(names: dict[str, str]) -> Iterator[dict[str, Any]]:
    """A row for each data set and loss."""
    for name, kind in names.items():
        X, y = _regression(name) if kind == "real" else _signs(name)
        Z = _standard(X)
        for loss, above, below in _LOSSES[kind]:
            began = perf_counter()
            weight = y if kind == "sign" else np.ones(len(y))
            target = np.ones(len(y)) if kind == "sign" else y
            least = linear_program(Z, target, above, below, weight)
            row: dict[str, Any] = {"data": name, "rows": len(y), "columns": Z.shape[1], "loss": loss}
            row |= {"optimum": least, "program_seconds": perf_counter() - began}
            yield row | _boosted(X, y, loss, STEPS[kind]) | (_svc(Z, y) if kind == "sign" else {})


_LOSSES: dict[str, Any] = {
    "real": (("absolute", 1.0, 1.0), ("quantile:0.9", 0.9, 0.1)),
    "sign": (("hinge", 1.0, 0.0),),
}


def _boosted(X: np.ndarray, y: np.ndarray, loss: str, step: float) -> dict[str, Any]:
    began = perf_counter()
    descent = ab.descent.Naive(ab.steps.InverseSqrt(step))
    run = ab.boost(X, y, loss, "linear", descent, rounds=ROUNDS, n_threads=1)
    least = min(step.loss for step in run.steps)
    seconds = perf_counter() - began
    radius = 2 * float(np.abs(run.scores - run.state.start).max())
    return {"boosted": least, "seconds": seconds, "radius": radius, "certified": run.floor(radius)}


def _svc(Z: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    from sklearn.svm import LinearSVC

    began = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not converge within its iterations
        model = LinearSVC(loss="hinge", C=1.0, max_iter=20_000, random_state=0).fit(Z, y)
    hinge = float(np.maximum(0, 1 - y * model.decision_function(Z)).mean())
    return {"linear_svc": hinge, "linear_svc_seconds": perf_counter() - began}


def classes(names: dict[str, str], max_iter: int = 200) -> Iterator[dict[str, Any]]:
    """A row for each data set and learner; a fifth of the rows is for the test, a tenth of the rest for stopping."""
    from sklearn.model_selection import train_test_split

    for name, kind in names.items():
        X, y = _regression(name) if kind == "real" else _signs(name)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
        for title, chosen in LEARNERS.items():
            cls = ab.BoostingRegressor if kind == "real" else ab.BoostingClassifier
            loss = "absolute" if kind == "real" else "logistic"
            given: dict[str, Any] = {
                "early_stopping": True,
                "max_iter": max_iter,
                "n_jobs": 1,
                "random_state": 0,
            }
            began = perf_counter()
            model = cls(loss, **chosen, **given).fit(X, y)
            seconds = perf_counter() - began
            test = model.loss_.value(model.ensemble_.predict(X_test), y_test)
            row: dict[str, Any] = {"data": name, "rows": len(y), "columns": X.shape[1], "loss": loss}
            yield row | {"learner": title, "rounds": model.best_iteration_, "test": test, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("optima", "classes"))
    parser.add_argument("-o", "--output", type=Path, help="a JSON file, whose other part stays")
    given = parser.parse_args()
    races = {
        "optima": optima({"abalone": "real", "wine_quality": "real", "cal_housing": "real", "a9a": "sign"}),
        "classes": classes({"cal_housing": "real", "wine_quality": "real", "a9a": "sign"}),
    }
    rows = []
    for row in races[given.part]:
        rows.append(row)
        print(row, flush=True)
    if given.output is not None:
        found = json.loads(given.output.read_text()) if given.output.exists() else {}
        given.output.write_text(json.dumps(found | {given.part: rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
