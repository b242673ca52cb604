"""A run that keeps its trees goes on wherever its rows lie, from a file without anything for each row."""

import numpy as np
import pytest

import anyboost as ab
from models import model_of
from parts import in_circle
from resumed import FITS, ROUNDS, STOP, X, Y, checkpointed, given, same, whole

QUICK = ("memory and exact leaves", "several outputs, curved")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in FITS]
)
def test_a_run_of_one_place_goes_on_in_any_number_of_parts(tmp_path, name):
    run = checkpointed(tmp_path / "run", name)
    assert len(run.steps) == STOP
    assert run.scores.size == 0
    y, rows = given(name)
    expected = whole(name)
    same(ab.boost(X, y, resume=run, rounds=ROUNDS, **rows), expected)
    for edges in ((0, 30, 450), (0, 0, 200, 450)):

        def fit(place, edges=edges):
            own = slice(edges[place], edges[place + 1])
            weights = {key: values[own] for key, values in rows.items()}
            return ab.boost(X[own], y[own], resume=run, rounds=ROUNDS, n_threads=1, **weights)

        for found in in_circle(fit, len(edges) - 1):
            assert model_of(found) == model_of(expected)


def test_trees_come_back_from_files_as_they_were_grown(tmp_path):
    how, options = FITS["several outputs, curved"]
    keep = ab.Checkpoint(tmp_path / "run", every_rounds=STOP, keep="trees")
    rows = X, given("several outputs, curved")[0]
    grown = ab.boost(*rows, *how, rounds=STOP, callbacks=[keep], **options).trees
    for found, tree in zip(ab.load(tmp_path / "run").trees, grown, strict=True):
        for own, other in zip(found, tree, strict=True):
            np.testing.assert_array_equal(own, other)
            assert own is None or (own.dtype, own.shape) == (other.dtype, other.shape)


def test_a_checkpoint_of_trees_is_as_large_for_any_number_of_rows(tmp_path):
    sizes = []
    for copies in (1, 20):
        rows = np.repeat(X, copies, axis=0), np.repeat(Y, copies)
        keep = ab.Checkpoint(tmp_path / "run", every_rounds=STOP, keep="trees")
        ab.boost(*rows, "absolute", "tree:8", rounds=STOP, callbacks=[keep])
        sizes.append((tmp_path / "run").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 1000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": Y + 1e-9}, "resume was run on other data"),
        ({"X": X[:, 1:]}, "resume was run on other data"),
        ({"rounds": 2}, "the run to resume has 5, got rounds=2"),
        ({"start": X[:, 0]}, "start must be left out, or be a number, as in the run to resume"),
        ({"loss": "squared"}, "loss is .*Absolute.* in the run to resume"),
    ],
)
def test_other_data_are_refused_in_a_sentence(tmp_path, change, sentence):
    run = checkpointed(tmp_path / "run", "memory and exact leaves")
    asked = {"X": X, "y": Y, "resume": run, "rounds": ROUNDS} | change
    with pytest.raises(ValueError, match=sentence):
        ab.boost(**asked)


def test_trees_can_only_be_kept_of_trees_and_from_the_first_round_on(tmp_path):
    keep = ab.Checkpoint(tmp_path / "run", every_rounds=1, keep="trees")
    with pytest.raises(
        ValueError, match=r'keep="trees" is for runs of trees .* another learner: use keep="rows"'
    ):
        ab.boost(X, Y, learner="linear", rounds=2, callbacks=[keep])
    run = ab.boost(X, Y, rounds=2)
    with pytest.raises(
        ValueError, match=r"from their first round, and this one goes on from one that kept rows"
    ):
        ab.boost(X, Y, resume=run, rounds=4, callbacks=[keep])
    with pytest.raises(ValueError, match="keep must be 'rows' or 'trees', got 'everything'"):
        ab.Checkpoint(tmp_path / "run", 1, keep="everything")
