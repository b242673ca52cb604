"""Every learner of the stream benchmark with its own defaults: docs/streams-benchmark.md, "Who takes part".

A learner is a function of the stream that lays the rows out as it wants them and returns the work to be timed: to
answer each row before it is learnt, all rows in order.
"""

import importlib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from anyboost.datasets import Dataset
from benchmarks import accuracy_sets
from benchmarks.accuracy_libraries import Absent, first_line
from benchmarks.stream_sets import filled

PORTION = 1000  # rows that we are given at once
WARM_UP = 600
FIRST_FIT = 50
GROWTH = 1.2  # rows of one refit over those of the last
US, SECOND, LINEAR = "anyboost", "anyboost one by one", "anyboost linear"
OURS = (US, SECOND, LINEAR)
FOREST, THEIR_LINEAR = "River ARF", ("River linear", "Vowpal Wabbit")


class Answers(NamedTuple):
    """What was said of each row before it was learnt: a class (NaN: none) or a number, and the probability of the
    class that came (NaN: none was told)."""

    told: np.ndarray
    chances: np.ndarray | None = None


Work = Callable[[], Answers]


class Learner(NamedTuple):
    """Its module, its distribution, and what it does with a stream."""

    module: str
    distribution: str
    prepare: Callable[[Dataset], Work]


def frame(data: Dataset) -> Any:
    """All rows as a data frame, categories as words."""
    return accuracy_sets.frame(data, np.arange(len(data.y)))


def words(data: Dataset) -> list[dict[str, Any]]:
    """Rows as dicts without holes, categories as words."""
    X, columns = filled(data), []
    for j, categorical in enumerate(data.categorical):
        cells = X[:, j].tolist()
        columns.append([f"{cell:.0f}" for cell in cells] if categorical else cells)
    return [dict(zip(data.feature_names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _one_by_one(labels: list[Any], answer: Callable[[int], tuple[float, float]], classes: bool) -> Answers:
    told, chances = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for i in range(len(labels)):
        told[i], chances[i] = answer(i)
    return Answers(told, chances if classes else None)


# Ours ----------------------------------------------------------------------------------------------------------------


def our_model(data: Dataset, **options: Any) -> Any:
    import anyboost as ab

    kind = ab.OnlineBoostingRegressor if data.classes is None else ab.OnlineBoostingClassifier
    return kind(**options)


def labels_of(data: Dataset) -> np.ndarray:
    return data.y if data.classes is None else data.y.astype(np.int64)


def observe(model: Any, data: Dataset, table: Any) -> Answers:
    """In portions; the model is the same as one by one."""
    labels, told, losses = labels_of(data), [], []
    for begin in range(0, len(labels), PORTION):
        part = slice(begin, begin + PORTION)
        seen = model.observe(table.iloc[part], labels[part])
        told.append(np.asarray(seen.predictions, dtype=np.float64))
        losses.append(seen.losses)
    chances = None if data.classes is None else np.exp(-np.concatenate(losses))
    return Answers(np.concatenate(told), chances)


def _ours(data: Dataset, **options: Any) -> Work:
    table = frame(data)
    few = data._replace(X=data.X[:WARM_UP], y=data.y[:WARM_UP])
    observe(our_model(few, **options), few, table[:WARM_UP])  # finds the compiled code
    return lambda: observe(our_model(data, **options), data, table)


def _ours_linear(data: Dataset) -> Work:
    """In portions, but of several classes one by one: there the losses that it observes are each class's against the
    rest, which tell no probability."""
    options = {"learner": "linear"}
    if data.classes is not None and len(data.classes) > 2:
        return _ours_one_by_one(data, **options)
    return _ours(data, **options)


def _ours_one_by_one(data: Dataset, **options: Any) -> Work:
    rows = frame(data).astype(object).where(frame(data).notna(), None).to_dict("records")
    few = data._replace(X=data.X[:WARM_UP], y=data.y[:WARM_UP])
    _river_answers(our_model(few, **options), few, rows[:WARM_UP])
    return lambda: _river_answers(our_model(data, **options), data, rows)


# River ---------------------------------------------------------------------------------------------------------------


def _river_answers(model: Any, data: Dataset, rows: list[dict[str, Any]]) -> Answers:
    labels = labels_of(data).tolist()

    def number(i: int) -> tuple[float, float]:
        told = model.predict_one(rows[i])
        model.learn_one(rows[i], labels[i])
        return 0.0 if told is None else told, np.nan

    def chances(i: int) -> tuple[float, float]:
        shares = model.predict_proba_one(rows[i])
        model.learn_one(rows[i], labels[i])
        total = sum(shares.values()) if shares else 0.0
        if not total > 0:
            return np.nan, np.nan
        return max(shares, key=shares.get), shares.get(labels[i], 0.0) / total

    return _one_by_one(labels, number if data.classes is None else chances, data.classes is not None)


def _river(make: Callable[[Dataset], Any]) -> Callable[[Dataset], Work]:
    def prepare(data: Dataset) -> Work:
        rows, model = words(data), make(data)
        return lambda: _river_answers(model, data, rows)

    return prepare


def _forest(data: Dataset) -> Any:
    from river import forest

    return (
        _scaled(forest.ARFRegressor(seed=0), data) if data.classes is None else forest.ARFClassifier(seed=0)
    )


def _patches(data: Dataset) -> Any:
    from river import ensemble

    return (
        _scaled(ensemble.SRPRegressor(seed=0), data)
        if data.classes is None
        else ensemble.SRPClassifier(seed=0)
    )


def _adaptive_tree(data: Dataset) -> Any:
    from river import tree

    if data.classes is None:
        return _scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=0), data)
    return tree.HoeffdingAdaptiveTreeClassifier(seed=0)


def _scaled(model: Any, data: Dataset, drop_zeros: bool = False) -> Any:
    """Standardized numbers, and a 0 or 1 for each word: for linear models, which leaves of regression trees are too."""
    from river import compose, preprocessing

    scaler = preprocessing.StandardScaler()
    if not data.categorical.any():
        return scaler | model
    hot = compose.SelectType(str) | preprocessing.OneHotEncoder(drop_zeros=drop_zeros)
    return ((compose.SelectType(float) | scaler) + hot) | model


def _mondrian(data: Dataset) -> Any:
    from river import compose, forest, preprocessing

    model = forest.AMFRegressor(seed=0) if data.classes is None else forest.AMFClassifier(seed=0)
    if not data.categorical.any():
        return preprocessing.MinMaxScaler() | model
    hot = compose.SelectType(str) | preprocessing.OneHotEncoder()
    return ((compose.SelectType(float) | preprocessing.MinMaxScaler()) + hot) | model


def _linear(data: Dataset) -> Any:
    from river import linear_model

    several = {None: linear_model.LinearRegression, 2: linear_model.LogisticRegression}
    model = several.get(None if data.classes is None else len(data.classes), linear_model.SoftmaxRegression)()
    return _scaled(model, data, drop_zeros=True)


# Vowpal Wabbit -------------------------------------------------------------------------------------------------------


def _lines(data: Dataset) -> list[str]:
    """Rows in its text format: what is missing is left out, as are zeros."""
    begins = [f"{name.replace(' ', '_').replace(':', '_').replace('|', '_')}" for name in data.feature_names]
    found = []
    for cells in data.X.tolist():
        text = ["|"]
        for name, categorical, cell in zip(begins, data.categorical, cells, strict=True):
            if categorical:
                text.append(f"{name}={'missing' if cell != cell else format(cell, '.0f')}")
            elif cell and cell == cell:
                text.append(f"{name}:{cell:.7g}")
        found.append(" ".join(text))
    return found


def _vowpal_wabbit(data: Dataset) -> Work:
    from vowpalwabbit import Workspace

    count = None if data.classes is None else len(data.classes)
    options = {None: "", 2: "--loss_function logistic --link logistic"}
    model = Workspace(
        "--quiet " + options.get(count, f"--oaa {count} --loss_function logistic --probabilities")
    )
    labels, lines = labels_of(data).tolist(), _lines(data)
    shown = [2 * y - 1 for y in labels] if count == 2 else [y + 1 for y in labels] if count else labels

    def answer(i: int) -> tuple[float, float]:
        example = model.parse(f"{shown[i]} {lines[i]}")
        said = model.predict(example)
        model.learn(example)
        model.finish_example(example)
        if count is None:
            return said, np.nan
        shares = [1.0 - said, said] if count == 2 else said
        return float(np.argmax(shares)), shares[labels[i]]

    return lambda: _one_by_one(labels, answer, bool(count))


# CapyMOA -------------------------------------------------------------------------------------------------------------


def _capymoa(data: Dataset) -> Work:
    from capymoa.core import LabeledInstance, RegressionInstance
    from capymoa.stream import Schema

    X, labels = filled(data), labels_of(data).tolist()
    columns = [f"x{j}" for j in range(X.shape[1])]
    levels = {columns[j]: _numbered(int(X[:, j].max()) + 1) for j in np.flatnonzero(data.categorical)}
    if data.classes is None:
        from capymoa.regressor import StreamingGradientBoostedRegression

        numbers = Schema.from_custom([*columns, "y"], "y", levels)
        regressor = StreamingGradientBoostedRegression(numbers)

        def number(i: int) -> tuple[float, float]:
            example = RegressionInstance.from_array(numbers, X[i], labels[i])
            said = regressor.predict(example)
            regressor.train(example)
            return 0.0 if said is None else said, np.nan

        return lambda: _one_by_one(labels, number, False)

    from capymoa.classifier import StreamingGradientBoostedTrees

    schema = Schema.from_custom([*columns, "y"], "y", levels | {"y": _numbered(len(data.classes))})
    classifier = StreamingGradientBoostedTrees(schema)

    def chances(i: int) -> tuple[float, float]:
        example = LabeledInstance.from_array(schema, X[i], labels[i])
        shares = classifier.predict_proba(example)
        classifier.train(example)
        if shares is None or not np.sum(shares) > 0:
            return np.nan, np.nan
        known = labels[i] < len(shares)
        return float(np.argmax(shares)), float(shares[labels[i]] / np.sum(shares)) if known else 0.0

    return lambda: _one_by_one(labels, chances, True)


def _numbered(count: int) -> list[str]:
    return [str(code) for code in range(count)]


# Batch boosters, refitted by hand ------------------------------------------------------------------------------------


def refits(rows: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the rows that each fit answers; before the first there is none."""
    begin, end = 0, FIRST_FIT
    while begin < rows:
        yield begin, min(end, rows)
        begin, end = end, int(np.ceil(end * GROWTH))


def refitted(make: Callable[[Dataset], Any]) -> Callable[[Dataset], Work]:
    def prepare(data: Dataset) -> Work:
        table, y = frame(data), labels_of(data)

        def numbers() -> Answers:
            told = _means_before(y)
            for begin, end in list(refits(len(y)))[1:]:
                told[begin:end] = make(data).fit(table[:begin], y[:begin]).predict(table[begin:end])
            return Answers(told)

        def chances() -> Answers:
            told, found = np.full(len(y), np.nan), np.full(len(y), np.nan)
            for begin, end in list(refits(len(y)))[1:]:
                known, shares = np.unique(y[:begin]), np.ones((end - begin, 1))
                if len(known) > 1:
                    model = make(data).fit(table[:begin], y[:begin])
                    known, shares = model.classes_, model.predict_proba(table[begin:end])
                told[begin:end] = known[shares.argmax(axis=1)]
                found[begin:end] = np.where(known == y[begin:end, None], shares, 0.0).sum(axis=1)
            return Answers(told, found)

        return numbers if data.classes is None else chances

    return prepare


def _means_before(y: np.ndarray) -> np.ndarray:
    """The mean of earlier labels, 0 at first."""
    return np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])


def _lightgbm(data: Dataset) -> Any:
    import lightgbm as lgb

    kind = lgb.LGBMRegressor if data.classes is None else lgb.LGBMClassifier
    return kind(n_jobs=1, random_state=0, verbosity=-1)


def _scikit_learn(data: Dataset) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if data.classes is None else HistGradientBoostingClassifier
    return kind(random_state=0)


# By importance: a run that is cut short has the first ones on all streams.
LEARNERS = {
    US: Learner("anyboost", "anyboost", _ours),
    LINEAR: Learner("anyboost", "anyboost", _ours_linear),
    FOREST: Learner("river", "river", _river(_forest)),
    "River linear": Learner("river", "river", _river(_linear)),
    "Vowpal Wabbit": Learner("vowpalwabbit", "vowpalwabbit", _vowpal_wabbit),
    "LightGBM refitted": Learner("lightgbm", "lightgbm", refitted(_lightgbm)),
    "River HAT": Learner("river", "river", _river(_adaptive_tree)),
    "HistGradientBoosting refitted": Learner("sklearn", "scikit-learn", refitted(_scikit_learn)),
    "River AMF": Learner("river", "river", _river(_mondrian)),
    "CapyMOA SGBT": Learner("capymoa", "capymoa", _capymoa),
    "River SRP": Learner("river", "river", _river(_patches)),
    SECOND: Learner("anyboost", "anyboost", _ours_one_by_one),
}


def installed(name: str) -> str:
    """The version of a learner's library; Absent where it cannot be imported."""
    learner = LEARNERS[name]
    try:
        importlib.import_module(learner.module)
    except Exception as error:  # whatever an import of someone else's raises
        raise Absent(f"cannot be imported: {first_line(error)}") from None
    return version(learner.distribution)
