"""A model of rows in files is, byte for byte, the model of the same rows in memory."""

import tracemalloc

import numpy as np
import pytest

import anyboost as ab
from anyboost.backends import arrays

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 700


@pytest.fixture(scope="module")
def frame():
    generator = np.random.default_rng(7)
    x = generator.normal(size=(N, 3))
    x[generator.random(N) < 0.2, 1] = np.nan
    x[:, 2] = np.round(x[:, 2], 1)
    city = generator.choice(["oslo", "rome", "lima", "bern"], N)
    frame = pd.DataFrame(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "c": x[:, 2],
            "city": pd.Series(city).where(generator.random(N) > 0.1),
            "y": x[:, 0] + np.where(city == "rome", 1.0, 0.0) + generator.normal(size=N) / 3,
            "weight": np.where(generator.random(N) < 0.1, 0.0, generator.uniform(0.1, 2, N)),
            "whole": generator.integers(0, 4, N).astype(float),
            "label": generator.choice(["no", "yes", "perhaps"], N),
            "query": generator.integers(0, 40, N),
            "count": generator.poisson(2.0, N),
            "positive": np.round(np.abs(x[:, 0]) + 0.1, 2),
            "event": np.round(np.abs(x[:, 0]) + 0.1, 2) * np.where(city == "lima", -1.0, 1.0),
            "grade": np.minimum(np.round(np.abs(x[:, 0])), 2.0),
            "two": np.where(x[:, 0] + x[:, 2] > 0, "yes", "no"),
        }
    )
    return pd.concat([frame, frame[:60]], ignore_index=True)  # copies, which draws have to tell apart


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    """Three files: several row groups, an empty one, columns in another order."""
    folder = tmp_path_factory.mktemp("rows")
    table = pa.Table.from_pandas(frame)
    parts = [table[:300], table[300:301], table[301:]]
    for number, part in enumerate(parts):
        order = list(part.column_names)[:: -1 if number == 2 else 1]
        with pq.ParquetWriter(folder / f"{number}.parquet", part.select(order).schema) as writer:
            writer.write_table(part.select(order)[:0])
            writer.write_table(part.select(order), row_group_size=90)
    return folder


X = ["a", "b", "c", "city"]


def bytes_of(model, tmp_path):
    """The file of a model, but for the time that rounds took."""
    steps = "steps_" if hasattr(model, "steps_") else "steps"
    setattr(model, steps, [step._replace(seconds=0.0) for step in getattr(model, steps)])
    ab.save(model, tmp_path / "model")
    return (tmp_path / "model").read_bytes()


KINDS = {"regressor": ab.BoostingRegressor, "classifier": ab.BoostingClassifier, "ranker": ab.BoostingRanker}


def same(kind, frame, files, tmp_path, target="y", weight=None, group=None, columns=X, **options):
    """Fit to both, and compare."""
    given = {"sample_weight": None if weight is None else frame[weight]}
    if group is not None:
        given["qid" if kind == "ranker" else "groups"] = frame[group]
    expected = KINDS[kind](**options).fit(frame[columns], frame[target], **given)
    table = ab.Binned.from_parquet(files, columns=columns, target=target, weight=weight, group=group)
    found = KINDS[kind](**options).fit(table)
    assert bytes_of(found, tmp_path) == bytes_of(expected, tmp_path)
    return found


@pytest.mark.parametrize("weight", [None, "weight", "whole"])
def test_a_regressor_with_all_that_is_automatic(weight, frame, files, tmp_path):
    # Rows held out find the rounds, a refit to all, rows and columns are drawn, memory is kept.
    model = same("regressor", frame, files, tmp_path, weight=weight)
    assert model.n_iter_ > 1
    assert model.dials_["subsample"] < 1
    assert model.dials_["memory"] == 0.5


def _log_cosh(score, target):
    gap = np.abs(score - target)
    return gap + np.log1p(np.exp(-2.0 * gap))


def _slope(score, target):
    return np.tanh(score - target)


OPTIONS = {
    "absolute": {"loss": "absolute", "weight": "weight"},
    "curvature": {"loss": "poisson", "target": "count"},
    "exact leaves": {"loss": "huber:1.0", "leaf": "exact", "memory": 0.5, "weight": "weight"},
    "linear leaves": {"leaf": "linear", "weight": "whole"},
    "target statistics": {"categorical_encoding": "target", "weight": "whole"},
    "early stopping": {"early_stopping": True, "subsample": 0.5, "random_state": 3},
    "quantiles": {"loss": ab.losses.MultiQuantile((0.1, 0.9)), "conformal": "split"},
    "worst group": {"loss": ab.losses.WorstGroup("squared"), "group": "query"},
    "worst rows": {"loss": ab.losses.CVaR("absolute", 0.2)},
    "two targets": {"target": ["y", "a"], "columns": ["b", "c", "city"]},
    "quantile": {"loss": "quantile:0.9", "weight": "weight"},
    "gamma": {"loss": "gamma", "target": "positive", "weight": "whole"},
    "tweedie": {"loss": "tweedie:1.5", "target": "count"},
    "survival": {"loss": "cox", "target": "event"},
    "kept in order": {"monotonic_cst": [1, 0, -1, 0], "weight": "weight"},
    "few bins": {"max_bins": 16, "weight": "weight"},
    "stumps": {"learner": "stump"},
    "expectile": {"loss": "expectile:0.8", "weight": "whole"},
    "own": {"loss": ab.losses.pointwise(_log_cosh, _slope, smoothness=1.0), "weight": "weight"},
    "quantiles that may not cross": {
        "loss": ab.losses.MultiQuantile((0.1, 0.9)) + ab.losses.Crossing(0.1),
        "weight": "weight",
    },
}


@pytest.mark.parametrize("name", OPTIONS)
def test_regressors_of_every_kind(name, frame, files, tmp_path):
    same("regressor", frame, files, tmp_path, **{"max_iter": 8} | OPTIONS[name])


@pytest.mark.parametrize("weight", [None, "weight"])
def test_classifiers(weight, frame, files, tmp_path):
    model = same(
        "classifier", frame, files, tmp_path, target="label", weight=weight, max_iter=8, subsample=0.7
    )
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    same("classifier", frame, files, tmp_path, target="label", max_iter=8, class_weight="balanced")


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "exponential", "multiclass_hinge"])
def test_classifiers_of_every_loss(loss, frame, files, tmp_path):
    target = "label" if loss == "multiclass_hinge" else "two"
    same("classifier", frame, files, tmp_path, target=target, weight="weight", loss=loss, max_iter=6)


def test_rankers(frame, files, tmp_path):
    same("ranker", frame, files, tmp_path, target="count", group="query", max_iter=8)
    same("ranker", frame, files, tmp_path, target="count", group="query", early_stopping=True, max_iter=8)
    same("ranker", frame, files, tmp_path, target="count", group="query", loss="rank_hinge", max_iter=4)


CUTS = {
    "trees": {"learner": "tree:8", "row_fraction": 0.6, "feature_fraction": 0.5, "random_state": 5},
    "all recorded": {"learner": "tree:4", "descent": ab.descent.Residual(0.1, memory=0.5)},
    "exact leaves": {"loss": ab.losses.Expectile(0.8), "learner": ab.weak.Tree(8, leaf="exact")},
    "lines": {"learner": "linear", "numbers": True},
    "a tree each": {"loss": "softmax", "target": "grade", "learner": ab.weak.Tree(4, outputs="each")},
    "hull": {"loss": "absolute", "learner": "tree:4", "descent": "hull"},
    "shrinking": {"loss": "quantile:0.9", "learner": "stump", "descent": "shrinking"},
}


@pytest.mark.parametrize("weight", [None, "weight", "whole"])
@pytest.mark.parametrize("name", CUTS)
def test_boost(name, weight, frame, files, tmp_path):
    options = {"loss": "squared", "rounds": 6} | CUTS[name]
    columns, target = ["a", "c"] if options.pop("numbers", False) else X, options.pop("target", "y")
    table, known = ab.tables.read(frame[columns], sample_weight=None if weight is None else frame[weight])
    masses = None if weight is None else frame[weight]
    expected = ab.boost(table, frame[target], sample_weight=masses, categorical=known.categorical, **options)
    binned = ab.Binned.from_parquet(files, columns=columns, target=target, weight=weight)
    assert bytes_of(ab.boost(binned, **options), tmp_path) == bytes_of(expected, tmp_path)


def test_single_numbers_are_compared_as_such(tmp_path):
    # In float32 the columns have ties, and up to 255 values a bin each, that they have not in float64.
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(3000, 2)).astype(np.float32), columns=["a", "b"])
    frame["b"] = np.float32(1) + np.float32(1e-7) * generator.integers(0, 300, len(frame)).astype(np.float32)
    frame["y"] = (frame["a"] + frame["b"]).astype(np.float32)
    frame.to_parquet(tmp_path / "rows.parquet")
    table = ab.Binned.from_parquet(tmp_path / "rows.parquet", target="y")
    assert table.X.dtype == np.float32
    own = ab.Binned(frame[["a", "b"]].to_numpy())
    assert np.array_equal(table.bins.words, own.bins.words)
    assert np.array_equal(table.bins.thresholds, own.bins.thresholds)
    assert table.bins.n_thresholds[1] < 254  # not one a number, as they were drawn


def test_categories_that_are_many_or_numbers(tmp_path):
    # Levels are those of all files, the heaviest 254 are told apart, and numbers may be levels.
    generator = np.random.default_rng(2)
    many = generator.zipf(1.3, 4000) % 600
    frame = pd.DataFrame(
        {"many": [f"level {code}" for code in many], "five": generator.choice([0.5, 2.0, 7.0], 4000)}
    )
    frame["y"] = np.sin(many) + frame["five"]
    paths = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for path, part in zip(paths, (frame[:1500], frame[1500:]), strict=True):
        part.to_parquet(path)
    options = {"max_iter": 5, "categorical_encoding": "subset"}
    with pytest.warns(UserWarning, match="levels, of which all but the 254"):
        expected = ab.BoostingRegressor(**options, categorical_features=["many", "five"]).fit(
            frame[["many", "five"]], frame["y"]
        )
    table = ab.Binned.from_parquet(paths, target="y", categorical=["many", "five"])
    with pytest.warns(UserWarning, match="levels, of which all but the 254"):
        found = ab.BoostingRegressor(**options).fit(table)
    expected.categorical_features = found.categorical_features
    assert bytes_of(found, tmp_path) == bytes_of(expected, tmp_path)
    assert table.columns.levels[1].values == (0.5, 2.0, 7.0)


def test_text_files(frame, tmp_path):
    # pandas writes all digits, so the numbers are those of the frame.
    part = frame[[*X, "y", "whole"]]
    part[:200].to_csv(tmp_path / "1.csv", index=False)
    part[200:].to_csv(tmp_path / "2.csv.gz", index=False)
    expected = ab.BoostingRegressor(max_iter=8).fit(part[X], part["y"], sample_weight=part["whole"])
    table = ab.Binned.from_parquet(tmp_path, target="y", weight="whole")
    assert bytes_of(ab.BoostingRegressor(max_iter=8).fit(table), tmp_path) == bytes_of(expected, tmp_path)


def test_a_fit_does_not_bin_anew(files, monkeypatch):
    """Else every fit to the same table would take the passes over it again."""
    table = ab.Binned.from_parquet(files, columns=X, target="y", weight="weight")
    monkeypatch.setattr("anyboost.trees.binning.bin_table", None)
    ab.boost(table, rounds=2)
    ab.BoostingRegressor(max_iter=2).fit(table)


def test_whatever_is_as_long_as_the_table_lies_in_files(frame, files, tmp_path, monkeypatch):
    """With no room in memory for working arrays the model is the same."""
    monkeypatch.setattr("anyboost.backends.arrays.memory", lambda: 0)
    same("regressor", frame, files, tmp_path, max_iter=5, weight="weight", subsample=0.5)
    same("classifier", frame, files, tmp_path, target="label", max_iter=3)


def test_predictions_come_by_portions(frame, files, tmp_path):
    table = ab.Binned.from_parquet(files, columns=X, target="y")
    model = ab.BoostingRegressor(max_iter=5).fit(table)
    portions = list(ab.predict_portions(model, files))
    assert len(portions) > 3
    expected = model.predict(frame[X])
    assert np.array_equal(np.concatenate(portions), expected)
    assert ab.predict_files(model, files, tmp_path / "out.parquet") == len(frame)
    assert np.array_equal(pd.read_parquet(tmp_path / "out.parquet")["prediction"], expected)
    run = ab.boost(table, learner="tree:8", rounds=3)
    scores = np.concatenate(list(ab.predict_portions(run, files, like=table)))
    assert np.array_equal(scores, run.scores)
    classes = ab.BoostingClassifier(max_iter=3).fit(frame[X], frame["label"])
    ab.predict_files(classes, files, tmp_path / "p.parquet", method="predict_proba")
    found = pd.read_parquet(tmp_path / "p.parquet")
    assert list(found) == ["prediction_0", "prediction_1", "prediction_2"]
    assert np.array_equal(found.to_numpy(), classes.predict_proba(frame[X]))


def test_some_rows_of_a_table_are_those_of_one_in_memory(files):
    table = ab.Binned.from_parquet(files, columns=X, target="y", weight="whole")
    mask = np.arange(len(table)) % 3 == 0
    for rows in (slice(5, 90), mask, np.flatnonzero(mask)[::-1], [4, 4, 1]):
        part = table.take(rows)
        for found, whole in ((part.X, table.X), (part.y, table.y), (part.bins.words.T, table.bins.words.T)):
            np.testing.assert_array_equal(found, np.array(whole)[rows])
    own = ab.boost(table, rounds=3, sample_weight=mask.astype(float), learner="tree:4")
    assert np.array_equal(
        own.scores,
        ab.boost(table.take(mask), rounds=3, sample_weight=np.ones(mask.sum()), learner="tree:4").scores,
    )


def test_a_fit_keeps_little_of_each_row_in_memory(tmp_path, monkeypatch):
    """On a machine without room for working arrays, those of a default fit lie in files."""
    rows = 200_000
    random = np.random.default_rng(0)
    columns = {name: random.normal(size=rows) for name in "abc"}
    columns["y"] = columns["a"] * columns["b"] + random.normal(size=rows)
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    monkeypatch.setattr(arrays, "memory", lambda: 0)
    table = ab.Binned.from_parquet(tmp_path / "rows.parquet", target="y")
    ab.BoostingRegressor(max_iter=2).fit(np.ones((100, 1)), np.arange(100.0))  # loads what it needs
    tracemalloc.start()
    try:
        ab.BoostingRegressor(max_iter=6).fit(table)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 24 * rows + 4_000_000  # two arrays that nobody touches, rows drawn; histograms
