"""A model of rows in files is, byte for byte, the model of the same rows in memory."""

import numpy as np
import pytest

import anyboost as ab

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


def same(model, frame, files, tmp_path, target="y", weight=None, group=None, columns=X, **options):
    """Fit to both, and compare."""
    from_memory = ab.BoostingRegressor if model == "regressor" else ab.BoostingClassifier
    if model == "ranker":
        from_memory = ab.BoostingRanker
    given = {"sample_weight": None if weight is None else frame[weight]}
    if group is not None:
        given["qid" if model == "ranker" else "groups"] = frame[group]
    expected = from_memory(**options).fit(frame[columns], frame[target], **given)
    table = ab.Binned.from_parquet(files, columns=columns, target=target, weight=weight, group=group)
    found = from_memory(**options).fit(table)
    assert bytes_of(found, tmp_path) == bytes_of(expected, tmp_path)
    return found


@pytest.mark.parametrize("weight", [None, "weight", "whole"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile:0.9"])
def test_regressors_with_all_that_is_automatic(loss, weight, frame, files, tmp_path):
    # Rows held out find the rounds, a refit to all, rows and columns are drawn, memory is kept.
    same("regressor", frame, files, tmp_path, weight=weight, loss=loss)


OPTIONS = {
    "curvature": {"loss": "poisson", "target": "count"},
    "exact leaves": {"loss": "huber:1.0", "leaf": "exact", "memory": 0.5},
    "linear leaves": {"leaf": "linear"},
    "target statistics": {"categorical_encoding": "target", "weight": "whole"},
    "early stopping": {"early_stopping": True, "max_iter": 30, "subsample": 0.5},
    "cross-validated intervals": {"loss": "quantile:0.5", "calibration": "cv"},
    "worst group": {"loss": "worst_group", "group": "query"},
    "two targets": {"target": ["y", "a"], "columns": ["b", "c", "city"]},
    "few bins": {"max_bins": 16},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_regressors_of_every_kind(name, frame, files, tmp_path):
    same("regressor", frame, files, tmp_path, **{"max_iter": 20} | OPTIONS[name])
