"""What users have as partitions: files, frames of several libraries, uneven parts. The model, or a sentence."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed

import anyboost as ab

random = np.random.default_rng(5)
ROWS = 400
FRAME = pd.DataFrame(random.normal(size=(ROWS, 3)), columns=list("abc"))
FRAME["kind"] = pd.Categorical(random.choice(["x", "y", "z"], ROWS))
FRAME.loc[::7, "b"] = np.nan
NUMBERS = FRAME[["a", "b", "c"]]
Y = (FRAME["a"] + (FRAME["kind"] == "x") + random.normal(size=ROWS) / 5).rename("y")
EVEN = (0, 100, 200, 300, 400)
PLACES = (0, 1, 0, 1)  # parts of one worker lie apart


def split(values, edges=EVEN):
    return [values[begin:end] for begin, end in pairwise(edges)]


def placed(client, parts, places=PLACES):
    """Parts on chosen workers."""
    workers = sorted(client.nthreads())
    return [
        client.submit(lambda part=part: part, workers=[workers[place]], pure=False)
        for part, place in zip(parts, places, strict=True)
    ]


def fitted(X, y, **given):
    return ab.dask.DaskBoostingRegressor(max_iter=5).fit(X, y, **given)


def same(model, X=FRAME, y=Y, **given):
    local = ab.BoostingRegressor(max_iter=5).fit(X, y, **given)
    return model.ensemble_.coefficients.tolist() == local.ensemble_.coefficients.tolist() and np.array_equal(
        model.to_local().predict(X), local.predict(X)
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Ten small files of many columns: Dask would read the few of y from several files at once."""
    folder = tmp_path_factory.mktemp("files")
    more = pd.DataFrame(random.normal(size=(ROWS, 15)), columns=[f"z{j}" for j in range(15)])
    whole = pd.concat([FRAME, Y, more], axis=1).assign(
        weight=1.0 + np.arange(ROWS) % 3, query=np.arange(ROWS) // 8
    )
    for number, part in enumerate(np.split(np.arange(ROWS), 10)):
        whole.iloc[part].to_parquet(folder / f"{number:02d}.parquet")
    return folder, whole


def test_columns_of_one_set_of_files_belong_together(client, files):
    """X and y of one `read_parquet` are the most usual call there is."""
    folder, whole = files
    read = dd.read_parquet(folder)
    rest = ["y", "weight", "query"]
    model = fitted(read.drop(columns=rest), read["y"], sample_weight=read["weight"])
    assert same(model, whole.drop(columns=rest), whole["y"], sample_weight=whole["weight"])
    found = model.predict(read.drop(columns=rest)).compute()
    np.testing.assert_array_equal(found, model.to_local().predict(whole.drop(columns=rest)))
    few = read[["a", "b", "kind"]]
    ranker = ab.dask.DaskBoostingRanker(max_iter=4).fit(few, read["y"] > 0, qid=read["query"])
    local = ab.BoostingRanker(max_iter=4).fit(whole[["a", "b", "kind"]], whole["y"] > 0, qid=whole["query"])
    assert ranker.ensemble_.coefficients.tolist() == local.ensemble_.coefficients.tolist()
    run = ab.dask.boost(client, read[["a", "b"]], read["y"], "absolute", "tree:8", rounds=4, timeout=60.0)
    here = ab.boost(whole[["a", "b"]], whole["y"], "absolute", "tree:8", rounds=4)
    assert (run.floor(), run.steps[-1].loss) == (here.floor(), here.steps[-1].loss)


@pytest.mark.parametrize("kind", ["futures", "array of targets", "set to watch"])
def test_rows_of_x_and_y_that_are_not_the_same_are_refused(client, kind):
    """Else a model is fitted to the targets of other rows, and nobody is told."""
    X, y = placed(client, split(NUMBERS)), placed(client, split(Y, (0, 90, 200, 310, 400)))
    if kind == "array of targets":
        y = da.from_array(Y.to_numpy(), chunks=((90, 110, 110, 90),))
    watched = {"valid": {"other": (X, y)}} if kind == "set to watch" else {}
    good = placed(client, split(Y)) if watched else y
    with pytest.raises(
        ValueError, match=r"partition \d has 1\d0 rows of .*X and \d+ of .*y: partition them alike"
    ):
        fitted(X, good, **watched)


def test_columns_may_lie_in_another_order_in_each_partition(client):
    """They are found by name: where partitions lie must not change the model."""
    turned = [part[part.columns[::-1]] if number % 2 else part for number, part in enumerate(split(FRAME))]
    assert same(fitted(placed(client, turned), placed(client, split(Y))))
    numbers = [part.drop(columns="kind") for part in turned]
    run = ab.dask.boost(client, placed(client, numbers), placed(client, split(Y)), rounds=3, timeout=60.0)
    assert run.steps[-1].loss == ab.boost(NUMBERS, Y, rounds=3).steps[-1].loss


TABLE = NUMBERS.to_numpy()
OTHERS = {
    "another name": ([part.rename(columns={"a": "aa"}) for part in split(NUMBERS)], "the columns aa, b, c"),
    "fewer columns": ([part[["a", "b"]] for part in split(NUMBERS)], "the columns a, b"),
    "no names": (split(TABLE), "3 columns without names"),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("places", [PLACES, (0, 0, 0, 0)], ids=["two workers", "one worker"])
def test_other_columns_in_some_partitions_are_refused(client, name, places):
    others, told = OTHERS[name]
    mixed = [
        other if number % 2 else part
        for number, (part, other) in enumerate(zip(split(NUMBERS), others, strict=True))
    ]
    sentence = f"X has {told} in one partition and the columns a, b, c in the first: give all the"
    y = placed(client, split(Y), places)
    with pytest.raises(ValueError, match=sentence):
        fitted(placed(client, mixed, places), y)
    with pytest.raises(ValueError, match=sentence):
        ab.dask.boost(client, placed(client, mixed, places), y, rounds=2, timeout=60.0)


def test_fewer_columns_in_an_array_are_refused(client):
    narrow = [part[:, :2] if number % 2 else part for number, part in enumerate(split(TABLE))]
    with pytest.raises(ValueError, match="X has 2 columns without names in one partition and 3 columns"):
        ab.dask.boost(client, placed(client, narrow), placed(client, split(Y)), rounds=2, timeout=60.0)


@pytest.mark.usefixtures("client")
def test_parts_of_polars_and_arrow():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    tables = {
        "polars": (pl.from_pandas, lambda part: pl.Series(part.to_numpy())),
        "arrow": (pa.Table.from_pandas, lambda part: pa.chunked_array([part.to_numpy()])),
    }
    for table, targets in tables.values():
        parts = [table(part) for part in split(FRAME)]
        model = fitted([delayed(part) for part in parts], [delayed(targets(part)) for part in split(Y)])
        assert same(model)
        nothing = model.predict([delayed(parts[0][:0]), delayed(parts[0])])
        assert [len(part.compute()) for part in nothing] == [0, 100]


def test_numbers_of_32_bits_on_one_worker_and_of_64_on_another(client):
    """The table is then of 64 bits, as it is where the parts are put together in one place."""
    mixed = [part.astype(np.float32) if number % 2 else part for number, part in enumerate(split(TABLE))]
    whole = np.concatenate(mixed)
    y = placed(client, split(Y.to_numpy()))
    assert same(fitted(placed(client, mixed), y), whole)
    frames = [pd.DataFrame(part, columns=list("abc")) for part in mixed]
    assert same(fitted(placed(client, frames), y), pd.concat(frames))


def test_futures_are_predicted_as_they_are_fitted(client):
    X, y = placed(client, split(FRAME)), placed(client, split(Y))
    model = fitted(X, y)
    found = np.concatenate([part.compute() for part in model.predict(X)])
    np.testing.assert_array_equal(found, model.to_local().predict(FRAME))


@pytest.mark.parametrize("kind", ["categories", "text", "numbers"])
@pytest.mark.usefixtures("client")
def test_partitions_without_rows_are_predicted(kind):
    """A filter that leaves a partition empty must not end a whole prediction."""
    frame = FRAME.assign(kind=FRAME["kind"].astype(str)) if kind == "text" else FRAME
    frame = NUMBERS if kind == "numbers" else frame
    X, y = dd.from_pandas(frame, npartitions=4), dd.from_pandas(Y, npartitions=4)
    model = fitted(X, y)
    local = ab.BoostingRegressor(max_iter=5).fit(frame, Y)
    kept = model.predict(X.map_partitions(lambda part: part[part.index < 150])).compute()
    np.testing.assert_array_equal(kept, local.predict(frame[frame.index < 150]))
    for method in ("predict", "apply"):
        assert len(getattr(model, method)(X[X["a"] > 100]).compute()) == 0
    classes = ab.dask.DaskBoostingClassifier(max_iter=3).fit(X, y > 0)
    assert classes.predict_proba(X[X["a"] > 100]).compute().shape == (0, 2)


@pytest.mark.parametrize("name", ["boost", "DaskBoostingRegressor", "DaskBoostingClassifier"])
def test_no_row_at_all_is_refused_in_a_sentence(client, name):
    X, y = dd.from_pandas(NUMBERS, npartitions=3), dd.from_pandas(Y > 0, npartitions=3)
    chosen = X["a"] > 100
    fits = {"boost": lambda X, y: ab.dask.boost(client, X, y, rounds=2, timeout=60.0)}
    fit = fits.get(name) or getattr(ab.dask, name)(max_iter=2).fit
    with pytest.raises(ValueError, match="X has no rows: give at least one"):
        fit(X[chosen], y[chosen])


def test_words_in_a_table_of_numbers_are_refused_as_in_one_place(client):
    X, y = dd.from_pandas(FRAME, npartitions=3), dd.from_pandas(Y, npartitions=3)
    with pytest.raises(
        ValueError, match="turn it into numbers, or give an estimator a data frame with categories"
    ):
        ab.dask.boost(client, X, y, rounds=3, timeout=60.0)
