"""Every library with its own defaults, for every fit of the accuracy benchmark: docs/accuracy.md, "What is fitted".

`make` says what is to be learnt, how many threads and which seed; nothing else, but what a search has drawn.
"""

import importlib
import warnings
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy_sets import RANKING, REGRESSION, Problem, Table

QUANTILES = (0.1, 0.5, 0.9)
CLASSES = "classes"
MOST_LEVELS = 255  # of a category in HistGradientBoosting


class Work(NamedTuple):
    """What to learn: "squared", "absolute", "quantile:0.9", "classes" or "ranking"."""

    fit: str
    categorical: tuple[str, ...] = ()
    threads: int = 1
    seed: int = 0
    classes: int = 0

    @property
    def quantile(self) -> float | None:
        return float(self.fit.partition(":")[2]) if self.fit.startswith("quantile") else None


class Absent(Exception):
    """Why a library has no part in something."""


class Fitted(NamedTuple):
    """What a fit gave: predictions of the test rows (probabilities for classes), rounds, and seconds of the fit,
    by the clock and of processors."""

    predicted: np.ndarray
    seconds: float
    cpu_seconds: float
    rounds: int | None


class Library(NamedTuple):
    """A peer: its module and distribution, its estimators, how they are fitted, and how many rounds they took."""

    module: str
    distribution: str
    make: Callable[[Work, dict[str, Any]], Any]
    fit: Callable[[Any, Table, Work], Any]
    rounds: Callable[[Any], int]
    jitted: bool = False


def fits_of(task: str) -> list[str]:
    if task == REGRESSION:
        return ["squared", "absolute", *(f"quantile:{level}" for level in QUANTILES)]
    return [RANKING] if task == RANKING else [CLASSES]


def _plain(model: Any, table: Table, _work: Work) -> Any:
    return model.fit(table.X, table.y)


def _by_query(model: Any, table: Table, work: Work) -> Any:
    return model.fit(table.X, table.y, qid=table.qid) if work.fit == RANKING else _plain(model, table, work)


def _by_sizes(model: Any, table: Table, work: Work) -> Any:
    """Queries as their sizes, one after another."""
    if work.fit != RANKING:
        return _plain(model, table, work)
    assert table.qid is not None
    starts = np.flatnonzero(np.append(True, table.qid[1:] != table.qid[:-1]))
    return model.fit(table.X, table.y, group=np.diff(np.append(starts, len(table.y))))


def _anyboost(work: Work, chosen: dict[str, Any]) -> Any:
    import anyboost as ab

    given = {"n_jobs": work.threads, "random_state": work.seed, **chosen}
    if work.fit == CLASSES:
        return ab.BoostingClassifier(**given)
    return ab.BoostingRanker(**given) if work.fit == RANKING else ab.BoostingRegressor(work.fit, **given)


def _lightgbm(work: Work, chosen: dict[str, Any]) -> Any:
    import lightgbm as lgb

    given = {"n_jobs": work.threads, "random_state": work.seed, "verbosity": -1, **chosen}
    if work.fit == CLASSES:
        return lgb.LGBMClassifier(**given)
    if work.fit == RANKING:
        return lgb.LGBMRanker(**given)
    if work.quantile is not None:
        return lgb.LGBMRegressor(objective="quantile", alpha=work.quantile, **given)
    return lgb.LGBMRegressor(objective={"squared": "l2", "absolute": "l1"}[work.fit], **given)


_OF_XGBOOST = {"squared": "reg:squarederror", "absolute": "reg:absoluteerror"}


def _xgboost(work: Work, chosen: dict[str, Any]) -> Any:
    import xgboost as xgb

    given = {"n_jobs": work.threads, "random_state": work.seed, "enable_categorical": True, **chosen}
    if work.fit == CLASSES:
        return xgb.XGBClassifier(**given)
    if work.fit == RANKING:
        return xgb.XGBRanker(**given)
    if work.quantile is not None:
        return xgb.XGBRegressor(objective="reg:quantileerror", quantile_alpha=work.quantile, **given)
    return xgb.XGBRegressor(objective=_OF_XGBOOST[work.fit], **given)


def _catboost(work: Work, chosen: dict[str, Any]) -> Any:
    import catboost as cb

    given = {
        "thread_count": work.threads,
        "random_seed": work.seed,
        "verbose": False,
        "allow_writing_files": False,
        "cat_features": list(work.categorical),
        **chosen,
    }
    if work.fit == CLASSES:
        return cb.CatBoostClassifier(**given)
    if work.fit == RANKING:
        return cb.CatBoostRanker(**given)
    if work.quantile is not None:
        return cb.CatBoostRegressor(loss_function=f"Quantile:alpha={work.quantile}", **given)
    return cb.CatBoostRegressor(loss_function={"squared": "RMSE", "absolute": "MAE"}[work.fit], **given)


def _fit_catboost(model: Any, table: Table, work: Work) -> Any:
    queries = {"group_id": table.qid} if work.fit == RANKING else {}
    return model.fit(table.X, table.y, **queries)


def _scikit_learn(work: Work, chosen: dict[str, Any]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if work.fit == RANKING:
        raise Absent("no ranking")
    given = {"random_state": work.seed, **chosen}
    if work.fit == CLASSES:
        return HistGradientBoostingClassifier(**given)
    if work.quantile is not None:
        return HistGradientBoostingRegressor(loss="quantile", quantile=work.quantile, **given)
    return HistGradientBoostingRegressor(loss=work.fit + "_error", **given)


def _chimeraboost(work: Work, chosen: dict[str, Any]) -> Any:
    import chimeraboost as chb

    if work.fit == RANKING:
        raise Absent("no ranking")
    given = {"thread_count": work.threads, "random_state": work.seed, **chosen}
    if work.categorical:
        given["cat_features"] = list(work.categorical)
    if work.fit == CLASSES:
        return chb.ChimeraBoostClassifier(**given)
    if work.quantile is not None:
        return chb.ChimeraBoostRegressor(loss="Quantile", alpha=work.quantile, **given)
    return chb.ChimeraBoostRegressor(loss={"squared": "RMSE", "absolute": "MAE"}[work.fit], **given)


def _perpetual(work: Work, chosen: dict[str, Any]) -> Any:
    import perpetual as pp

    given = {"num_threads": work.threads, "seed": work.seed, **chosen}
    if work.fit == CLASSES:
        return pp.PerpetualClassifier(**given)
    if work.fit == RANKING:
        return pp.PerpetualRanker(**given)
    if work.quantile is not None:
        return pp.PerpetualRegressor(objective="QuantileLoss", quantile=work.quantile, **given)
    return pp.PerpetualRegressor(
        objective={"squared": "SquaredLoss", "absolute": "AbsoluteLoss"}[work.fit], **given
    )


def _hessboost(work: Work, chosen: dict[str, Any]) -> Any:
    from hessboost import sklearn as hb

    given = {"n_jobs": work.threads, "random_state": work.seed, **chosen}
    if work.fit == CLASSES:
        several = {"objective": "multi:softprob"} if work.classes > 2 else {}
        return hb.HessboostClassifier(**several, **given)
    if work.fit == RANKING:
        return hb.HessboostRanker(**given)
    if work.quantile is not None:
        level = {"quantile_alpha": work.quantile}
        return hb.HessboostRegressor(objective="reg:quantileerror", params=level, **given)
    return hb.HessboostRegressor(objective=_OF_XGBOOST[work.fit], **given)


LIBRARIES = {
    "anyboost": Library(
        "anyboost", "anyboost", _anyboost, _by_query, lambda model: model.n_iter_, jitted=True
    ),
    "LightGBM": Library(
        "lightgbm", "lightgbm", _lightgbm, _by_sizes, lambda model: model.booster_.current_iteration()
    ),
    "XGBoost": Library(
        "xgboost", "xgboost", _xgboost, _by_query, lambda model: model.get_booster().num_boosted_rounds()
    ),
    "CatBoost": Library("catboost", "catboost", _catboost, _fit_catboost, lambda model: model.tree_count_),
    "HistGradientBoosting": Library(
        "sklearn", "scikit-learn", _scikit_learn, _plain, lambda model: model.n_iter_
    ),
    "ChimeraBoost": Library(
        "chimeraboost",
        "chimeraboost",
        _chimeraboost,
        _plain,
        lambda model: model.best_iteration_,
        jitted=True,
    ),
    "Perpetual": Library(
        "perpetual", "perpetual", _perpetual, _by_sizes, lambda model: _most(model.number_of_trees)
    ),
    "hessboost": Library(
        "hessboost",
        "hessboost",
        _hessboost,
        _by_query,
        lambda model: model.get_booster().num_boosted_rounds(),
    ),
}


def _most(counts: Any) -> int:
    """Of one booster, or of one a class."""
    return int(np.max(counts))


def installed(name: str) -> str:
    """The version of a library; Absent where it cannot be imported."""
    library = LIBRARIES[name]
    try:
        module = importlib.import_module(library.module)
    except Exception as error:  # whatever an import of someone else's raises
        raise Absent(f"cannot be imported: {first_line(error)}") from None
    return getattr(module, "__version__", None) or version(library.distribution)


def first_line(error: BaseException) -> str:
    """What was raised, for a line of a file."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def absence(name: str, fit: str) -> str | None:
    """Why a library that is installed has no such fit, if it has none."""
    try:
        LIBRARIES[name].make(Work(fit), {})
    except Absent as reason:
        return str(reason)
    return None


def suited(name: str, problem: Problem) -> Problem:
    """The problem as a library can take it.

    HistGradientBoosting refuses categories of many levels, which become numbers; CatBoost refuses missing ones, which
    become a level.
    """
    changed = []
    for table in (problem.train, problem.test):
        columns: dict[str, Any] = {}
        for c in problem.categorical:
            column = table.X[c]
            if name == "HistGradientBoosting" and len(column.cat.categories) > MOST_LEVELS:
                columns[c] = column.cat.codes.astype(float).where(column.notna())
            elif name == "CatBoost" and column.isna().any():
                columns[c] = column.cat.add_categories("missing").fillna("missing")
        changed.append(table._replace(X=table.X.assign(**columns)) if columns else table)
    return problem._replace(train=changed[0], test=changed[1])


_warm: set[tuple[str, str, bool, bool]] = set()


def learn(
    name: str, problem: Problem, fit: str, threads: int = 1, chosen: dict[str, Any] | None = None
) -> Fitted:
    """Fit and predict. Where something was compiled during the fit, its seconds are those of a second one."""
    from threadpoolctl import threadpool_limits

    library, problem = LIBRARIES[name], suited(name, problem)
    work = Work(fit, tuple(problem.categorical), threads, problem.seed, problem.classes)
    with warnings.catch_warnings(), threadpool_limits(threads):
        warnings.simplefilter("ignore")
        kind = (name, fit, problem.classes > 2, bool(problem.categorical))
        if library.jitted and kind not in _warm:
            _timed(library, work, chosen or {}, _few(problem.train))
            _warm.add(kind)
        timed = _timed(library, work, chosen or {}, problem.train)
        if library.jitted and timed.compiled:
            timed = _timed(library, work, chosen or {}, problem.train)
        model = timed.model
        predict = model.predict_proba if fit == CLASSES else model.predict
        predicted = np.asarray(predict(problem.test.X), dtype=np.float64)
        return Fitted(predicted, timed.seconds, timed.cpu_seconds, int(library.rounds(model)))


def _few(table: Table, most: int = 600) -> Table:
    """A small table that has each class in it; whole queries, but the last."""
    rows = np.arange(min(most, len(table.y)))
    if table.qid is None and len(np.unique(table.y)) < most // 4:
        rows = np.sort(np.argsort(_place_in_class(table.y), kind="stable")[:most])
    return Table(table.X.iloc[rows], table.y[rows], None if table.qid is None else table.qid[rows])


def _place_in_class(y: np.ndarray) -> np.ndarray:
    """How many rows with the same y come before each."""
    order = np.argsort(y, kind="stable")
    starts = np.flatnonzero(np.append(True, y[order][1:] != y[order][:-1]))
    place = np.empty(len(y), dtype=int)
    place[order] = np.arange(len(y)) - np.repeat(starts, np.diff(np.append(starts, len(y))))
    return place


class _Timed(NamedTuple):
    """A fitted model, seconds of its fit, and whether Numba compiled anything meanwhile."""

    model: Any
    seconds: float
    cpu_seconds: float
    compiled: bool


def _timed(library: Library, work: Work, chosen: dict[str, Any], table: Table) -> _Timed:
    from numba.core import event

    model = library.make(work, chosen)
    with event.install_recorder("numba:compile") as recorder:
        began, cpu_began = perf_counter(), process_time()
        library.fit(model, table, work)
        seconds, cpu_seconds = perf_counter() - began, process_time() - cpu_began
    return _Timed(model, seconds, cpu_seconds, bool(recorder.buffer))
