"""Tables with more columns than rows, against LightGBM: `python -m benchmarks.wide`.

Generated tables, both libraries with their defaults and one thread, in turns, in one process. Figures are means over
seeds: R2, or with classes the log loss, of 2,000 other rows, and seconds of the processor that `fit` took. What Numba
compiles is not counted: a small fit goes ahead. `--set max_features=1.0` fits ours with another parameter, to choose
defaults; `--json FILE` keeps a line a fit.
"""

import argparse
import ast
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab

TEST_ROWS = 2_000


class Table(NamedTuple):
    """A kind of wide table: its columns, and a target without noise, of variance one."""

    X: np.ndarray
    signal: np.ndarray
    noise: float  # its deviation


def friedman(random: np.random.Generator, n: int, p: int) -> Table:
    """Five relevant columns of independent uniform ones: Friedman's first function, as scikit-learn makes it."""
    X = random.uniform(size=(n, p))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return _table(X, signal, 0.2)


def additive(random: np.random.Generator, n: int, p: int) -> Table:
    """Two relevant columns of independent normal ones, one of them by a step: what trees find easily."""
    X = random.normal(size=(n, p))
    return _table(X, 2 * X[:, 0] + 3 * (X[:, 1] > 0), 0.1)


def few(random: np.random.Generator, n: int, p: int) -> Table:
    """Ten relevant columns of independent normal ones, linear."""
    X = random.normal(size=(n, p))
    return _table(X, X[:, :10] @ random.uniform(0.2, 1.0, size=10), 0.1)


def many(random: np.random.Generator, n: int, p: int) -> Table:
    """A fifth of independent normal columns is relevant, a little each."""
    X = random.normal(size=(n, p))
    return _table(X, X[:, : p // 5] @ random.normal(size=p // 5), 0.1)


def factors(random: np.random.Generator, n: int, p: int) -> Table:
    """Every column is a mixture of ten factors and noise of its own, and the factors are the target."""
    hidden = random.normal(size=(n, 10))
    X = hidden @ random.normal(size=(10, p)) + 2 * random.normal(size=(n, p))
    return _table(X, hidden[:, 0] + hidden[:, 1] * (hidden[:, 2] > 0) + 0.5 * hidden[:, 3], 0.2)


def blocks(random: np.random.Generator, n: int, p: int) -> Table:
    """Blocks of 20 columns that tell one hidden value each, correlated by 0.8; three blocks are relevant."""
    hidden = random.normal(size=(n, -(-p // 20)))
    X = np.repeat(hidden, 20, axis=1)[:, :p] + 0.5 * random.normal(size=(n, p))
    return _table(X, hidden[:, 0] + np.abs(hidden[:, 1]) + hidden[:, 2] * (hidden[:, 0] > 0), 0.2)


def spectra(random: np.random.Generator, n: int, p: int) -> Table:
    """Sums of six peaks along p channels, with a baseline that drifts; the share of one substance in three."""
    channel = np.linspace(0, 1, p)
    centers, widths = random.uniform(0.05, 0.95, size=6), random.uniform(0.02, 0.1, size=6)
    peaks = np.exp(-0.5 * ((channel - centers[:, None]) / widths[:, None]) ** 2)
    amounts = random.gamma(2.0, size=(n, 6))
    drift = random.normal(size=(n, 1)) + random.normal(size=(n, 1)) * channel
    X = amounts @ peaks + 0.3 * drift + 0.02 * random.normal(size=(n, p))
    return _table(X, amounts[:, 0] / amounts[:, :3].sum(axis=1), 0.1)


def _table(X: np.ndarray, signal: np.ndarray, noise: float) -> Table:
    return Table(X, (signal - signal.mean()) / signal.std(), noise)


KINDS: dict[str, Callable[[np.random.Generator, int, int], Table]] = {
    kind.__name__: kind for kind in (additive, friedman, few, many, factors, blocks, spectra)
}


class Part(NamedTuple):
    """Rows to train on, and rows to judge by."""

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray


def make(kind: str, rows: int, columns: int, classes: int, seed: int) -> Part:
    """A table of a kind; `classes` are equally frequent, and 0 stands for a regression."""
    random = np.random.default_rng([seed, rows, columns])
    X, signal, noise = KINDS[kind](random, rows + TEST_ROWS, columns)
    y: np.ndarray = signal + noise * random.normal(size=len(signal))
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    order = random.permutation(columns)
    X = np.ascontiguousarray(X[:, order] if kind != "spectra" else X)
    return Part(X[:rows], y[:rows], X[rows:], y[rows:])


def ours(classes: int, parameters: dict[str, Any]) -> Any:
    """Our estimator."""
    estimator = ab.BoostingClassifier if classes else ab.BoostingRegressor
    return estimator(n_jobs=1, **parameters)


def of_lightgbm(classes: int) -> Any:
    """LightGBM's."""
    import lightgbm

    estimator = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    return estimator(n_jobs=1, verbose=-1)


def score(model: Any, part: Part, classes: int) -> float:
    """R2, or the log loss."""
    if not classes:
        return float(1 - np.mean((part.test_y - model.predict(part.test_X)) ** 2) / part.test_y.var())
    probabilities = model.predict_proba(part.test_X)[np.arange(TEST_ROWS), part.test_y]
    return float(-np.mean(np.log(np.clip(probabilities, 1e-15, 1))))


def fit(model: Any, part: Part) -> float:
    """Fit, and the seconds of the processor that it took."""
    began = process_time()
    model.fit(part.X, part.y)
    return process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=["400x800"], help="rows x columns")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--classes", nargs="+", type=int, default=[0, 2, 4], help="0 for a regression")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="parameters of ours")
    parser.add_argument("--alone", action="store_true", help="without LightGBM")
    parser.add_argument("--json", type=Path, help="a file for a line a fit")
    options = parser.parse_args()
    parameters = {name: _value(text) for name, text in (given.split("=") for given in options.set)}
    print("| table | classes | R2 or log loss | LightGBM's | seconds | LightGBM's | ratio |")
    print("|---" * 7 + "|")
    for shape in options.shapes:
        rows, columns = map(int, shape.split("x"))
        for classes in options.classes:
            small = make("few", 60, 20, classes, 0)
            ours(classes, parameters | {"max_iter": 2}).fit(small.X, small.y).predict(small.test_X)
            for kind in options.kinds:
                found = []
                for seed in range(options.seeds):
                    part = make(kind, rows, columns, classes, seed)
                    models = [ours(classes, parameters | {"random_state": seed})]
                    models += [] if options.alone else [of_lightgbm(classes)]
                    seconds = [fit(model, part) for model in models]
                    found.append([*(score(model, part, classes) for model in models), *seconds])
                    if options.json:
                        line = {"shape": shape, "kind": kind, "classes": classes, "seed": seed}
                        line |= {"set": options.set, "found": found[-1], "rounds": models[0].n_iter_}
                        with options.json.open("a") as file:
                            file.write(json.dumps(line) + "\n")
                _show(f"{kind}, {shape}", classes, np.mean(found, axis=0).tolist())


def _show(table: str, classes: int, means: list[float]) -> None:
    if len(means) == 2:
        (value, seconds), cells = means, ["", "", ""]
    else:
        value, theirs, seconds, slow = means
        cells = [f"{theirs:.4f}", f"{slow:.2f}", f"{seconds / slow:.1f}"]
    print(
        f"| {table} | {classes or ''} | {value:.4f} | {cells[0]} | {seconds:.2f} | {cells[1]} | {cells[2]} |",
        flush=True,
    )


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


if __name__ == "__main__":
    main()
