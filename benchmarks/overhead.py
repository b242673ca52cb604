"""What an estimator's fit costs over `boost`: `python -m benchmarks.overhead`.

500,000 rows of 50 float32 columns. The time that a fit spends outside of `boost` is taken in the same fit as the time
inside, so that a busy machine does not count as cost.
"""

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

import anyboost as ab
from anyboost.estimators import fitting
from benchmarks import PLAIN_DIALS


def outside(fit: Callable[[], Any]) -> tuple[float, float]:
    """Seconds outside of `boost` and inside of it."""
    inside = []

    def timed(*arguments: Any, **options: Any) -> Any:
        began = perf_counter()
        run = ab.boost(*arguments, **options)
        inside.append(perf_counter() - began)
        return run

    with patch.object(fitting, "boost", timed):
        began = perf_counter()
        fit()
        whole = perf_counter() - began
    return whole - sum(inside), sum(inside)


def tables(X: np.ndarray) -> dict[str, Any]:
    """The same numbers as an array and, where pandas is there, as a frame."""
    found: dict[str, Any] = {"array": X}
    try:
        import pandas as pd
    except ImportError:
        return found
    return found | {"pandas": pd.DataFrame(X, columns=[f"column {number}" for number in range(X.shape[1])])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, 50)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + random.normal(size=options.rows)
    labels = np.where(y > 0, "yes", "no")
    ab.BoostingRegressor(max_iter=1).fit(X[:1000], y[:1000])  # compiles
    ab.BoostingClassifier(max_iter=1).fit(X[:1000], labels[:1000])
    print("| model | table | outside boost | inside | share |")
    print("|---|---|---|---|---|")
    for kind, table in tables(X).items():
        for model, targets in (
            (ab.BoostingRegressor(**PLAIN_DIALS), y),
            (ab.BoostingClassifier(**PLAIN_DIALS), labels),
        ):
            model.set_params(max_iter=options.rounds)
            over, inside = outside(partial(model.fit, table, targets))
            name = type(model).__name__
            print(f"| {name} | {kind} | {over:.3f} s | {inside:.2f} s | {over / inside:.1%} |", flush=True)


if __name__ == "__main__":
    main()
