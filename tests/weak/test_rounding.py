"""What fixed point may cost: the bound of docs/engine.md, at sizes where sums could overflow."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.backends import fixed_point
from anyboost.space import Space
from anyboost.weak import Stump, Tree


@pytest.mark.parametrize("rows", [40, 3000])
def test_leaf_means_keep_the_bound_at_a_hundred_million_rows(rows):
    # Weights stand for repeated rows, so sums are those of a table of 10^8 rows.
    random = np.random.default_rng(rows)
    X = random.normal(size=(rows, 3))
    target = random.normal(size=rows) ** 3
    weights = random.integers(1, 2 * 10**8 // rows, rows).astype(float)
    weights[0] = 1.0
    space = Space(X, weights)
    assert space.whole
    assert space.total > 0.8e8
    found = Tree(max_leaves=6).project(space, target)
    bound = 2.0 ** -(fixed_point.target_bits(int(space.total)) + 1) * 2 * np.abs(target).max()
    for leaf in range(len(found.leaf_values)):
        inside = found.leaf == leaf
        exact = np.average(target[inside], weights=weights[inside])
        assert found.leaf_values[leaf, 0] == pytest.approx(exact, abs=bound + 1e-12 * abs(exact))


def test_huge_and_tiny_targets_in_one_vector():
    # Squares must stay finite for norms, so here 1e150; sums of 1e300 are in tests/backends/test_sums.py.
    X = np.arange(6.0)[:, None]
    target = np.array([1e150, 1e150, 1e-150, -1e-150, 1e-150, -1e150])
    found = Tree(max_leaves=3).project(Space(X), target)
    np.testing.assert_allclose(found.values[[0, 5]], [1e150, -1e150], rtol=1e-9)
    assert np.all(np.abs(found.values[2:5]) < 1e135)  # under the unit: nothing is left of them
    tiny = Stump().project(Space(X), 1e-150 * np.sign(X[:, 0] - 2.5))
    np.testing.assert_allclose(tiny.values, 1e-150 * np.sign(X[:, 0] - 2.5))


def test_a_target_that_is_not_finite_is_seen():
    fixed = Space(np.arange(4.0)[:, None]).fixed(np.array([1.0, np.inf, 0.0, 2.0]))
    assert np.isnan(fixed.unit)
    assert not (fixed.channels >> fixed.shift).any()


def test_histograms_that_were_dropped_are_counted_again(monkeypatch):
    random = np.random.default_rng(3)
    X, target = random.normal(size=(500, 9)), random.normal(size=(500, 2))
    everything = Tree(max_leaves=20).project(Space(X), target)
    monkeypatch.setattr("anyboost.trees.grower.MOST_MEMORY", 1)  # room for two
    sparing = Tree(max_leaves=20).project(Space(X), target)
    np.testing.assert_array_equal(sparing.values, everything.values)
    np.testing.assert_array_equal(sparing.hypothesis.feature, everything.hypothesis.feature)


def test_growth_by_level_fills_a_level_before_the_next():
    X = np.arange(256.0)[:, None]
    target = np.where(X[:, 0] < 128, 0.01 * X[:, 0], 10.0 * X[:, 0])  # one half gains far more than the other
    for leaves in (4, 8):
        tree = Tree(max_leaves=leaves, growth="depth").project(Space(X), target).hypothesis
        assert set(depths(tree)) == {int(np.log2(leaves))}
    assert max(depths(Tree(max_leaves=8).project(Space(X), target).hypothesis)) > 3


def depths(tree):
    depth = np.zeros(len(tree.feature), dtype=int)
    for node in np.flatnonzero(tree.feature >= 0):
        depth[[tree.left[node], tree.right[node]]] = depth[node] + 1
    return depth[tree.feature < 0].tolist()


@pytest.mark.parametrize("weight", [1e-20, 1e-30, 1e-100])
def test_leaves_that_no_sample_can_fill_leave_no_cut(weight):
    """A least weight of a leaf beyond all whole numbers, in units of the rows' own."""
    X = np.arange(50.0)[:, None]
    for tree in (Tree(5, min_leaf_weight=5.0), Tree(2, min_leaf_weight=5.0)):
        run = ab.boost(X, X[:, 0], "squared", tree, rounds=2, sample_weight=np.full(50, weight))
        assert all(part.n_leaves == 1 for part in run.ensemble.hypotheses)
