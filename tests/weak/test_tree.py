"""Stumps and trees against enumeration: projections, ties, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
import reference
from anyboost.space import Space
from anyboost.weak import Stump, Tree
from lending import lent


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
        assert tree.missing_left[0] == theirs.missing_left
    np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)
    np.testing.assert_array_equal(tree.predict(X), mine.values)


@settings(deadline=None, max_examples=80)
@cases
def test_tree_grows_the_best_leaf_first(seed, n, outputs, ties, weighted, missing):
    X, D, weights = sample(seed, n, 4, outputs, ties, weighted, missing)
    for max_leaves, max_depth in ((3, None), (8, None), (8, 2)):
        mine = Tree(max_leaves, max_depth).project(Space(X, weights), D)
        same_tree(mine, reference.project_tree(X, weights, D, max_leaves, max_depth), X)


def same_tree(mine, theirs, X):
    tree = mine.hypothesis
    assert [None if f < 0 else f for f in tree.feature] == theirs.feature
    inside = tree.feature >= 0
    for name in ("threshold", "left", "right", "missing_left"):
        np.testing.assert_array_equal(getattr(tree, name)[inside], np.array(getattr(theirs, name))[inside])
    np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)
    np.testing.assert_array_equal(tree.predict(X), mine.values)
    empty = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(tree.predict(empty), reference.predict_tree(theirs, empty), atol=1e-12)


@settings(deadline=None, max_examples=80)
@cases
def test_limits_of_leaf_weight_and_penalties_are_those_of_the_oracle(
    seed, n, outputs, ties, weighted, missing
):
    X, D, weights = sample(seed, n, 4, outputs, ties, weighted, missing)
    for least, l2 in ((3.0, 0.0), (0.0, 2.5), (4.0, 1.0)):
        mine = Tree(8, min_leaf_weight=least, l2=l2).project(Space(X, weights), D)
        theirs = reference.project_tree(X, weights, D, 8, min_leaf_weight=least, l2=l2)
        same_tree(mine, theirs, X)
        weight = np.bincount(mine.leaf, weights)
        assert len(weight) == 1 or weight.min() >= least


@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-3])
def test_weights_are_repetitions_for_limits_and_penalties_too(scale):
    X, D, weights = sample(8, 60, 4, 1, ties=False, weighted=True)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    tree = {"min_leaf_weight": 6.0 * scale, "l2": 2.0 * scale}
    weighed = Tree(8, **tree).project(Space(X, weights * scale), D)
    again = Tree(8, **tree).project(Space(X[repeated], np.full(len(repeated), scale)), D[repeated])
    np.testing.assert_array_equal(weighed.hypothesis.feature, again.hypothesis.feature)
    np.testing.assert_array_equal(weighed.hypothesis.threshold, again.hypothesis.threshold)
    np.testing.assert_allclose(weighed.hypothesis.value, again.hypothesis.value, rtol=1e-12)


def test_the_step_along_a_penalized_tree_keeps_the_penalty():
    X, y, _ = sample(9, 80, 3, 1, ties=False)
    for leaf in ("mean", "exact"):
        tree = Tree(6, l2=5.0, leaf=leaf)
        run = ab.boost(X, y, "squared", tree, ab.descent.Naive(1.0), 1, start=0.0)
        found = tree.project(run.space, -y)
        sums = np.bincount(found.leaf, y)
        expected = (sums / (np.bincount(found.leaf) + 5.0))[found.leaf]
        np.testing.assert_allclose(run.scores, expected, rtol=1e-10)
        assert run.steps[0].coefficient == 1.0


def test_a_penalized_tree_of_some_rows_never_lengthens_the_residual():
    X, y, _ = sample(10, 200, 3, 1, ties=False)
    run = ab.boost(
        X, y, "absolute", Tree(31, l2=0.1), ab.descent.Residual(0.01), 60, row_fraction=0.2, random_state=0
    )
    assert all(step.coefficient <= 1 for step in run.steps)
    leftover = [geometry.leftover for geometry in run.state.geometry]
    assert all(
        b <= a + step.gradient_norm + 1e-9
        for a, b, step in zip(leftover, leftover[1:], run.steps[1:], strict=False)
    )


def test_missing_values_go_where_they_gain():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]])
    low = Stump().project(Space(X), np.array([0.0, 0.0, 5.0, 5.0, 0.0, 0.0])).hypothesis
    assert (low.threshold[0], low.missing_left[0]) == (1.5, True)
    high = Stump().project(Space(X), np.array([0.0, 0.0, 5.0, 5.0, 5.0, 5.0])).hypothesis
    assert (high.threshold[0], high.missing_left[0]) == (1.5, False)
    apart = Stump().project(Space(X), np.array([0.0, 0.0, 0.0, 0.0, 5.0, 5.0])).hypothesis
    assert (apart.threshold[0], apart.missing_left[0]) == (np.inf, False)


def test_missing_values_that_training_had_none_of_go_to_the_heavier_side():
    X, D = np.arange(6.0)[:, None], np.array([0.0, 0.0, 0.0, 0.0, 3.0, 3.0])
    assert Stump().project(Space(X), D).hypothesis.predict(np.array([[np.nan]])) == 0.0
    assert Stump().project(Space(-X), D).hypothesis.predict(np.array([[np.nan]])) == 0.0
    even = Stump().project(Space(X[:4]), D[2:]).hypothesis
    assert even.predict(np.array([[np.nan]])) == 3.0


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
    mine = Tree(max_leaves=5).project(lent(Space(X), rows, np.array([1, 4])), D)
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
        (lambda: Tree(min_leaf_weight=-1), "min_leaf_weight must not be negative, got -1"),
        (lambda: Tree(l2=float("nan")), "l2 must be finite, got nan"),
        (lambda: Stump(leaf="median"), "leaf must be 'mean' or 'exact'"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("leaf", ["mean", "linear"])
def test_a_tree_takes_lists(leaf):
    X, D, _ = sample(0, n=40, ties=False)
    tree = Tree(3, leaf=leaf).project(Space(X), D).hypothesis
    np.testing.assert_array_equal(tree.predict(X.tolist()), tree.predict(X))
    np.testing.assert_array_equal(tree.apply(X.tolist()), tree.apply(X))
