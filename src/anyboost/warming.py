"""Compiling ahead: small pieces of everyday work, so that the kernels they need are in the cache afterwards.

Kernels are compiled for the types and layouts of their arguments. The pieces differ in those, not in what they learn.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from anyboost import files
from anyboost.backends import compiler
from anyboost.estimators import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.mirror import MirrorAverager, Tracker
from anyboost.mirror.estimators import MirrorAveragingClassifier, MirrorAveragingRegressor
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import ChainRegressor
from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor

# Takes the work that begins, the pieces done, and all; "" at the end.
Progress = Callable[[str, int, int], None]

ROWS = 60
LONG = 12_000  # rows from which on columns are sorted another way
LARGE = 300_000  # rows that are shared out to threads, in slices with a layout of their own
SMALL: dict[str, Any] = {"max_iter": 2, "random_state": 0}


def warmup(progress: Progress | None = None) -> list[str]:
    """Compile what everyday use of estimators, files, streams and averaging needs; once after an installation.

    Parameters
    ----------
    progress : callable or None, default None
        Called with the name of the work that begins, how many pieces are done, and how many there are. Without it
        nothing is printed.

    Returns
    -------
    list of str
        The folders in which the kernels are kept for later processes. Where there are none, no folder for them can be
        written: this process has its kernels, others will not.

    Examples
    --------
    >>> import anyboost as ab
    >>> folders = ab.warmup()  # doctest: +SKIP
    """
    with compiler.quiet():
        for done, (name, work) in enumerate(WORK.items()):
            if progress is not None:
                progress(name, done, len(WORK))
            work()
        if progress is not None:
            progress("", len(WORK), len(WORK))
    return folders()


def folders() -> list[str]:
    """Where compiled kernels are kept; empty where no such folder can be written."""
    # A folder of sources has a folder of kernels, which an import finds.
    for module in ("trees.predictor", "online.chain", "mirror.learning"):
        import_module(f"anyboost.{module}")
    return compiler.cache_folders()


def _numbers(columns: int = 4, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, columns))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.1 * random.normal(size=rows)


def _tables() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers as users hold them: by rows or by columns (as data frames do), read-only, in 32 bits, with holes."""
    for columns, rows in product((4, 12), (ROWS, LONG)):
        X, y = _numbers(columns, rows)
        X[::7, 1] = np.nan
        for table in (X, np.asfortranarray(X)):
            fixed = table.copy(order="A")
            fixed.flags.writeable = False
            yield table, y
            yield fixed, y
        yield X.astype(np.float32), y


def _regress() -> None:
    for X, y in _tables():
        BoostingRegressor(**SMALL).fit(X, y).predict(X)
        BoostingRegressor(subsample=0.5, early_stopping=True, **SMALL).fit(X, y)
        for preset in (None, "paper"):  # all rows; trees that draw columns, and those that do not
            BoostingRegressor(subsample=1.0, preset=preset, **SMALL).fit(X, y)
    X, y = _numbers()
    weights = np.linspace(0.5, 1.5, len(y))
    for some in (weights, np.arange(len(y)) % 3 + 1):  # drawn by rows, and by units of them
        BoostingRegressor(subsample=0.5, max_features=0.5, **SMALL).fit(X, y, sample_weight=some)
    for loss in ("squared", "absolute", "quantile:0.9", "huber", "poisson", "multi_quantile:0.1,0.9"):
        model = BoostingRegressor(loss, early_stopping=True, **SMALL)
        target = np.exp(y) if loss == "poisson" else y
        model.fit(X, target).predict(X)
        model.fit(X, target, sample_weight=weights)
    halves = np.sign(y - np.median(y))  # whose median is any number between, which has a kernel of its own
    BoostingRegressor("absolute", **SMALL).fit(X, halves)
    BoostingRegressor(learner="linear", **SMALL).fit(X, y).predict(X)


def _classify() -> None:
    X, y = _numbers()
    weights = np.linspace(0.5, 1.5, len(y))
    for classes in (2, 3, 6):
        labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        BoostingClassifier(**SMALL).fit(X, labels).predict_proba(X)
        BoostingClassifier(preset="paper", **SMALL).fit(X, labels)
        BoostingClassifier(subsample=0.5, **SMALL).fit(X, labels, sample_weight=weights)
        model = BoostingClassifier(early_stopping=True, **SMALL)
        model.fit(X, labels, sample_weight=weights).predict(X)


def _rank() -> None:
    X, y = _numbers()
    query = np.arange(ROWS) // 6
    BoostingRanker(**SMALL).fit(X, np.digitize(y, [0.0, 1.0]), qid=query).predict(X)


def _categories() -> None:
    X, y = _numbers()
    X[:, 2] = np.arange(ROWS) % 5
    X[::9, 2] = np.nan
    for target, estimator in (
        (y, BoostingRegressor),
        (np.sign(y), BoostingClassifier),
        (np.digitize(y, [-0.5, 0.5]), BoostingClassifier),
    ):
        for share in ("auto", 1.0):  # of the columns: all of them, so that trees ask for the categories
            estimator(categorical_features=[2], max_features=share, **SMALL).fit(X, target).predict(X)


def _large() -> None:
    X, y = _numbers(9, LARGE)
    BoostingRegressor(max_iter=1, max_leaf_nodes=4).fit(X, y).predict(X)
    BoostingClassifier(max_iter=1, max_leaf_nodes=4).fit(X, np.sign(y)).predict(X)


def _files() -> None:
    X, y = _numbers()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        files.save(BoostingRegressor(**SMALL).fit(X, y), path)
        files.load(path).predict(X)


def _streams() -> None:
    X, y = _numbers(rows=2_000)  # for which threads work together
    rows = [dict(zip("abcd", row, strict=True)) for row in X[:ROWS].tolist()]
    for learner in ("linear", "stumps", "net", "tree"):
        model = ChainRegressor(learner)
        model.partial_fit(X, y).predict(X)
        model = ChainRegressor(learner)
        for row, label in zip(rows[:3], y.tolist(), strict=False):
            model.learn_one(row, label)
            model.predict_one(row)
        model.learn_many(rows, y[:ROWS])
    for classes in (2, 3):
        labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        many = ChainClassifier().partial_fit(X, labels, classes=range(classes))
        many.predict_proba(X)
        one = ChainClassifier()
        for row, label in zip(rows[:9], labels.tolist(), strict=False):
            one.learn_one(row, label)
            one.predict_proba_one(row)
        _team(OnlineBoostingClassifier(), X, labels, {"classes": range(classes)})
    _team(OnlineBoostingRegressor(), X, y, {})


def _team(model: Any, X: np.ndarray, labels: np.ndarray, known: dict[str, Any]) -> None:
    """Batch experts on arrays, and on names with texts and missing cells."""
    clone(model).partial_fit(X[:600], labels[:600], **known).predict(X)
    for i, (row, label) in enumerate(zip(X[:ROWS].tolist(), labels.tolist(), strict=False)):
        x = dict(zip("abcd", row, strict=True)) | {"b": "uvw"[i % 3], "c": None if i % 4 else 1.0}
        model.predict_one(x)
        model.learn_one(x, label)


def _average() -> None:
    H, y = _numbers()
    H[0, 1] = np.nan
    for averager in (
        MirrorAverager(),
        MirrorAverager(schedule="second_order", lipschitz="running"),
        Tracker(),
    ):
        averager.predict_then_fit(H, y)
        averager.predict(H)
    for classes in (2, 3):
        labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        MirrorAveragingClassifier().partial_fit(np.abs(H[:, :2]), labels, classes=range(classes))
    MirrorAveragingRegressor().partial_fit(H, y).predict(H)


WORK: dict[str, Callable[[], None]] = {
    "regression": _regress,
    "classification": _classify,
    "ranking": _rank,
    "categories": _categories,
    "large tables": _large,
    "files": _files,
    "streams": _streams,
    "averaging": _average,
}
