"""Stumps and trees against enumeration: projections, ties, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from anyboost.space import Space
from anyboost.weak import Stump, Tree


def sample(seed, n=60, features=4, outputs=1, ties=True, weighted=False, missing=False):
    """Small integers give ties within columns, sign targets give ties between splits."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n, features)).astype(float) if ties else random.normal(size=(n, features))
    if missing:
        X[random.random(X.shape) < 0.15] = np.nan
    shape = (n,) if outputs == 1 else (n, outputs)
    D = random.choice([-1.0, 0.0, 1.0], shape) if ties else random.normal(size=shape)
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    return X, D, weights


cases = given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    outputs=st.integers(1, 3),
    ties=st.booleans(),
    weighted=st.booleans(),
    missing=st.booleans(),
)


@settings(deadline=None, max_examples=120)
@cases
def test_stump_is_the_nearest_one(seed, n, outputs, ties, weighted, missing):
    X, D, weights = sample(seed, n, 4, outputs, ties, weighted, missing)
    mine = Stump().project(Space(X, weights), D)
    theirs = reference.project_stump(X, weights, D)
    tree = mine.hypothesis
    if theirs.feature is None:
        assert tree.feature.tolist() == [-1]
    else:
        assert tree.feature[0] == theirs.feature
        assert tree.threshold[0] == theirs.threshold
    np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)
    np.testing.assert_array_equal(tree.predict(X), mine.values)


@settings(deadline=None, max_examples=80)
@cases
def test_tree_grows_the_best_leaf_first(seed, n, outputs, ties, weighted, missing):
    X, D, weights = sample(seed, n, 4, outputs, ties, weighted, missing)
    for max_leaves, max_depth in ((3, None), (8, None), (8, 2)):
        mine = Tree(max_leaves, max_depth).project(Space(X, weights), D)
        theirs = reference.project_tree(X, weights, D, max_leaves, max_depth)
        tree = mine.hypothesis
        assert [None if f < 0 else f for f in tree.feature] == theirs.feature
        inside = tree.feature >= 0
        np.testing.assert_array_equal(tree.threshold[inside], np.array(theirs.threshold)[inside])
        np.testing.assert_array_equal(tree.left[inside], np.array(theirs.left)[inside])
        np.testing.assert_array_equal(tree.right[inside], np.array(theirs.right)[inside])
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)


@settings(deadline=None, max_examples=80)
@cases
def test_extreme_stump_reaches_furthest(seed, n, outputs, ties, weighted, missing):
    X, G, weights = sample(seed, n, 4, outputs, ties, weighted, missing)
    space = Space(X, weights)
    value, _ = reference.extreme_stump(X, weights, G)
    support = Stump().support(space, G)
    assert support.lower == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert value <= support.upper <= value * (1 + 1e-8) + 1e-9
    mine = Stump().extreme(space, G)
    assert np.abs(mine.values).max() <= 1
    assert space.inner(mine.values, G) == pytest.approx(value, abs=1e-12)


def test_support_of_larger_trees_says_what_is_proof_and_what_is_found():
    X, G, weights = sample(3, 60, 4, 2, ties=False)
    space = Space(X, weights)
    support = Tree(max_leaves=6).support(space, G)
    stump = Stump().support(space, G)
    everything = np.abs(G).sum(axis=1).mean()
    assert stump.lower <= support.lower <= support.upper
    assert support.upper == pytest.approx(everything)
    atom = Tree(max_leaves=6).extreme(space, G)
    assert space.inner(atom.values, G) == pytest.approx(support.lower)
    assert np.abs(atom.values).max() <= 1


def test_more_than_255_values_are_binned_by_mass():
    random = np.random.default_rng(0)
    X = random.exponential(size=(2000, 2))
    D = np.sin(3 * X[:, 0])
    mine, theirs = Stump().project(Space(X), D), reference.project_stump(X, None, D)
    assert mine.hypothesis.threshold[0] == theirs.threshold
    coarse = Stump().project(Space(X, max_bins=8), D)
    assert coarse.hypothesis.threshold[0] == reference.project_stump(X, None, D, max_bins=8).threshold


def test_rows_and_features_sampled_for_a_tree_decide_its_shape_only_on_themselves():
    X, D, _ = sample(5, 80, 6, 1, ties=False)
    rows = np.arange(0, 80, 2)
    mine = Tree(max_leaves=5).project(Space(X), D, rows=rows, features=np.array([1, 4]))
    splits = set(mine.hypothesis.feature[mine.hypothesis.feature >= 0].tolist())
    assert splits <= {1, 4}
    np.testing.assert_array_equal(mine.hypothesis.predict(X), mine.values)
    cells = mine.leaf[rows]
    for leaf in np.unique(cells):
        assert mine.leaf_values[leaf, 0] == pytest.approx(D[rows][cells == leaf].mean())


def test_a_constant_target_and_constant_columns_give_one_leaf():
    X = np.ones((10, 3))
    found = Tree().project(Space(X), np.arange(10.0))
    assert found.hypothesis.n_leaves == 1
    assert found.values == pytest.approx(np.full(10, 4.5))
    assert Tree().project(Space(np.eye(10)), np.full(10, 2.0)).hypothesis.n_leaves == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tree(max_leaves=1), "max_leaves must be at least 2"),
        (lambda: Tree(max_depth=0), "max_depth must be at least 1"),
        (lambda: Stump(leaf="median"), "leaf must be 'mean' or 'exact'"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
