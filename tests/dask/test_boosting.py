"""`ab.dask.boost` on a cluster gives the Run of `ab.boost`, byte for byte, from any kind of collection."""

import threading

import dask
import numpy as np
import pytest
from sklearn.linear_model import Ridge

import anyboost as ab
import fingerprints
from models import model_of
from spread import arrays, delayed, frames

X, Y, GROUPS = fingerprints.data("squared")
HOW = ("absolute", ab.weak.Tree(8))
OPTIONS = {"rounds": 8, "timeout": 60.0}


OTHER_LEARNERS = (
    ("linear", "Linear"),
    ("net", "Net"),
    ("classifier", "Classifier"),
    (ab.weak.Dictionary([np.tanh]), "Dictionary"),
    (Ridge(), "Estimator"),
)


def whole(*how, **options):
    return ab.boost(X, Y, *how, **{"rounds": 8, **options})


def steps_of(run):
    return [step._replace(seconds=0.0) for step in run.steps]


@pytest.mark.parametrize("kind", [arrays, frames, delayed], ids=lambda kind: kind.__name__)
def test_every_kind_of_collection_gives_the_same_model(client, kind):
    run, local = ab.dask.boost(client, *kind(X, Y), *HOW, **OPTIONS), whole(*HOW)
    assert model_of(run) == model_of(local)
    assert steps_of(run) == steps_of(local)
    assert (run.floor(), run.gap(2.0), run.norm) == (local.floor(), local.gap(2.0), local.norm)
    assert run.scores.shape == (0,)


def test_weights_draws_and_a_set_that_is_spread_otherwise(client):
    weights, more = fingerprints.FLOATS, {"row_fraction": 0.7, "patience": 3, "random_state": 5}
    dX, dy, dw = arrays(X, Y, weights)
    watched, targets = arrays(X[:60], Y[:60] + 0.5, rows=60)  # on one worker alone
    run = ab.dask.boost(client, dX, dy, *HOW, sample_weight=dw, valid=(watched, targets), **OPTIONS, **more)
    local = whole(*HOW, sample_weight=weights, valid=(X[:60], Y[:60] + 0.5), **more)
    assert model_of(run) == model_of(local)
    assert steps_of(run) == steps_of(local)
    assert run.best_round == local.best_round


def test_a_worker_that_holds_nothing_but_rows_to_watch_takes_part(client):
    places = sorted(client.nthreads())

    def at(place, values):
        return [client.submit(lambda: values, workers=[places[place]], pure=False)]

    seen = []
    more = {"valid": (at(2, X[:60]), at(2, Y[:60] + 0.5)), "patience": 3}
    listen = [lambda step, run: seen.append(client.processing())]
    run = ab.dask.boost(client, at(0, X), at(0, Y), *HOW, **more, **OPTIONS, callbacks=listen)
    local = whole(*HOW, valid=(X[:60], Y[:60] + 0.5), patience=3)
    assert {place for place, tasks in seen[0].items() if tasks} == {places[0], places[2]}
    assert model_of(run) == model_of(local)
    assert run.watch.losses == local.watch.losses


def test_queries_and_offsets_may_be_torn_over_partitions(client):
    grades = np.floor(2 * (Y - Y.min()))
    offset = X[:, 0]
    dX, dy, groups, start = arrays(X, grades, GROUPS, offset, rows=37)
    run = ab.dask.boost(client, dX, dy, "rank_hinge", "stump", groups=groups, start=start, **OPTIONS)
    local = ab.boost(X, grades, "rank_hinge", "stump", groups=GROUPS, start=offset, rounds=8)
    assert model_of(run) == model_of(local)


def test_two_fits_at_once_neither_wait_for_each_other_nor_mix(client):
    from threading import Thread

    found = {}

    def fit(loss):
        found[loss] = ab.dask.boost(client, *arrays(X, Y), loss, HOW[1], **OPTIONS)

    threads = [Thread(target=fit, args=(loss,)) for loss in ("squared", "absolute")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for loss in ("squared", "absolute"):
        assert model_of(found[loss]) == model_of(whole(loss, HOW[1]))


def test_a_bad_row_of_one_worker_is_refused_as_in_a_local_fit(client):
    bad = Y.copy()
    bad[300] = np.nan
    with pytest.raises(ValueError, match="y must be finite, got nan"):
        ab.dask.boost(client, *arrays(X, bad), *HOW, **OPTIONS)
    assert not any(client.run(lambda: __import__("anyboost.dask.workers", fromlist=["_"])._seats).values())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        *(
            ({"learner": learner}, f"learner {name} needs all rows in one place, .*: use a tree or a stump")
            for learner, name in OTHER_LEARNERS
        ),
        ({"X": X}, "X must be a dask DataFrame or Array, or a list of delayed parts, got ndarray"),
        ({"y": [dask.delayed(Y)]}, "y has 1 partitions, and X 5: partition them alike"),
        ({"timeout": 0}, "timeout must be positive, got 0"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(client, change, sentence):
    dX, dy = arrays(X, Y)
    given = {"X": dX, "y": dy, "learner": "stump", "rounds": 2} | change
    with pytest.raises((ValueError, TypeError), match=sentence):
        ab.dask.boost(client, given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"banana": 1}, "boost has no argument 'banana'"),
        ({"max_iter": 5}, "boost has no argument 'max_iter': use rounds"),
        ({"loss": "banana"}, "loss 'banana' is not known"),
        ({"descent": "banana"}, "descent 'banana' is not known"),
        ({"learner": "hull", "descent": "hull"}, "learner 'hull' is not known"),
        ({"curvature": True, "descent": "hull"}, "descent Hull steps along atoms in the flat metric"),
        ({"rounds": -1}, "rounds must be .*, got -1"),
        ({"row_fraction": 2.0}, "row_fraction must be"),
        ({"max_bins": 1000}, "max_bins must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_threads": -1}, "n_threads must be"),
        ({"patience": 0, "valid": True}, "patience must be"),
        ({"patience": 2}, "patience needs a set to watch"),
    ],
)
def test_slips_are_refused_before_a_partition_is_computed(client, change, sentence):
    """Hours of reading must not end with the news of a misspelt word."""
    computed = []
    X, y = ([dask.delayed(computed.append)(name)] for name in "Xy")
    change = change | ({"valid": (X, y)} if "valid" in change else {})
    with pytest.raises((ValueError, TypeError), match=sentence):
        ab.dask.boost(client, X, y, **{"rounds": 2} | change)
    assert computed == []


def test_callbacks_hear_of_rounds_at_the_client_and_may_stop_the_fit(client):
    heard = []

    def listen(step, run):
        heard.append((step._replace(seconds=0.0), len(run.steps), run.ensemble.predict(X[:5]).tolist()))
        return step.round == 5

    run = ab.dask.boost(client, *arrays(X, Y), *HOW, callbacks=[listen], **OPTIONS)
    local = whole(*HOW, rounds=5)
    assert model_of(run) == model_of(local)
    assert [step for step, _, _ in heard] == steps_of(local)
    for rounds, (_, count, predictions) in enumerate(heard, 1):
        assert count == rounds
        assert predictions == local.ensemble.truncate(rounds).predict(X[:5]).tolist()


def test_the_dashboard_shows_a_task_a_worker_by_name(client):
    from distributed.utils import key_split

    seen = []
    ab.dask.boost(
        client,
        *delayed(X, Y),
        *HOW,
        callbacks=[lambda step, run: seen.append(client.processing())],
        **OPTIONS,
    )
    for tasks in seen[0].values():
        assert len(tasks) <= 1
        assert {key_split(task) for task in tasks} <= {"anyboost"}
    assert any(seen[0].values())


class TwoWords(Exception):
    """Pickle makes it anew with one word, and cannot."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def _raise_two(*_):
    raise TwoWords("early", "late")


def _raise_locked(*_):
    error = KeyError("a row")
    error.lock = threading.Lock()
    raise error


def _raise_from_locked(*_):
    try:
        _raise_locked()
    except KeyError as error:
        raise LookupError("no such row") from error


@pytest.mark.parametrize(
    ("work", "kind", "words"),
    [
        (_raise_two, RuntimeError, ("TwoWords: early and late\n", "On the worker ", "in _raise_two")),
        (_raise_locked, RuntimeError, ("KeyError: 'a row'\n", "in _raise_locked")),
        (_raise_from_locked, LookupError, ("no such row",)),
    ],
)
def test_an_error_that_cannot_travel_is_told_in_words(client, monkeypatch, caplog, work, kind, words):
    """Else the user hears of pickle, and not of what went wrong."""
    monkeypatch.setattr("anyboost.dask.boosting._boost", work)
    with pytest.raises(kind) as told:
        ab.dask.boost(client, *arrays(X, Y), *HOW, **OPTIONS)
    assert type(told.value) is kind
    for word in words:
        assert word in str(told.value)
    assert "serialize" not in caplog.text


def test_an_error_that_the_client_cannot_read_is_told_in_words():
    """A module may be there on workers alone."""
    from anyboost.dask.failures import Failure

    packed = Failure.of(ValueError("odd"), "tcp://somewhere")
    assert type(packed.error()) is ValueError
    unread = packed._replace(pickled=b"cno_such_module\nSlip\n.").error()
    assert type(unread) is RuntimeError
    assert str(unread).startswith("ValueError: odd\n\nOn the worker tcp://somewhere:\n")


def test_an_error_of_a_callback_ends_the_fit(client):
    def fail(_, __):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ab.dask.boost(client, *arrays(X, Y), *HOW, callbacks=[fail], **OPTIONS)
