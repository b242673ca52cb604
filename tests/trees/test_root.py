"""Counting only what changed gives the histogram, and the model, of counting every row."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.space import Space
from anyboost.trees import grower, histogram
from anyboost.trees.histogram import Root, count


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("outputs", [1, 2, 7])
@pytest.mark.parametrize("share", [0.0, 0.02, 1.0])
def test_the_change_and_the_last_histogram_make_the_new_one(weights, outputs, share, monkeypatch):
    """Also where all of 40,000 rows in one bin turn from the largest target to its negative."""
    monkeypatch.setattr(histogram, "_MOST", 1.0)
    random = np.random.default_rng(0)
    n = 40_000
    X = np.column_stack([random.integers(0, 1 + 9 * (column > 0), n) for column in range(9)]).astype(float)
    mass = {"none": None, "whole": random.integers(1, 4, n), "real": random.random(n) + 0.1}[weights]
    space = Space(X, None if mass is None else mass.astype(float))
    old = np.ones((n, outputs))
    new = np.where(random.random((n, 1)) < share, -old, old)
    sums = np.zeros((16 * 256, outputs + 1), dtype=np.int64)
    memory = Root()
    groups = np.arange(2)

    def counted(target):
        count(space.bins.words, groups, space.bins.n_cuts, 9, space.fixed(target), None, sums)
        return sums.copy()

    assert memory.change(space.fixed(old), 1) is None  # nothing to begin from
    memory.keep(space.fixed(old), counted(old))
    change = memory.change(space.fixed(new), 1)
    np.testing.assert_array_equal(change.rows, np.flatnonzero((old != new).any(axis=1)))
    count(space.bins.words, groups, space.bins.n_cuts, 9, change.fixed, change.rows, sums)
    memory.complete(sums, groups)
    found = sums.copy()
    np.testing.assert_array_equal(found[: 9 * 256], counted(new)[: 9 * 256])


def test_other_units_and_targets_that_changed_everywhere_are_counted_anew():
    random = np.random.default_rng(0)
    target = np.sign(random.normal(size=6_000))
    space = Space(random.normal(size=(6_000, 2)))
    memory = Root()
    memory.keep(space.fixed(target), np.zeros((4096, 2), dtype=np.int64))
    assert memory.change(space.fixed(target), 1) is not None
    assert memory.change(space.fixed(8.0 * target), 1) is None
    assert memory.change(space.fixed(-target), 1) is None
    assert memory.change(space.fixed(random.normal(size=6_000)), 1) is None


@pytest.mark.parametrize(
    ("loss", "labels"), [("absolute", "real"), ("hinge", "signs"), ("multiclass_hinge", "classes")]
)
@pytest.mark.parametrize("learner", [ab.weak.Stump(), ab.weak.Tree(5, leaf="exact")])
def test_models_are_those_of_counting_every_row(loss, labels, learner, monkeypatch):
    random = np.random.default_rng(1)
    X = random.normal(size=(6_000, 4))
    score = X[:, 0] + X[:, 1] ** 2 + random.normal(size=6_000)
    y = {"real": score, "signs": np.sign(score - 1), "classes": np.digitize(score, [0, 2])}[labels]
    used = []
    look = Root.change

    def watched(self, fixed, n_threads):
        found = look(self, fixed, n_threads)
        used.append(found is not None)
        return found

    monkeypatch.setattr(Root, "change", watched)
    monkeypatch.setattr(grower, "_FEW", 0)  # else so small a table is counted as a whole
    fast = ab.boost(X, y, loss, learner, ab.descent.Naive(0.1), 30)
    assert any(used)
    monkeypatch.setattr(Root, "change", lambda self, fixed, n_threads: None)
    slow = ab.boost(X, y, loss, learner, ab.descent.Naive(0.1), 30)
    np.testing.assert_array_equal(fast.ensemble.predict(X), slow.ensemble.predict(X))
