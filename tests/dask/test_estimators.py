"""Estimators on a cluster are those of rows in one place, and predict partition by partition."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import anyboost as ab
from models import model_of

random = np.random.default_rng(3)
ROWS = 600
FRAME = pd.DataFrame(
    random.integers(0, 1000, (ROWS, 3)) / 1000.0, columns=list("abc"), index=np.arange(ROWS) * 7
)
FRAME["kind"] = pd.Categorical(random.choice(["x", "y", "z"], ROWS))
Y = pd.Series(
    FRAME["a"] * FRAME["b"] + (FRAME["kind"] == "x") + random.normal(size=ROWS) / 5, index=FRAME.index
)
LABELS = pd.Series(np.where(Y.median() < Y, "high", "low"), index=FRAME.index)
TABLE = FRAME[["a", "b", "c"]].to_numpy()


def spread(*given, parts=4):
    return [dd.from_pandas(part, npartitions=parts) for part in given]


def same(one, other):
    class Holds:
        def __init__(self, model):
            self.ensemble = model.ensemble_

    return model_of(Holds(one)) == model_of(Holds(other))


def test_a_regressor_with_nothing_said_is_the_local_one(client):
    X, y = spread(FRAME, Y)
    model = ab.dask.DaskBoostingRegressor(client=client).fit(X, y)
    local = ab.BoostingRegressor().fit(FRAME, Y)
    assert same(model, local)
    assert model.dials_ == local.dials_
    np.testing.assert_array_equal(model.validation_score_, local.validation_score_)
    assert model.floor() == local.floor()
    lazy = model.predict(X)
    assert isinstance(lazy, dd.Series)
    found = lazy.compute()
    np.testing.assert_array_equal(found.to_numpy(), local.predict(FRAME))
    assert (found.index == FRAME.index).all()
    np.testing.assert_array_equal(model.apply(X).compute().to_numpy(), local.apply(FRAME))


def test_a_classifier_of_words_by_frames_and_arrays(client):
    X, y = spread(FRAME, LABELS)
    given = {"max_iter": 12, "class_weight": "balanced"}
    model = ab.dask.DaskBoostingClassifier(client=client, **given).fit(X, y)
    local = ab.BoostingClassifier(**given).fit(FRAME, LABELS)
    assert same(model, local)
    assert model.classes_.tolist() == ["high", "low"]
    proba = model.predict_proba(X).compute()
    assert proba.columns.tolist() == ["high", "low"]
    np.testing.assert_array_equal(proba.to_numpy(), local.predict_proba(FRAME))
    np.testing.assert_array_equal(model.predict(X).compute().to_numpy(), local.predict(FRAME))

    chunks = da.from_array(TABLE, chunks=(170, 2))
    model = ab.dask.DaskBoostingClassifier(client=client, **given).fit(
        chunks, da.from_array(LABELS.to_numpy(dtype=str), chunks=100)
    )
    local = ab.BoostingClassifier(**given).fit(TABLE, LABELS)
    assert same(model, local)
    lazy = model.predict_proba(chunks)
    assert lazy.shape == (ROWS, 2)
    np.testing.assert_array_equal(lazy.compute(), local.predict_proba(TABLE))


def test_a_ranker_with_torn_queries_and_a_set_to_watch(client):
    grades, queries = np.floor(3 * (Y - Y.min())), pd.Series(np.arange(ROWS) // 7, index=FRAME.index)
    X, y, qid = spread(FRAME, grades, queries)
    watched = spread(FRAME[:70], grades[:70], queries[:70], parts=1)
    more = dict(zip(("X_val", "y_val", "qid_val"), watched, strict=True))
    model = ab.dask.DaskBoostingRanker(max_iter=15, client=client).fit(X, y, qid=qid, **more)
    local = ab.BoostingRanker(max_iter=15).fit(
        FRAME, grades, qid=queries, X_val=FRAME[:70], y_val=grades[:70], qid_val=queries[:70]
    )
    assert same(model, local)
    assert model.best_iteration_ == local.best_iteration_


def test_the_client_is_no_part_of_copies_and_files(client):
    X, y = spread(FRAME, Y)
    model = ab.dask.DaskBoostingRegressor(max_iter=3, client=client).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert same(again, model)
    assert clone(model).client is client
    local = model.to_local()
    assert type(local) is ab.BoostingRegressor
    np.testing.assert_array_equal(local.predict(FRAME), model.predict(FRAME))


def test_files_hold_the_local_estimator(client, tmp_path):
    """A file that is written without a word must be one that can be read, where there is no cluster."""
    X, y = spread(FRAME, Y)
    model = ab.dask.DaskBoostingRegressor(max_iter=3, client=client).fit(X, y)
    ab.save(model, tmp_path / "model")
    ab.export.to_json(model, tmp_path / "model.json")
    for found in (ab.load(tmp_path / "model"), ab.export.from_json(tmp_path / "model.json")):
        assert type(found) is ab.BoostingRegressor
        np.testing.assert_array_equal(found.predict(FRAME), model.predict(FRAME))
    with pytest.raises(NotFittedError, match="DaskBoostingRegressor"):
        ab.save(ab.dask.DaskBoostingRegressor(), tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"warm_start": True}, "warm_start cannot be used by fits on a cluster"),
        ({"learner": "linear"}, "learner Linear needs all rows in one place"),
        ({"scoring": "r2"}, 'scoring other than "loss" cannot be used by fits on a cluster'),
        ({"learning_rate": -1.0}, "learning_rate must be positive"),
        ({"loss": "banana"}, "loss 'banana' is not known"),
        ({"loss": "absolute", "quantile": 0.3}, "quantile is the level of loss='quantile'"),
        ({"descent": "banana"}, "descent 'banana' is not known"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(client, given, sentence):
    computed = []
    X, y = ([delayed(computed.append)(name)] for name in "Xy")
    with pytest.raises(ValueError, match=sentence):
        ab.dask.DaskBoostingRegressor(client=client, **given).fit(X, y)
    assert computed == []


def test_verbose_and_callbacks_tell_of_the_rounds_at_the_client(client, capsys):
    heard = []
    model = ab.dask.DaskBoostingRegressor(
        max_iter=6, verbose=2, callbacks=[lambda step, run: heard.append(step.round)], client=client
    )
    model.fit(*spread(FRAME, Y))
    assert heard == [1, 2, 3, 4, 5, 6]
    told = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in told] == [f"fitting: round {round}" for round in (2, 4, 6)]


class Recorder:
    """A callback of scikit-learn's protocol."""

    def __init__(self, stop_at=None):
        self.stop_at, self.events, self.rows = stop_at, [], None

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.events.append(("begin", context.task_name, context.task_id))
        self.rows = X

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id))
        return context.task_name == "round" and context.task_id == self.stop_at

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_callbacks_of_scikit_learn_hear_of_rounds_at_the_client(client, capsys):
    callback = pytest.importorskip("sklearn.callback")
    X, y = spread(FRAME, Y)
    recorder = Recorder()
    model = ab.dask.DaskBoostingRegressor(max_iter=3, client=client).set_callbacks(recorder).fit(X, y)
    rounds = [(kind, "round", number) for number in range(3) for kind in ("begin", "end")]
    assert recorder.events == ["setup", ("begin", "fit", 0), *rounds, ("end", "fit", 0), "teardown"]
    assert recorder.rows is X
    assert same(model, ab.BoostingRegressor(max_iter=3).fit(FRAME, Y))

    stopped = clone(model).set_params(max_iter="auto").set_callbacks(Recorder(stop_at=4)).fit(X, y)
    assert stopped.n_iter_ == 5
    failing = Recorder()
    with pytest.raises(ValueError, match="learning_rate"):
        ab.dask.DaskBoostingRegressor(learning_rate=-1, client=client).set_callbacks(failing).fit(X, y)
    assert failing.events == []

    clone(model.set_callbacks(callback.ProgressBar())).fit(X, y)
    assert "DaskBoostingRegressor" in capsys.readouterr().out


def test_a_callback_that_needs_each_round_s_estimator_is_refused(client):
    callback = pytest.importorskip("sklearn.callback")
    model = ab.dask.DaskBoostingRegressor(client=client).set_callbacks(callback.ScoringMonitor(scoring="r2"))
    with pytest.raises(
        ValueError, match="the callback ScoringMonitor asks for the estimator that each round"
    ):
        model.fit(*spread(FRAME, Y))
