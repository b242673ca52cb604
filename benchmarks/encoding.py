"""What becomes of categories: `python -m benchmarks.encoding`.

Every way to encode them against subsets of levels, by the loss on rows held out of the training part, of tuning sets
and of generated ones whose levels are few or many. Test parts and judging sets are left alone. Needs ANYBOOST_DATA.
"""

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import anyboost as ab
from anyboost.estimators import encoding
from benchmarks.accuracy_sets import REGRESSION, TWO, Problem, Table, problem

SETS = ("adult", "bank", "nycflights13", "ames")
LEVELS = (20, 60, 250, 1000, 4000)
ROWS = 8000
WIDEST = 3  # columns of categories that are crossed


class Way(NamedTuple):
    """One way to encode: of columns of more levels than `most`, with the constants of `encoding` changed."""

    most: float
    constants: dict[str, Any] = {}  # noqa: RUF012 - of a tuple
    more: Callable[[Any, Any, list[str]], Any] | None = None  # further columns


def counts(train: Any, table: Any, names: list[str]) -> Any:
    """How many training rows have each level."""
    found = {
        f"{name} (count)": table[name].astype(str).map(train[name].astype(str).value_counts()).fillna(0)
        for name in names
    }
    return table.assign(**{name: column.astype(float) for name, column in found.items()})


def crosses(train: Any, table: Any, names: list[str]) -> Any:
    """Pairs of the columns of most levels."""
    widest = sorted(names, key=lambda name: -train[name].nunique())[:WIDEST]
    return table.assign(
        **{
            f"{a} x {b}": table[a].astype(str) + " x " + table[b].astype(str)
            for a, b in itertools.combinations(widest, 2)
        }
    )


WAYS = {
    "subset": Way(np.inf),
    "more than 254": Way(254),
    "more than 100": Way(100),
    "more than 50": Way(50),
    "more than 30": Way(30),
    "more than 15": Way(15),
    "target": Way(0),
    "ten folds": Way(0, {"FOLDS": 10}),
    "smoothing 1": Way(0, {"SMOOTHING": 1.0}),
    "smoothing 30": Way(0, {"SMOOTHING": 30.0}),
    "target + counts": Way(0, more=counts),
    "254 + crosses": Way(254, more=crosses),
    "50 + crosses": Way(50, more=crosses),
}


def generated(task: str, slopes: bool, levels: int, seed: int, rows: int) -> Problem:
    """Levels, some common and most rare, that raise the target, or that say how it follows a number (`slopes`)."""
    import pandas as pd

    random = np.random.default_rng([seed, levels])
    code = np.minimum(random.exponential(levels / 3, 2 * rows).astype(int), levels - 1)
    number = random.normal(size=(2 * rows, 3))
    effect = random.normal(size=levels)[code] * (number[:, 0] if slopes else 1.0)
    score = effect + number[:, 0] + number[:, 1] * number[:, 2]
    noise = random.logistic(size=2 * rows) if task == TWO else random.normal(size=2 * rows)
    y = (score + noise > 0).astype(int) if task == TWO else score + noise
    frame = pd.DataFrame(number, columns=["a", "b", "c"]).assign(level=[f"level {each}" for each in code])
    parts = [Table(frame[part], y[part], None) for part in (slice(0, rows), slice(rows, None))]
    name = f"{levels} {'slopes' if slopes else 'levels'}, {task}"
    return Problem(name, seed, task, 2 if task == TWO else 0, ["level"], *parts)


@contextmanager
def changed(way: Way) -> Iterator[None]:
    with mock.patch.multiple(encoding, MOST_LEVELS=way.most, **way.constants):
        yield


def loss(given: Problem, way: Way) -> float:
    """The loss on the rows held out: half the squared error, or the log loss."""
    tables = [given.train.X, given.test.X]
    if way.more is not None:
        tables = [way.more(tables[0], table, given.categorical) for table in tables]
    model: Any = ab.BoostingRegressor() if given.task == REGRESSION else ab.BoostingClassifier()
    with changed(way), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lumped levels are spoken of
        model.fit(tables[0], given.train.y)
    y = given.test.y
    if given.task == REGRESSION:
        return float(np.mean((model.predict(tables[1]) - y) ** 2) / 2)
    return float(-np.log(model.predict_proba(tables[1])[np.arange(len(y)), y]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--levels", nargs="*", type=int, default=LEVELS)
    parser.add_argument("--ways", nargs="*", default=[name for name in WAYS if name != "subset"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(f"| set | loss of subset | {' | '.join(given.ways)} |")
    print(f"|---|---|{'---|' * len(given.ways)}")
    makers: list[Callable[[int], Problem]] = [
        partial(problem, name, most=given.rows, held_out=True) for name in given.sets
    ]
    makers += [
        partial(generated, task, slopes, levels, rows=given.rows)
        for levels in given.levels
        for task, slopes in ((REGRESSION, False), (TWO, False), (REGRESSION, True))
    ]
    for make in makers:
        ratios: dict[str, list[float]] = {name: [] for name in given.ways}
        bases: list[float] = []
        for seed in range(given.seeds):
            one = make(seed)
            bases.append(loss(one, WAYS["subset"]))
            for name in given.ways:
                ratios[name].append(loss(one, WAYS[name]) / bases[-1])
        cells = [f"{np.mean(found):.4f}" for found in ratios.values()]
        print(f"| {one.name} | {np.mean(bases):.5g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
