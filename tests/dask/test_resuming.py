"""A run that is checkpointed goes on on other workers, from one place to a cluster, and back."""

import numpy as np
import pytest

import anyboost as ab
from resumed import FITS, ROUNDS, STOP, WATCHED, X, Y, checkpointed, given, same, stop, whole
from spread import arrays, frames

TIMEOUT = 60.0


def test_a_run_of_a_cluster_goes_on_there_and_in_one_place(client, tmp_path):
    path, how = tmp_path / "run", FITS["memory and exact leaves"][0]
    keep = ab.Checkpoint(path, every_rounds=STOP)
    stopped = ab.dask.boost(
        client, *arrays(X, Y), *how, rounds=ROUNDS, callbacks=[keep, stop], timeout=TIMEOUT
    )
    run, expected = ab.load(path), whole("memory and exact leaves")
    assert (len(run.steps), len(stopped.steps)) == (STOP, STOP + 1)
    elsewhere = arrays(X, Y, rows=200)
    same(ab.dask.boost(client, *elsewhere, resume=run, rounds=ROUNDS, timeout=TIMEOUT), expected)
    same(ab.boost(X, Y, resume=run, rounds=ROUNDS), expected)
    ab.save(stopped, path)  # and what a fit gave back is as good as a checkpoint
    same(ab.dask.boost(client, *elsewhere, resume=ab.load(path), rounds=ROUNDS, timeout=TIMEOUT), expected)


def test_a_run_of_one_place_goes_on_on_a_cluster_with_its_validation_set(client, tmp_path):
    name = "draws and weights"
    run = checkpointed(tmp_path / "run", name, valid=WATCHED)
    y, rows = given(name)
    how, options = FITS[name]
    expected = ab.boost(X, y, *how, rounds=ROUNDS, valid=WATCHED, **rows, **options)
    dX, dy, weights, *watched = arrays(X, y, rows["sample_weight"], *WATCHED)
    more = {"sample_weight": weights, "valid": tuple(watched), "timeout": TIMEOUT}
    found = ab.dask.boost(client, dX, dy, resume=run, rounds=ROUNDS, **more)
    same(found, expected)
    assert found.watch.losses == expected.watch.losses
    with pytest.raises(ValueError, match="valid is not the set that the run to resume watched"):
        ab.boost(X, y, resume=run, rounds=ROUNDS, valid=(WATCHED[0], WATCHED[1] + 1), **rows)


@pytest.mark.full
def test_an_estimator_goes_on_from_its_checkpoint(client, tmp_path):
    path = tmp_path / "run"
    table, targets = frames(X, Y)

    class Killed(RuntimeError):
        pass

    def kill(step, _):
        if step.round == STOP + 1:
            raise Killed

    def model(*callbacks):
        return ab.dask.DaskBoostingRegressor("absolute", max_iter=ROUNDS, callbacks=callbacks, client=client)

    with pytest.raises(Killed):
        model(ab.Checkpoint(path, every_rounds=STOP), kill).fit(table, targets)
    heard = []
    found = model(lambda step, _: heard.append(step.round)).fit(*frames(X, Y, parts=2), resume=ab.load(path))
    expected = ab.BoostingRegressor("absolute", max_iter=ROUNDS).fit(table.compute(), targets.compute())
    assert heard == list(range(STOP + 1, ROUNDS + 1))
    np.testing.assert_array_equal(
        found.to_local().predict(table.compute()), expected.predict(table.compute())
    )
    assert found.ensemble_.coefficients.tolist() == expected.ensemble_.coefficients.tolist()


def test_what_cannot_go_on_on_a_cluster_is_refused_before_any_work(client):
    run = ab.boost(X, Y, "absolute", "tree:8", rounds=3)
    with pytest.raises(
        ValueError, match=r"resume keeps scores of rows in one place: .*Checkpoint\(keep=.trees.\)"
    ):
        ab.dask.boost(client, *arrays(X, Y), resume=run, rounds=5)
    with pytest.raises(TypeError, match="resume must be a Run"):
        ab.dask.boost(client, *arrays(X, Y), resume="run.anyboost", rounds=5)
